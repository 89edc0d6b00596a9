"""`SortedColumn`: the numbers of one column class by class, in rising order, from which all of its sums are taken.

Sorting is what a processor does fastest to find equal numbers, and those that share a bucket: they become neighbours.
Each class is one stretch of memory, so its sums are sums of neighbours, too. They do not depend on the order of rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from bayeswater.kernels.key_cells import Cells, cell_starts, keys_of, least_shift
from bayeswater.kernels.log_factorial import log_factorial
from bayeswater.typing import Array

BEYOND_COUNTS = 2.0**53
"""From here on every float is whole, and being so says nothing."""


@dataclass(frozen=True)
class ClassOrder:
    """Rows in the order of their classes: which row is where, and how many there are of each class."""

    rows: Array  # (n_rows,)
    size: Array  # (n_classes,)

    @classmethod
    def of(cls, codes: Array, n_classes: int) -> "ClassOrder":
        """Order the rows of classes (n_rows,)."""
        return cls(np.argsort(codes, kind="stable"), np.bincount(codes, minlength=n_classes))


@dataclass(frozen=True)
class SortedColumn:
    """Numbers (n,), none of them missing, of classes that stand one after the other."""

    x: Array  # float64, rising within each class
    weight: Array | None  # (n,) of the rows that have them; None: each is one row
    size: Array  # (n_classes,): how many are of each class

    @classmethod
    def of(cls, x: Array, weight: Array | None, order: ClassOrder) -> "SortedColumn":
        """Sort a column of numbers (n_rows,), NaN where they are missing; equal numbers of a class become one."""
        x = x.take(order.rows).astype(np.float64, copy=False)
        column = cls(x, None if weight is None else weight[order.rows], order.size)._sorted()
        if np.isnan(column.x[column._limits[1:] - 1]).any():  # they are the last of their class
            column = column.where(~np.isnan(column.x))
        return column._distinct()

    def _sorted(self) -> "SortedColumn":
        if self.weight is None:
            for own in self._stretches:
                self.x[own].sort()
            return self
        order = np.concatenate([own.start + np.argsort(self.x[own]) for own in self._stretches])
        return replace(self, x=self.x[order], weight=self.weight[order])

    def _distinct(self) -> "SortedColumn":
        """Let equal numbers be one of their weight together, if that leaves half of them or fewer."""
        is_first = self._is_first(self.x)
        if 2 * np.count_nonzero(is_first) > len(self.x):
            return self
        first = np.flatnonzero(is_first)
        return SortedColumn(self.x[first], self._run_weights(first), self._class_sizes(first))

    def _is_first(self, values: Array) -> Array:
        """Where values (n,) that belong to the numbers are others than those before them in their class."""
        is_first = np.ones(len(values), dtype=bool)
        np.not_equal(values[1:], values[:-1], out=is_first[1:])
        is_first[self._first] = True
        return is_first

    def _run_weights(self, first: Array) -> Array:
        """Weight of the numbers from each start on up to the next."""
        return np.diff(first, append=len(self.x)) if self.weight is None else np.add.reduceat(self.weight, first)

    def _class_sizes(self, places: Array) -> Array:
        """Count places among the numbers, in rising order, by class: (n_classes,)."""
        return np.diff(np.searchsorted(places, self._limits))

    @cached_property
    def _limits(self) -> Array:
        """Where each class begins, and last the number of all."""
        return np.concatenate([[0], np.cumsum(self.size)])

    @property
    def _stretches(self) -> list[slice]:
        """Where the numbers of each class stand."""
        return [slice(*limits) for limits in pairwise(self._limits.tolist())]

    @property
    def _first(self) -> Array:
        """Where the least number of each class stands, of those that have one."""
        return self._limits[:-1][self.size > 0]

    def where(self, is_chosen: Array) -> "SortedColumn":
        """Keep some of the numbers."""
        chosen = np.flatnonzero(is_chosen)
        weight = None if self.weight is None else self.weight[chosen]
        return SortedColumn(self.x[chosen], weight, self._class_sizes(chosen))

    def class_sums(self, values: Array) -> Array:
        """Sum values (n,) that belong to the numbers over the rows of every class: (n_classes,)."""
        terms = values if self.weight is None else values * self.weight
        sums = np.zeros(len(self.size), dtype=terms.dtype)
        if len(self.x):
            sums[self.size > 0] = np.add.reduceat(terms, self._first)
        return sums

    @cached_property
    def class_weight(self) -> Array:
        """Weight of the rows of every class: (n_classes,)."""
        return self.size if self.weight is None else self.class_sums(np.ones(1, dtype=self.weight.dtype))

    def moments(self) -> tuple[Array, Array, Array]:
        """Weight, mean and scatter of every class, from distances to its median.

        The mean is no further from the median than the standard deviation, so the squares of the distances sum to no
        more than twice the scatter, and hardly a digit is lost when it is taken from them.
        """
        median, total, square = self._medians(), np.zeros(len(self.size)), np.zeros(len(self.size))
        with np.errstate(over="ignore", invalid="ignore"):  # the model looks at the sums and names the column
            for k, own in enumerate(self._stretches):
                away = self.x[own] - median[k]
                weighted = away if self.weight is None else away * self.weight[own]
                total[k] = weighted.sum()
                weighted *= away
                square[k] = weighted.sum()
            shift = total / np.where(self.size > 0, self.class_weight, 1)
            return self.class_weight, median + shift, square - shift * total

    def _medians(self) -> Array:
        """Median of every class, a number that occurs; 0 where there is none."""
        middle = self.size // 2
        if self.weight is not None:
            until = (np.cumsum(self.weight[own]) for own in self._stretches)
            middle = np.array([np.searchsorted(w, half) for w, half in zip(until, self.class_weight / 2, strict=True)])
        medians = np.zeros(len(self.size))
        medians[self.size > 0] = self.x[(self._limits[:-1] + middle)[self.size > 0]]
        return medians

    def logarithms(self) -> "SortedColumn":
        """Give the logarithms of the numbers over 0, and leave out all others."""
        positive = self if (self.x[self._first] > 0).all() else self.where(self.x > 0)
        return replace(positive, x=np.log(positive.x))

    def whole_sums(self) -> tuple[Array, Array, Array, Array]:
        """Weights of counts and of other numbers, sums of x and log x! of the counts: (n_classes,) each.

        Counts are whole numbers from 0 on, below 2**53.
        """
        is_count = self.x == np.floor(self.x)
        if is_count.any():
            is_count &= (self.x >= 0) & (self.x < BEYOND_COUNTS)
        counts = self.where(is_count)
        whole = counts.class_weight
        other = self.size - whole if self.weight is None else self.class_sums(~is_count)
        return whole, other, counts.class_sums(counts.x), counts.class_sums(log_factorial(counts.x))

    def key_cells(self, *, most: int, probed: int) -> Cells:
        """Histogram of at most `most` buckets; about `probed` numbers tell how wide they are at least."""
        key, n_classes = keys_of(self.x), len(self.size)
        shift = least_shift(np.sort(key[:: max(1, len(key) // probed)]), most)
        bucket = key >> shift
        first = np.flatnonzero(self._is_first(bucket))
        code = np.repeat(np.arange(n_classes, dtype=np.min_scalar_type(n_classes)), self._class_sizes(first))
        bucket = bucket[first]
        further = least_shift(np.sort(bucket), most)
        if further:
            kept = cell_starts(bucket >> further, code)
            first, code = first[kept], code[kept]
        last = np.append(first, len(key))[1:] - 1
        return Cells(shift + further, key[first], key[last], code, self._run_weights(first))
