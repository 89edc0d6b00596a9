"""How members see a table: `EnsembleTable`, its numbers in common units (`StandardNumbers`), or all as states.

The hash of a row is of its cells, by value and by label, and not of its class: equal rows have equal hashes, whatever
their order, their codes and their number. By it a member decides which rows its structure is learned from, so a row
of weight w is treated as w equal rows are, and rows that differ in their class alone stay together.

`StateColumns` sees every column as states, the numbers cut in the member's own way. Members that cut differently err
differently, and their mean errs less. So the ways to cut go round: bins of about equal frequency, 3 to 12 of them and
each column at a phase of its own; cuts that tell the classes apart, at half the price of Fayyad and Irani; such bins
again; such cuts at their full price. A column that the classes do not cut has 5 bins. (Ways that are drawn at random,
rather than in turn, may all be the worse one where members are few.) Numbers come first, then the categories. A missing
cell is a state of its own, behind the others, where a column had missing cells when the member learned; elsewhere it is
not there, and says nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from bayeswater.data.labels import Labels, narrow_codes
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.reading.discretising.cuts import apply_cuts
from bayeswater.data.reading.discretising.finding_cuts import FALLBACK_BINS
from bayeswater.data.reading.discretising.mdl import mdl_cuts
from bayeswater.data.reading.discretising.value_cells import ValueCells, equal_frequency_cuts
from bayeswater.data.reading.text import TextTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.data.weights import checked_weight
from bayeswater.errors import StatisticsError
from bayeswater.records import record
from bayeswater.statistics.category_counts import columnwise_codes
from bayeswater.statistics.sums import ClassCounts
from bayeswater.typing import Array


@record
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
    hashes : uint64 (n_rows,), by the content of the cells; all 0 of rows to predict
    words : of all texts of each row; None where no column holds text
    """

    numbers: Array
    states: Array
    n_states: Array
    codes: Array | None
    n_classes: int
    weight: Array | None
    hashes: Array
    words: TextTable | None = None

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def n_columns(self) -> int:
        """Columns of numbers and of states."""
        return self.numbers.shape[1] + self.states.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of columns."""
        return len(self), self.n_columns

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
            words=None if self.words is None else self.words.take(rows),
        )


FARTHEST = 8.0
"""Deviations beyond which a number is brought back: one wild number shall not decide a covariance."""


@record
class StandardNumbers:
    """Mean, deviation and median of each column of numbers (n_numbers,); the deviation of one left out is 0.

        z = (x - mean) / deviation,  no further than 8 deviations away;  a missing number is the median

    They are those of the rows at hand when a committee learns, whatever their class, and stay. A column in which
    nothing varies is left out.
    """

    mean: Array
    deviation: Array
    median: Array

    @classmethod
    def learn(cls, table: EnsembleTable) -> "StandardNumbers":
        """Look at all rows; a row of weight w is looked at as w rows."""
        columns = [_moments(values, table.weights) for values in table.numbers.T]
        mean, deviation, median = np.array(columns, dtype=np.float64).reshape(-1, 3).T
        return cls(mean, deviation, median)

    @property
    def kept(self) -> Array:
        """Places of the columns that vary."""
        return np.flatnonzero(self.deviation > 0)

    def read(self, table: EnsembleTable) -> DenseMatrix:
        """Give the columns that vary in their new units: (n_rows, n_kept)."""
        x = table.numbers[:, self.kept]
        x = np.where(np.isnan(x), self.median[self.kept], x)
        with np.errstate(over="ignore"):  # what is too far for a float is far
            z = (x - self.mean[self.kept]) / self.deviation[self.kept]
        return DenseMatrix(np.clip(z, -FARTHEST, FARTHEST))

    def to_arrays(self) -> dict[str, Array]:
        """Give mean, deviation and median as arrays."""
        return {"mean": self.mean, "deviation": self.deviation, "median": self.median}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int) -> "StandardNumbers":
        """Read them back; refuse what is not finite, or of other columns."""
        parts = [np.asarray(arrays[name]) for name in ("mean", "deviation", "median")]
        if any(part.shape != (n_numbers,) or part.dtype != np.float64 for part in parts):
            raise StatisticsError(f"means, deviations and medians are not those of {n_numbers} columns of numbers")
        if not all(np.isfinite(part).all() for part in parts) or (parts[1] < 0).any():
            raise StatisticsError("means, deviations and medians of numbers are finite, and no deviation is negative")
        return cls(*parts)


def _moments(values: Array, weight: Array) -> tuple[float, float, float]:
    """Mean, deviation and (lower) median of the numbers that are there."""
    there = ~np.isnan(values)
    x, w = values[there], weight[there]
    if not len(x) or x.min() == x.max():
        return 0.0, 0.0, 0.0
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    below = np.cumsum(w)
    median = float(x[np.searchsorted(below, below[-1] / 2)])
    size = max(abs(x[0]), abs(x[-1]))  # of numbers as large as floats can be, the squares are not
    share = w / below[-1]
    mean = float(share @ (x / size))
    deviation = float(np.sqrt(share @ (x / size - mean) ** 2))
    return mean * size, deviation * size, median


PRICES = (None, 0.5, None, 1.0)
"""How members cut, in turn: into bins of equal frequency (None), or where classes differ, at this price of a cut."""

LEAST_BINS, MOST_BINS = 3, 12
"""Bins of equal frequency, drawn for each member: some see all columns finely, and others none."""


@record
class StateColumns:
    """Cuts of the numbers, states of the categories (n_nominal,), and which columns have missing as a state."""

    cuts: tuple[Array, ...]
    n_nominal: Array
    missing_is_state: Array  # (n_columns,)

    @classmethod
    def learn(cls, table: EnsembleTable, seen: Array, member: int, rng: np.random.Generator) -> "StateColumns":
        """Cut the numbers by the rows that are `seen` (n_rows,); which columns lack cells, all rows tell."""
        part, price = table.take(seen), PRICES[member % len(PRICES)]
        weight = weight_of(part)
        n_bins = int(rng.integers(LEAST_BINS, MOST_BINS, endpoint=True))
        phase = np.asarray(rng.random(table.numbers.shape[1]))
        cuts = []
        for j, values in enumerate(part.numbers.T):
            cells = ValueCells.of(values, None if price is None else part.labels, table.n_classes, weight)
            found = np.zeros(0) if price is None else mdl_cuts(cells, price=price)
            if price is None:
                found = equal_frequency_cuts(cells, n_bins, float(phase[j]))
            elif not len(found):
                found = equal_frequency_cuts(cells, FALLBACK_BINS)
            cuts.append(found)
        missing = np.concatenate([np.isnan(table.numbers).any(axis=0), (table.states < 0).any(axis=0)])
        return cls(tuple(cuts), table.n_states, missing)

    @cached_property
    def n_states(self) -> Array:
        """States of each column, missing among them where it is one: (n_columns,)."""
        n_bins = np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)
        return np.concatenate([n_bins, self.n_nominal]) + self.missing_is_state

    @cached_property
    def schema(self) -> Schema:
        """The columns as variables."""
        return Schema(tuple(declared_codes(f"x{j}", n) for j, n in enumerate(self.n_states.tolist())))

    def read(self, table: EnsembleTable) -> CodedTable:
        """Code the cells; one past the last state is what is not there."""
        columns = [apply_cuts(values, cuts) for values, cuts in zip(table.numbers.T, self.cuts, strict=True)]
        for states, n in zip(table.states.T, self.n_nominal.tolist(), strict=True):
            columns.append(narrow_codes(np.where(states < 0, n, states), n))
        return CodedTable(self.schema, ColumnMatrix(tuple(columns)))

    def codes(self, table: EnsembleTable) -> Array:
        """Code the cells column by column: (n_columns, n_rows), in the narrowest kind of number that fits all."""
        return columnwise_codes(self.read(table), slice(0, len(table)))

    def to_arrays(self) -> dict[str, Array]:
        """Give the cuts of all columns one after the other, their numbers, and where missing is a state."""
        n_cuts = np.array([len(cuts) for cuts in self.cuts], dtype=np.int64)
        return {
            "cuts": np.concatenate([np.zeros(0), *self.cuts]),
            "n_cuts": n_cuts,
            "missing_is_state": self.missing_is_state.astype(np.uint8),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array) -> "StateColumns":
        """Read them back; refuse what cannot be cuts of so many columns."""
        cuts, n_cuts, missing = (np.asarray(arrays[name]) for name in ("cuts", "n_cuts", "missing_is_state"))
        is_shaped = cuts.ndim == 1 and n_cuts.shape == (n_numbers,) and missing.shape == (n_numbers + len(n_states),)
        if not is_shaped or cuts.dtype != np.float64 or n_cuts.dtype.kind != "i" or missing.dtype != np.uint8:
            raise StatisticsError(f"the cuts of a member are not those of {n_numbers} columns of numbers")
        if (n_cuts < 0).any() or n_cuts.sum() != len(cuts) or not np.isfinite(cuts).all() or (missing > 1).any():
            raise StatisticsError("the cuts of a member are not as many as it says, or no numbers")
        parts = np.split(cuts, np.cumsum(n_cuts)[:-1]) if n_numbers else []
        if any((np.diff(part) <= 0).any() for part in parts):
            raise StatisticsError("the cuts of a member do not rise")
        return cls(tuple(parts), n_states, missing.astype(bool))


def labels_of(table: EnsembleTable) -> Labels:
    """Give the classes of rows as the statistics read them."""
    codes = narrow_codes(table.labels, table.n_classes)
    count = np.bincount(codes, minlength=table.n_classes)
    return Labels(declared_codes("class", table.n_classes), codes, count)


def counted_classes(table: EnsembleTable) -> ClassCounts:
    """Count the rows of each class."""
    return ClassCounts.of(labels_of(table), weight_of(table))


def weight_of(table: EnsembleTable) -> Array | None:
    """Give the weights of rows as the statistics read them."""
    return checked_weight(table.weight, len(table))


def declared_codes(name: str, n_codes: int) -> Variable:
    """Make a variable whose states are codes, and stay though no row has them any more."""
    return Variable.of_codes(name, n_codes, frozenset(range(n_codes)))


def without_numbers(table: EnsembleTable) -> EnsembleTable:
    """Give the rows with their categories alone."""
    return replace(table, numbers=table.numbers[:, :0])
