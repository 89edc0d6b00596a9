"""Bins of about equal weight (`data.reading.discretising.value_cells`), cut where a column has no values."""

from bayeswater.data.reading.discretising.value_cells import first_of_bins
from bayeswater.statistics.key_counts import Occupied


def quantile_cuts(occupied: Occupied, n_bins: int) -> tuple[float, ...]:
    """Choose the cuts of at most `n_bins` bins, in rising order.

    >>> import numpy as np
    >>> ages = np.array([1.0, 2.0, 3.0, 4.0])
    >>> quantile_cuts(Occupied(ages, ages, np.array([2, 2, 1, 3]), is_whole=True), 2)
    (2.5,)
    """
    starts = first_of_bins(occupied.weight, n_bins)
    return tuple(occupied.limits[starts[1:]].tolist())
