"""`KeyCounts`: a histogram of every column of numbers, fine enough to cut bins from, that is itself a sum.

Buckets are named by the leading bits of the floats (see `kernels.key_cells`), so they depend on no unit and no
quantile: histograms of any rows can be added and subtracted. Up to `MOST_BUCKETS` different numbers of a column are
kept apart; of more, just so many of the last bits are dropped that no more buckets are left. Histograms of different
widths are brought to the coarser one. Subtraction does not make buckets finer again.

Only what occurs is kept: cells in the order of column, bucket and class.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnMatrix, DenseTable, column_name
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.key_cells import Cells, count_keys, joined, keys_of, least_shift, numbers_of
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array

MOST_BUCKETS = 2**14
"""Buckets of a column: many times more than bins are cut from them, and few enough to keep for every column."""

PROBED = 4 * MOST_BUCKETS
"""Rows, spread over the column, by which the search for its shift begins, if there are many more."""


@dataclass(frozen=True)
class ColumnHistogram:
    """The cells of one column, in the order of its buckets."""

    first: Array  # (n_buckets,): the least number in each, of those that occur
    last: Array  # (n_buckets,): and the largest
    place: Array  # (n_cells,): where among them the bucket of a cell stands
    code: Array  # (n_cells,): class
    count: Array  # (n_cells,)
    n_classes: int

    @cached_property
    def pooled(self) -> Array:
        """Weight of each bucket over all classes: (n_buckets,)."""
        return np.bincount(self.place, weights=self.count, minlength=len(self.first))

    def class_sums(self, of_bucket: Array) -> Array:
        """Sum a number (n_buckets,) that belongs to a bucket over the rows of every class: (n_classes,)."""
        return np.bincount(self.code, weights=self.count * of_bucket[self.place], minlength=self.n_classes)

    def grouped(self, group: Array, n_groups: int) -> Array:
        """Counts (n_groups, n_classes) when each bucket belongs to a group (n_buckets,)."""
        cell = group[self.place] * self.n_classes + self.code
        flat = np.bincount(cell, weights=self.count, minlength=n_groups * self.n_classes)
        return flat.astype(self.count.dtype).reshape(n_groups, self.n_classes)


@dataclass(frozen=True, eq=False)
class KeyCounts(Statistic):
    """Counts (n_cells,) of the cells that occur, column by column: int64, or float64 for fractional weights.

    Column j has the cells from ``start[j]`` up to ``start[j + 1]``, whose buckets leave out ``shift[j]`` bits of the
    keys; `low` and `high` are the least and the largest key in each cell.
    """

    names: tuple[str, ...] | None
    shift: Array
    start: Array
    low: Array
    high: Array
    code: Array
    count: Array

    @classmethod
    def of(cls, matrix: DenseTable, labels: Labels, weight: Array | None) -> Self:
        """Count some rows, column by column; missing cells are in no bucket."""
        n_rows, n_columns = matrix.shape
        use_loop = worth_compiling(n_rows * n_columns)
        kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64

        def column_cells(j: int) -> Cells:
            every = max(1, n_rows // PROBED)
            shift = 0
            if every > 1:
                probe = _column_block(matrix, j, slice(None, None, every))
                shift = least_shift(np.sort(keys_of(probe[~np.isnan(probe)])), MOST_BUCKETS)
            blocks = (
                (_column_block(matrix, j, rows), labels.codes[rows], None if weight is None else weight[rows])
                for rows in row_blocks(n_rows)
            )
            return count_keys(blocks, kind, labels.n_classes, most=MOST_BUCKETS, shift=shift, use_loop=use_loop)

        columns = list(ordered_map(column_cells, range(n_columns)))
        return cls(labels.variable, matrix.names, *_side_by_side(columns))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.shift)

    def cells(self, j: int) -> Cells:
        """Cells of one column, by key."""
        own = slice(self.start[j], self.start[j + 1])
        return Cells(int(self.shift[j]), self.low[own], self.high[own], self.code[own], self.count[own])

    def of_column(self, j: int) -> ColumnHistogram:
        """Cells of one column, by number."""
        shift, low, high, code, count = self.cells(j)
        bucket = low >> shift
        is_new = np.ones(len(bucket), dtype=bool)
        is_new[1:] = bucket[1:] != bucket[:-1]
        start = np.flatnonzero(is_new)
        first, last = np.minimum.reduceat(low, start), np.maximum.reduceat(high, start)
        return ColumnHistogram(numbers_of(first), numbers_of(last), np.cumsum(is_new) - 1, code, count, self.n_classes)

    def beside(self, other: Self) -> Self:
        """Put further columns of the same rows behind these."""
        theirs = other.onto(self.classes)
        names = [column_name(part.names, j) for part in (self, other) for j in range(part.n_columns)]
        columns = [part.cells(j) for part in (self, theirs) for j in range(part.n_columns)]
        return type(self)(self.classes, tuple(names), *_side_by_side(columns))

    def take(self, columns: Sequence[int]) -> Self:
        """Counts of some columns, in the given order."""
        names = tuple(column_name(self.names, j) for j in columns)
        return type(self)(self.classes, names, *_side_by_side([self.cells(j) for j in columns]))

    def onto(self, classes: Variable) -> Self:
        """Lay the counts out for other classes."""
        if classes.states == self.classes.states:
            return replace(self, classes=classes)
        kept, place = self.classes.shared_codes(classes)
        code_of = np.full(self.n_classes, -1)
        code_of[kept] = place
        columns = []
        for shift, low, high, code, count in map(self.cells, range(self.n_columns)):
            known = code_of[code] >= 0
            moved = Cells(shift, low[known], high[known], code_of[code[known]], count[known])
            columns.append(joined([moved], classes.n_states, MOST_BUCKETS))
        return type(self)(classes, self.names, *_side_by_side(columns))

    def scaled(self, factor: float) -> Self:
        """Let every row count `factor` times what it did."""
        return replace(self, count=self.count * factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyCounts):
            return NotImplemented
        theirs = other.to_arrays()
        return self.domain == other.domain and all(
            np.array_equal(array, theirs[name]) for name, array in self.to_arrays().items()
        )

    __hash__ = None

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        if (self.n_columns, self.names) != (other.n_columns, other.names):
            raise StatisticsError(
                f"columns {self._columns()} here, {other._columns()} there: their histograms cannot be combined"
            )
        classes = self.classes.union(other.classes)
        return self.onto(classes), other.onto(classes)

    def _plus(self, other: Self) -> Self:
        def column_cells(j: int) -> Cells:
            return joined([self.cells(j), other.cells(j)], self.n_classes, MOST_BUCKETS)

        columns = list(ordered_map(column_cells, range(self.n_columns)))
        return type(self)(self.classes, self.names, *_side_by_side(columns))

    def _minus(self, other: Self, rest: Self | None) -> Self:
        """Add the other with a count of 0, and 0 with its count: both then have the same cells."""
        mine = self._plus(other.scaled(0))
        theirs = self.scaled(0)._plus(other)
        count = mine._taken_away("count", mine.count.astype(self.count.dtype), theirs.count.astype(other.count.dtype))
        columns = []
        for j in range(self.n_columns):
            shift, low, high, code, _ = mine.cells(j)
            own = count[mine.start[j] : mine.start[j + 1]]
            remains = own > 0
            columns.append(Cells(shift, low[remains], high[remains], code[remains], own[remains]))
        return type(self)(self.classes, self.names, *_side_by_side(columns))

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        j = int(np.searchsorted(self.start, place[0], side="right")) - 1
        value = float(numbers_of(self.low[[place[0]]])[0])
        label = self.classes.states[int(self.code[place])]
        return f"the count of {column_name(self.names, j)!r} near {value:.4g} in class {label!r}"

    def _columns(self) -> list[str]:
        return [column_name(self.names, j) for j in range(min(self.n_columns, 10))]


def _side_by_side(columns: Sequence[Cells]) -> tuple[Array, ...]:
    """Shift, start, low, high, code and count of all columns."""
    start = np.cumsum([0, *(len(column.low) for column in columns)])
    arrays = (np.concatenate(parts) for parts in zip(*(column[1:] for column in columns), strict=True))
    return np.array([column.shift for column in columns]), start, *arrays


def _column_block(matrix: DenseTable, j: int, rows: slice) -> Array:
    """Some rows of one column in float64: a view where they are so already."""
    column = matrix.columns[j][rows] if isinstance(matrix, ColumnMatrix) else matrix.values[rows, j]
    return column.astype(np.float64, copy=False)
