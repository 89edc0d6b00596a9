"""Numbers that round to the same are in one interval.

Rounding is NumPy's, half to even: 0.5 becomes 0 and 1.5 becomes 2. A cut is the largest float that still rounds down,
so that the intervals are those of rounding to the last digit. A number that rounds to what was never seen goes to
the nearest that was.
"""

import numpy as np

from bayeswater.data.discretising.value_cells import half_way
from bayeswater.typing import Array

MOST_DECIMALS = 300
"""Digits after the point, or before it, to which values are rounded: beyond, a unit of the last digit is no float."""

FLOATS = np.finfo(np.float64)


def rounding_cuts(values: Array, decimals: int) -> Array:
    """Cut a column between the rounded values that it has.

    >>> rounding_cuts(np.array([0.1, 0.9, 2.2]), 0)
    array([0.5, 1.5])
    """
    rounded = np.unique(_rounded(values, decimals))
    return _last_rounding_to(half_way(rounded[:-1], rounded[1:]), decimals)


def _rounded(values: Array, decimals: int) -> Array:
    """Round; a number so large that it has no such digits, and overflows on the way to them, stays as it is."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(values, decimals)
    return np.where(np.isfinite(rounded), rounded, values)


def _last_rounding_to(limit: Array, decimals: int) -> Array:
    """Largest floats whose rounded value is no more than a limit.

    Rounding never decreases, so halving the floats between what rounds down and what rounds up finds them.
    """
    step = np.maximum(10.0**-decimals, np.abs(limit) * FLOATS.eps)  # large floats are further apart than a digit
    with np.errstate(over="ignore"):
        low, high = np.clip([limit - step, limit + step], FLOATS.min, FLOATS.max)  # round down to it, and above it
    while True:
        middle = low / 2 + high / 2
        is_between = (low < middle) & (middle < high)
        if not is_between.any():
            return low
        is_down = _rounded(middle, decimals) <= limit
        low = np.where(is_between & is_down, middle, low)
        high = np.where(is_between & ~is_down, middle, high)
