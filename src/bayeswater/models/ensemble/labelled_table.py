"""`EnsembleTable`: rows as every family of an ensemble reads them: numbers, states, classes, weights and hashes.

The hash of a row is of its cells, by value and by label, and not of its class: equal rows have equal hashes, whatever
their order, their codes and their number. By it a member decides which rows may have a say in its structure, so a row
of weight w is treated as w equal rows are, and rows that differ in their class alone stay together.
"""

from dataclasses import dataclass, replace

import numpy as np

from bayeswater.typing import Array


@dataclass(frozen=True)
class EnsembleTable:
    """Rows of an ensemble.

    Attributes
    ----------
    numbers : float64 (n_rows, n_numbers), NaN where missing
    states : int32 (n_rows, n_nominal), codes of categories; -1 where missing or never seen
    n_states : int64 (n_nominal,), states of each of these columns, in the order of their labels
    codes : int64 (n_rows,), codes of classes; None of rows to predict
    n_classes : int
    weight : float64 (n_rows,), all above 0; None where every row counts once
    hashes : uint64 (n_rows,), by the content of the cells
    """

    numbers: Array
    states: Array
    n_states: Array
    codes: Array | None
    n_classes: int
    weight: Array | None
    hashes: Array

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def n_columns(self) -> int:
        """Columns of numbers and of states."""
        return self.numbers.shape[1] + self.states.shape[1]

    @property
    def labels(self) -> Array:
        """Codes of classes, of rows that have them: (n_rows,)."""
        assert self.codes is not None
        return self.codes

    @property
    def weights(self) -> Array:
        """Weights, 1 where none were given: (n_rows,)."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def removed(self) -> Array:
        """Weight of one copy of each row, which leaving it out takes away: (n_rows,)."""
        return np.minimum(self.weights, 1.0)

    def take(self, rows: Array | slice) -> "EnsembleTable":
        """Give some rows: marked, numbered, or a slice."""
        return replace(
            self,
            numbers=self.numbers[rows],
            states=self.states[rows],
            codes=None if self.codes is None else self.codes[rows],
            weight=None if self.weight is None else self.weight[rows],
            hashes=self.hashes[rows],
        )
