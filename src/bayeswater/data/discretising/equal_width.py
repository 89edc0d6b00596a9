"""Bins of equal width, from the least to the largest value of a column."""

import numpy as np

from bayeswater.limits import require_table_bytes
from bayeswater.typing import Array


def equal_width_cuts(values: Array, n_bins: int) -> Array:
    """Cut a column of `n_bins` bins; fewer where no float is between two cuts, none where all values are equal.

    >>> equal_width_cuts(np.array([0.0, 1.0, 10.0]), 4)
    array([2.5, 5. , 7.5])
    """
    require_table_bytes(8 * n_bins, f"the cuts of {n_bins} bins of equal width", "take a smaller n_bins")
    low, high = float(values.min()), float(values.max())
    half_width = (high / 2 - low / 2) / n_bins  # by halves, since the distance of large numbers might overflow
    cuts = np.unique(2 * (low / 2 + np.arange(1, n_bins) * half_width))
    return cuts[(low <= cuts) & (cuts < high)]
