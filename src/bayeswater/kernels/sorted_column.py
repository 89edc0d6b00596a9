"""`SortedColumn`: the numbers of one column class by class, in rising order, from which all its sums are taken.

The other functions are loops over a long column: numbers are dealt to their classes, summed and parted into buckets,
and counts get the logarithms of their factorials. Each reads the numbers once where NumPy reads and writes them several
times; `SortedColumn` has the references. Sums of floats run in lanes and short stretches: neither is one addition a
long wait for the one before, nor do errors of rounding pile up.

Sorting is what a processor does fastest to find equal numbers, and those that share a bucket: they become neighbours.
Each class is one stretch of memory, so its sums are sums of neighbours, too. They do not depend on the order of rows.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise
from math import log, pi
from operator import mul

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.key_cells import LARGEST, KeyCells, coarsened, keys_of, last_of, least_shift
from bayeswater.kernels.threads import row_blocks
from bayeswater.records import record
from bayeswater.typing import Array

LOG_FACTORIALS = np.array([log(x) for x in accumulate(range(1, 1024), mul, initial=1)])
"""Of small numbers; from here on Stirling's series with two terms has every digit of a float64."""

LOG_ROOT = 0.5 * log(2 * pi)


def log_factorial(x: Array) -> Array:
    """Logarithm of x! of whole numbers, given as floats.

    >>> np.exp(log_factorial(np.array([0.0, 3.0, 4.0]))).round(12)
    array([ 1.,  6., 24.])
    """
    small = x < len(LOG_FACTORIALS)
    large = np.where(small, len(LOG_FACTORIALS), x)
    series = (large + 0.5) * np.log(large) - large + LOG_ROOT + (1 / 12 - 1 / (360 * large * large)) / large
    return np.where(small, LOG_FACTORIALS[np.where(small, x, 0).astype(np.intp)], series)


LONG = 2**17
"""Numbers of a column from which on it goes through loops."""

STRETCH = 1024
"""Numbers that are summed in four lanes before the lanes are put together."""

LEAST = -(2**63)
"""Below every bucket."""

INFINITY = 0x7FF << 52
"""Bits of infinity: those of NaN, without their sign, are more."""

UNUSED = -1
"""Bits of a NaN, which is never counted."""

DIGITS, COUNTS = 15, 2**17
"""Places for different numbers: at most 2**DIGITS, and of all classes together COUNTS."""

FOLDED_BITS = 34
FOLDED, SPREADING = 2**FOLDED_BITS - 1, 0x1E3779B1
"""Bits of a number to which the others are added, and what parts neighbours: the product has 63 bits."""

BEYOND_COUNTS = 2.0**53
"""From here on every float is whole, and being so says nothing."""


@compiled
def deal(x, codes, place, dealt):  # type: ignore[no-untyped-def]
    """Put the numbers of each class one behind the other, from its place on, in the order of the rows."""
    for i in range(len(x)):
        here = place[codes[i]]
        dealt[here] = x[i]
        place[codes[i]] = here + 1


@compiled
def distance_sums(x, center):  # type: ignore[no-untyped-def]
    """Sum the distances of numbers from a center, and the squares of the distances."""
    total, square = 0.0, 0.0
    for start in range(0, len(x), STRETCH):
        stop = min(start + STRETCH, len(x))
        total_a = total_b = total_c = total_d = 0.0
        square_a = square_b = square_c = square_d = 0.0
        in_lanes = stop - (stop - start) % 4
        for i in range(start, in_lanes, 4):
            a, b, c, d = x[i] - center, x[i + 1] - center, x[i + 2] - center, x[i + 3] - center
            total_a, square_a = total_a + a, square_a + a * a
            total_b, square_b = total_b + b, square_b + b * b
            total_c, square_c = total_c + c, square_c + c * c
            total_d, square_d = total_d + d, square_d + d * d
        for i in range(in_lanes, stop):
            a = x[i] - center
            total_a, square_a = total_a + a, square_a + a * a
        total += (total_a + total_b) + (total_c + total_d)
        square += (square_a + square_b) + (square_c + square_d)
    return total, square


@compiled
def number_of_counts(x):  # type: ignore[no-untyped-def]
    """Tell how many numbers are whole, from 0 on and below 2**53."""
    n = 0
    for i in range(len(x)):
        n += (np.floor(x[i]) == x[i]) & (x[i] >= 0.0) & (x[i] < BEYOND_COUNTS)  # no branch: several at once
    return n


@compiled
def bucket_runs(bits, limits, shift, first, low, high):  # type: ignore[no-untyped-def]
    """Note where in each class, between its limits, another bucket begins, and its least and its largest key.

    Gives the number of them; those for which there is no room are not noted. `key_cells` tells what a key is.
    """
    n, room = 0, len(first)
    for k in range(len(limits) - 1):
        bucket = key = LEAST
        for i in range(limits[k], limits[k + 1]):
            last_bucket, last_key = bucket, key
            sign = bits[i] >> 63
            key = (bits[i] ^ (sign & LARGEST)) - sign
            bucket = key >> shift
            if bucket != last_bucket:
                if i > limits[k] and n <= room:
                    high[n - 1] = last_key
                if n < room:
                    first[n] = i
                    low[n] = key
                n += 1
        if limits[k] < limits[k + 1] and n <= room:
            high[n - 1] = key
    return n


@compiled
def count_numbers(bits, codes, digits, held, count, n):  # type: ignore[no-untyped-def]
    """Count numbers, given by their bits, by class; `held` has 2**digits places for them, of which n are taken.

    Gives how many are taken then: at most half of them, or -1 where there are more numbers.
    """
    last = len(held) - 1
    for i in range(len(bits)):
        number = bits[i]
        if number & LARGEST > INFINITY:
            continue  # it is missing
        if number == LEAST:
            number = 0  # both zeros are one
        mixed = (number ^ (number >> 30)) & FOLDED
        place = (mixed * SPREADING >> (FOLDED_BITS - digits)) & last
        while held[place] != number:
            if held[place] == UNUSED:
                n += 1
                if 2 * n > len(held):
                    return -1
                held[place] = number
            else:
                place = (place + 1) & last
        count[place, codes[i]] += 1
    return n


FEW_CLASSES = 8
"""Up to so many classes, to look for each one is faster than to sort the rows by them."""

CACHED = 2**15
"""Numbers that are worked on at once: what is made of them on the way stays in a second-level cache."""

RUNS = 2**17
"""Buckets for which there is room at first; the numbers themselves are often many times more."""

FACTORS, SMALL_SHARE, SMALL_REST = 8, 1e-30, 1e-3
"""Shares of which one logarithm is taken together, and from where on that keeps all digits."""

COMPARED = 1024
"""Neighbours that are compared, evenly spaced, to tell whether most numbers occur more than once."""


@record
class ClassOrder:
    """Rows in the order of their classes: which row is where, and how many there are of each class."""

    codes: Array  # (n_rows,)
    size: Array  # (n_classes,)

    @classmethod
    def of(cls, codes: Array, n_classes: int) -> "ClassOrder":
        """Order the rows of classes (n_rows,)."""
        return cls(codes, np.bincount(codes, minlength=n_classes))

    @cached_property
    def rows(self) -> Array:
        """Rows of the first class, then those of the second, ...: (n_rows,)."""
        if len(self.size) > FEW_CLASSES:
            return np.argsort(self.codes, kind="stable")
        return np.concatenate([np.flatnonzero(self.codes == k) for k in range(len(self.size))])

    def of_numbers(self, x: Array) -> Array:
        """Copy numbers (n_rows,) in the order of their classes, as float64."""
        if len(x) < LONG:
            return x.take(self.rows).astype(np.float64, copy=False)
        in_order = np.empty(len(x))
        deal(np.ascontiguousarray(x, dtype=np.float64), self.codes, np.cumsum(self.size) - self.size, in_order)
        return in_order


@record
class SortedColumn:
    """Numbers (n,), none of them missing, of classes that stand one after the other."""

    x: Array  # float64, rising within each class
    weight: Array | None  # (n,) of the rows that have them; None: each is one row
    size: Array  # (n_classes,): how many are of each class

    @classmethod
    def of(cls, x: Array, weight: Array | None, order: ClassOrder) -> "SortedColumn":
        """Sort a column of numbers (n_rows,), NaN where they are missing; equal numbers of a class become one."""
        if weight is None and len(x) >= LONG:
            counted = cls._counted(x, order)
            if counted is not None:
                return counted
        column = cls(order.of_numbers(x), None if weight is None else weight[order.rows], order.size)._sorted()
        if np.isnan(column.x[column._limits[1:] - 1]).any():  # they are the last of their class
            column = column.where(~np.isnan(column.x))
        return column._distinct()

    @classmethod
    def _counted(cls, x: Array, order: ClassOrder) -> "SortedColumn | None":
        """Count the different numbers of a column, so that only these are sorted; None where they are too many."""
        n_classes = len(order.size)
        digits = min(DIGITS, max(1, COUNTS // n_classes).bit_length() - 1)
        held, count, n = np.full(1 << digits, UNUSED), np.zeros((1 << digits, n_classes), dtype=np.int64), 0
        for rows in row_blocks(len(x), CACHED):
            block = np.ascontiguousarray(x[rows], dtype=np.float64).view(np.int64).view()
            block.flags.writeable = False  # some are not, and a loop is compiled but once
            n = count_numbers(block, order.codes[rows], digits, held, count, n)
            if n < 0:
                return None
        used = np.flatnonzero(held != UNUSED)
        used = used[np.argsort(held[used].view(np.float64))]
        code, place = np.nonzero(count[used].T)
        used = used[place]
        numbers, weight = held[used].view(np.float64), count[used, code]
        until = np.cumsum(weight)
        if _are_few(int(weight.sum()), lambda at: numbers[np.searchsorted(until, at, side="right")]):
            return cls(numbers, weight, np.bincount(code, minlength=n_classes))
        return cls(np.repeat(numbers, weight), None, count.sum(axis=0))

    def _sorted(self) -> "SortedColumn":
        if self.weight is None:
            for own in self._stretches:
                self.x[own].sort()
            return self
        order = np.concatenate([own.start + np.argsort(self.x[own]) for own in self._stretches])
        return replace(self, x=self.x[order], weight=self.weight[order])

    def _distinct(self) -> "SortedColumn":
        """Let equal numbers be one of their weight together, if most of them occur more than once."""
        if not _are_few(len(self.x), self.x.__getitem__):
            return self
        first, _, _ = self._runs(0)
        return SortedColumn(self.x[first], self._run_weights(first), self._class_sizes(first))

    def _runs(self, shift: int) -> tuple[Array, Array, Array]:
        """Where in a class another bucket begins, in rising order, and the least and the largest key in each."""
        if len(self.x) >= LONG:
            runs = np.empty((3, RUNS), dtype=np.int64)
            n = bucket_runs(self.x.view(np.int64), self._limits, shift, *runs)
            if n > RUNS:
                runs = np.empty((3, n), dtype=np.int64)
                bucket_runs(self.x.view(np.int64), self._limits, shift, *runs)
            return runs[0, :n].copy(), runs[1, :n].copy(), runs[2, :n].copy()
        is_first = np.ones(len(self.x), dtype=bool)
        for rows in row_blocks(len(self.x), CACHED):
            bucket = keys_of(self.x[max(rows.start - 1, 0) : rows.stop]) >> shift
            np.not_equal(bucket[1:], bucket[:-1], out=is_first[max(rows.start, 1) : rows.stop])
        is_first[self._first] = True
        first = np.flatnonzero(is_first)
        return first, keys_of(self.x[first]), keys_of(self.x[last_of(first, len(self.x))])

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
        """Weight, mean and scatter of every class."""
        return self._moments_of(_as_it_is, self._limits[:-1])

    def log_moments(self) -> tuple[Array, Array, Array]:
        """Weight, mean and scatter of the logarithms of the numbers over 0 in every class; others have none."""
        beyond = [own.start + np.searchsorted(self.x[own], 0, side="right") for own in self._stretches]
        return self._moments_of(np.log, np.array(beyond))

    def _moments_of(self, function: Callable[[Array], Array], begin: Array) -> tuple[Array, Array, Array]:
        """Moments of a rising function of the numbers of every class from a place on, from distances to its median.

        The mean is no further from the median than the standard deviation, so the squares of the distances sum to no
        more than twice the scatter, and hardly a digit is lost when it is taken from them.
        """
        stretches = [slice(*limits) for limits in zip(begin.tolist(), self._limits[1:].tolist(), strict=True)]
        size = self._limits[1:] - begin
        weight = size if self.weight is None else np.array([self.weight[own].sum() for own in stretches])
        median, total, square = np.zeros((3, len(size)))
        middles = [self._middle(own) for own in stretches if own.start < own.stop]
        median[size > 0] = function(self.x[np.array(middles, dtype=np.intp)])
        with np.errstate(over="ignore", invalid="ignore"):  # the model looks at the sums and names the column
            for k, own in enumerate(stretches):
                for start in range(own.start, own.stop, CACHED):
                    some = slice(start, min(start + CACHED, own.stop))
                    sums = self._distance_sums(function(self.x[some]), some, median[k])
                    total[k], square[k] = total[k] + sums[0], square[k] + sums[1]
            shift = total / np.where(size > 0, weight, 1)
            return weight, median + shift, square - shift * total

    def _distance_sums(self, values: Array, some: slice, center: float) -> tuple[float, float]:
        """Sum distances of the values of some numbers from a center, and their squares."""
        if len(self.x) >= LONG and self.weight is None:
            return distance_sums(values, center)
        away = values - center
        weighted = away if self.weight is None else away * self.weight[some]
        return weighted.sum(), np.multiply(weighted, away, out=away).sum()

    def _middle(self, own: slice) -> int:
        """Where the median of a stretch stands, which is not empty."""
        if self.weight is None:
            return (own.start + own.stop) // 2
        until = np.cumsum(self.weight[own])
        return int(own.start + np.searchsorted(until, until[-1] / 2))

    def whole_sums(self) -> tuple[Array, Array, Array, Array]:
        """Weights of counts and of other numbers, sums of x and log x! of the counts: (n_classes,) each.

        Counts are whole numbers from 0 on, below 2**53.
        """
        if len(self.x) >= LONG and not number_of_counts(self.x):
            none = np.zeros(len(self.size))
            return np.zeros_like(self.class_weight), self.class_weight, none, none
        chosen = np.empty(len(self.x), dtype=bool)
        for rows in row_blocks(len(self.x), CACHED):
            chosen[rows] = is_count(self.x[rows])
        counts = self.where(chosen)
        whole = counts.class_weight
        other = self.size - whole if self.weight is None else self.class_sums(~chosen)
        return whole, other, counts.class_sums(counts.x), counts.class_sums(log_factorial(counts.x))

    def share_sums(self) -> tuple[Array, Array, Array]:
        """Weight of the numbers over 0 and under 1 of every class, and sums of -log x and -log(1 - x)."""
        near, far = np.zeros((2, len(self.size)))
        inside = np.zeros_like(self.class_weight)
        for k, own in enumerate(self._stretches):
            first, last = np.searchsorted(self.x[own], 0, side="right"), np.searchsorted(self.x[own], 1, side="left")
            x = self.x[own][first:last]
            if self.weight is None:
                inside[k], near[k], far[k] = len(x), *share_logs(x)
            elif len(x):
                weight = self.weight[own][first:last]
                inside[k], near[k], far[k] = weight.sum(), -(weight @ np.log(x)), -(weight @ np.log1p(-x))
        return inside, near, far

    def key_cells(self, *, most: int, probed: int) -> KeyCells:
        """Histogram of at most `most` buckets; about `probed` numbers of a class tell how wide they are at least."""
        n_classes = len(self.size)
        largest = self.x[self._stretches[int(self.size.argmax())]]  # a part of the numbers that is in order as it is
        shift = least_shift(keys_of(largest[:: max(1, len(largest) // probed)]), most)
        first, low, high = self._runs(shift)
        code = np.repeat(np.arange(n_classes, dtype=np.min_scalar_type(n_classes)), self._class_sizes(first))
        return coarsened(KeyCells(shift, low, high, code, self._run_weights(first)), most)


def _are_few(n: int, number_at: Callable[[Array], Array]) -> bool:
    """Say whether most of n numbers, of which the places in rising order are told, occur more than once."""
    some = np.arange(0, n - 1, max(1, n // COMPARED))
    return bool(2 * np.count_nonzero(number_at(some) == number_at(some + 1)) >= len(some))


def share_logs(x: Array) -> tuple[float, float]:
    """Sums of -log x and -log(1 - x) of numbers over 0 and under 1; of products of some, there are fewer logarithms.

    >>> share_logs(np.array([0.5, 0.5]))
    (1.3862943611198906, 1.3862943611198906)
    """
    if not len(x):
        return 0.0, 0.0
    least, most = x.min(), x.max()
    if least < SMALL_SHARE or most < SMALL_REST:  # a product would be no float, or 1 - x no digits of x
        return -float(np.log(x).sum()), -float(np.log1p(-x).sum())
    n = len(x) // FACTORS * FACTORS
    near, far = x[:n].reshape(FACTORS, -1).prod(axis=0), (1 - x[:n]).reshape(FACTORS, -1).prod(axis=0)
    return -float(np.log(near).sum() + np.log(x[n:]).sum()), -float(np.log(far).sum() + np.log1p(-x[n:]).sum())


def is_count(x: Array) -> Array:
    """Mark whole numbers from 0 on, below 2**53."""
    return (np.floor(x) == x) & (x >= 0) & (x < BEYOND_COUNTS)


def _as_it_is(x: Array) -> Array:
    return x
