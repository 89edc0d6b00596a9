"""`KeyCounts`: a histogram of every column of numbers, fine enough to cut bins from, that is itself a sum.

Buckets are named by the leading bits of the floats (see `kernels.key_cells`), so they depend on no unit and no
quantile: histograms of any rows can be added and subtracted. Up to `MOST_BUCKETS` different numbers of a column are
kept apart; of more, just so many of the last bits are dropped that no more buckets are left. Histograms of different
widths are brought to the coarser one. Subtraction does not make buckets finer again. Only what occurs is kept: cells in
the order of column, class and key.

`Occupied` holds the stretches of the real line where a column has values, and the limits half way between them. Each
stretch reaches from the least to the largest value in a bucket of a histogram: where a bucket has but one value,
`first` and `last` are that value. In a column of whole numbers the limits are halves, which no value can meet. The
outermost limits mirror the inner ones of the outermost stretches.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from bayeswater.data.matrix import column_name
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.key_cells import KeyCells, joined, numbers_of
from bayeswater.kernels.threads import ordered_map
from bayeswater.records import record
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array


@record
class Occupied:
    """Stretches in rising order, with the weight of the rows in each: (n,) arrays.

    >>> Occupied(np.array([0.0, 1.0, 5.0]), np.array([0.0, 1.0, 5.0]), np.ones(3), is_whole=True).limits
    array([-0.5,  0.5,  3.5,  6.5])
    """

    first: Array
    last: Array
    weight: Array
    is_whole: bool

    @property
    def are_values(self) -> bool:
        """Whether each stretch is a single value."""
        return bool((self.first == self.last).all())

    @cached_property
    def limits(self) -> Array:
        """Limits (n + 1,) of the cells around the stretches, one cell for each."""
        middle = self.last[:-1] / 2 + self.first[1:] / 2  # of large numbers the sum might overflow
        if self.is_whole:
            middle = np.floor(middle) + 0.5
        middle = np.where(middle > self.last[:-1], middle, self.first[1:])  # where no float is between them
        if not len(middle):
            half = 0.5 if self.is_whole else 0.0
            return np.concatenate([self.first - half, self.last + half])
        below, above = middle[0] - self.last[0], self.first[-1] - middle[-1]
        return np.concatenate([[self.first[0] - below], middle, [self.last[-1] + above]])

    @cached_property
    def hidden_variance(self) -> Array:
        """Variance (n,) that values spread evenly over a cell would have, beyond that of values over its stretch.

        The variance of values spread evenly over the width w is w^2 / 12, and that of m neighbouring whole numbers
        (m^2 - 1) / 12.
        """
        width = self.last - self.first
        within = (width + 1) ** 2 - 1 if self.is_whole else width**2
        return (np.diff(self.limits) ** 2 - within) / 12

    def logarithms(self) -> "Occupied":
        """The stretches of the logarithms of the values, which must all be over 0."""
        return Occupied(np.log(self.first), np.log(self.last), self.weight, is_whole=False)


MOST_BUCKETS = 2**14
"""Buckets of a column: many times more than bins are cut from them, and few enough to keep for every column."""

PROBED = 2 * MOST_BUCKETS
"""Numbers of its largest class, evenly spread, by which the search for the shift of a column begins."""


@record
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

    def between(self, starts: Array) -> Array:
        """Counts (n + 1, n_classes) of the stretches of buckets that begin at 0 and at n places in rising order."""
        if self.count.dtype.kind == "f":  # of a difference of fractions digits would cancel
            return self.grouped(np.searchsorted(starts, np.arange(len(self.first)), side="right"), len(starts) + 1)
        return np.diff(self._before[np.concatenate([[0], starts, [len(self.first)]])], axis=0)

    @cached_property
    def _before(self) -> Array:
        """Counts of the buckets before each one, and of all: (n_buckets + 1, n_classes)."""
        table = np.zeros((len(self.first) + 1, self.n_classes), dtype=self.count.dtype)
        table[1:] = self.grouped(np.arange(len(self.first)), len(self.first))
        return np.cumsum(table, axis=0, out=table)

    def grouped(self, group: Array, n_groups: int) -> Array:
        """Counts (n_groups, n_classes) when each bucket belongs to a group (n_buckets,)."""
        cell = group[self.place] * self.n_classes + self.code
        flat = np.bincount(cell, weights=self.count, minlength=n_groups * self.n_classes)
        return flat.astype(self.count.dtype).reshape(n_groups, self.n_classes)


@record(eq=False)
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
    def of_columns(cls, classes: Variable, names: tuple[str, ...] | None, columns: Sequence[KeyCells]) -> Self:
        """Put the histograms of single columns side by side."""
        start = np.cumsum([0, *(len(column.low) for column in columns)])
        arrays = (np.concatenate(parts) for parts in zip(*(column[1:] for column in columns), strict=True))
        return cls(classes, names, np.array([column.shift for column in columns]), start, *arrays)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.shift)

    def cells(self, j: int) -> KeyCells:
        """Cells of one column, by key."""
        own = slice(self.start[j], self.start[j + 1])
        return KeyCells(int(self.shift[j]), self.low[own], self.high[own], self.code[own], self.count[own])

    def of_column(self, j: int) -> ColumnHistogram:
        """Cells of one column, by number."""
        if j not in self._histograms:
            self._histograms[j] = self._histogram(j)
        return self._histograms[j]

    @cached_property
    def _histograms(self) -> dict[int, ColumnHistogram]:
        """Those that were asked for."""
        return {}

    def _histogram(self, j: int) -> ColumnHistogram:
        shift, low, high, code, count = self.cells(j)
        order = np.argsort(low, kind="stable")
        low, high = low[order], high[order]
        bucket = low >> shift
        is_new = np.ones(len(bucket), dtype=bool)
        is_new[1:] = bucket[1:] != bucket[:-1]
        start = np.flatnonzero(is_new)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.cumsum(is_new) - 1
        first, last = numbers_of(low[start]), numbers_of(np.maximum.reduceat(high, start))
        return ColumnHistogram(first, last, place, code, count, self.n_classes)

    def hstack(self, other: Self) -> Self:
        """Put further columns of the same rows behind these."""
        theirs = other.onto(self.classes)
        names = [column_name(part.names, j) for part in (self, other) for j in range(part.n_columns)]
        columns = [part.cells(j) for part in (self, theirs) for j in range(part.n_columns)]
        return self.of_columns(self.classes, tuple(names), columns)

    def take(self, columns: Sequence[int]) -> Self:
        """Counts of some columns, in the given order."""
        names = tuple(column_name(self.names, j) for j in columns)
        return self.of_columns(self.classes, names, [self.cells(j) for j in columns])

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
            moved = KeyCells(shift, low[known], high[known], code_of[code[known]], count[known])
            columns.append(joined([moved], MOST_BUCKETS))
        return self.of_columns(classes, self.names, columns)

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
        def column_cells(j: int) -> KeyCells:
            return joined([self.cells(j), other.cells(j)], MOST_BUCKETS)

        columns = list(ordered_map(column_cells, range(self.n_columns)))
        return self.of_columns(self.classes, self.names, columns)

    def _minus(self, other: Self, rest: Self | None) -> Self:
        """Add the other with a count of 0, and 0 with its count: both then have the same cells."""
        mine = self._plus(other.scaled(0))
        theirs = self.scaled(0)._plus(other)
        count = mine.taken_away("count", mine.count.astype(self.count.dtype), theirs.count.astype(other.count.dtype))
        columns = []
        for j in range(self.n_columns):
            shift, low, high, code, _ = mine.cells(j)
            own = count[mine.start[j] : mine.start[j + 1]]
            remains = own > 0
            columns.append(KeyCells(shift, low[remains], high[remains], code[remains], own[remains]))
        return self.of_columns(self.classes, self.names, columns)

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        j = int(np.searchsorted(self.start, place[0], side="right")) - 1
        value = float(numbers_of(self.low[[place[0]]])[0])
        label = self.classes.states[int(self.code[place])]
        return f"the count of {column_name(self.names, j)!r} near {value:.4g} in class {label!r}"

    def _columns(self) -> list[str]:
        return [column_name(self.names, j) for j in range(min(self.n_columns, 10))]
