"""`ValueCells`: the values of a column in rising order, and how many rows of each class have each.

It is made by the one sort that discretising a column takes. A value and a class that some row has are a cell; missing
values are in none. Neighbouring values that all have the same single class need not be told apart to part the classes
well: no cut between them is the best one (Fayyad and Irani, 1992), and `joined` makes one stretch of them.

Bins of about equal weight are cut where a column has no values. A value that alone outweighs a bin gets a bin of its
own, and the others share what is left; so 91 % of zeros do not swallow the bins of the rest, and a column of few
distinct values has one bin for each. No cut parts equal values.

`fixed_frequency` asks for the weight of a bin rather than for their number: with enough rows in each, every count in it
is reliable, and more rows give more bins (Yang and Webb, 2009).
"""

from functools import cached_property
from itertools import pairwise
from math import isqrt

import numpy as np

from bayeswater.records import record
from bayeswater.typing import Array


@record
class ValueCells:
    """Stretches of values in rising order, of one value each unless they were joined, and the cells of each.

    Parameters
    ----------
    first, last : (n_values,): least and largest value of each stretch
    start : (n_values + 1,): where the cells of each stretch begin, and the end
    code : (n_cells,): class of each cell
    weight : (n_cells,): weight of its rows, whole or not
    n_classes : number of classes
    """

    first: Array
    last: Array
    start: Array
    code: Array
    weight: Array
    n_classes: int

    @classmethod
    def of(cls, values: Array, labels: Array | None, n_classes: int, weight: Array | None) -> "ValueCells":
        """Sort a column (n_rows,) and count it; without labels, all rows are of class 0.

        >>> cells = ValueCells.of(np.array([2.0, 1.0, np.nan, 2.0]), np.array([0, 1, 1, 1]), 2, None)
        >>> cells.first, cells.start, cells.code, cells.weight
        (array([1., 2.]), array([0, 1, 3]), array([1, 0, 1], dtype=int32), array([1, 1, 1]))
        """
        order = np.argsort(values)
        x = values[order].astype(np.float64, copy=False)
        n = int(np.searchsorted(x, np.nan))  # NaN is sorted last
        order, x = order[:n], x[:n]
        w = None if weight is None else weight[order]
        code = np.zeros(n, dtype=np.int32) if labels is None else labels[order].astype(np.int32)
        is_new = _differ_from_last(x)
        value = x[is_new]
        if len(value) == n:  # every row has a value of its own
            return cls(value, value, np.arange(n + 1), code, np.ones(n, dtype=np.int64) if w is None else w, n_classes)
        cell = (np.cumsum(is_new) - 1) * n_classes + code
        if (cell[1:] < cell[:-1]).any():
            by_cell = np.argsort(cell, kind="stable")  # they are nearly in order, which makes it cheap
            code, cell = code[by_cell], cell[by_cell]  # the values of the rows stay as they are
            w = None if w is None else w[by_cell]
        begins = np.flatnonzero(_differ_from_last(cell))
        count = np.diff(begins, append=n) if w is None else np.add.reduceat(w, begins)
        start = np.append(np.flatnonzero(is_new[begins]), len(begins))
        return cls(value, value, start, code[begins], count, n_classes)

    @cached_property
    def pooled(self) -> Array:
        """Weight of the rows of each stretch: (n_values,)."""
        return np.add.reduceat(self.weight, self.start[:-1]) if len(self.first) else self.weight

    @property
    def joined(self) -> "ValueCells":
        """Neighbours of the same single class as one stretch."""
        if not len(self.first):
            return self
        pure = np.diff(self.start) == 1
        code = self.code[self.start[:-1]]  # where pure, the class
        begins = np.ones(len(self.first), dtype=bool)
        begins[1:] = ~(pure[1:] & pure[:-1] & (code[1:] == code[:-1]))
        if begins.all():
            return self
        head = np.flatnonzero(begins)
        kept = np.repeat(begins, np.diff(self.start))  # cells of heads; those of the rest are added to their head's
        start = np.concatenate([np.cumsum(kept)[self.start[head]] - 1, [kept.sum()]])
        weight = np.add.reduceat(self.weight, np.flatnonzero(kept))
        last = self.last[np.append(head[1:], len(self.first)) - 1]
        return ValueCells(self.first[head], last, start, self.code[kept], weight, self.n_classes)

    def cuts_before(self, stretches: Array) -> Array:
        """Cuts half way between the named stretches and those before them: a value up to a cut is on its left.

        >>> ValueCells.of(np.array([1.0, 2.0, 4.0]), None, 1, None).cuts_before(np.array([1, 2]))
        array([1.5, 3. ])
        """
        return half_way(self.last[stretches - 1], self.first[stretches])


def _differ_from_last(x: Array) -> Array:
    """Mark what is not equal to what stands before it; the first is."""
    differs = np.ones(len(x), dtype=bool)
    np.not_equal(x[1:], x[:-1], out=differs[1:])
    return differs


def half_way(low: Array, high: Array) -> Array:
    """Numbers half way between others; `low` where no float is between both, so that `low` <= cut < `high` always.

    >>> half_way(np.array([1.0, 1e308, 5.0]), np.array([2.0, 1.5e308, np.inf]))
    array([1.50e+000, 1.25e+308, 5.00e+000])
    """
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    return np.where(middle < high, middle, low)


ROUNDING = 1e-12
"""Shares of a weight that differ by no more of it are equal."""


def equal_frequency_cuts(cells: ValueCells, n_bins: int, phase: float = 0.0) -> Array:
    """Cut a column into at most `n_bins` bins of about equal weight.

    A `phase` between 0 and 1 moves all cuts down by this share of a bin, so that the first bin is lighter and one more
    follows the last: members of an ensemble differ in where they cut.

    >>> cells = ValueCells.of(np.array([1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 4.0, 4.0]), None, 1, None)
    >>> equal_frequency_cuts(cells, 2), equal_frequency_cuts(cells, 2, phase=0.5)
    (array([2.5]), array([1.5, 3.5]))
    """
    return cells.cuts_before(first_of_bins(cells.pooled, n_bins, phase)[1:])


def proportional_cuts(cells: ValueCells) -> Array:
    """Cut a column of N rows into the root of N bins, of the root of N rows each: PKID (Yang and Webb, 2001).

    Both grow with the rows: more bins lower the bias, and more rows in each the variance.

    >>> proportional_cuts(ValueCells.of(np.arange(10.0), None, 1, None))
    array([2.5, 6.5])
    """
    return equal_frequency_cuts(cells, max(1, isqrt(int(cells.pooled.sum()))))


def fixed_frequency_cuts(cells: ValueCells, min_rows: float) -> Array:
    """Cut a column, from its least value up, as soon as a bin has `min_rows`; what is left at the end joins the last.

    >>> fixed_frequency_cuts(ValueCells.of(np.arange(10.0), None, 1, None), 3)
    array([2.5, 5.5])
    """
    below = np.cumsum(cells.pooled, dtype=np.float64)  # weight up to and with each value
    enough = min_rows * (1 - ROUNDING)
    starts, done = [], 0.0
    while len(below) and below[-1] - done >= 2 * enough:
        last = int(np.searchsorted(below, done + enough))
        if below[-1] - below[last] < enough:
            break
        starts.append(last + 1)
        done = float(below[last])
    return cells.cuts_before(np.array(starts, dtype=np.int64))


def first_of_bins(weight: Array, n_bins: int, phase: float = 0.0) -> Array:
    """Give the place of the value at which each of at most `n_bins` bins begins, by the weights of the values.

    >>> first_of_bins(np.array([2, 2, 1, 3]), 2)
    array([0, 2])
    """
    return np.arange(len(weight)) if len(weight) <= n_bins else np.array(_first_of_fewer(weight, n_bins, phase))


def _first_of_fewer(weight: Array, n_bins: int, phase: float) -> list[int]:
    heavy = _heavy(weight, n_bins)
    light = np.where(heavy, 0.0, weight)
    middle = np.cumsum(light) - light / 2  # where the middle of each value stands among the light ones
    share = middle * ((n_bins - heavy.sum()) / light.sum())
    place = np.floor(share * (1 + ROUNDING) + phase)  # what is a whole number but for rounding counts as one
    begins = np.ones(len(weight), dtype=bool)
    begins[1:] = (np.diff(place) > 0) | heavy[1:] | heavy[:-1]
    starts = np.flatnonzero(begins).tolist()
    return _joined(starts, np.add.reduceat(weight, starts).tolist(), n_bins + (phase > 0))


def _heavy(weight: Array, n_bins: int) -> Array:
    """Mark what weighs at least as much as a bin of what is not marked, if it has a bin of its own."""
    heavy = np.zeros(len(weight), dtype=bool)
    while True:
        of_bin = weight[~heavy].sum() / (n_bins - heavy.sum())
        more = ~heavy & (weight >= of_bin * (1 + ROUNDING))
        if not more.any():
            return heavy
        heavy |= more


def _joined(starts: list[int], weight: list[float], n_bins: int) -> list[int]:
    """Join the lightest neighbours until no more than `n_bins` are left."""
    while len(starts) > n_bins:
        pair = [a + b for a, b in pairwise(weight)]
        i = pair.index(min(pair))
        weight[i : i + 2] = [pair[i]]
        del starts[i + 1]
    return starts
