"""Hypothesis strategies for small mixed tables, the plan they are read by, and what "equal" means for their sums."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from tests.laws.models import require_same_sums

from bayeswater import NaiveBayes
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import Sums

PLAN: dict[str, Any] = {
    "kind": "categorical",
    "flag": "bernoulli",
    "size": "gaussian",
    "price": "lognormal",
    "visits": "poisson",
    "age": {"cuts": (18.0, 31.5, 65.0)},
    "note": "multinomial",
}
"""A column of every sort of sums."""

CELLS: dict[str, Any] = {
    "kind": st.sampled_from(["low", "mid", "high"]),
    "flag": st.booleans(),
    "size": st.integers(-32, 32).map(lambda quarters: quarters / 4),
    "price": st.sampled_from([0.25, 0.5, 1.0, 3.0, 20.0]),
    "visits": st.integers(0, 6).map(float),
    "age": st.sampled_from([17.0, 18.0, 31.0, 31.5, 64.0, 80.0]),
    "note": st.lists(st.sampled_from(["to", "be", "or", "not"]), max_size=4).map(" ".join),
}
DTYPES: dict[str, Any] = {"kind": object, "flag": "boolean", "note": object}
WEIGHTS = {
    "rows": None,
    "whole": st.integers(1, 4),
    "fractions": st.sampled_from([0.1, 0.25, 1 / 3, 1.0, 2.5]),
}


@dataclass(frozen=True)
class MixedRows:
    """Rows of a frame, their labels, and their weights if they have any."""

    X: pd.DataFrame
    y: Any
    weight: Any = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> "MixedRows":
        """Some of the rows, in the order given."""
        return MixedRows(self.X.iloc[rows], self.y[rows], None if self.weight is None else self.weight[rows])

    @property
    def arguments(self) -> dict[str, Any]:
        """What `fit` takes."""
        return {"X": self.X, "y": self.y, "sample_weight": self.weight}

    @property
    def counts_exactly(self) -> bool:
        """Whether sums over these rows are whole numbers."""
        return self.weight is None or bool((self.weight == np.floor(self.weight)).all())


@st.composite
def mixed_rows(draw: Any, n_rows: tuple[int, int] = (1, 8), weights: Any = "any") -> MixedRows:
    """Draw rows of all columns of `PLAN`; any cell may be missing."""
    n = draw(st.integers(*n_rows))

    def cells(name: str) -> Any:
        found = draw(st.lists(st.one_of(st.none(), CELLS[name], CELLS[name]), min_size=n, max_size=n))
        return pd.Series(found, dtype=DTYPES.get(name, np.float64))

    frame = pd.DataFrame({name: cells(name) for name in PLAN})
    y = np.array(draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))
    strategy = WEIGHTS[draw(st.sampled_from([*WEIGHTS]))] if weights == "any" else weights
    weight = None if strategy is None else np.array(draw(st.lists(strategy, min_size=n, max_size=n)))
    return MixedRows(frame, y, weight)


def planned(**given: Any) -> NaiveBayes:
    """A model that reads tables by `PLAN`."""
    return NaiveBayes(**{"columns": PLAN, **given})


def require_same_groups(found: NaiveBayes, expected: NaiveBayes, *, exactly: bool) -> None:
    """The same plan, classes, states and words, and the same sums: counts to the bit, moments as rounding allows."""
    mine, theirs = found.statistics_, expected.statistics_
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert mine.columns.plan == theirs.columns.plan
    assert set(mine.columns.groups) == set(theirs.columns.groups)
    for key in mine.columns.groups:
        require_same_sums(_group(mine, key), _group(theirs, key), to_the_bit=exactly and key != "normal")


def _group(sums: Sums[ColumnGroups], key: str) -> Sums[Any]:
    return Sums(sums.class_count, sums.columns.groups[key])
