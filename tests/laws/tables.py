"""Hypothesis strategies for small tables: cells, labels and weights as the five models take them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

COUNTS = st.integers(0, 4)
MARKS = st.integers(0, 1)
CODES = st.integers(0, 3)
QUARTERS = st.integers(-32, 32).map(lambda quarters: quarters / 4)
WHOLE_WEIGHTS = st.integers(1, 4)
FRACTIONS = st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 1.0, 1.5, 2.0, 7.75])


@dataclass(frozen=True)
class Rows:
    """Rows of a table, their labels, and their weights if they have any."""

    X: Any
    y: Any
    weight: Any = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> "Rows":
        """Some of the rows, in the order given."""
        return Rows(self.X[rows], self.y[rows], None if self.weight is None else self.weight[rows])

    @property
    def total_weight(self) -> float:
        """Weight of all rows together."""
        return float(len(self) if self.weight is None else self.weight.sum())

    @property
    def arguments(self) -> dict[str, Any]:
        """What `fit` takes."""
        return {"X": self.X, "y": self.y, "sample_weight": self.weight}


@st.composite
def tables(
    draw: Any,
    cells: Any,
    *,
    n_rows: tuple[int, int] = (1, 8),
    n_columns: tuple[int, int] = (1, 4),
    n_classes: int = 3,
    weights: Any = None,
    missing: bool = False,
) -> Rows:
    """Draw rows: cells, integer labels under `n_classes`, and weights from the strategy `weights` (or none at all)."""
    shape = draw(st.integers(*n_rows)), draw(st.integers(*n_columns))
    X = draw_cells(draw, cells, shape, missing=missing)
    y = draw(arrays.arrays(np.int64, shape[0], elements=st.integers(0, n_classes - 1)))
    weight = None if weights is None else np.array(draw(st.lists(weights, min_size=shape[0], max_size=shape[0])))
    return Rows(X, y, weight)


def draw_cells(draw: Any, cells: Any, shape: tuple[int, int], *, missing: bool = False) -> Any:
    """Draw an array of cells: of integers where they are all whole and none is missing."""
    X = np.array(draw(st.lists(cells, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))).reshape(shape)
    if missing:
        gone = draw(arrays.arrays(np.bool_, shape))
        X = np.where(gone, np.nan, X)
    return X


def any_weights() -> Any:
    """Draw a strategy of weights, or None: no weights at all."""
    return st.sampled_from([None, WHOLE_WEIGHTS, FRACTIONS])


def batches_of(draw: Any, n_rows: int) -> list[Any]:
    """Draw a partition of the rows: any rows may go together, in any order."""
    n_batches = draw(st.integers(1, n_rows))
    batch = np.array(draw(st.lists(st.integers(0, n_batches - 1), min_size=n_rows, max_size=n_rows)))
    order = draw(st.permutations(range(n_batches)))
    return [np.flatnonzero(batch == b) for b in order if (batch == b).any()]
