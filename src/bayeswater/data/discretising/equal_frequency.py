"""Bins of about equal weight, cut where a column has no values.

A value that alone outweighs a bin gets a bin of its own, and the others share what is left; so 91 % of zeros do not
swallow the bins of the rest, and a column of few distinct values has one bin for each. No cut parts equal values.

`fixed_frequency` asks for the weight of a bin rather than for their number: with enough rows in each, every count in it
is reliable, and more rows give more bins (Yang and Webb, 2009).
"""

from itertools import pairwise
from math import isqrt

import numpy as np

from bayeswater.data.discretising.value_cells import ValueCells
from bayeswater.typing import Array

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
