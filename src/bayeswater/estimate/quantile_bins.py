"""Bins of about equal weight, cut where a column has no values.

A value that alone outweighs a bin gets a bin of its own, and the others share what is left; so 91 % of zeros do not
swallow the bins of the rest, and a column of few distinct values has one bin for each.
"""

from itertools import pairwise

import numpy as np

from bayeswater.statistics.occupied import Occupied
from bayeswater.statistics.statistic import ROUNDING
from bayeswater.typing import Array


def quantile_cuts(occupied: Occupied, n_bins: int) -> tuple[float, ...]:
    """Choose the cuts of at most `n_bins` bins, in rising order.

    >>> ages = np.array([1.0, 2.0, 3.0, 4.0])
    >>> quantile_cuts(Occupied(ages, ages, np.array([2, 2, 1, 3]), is_whole=True), 2)
    (2.5,)
    """
    n = len(occupied.first)
    starts = np.arange(n) if n <= n_bins else np.array(_first_of_bins(occupied.weight, n_bins))
    return tuple(occupied.limits[starts[1:]].tolist())


def _first_of_bins(weight: Array, n_bins: int) -> list[int]:
    """Stretch at which each bin begins."""
    heavy = _heavy(weight, n_bins)
    light = np.where(heavy, 0.0, weight)
    middle = np.cumsum(light) - light / 2  # where the middle of each stretch stands among the light ones
    share = middle * ((n_bins - heavy.sum()) / light.sum())
    place = np.floor(share * (1 + ROUNDING))  # what is a whole number but for rounding counts as one
    begins = np.ones(len(weight), dtype=bool)
    begins[1:] = (np.diff(place) > 0) | heavy[1:] | heavy[:-1]
    starts = np.flatnonzero(begins).tolist()
    return _joined(starts, np.add.reduceat(weight, starts).tolist(), n_bins)


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
