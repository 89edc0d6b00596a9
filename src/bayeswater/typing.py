"""Names for the array types used throughout, and what counts as a number."""

from math import isfinite
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


LARGEST_COUNT = 1e300
"""Pseudo-counts are no larger: sums of them, over as many states as there may be, are numbers still."""

LEAST_TEMPERATURE = 1e-100
"""Temperatures are no smaller: log-probabilities by them are numbers still."""


def is_number(value: object) -> TypeGuard[float]:
    """Tell a finite real number from anything else.

    >>> is_number(2), is_number(float("nan")), is_number("2")
    (True, False, False)
    """
    if not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def is_pseudo_count(value: object) -> TypeGuard[float]:
    """Tell a number of imagined rows from anything else.

    >>> is_pseudo_count(0.5), is_pseudo_count(-1), is_pseudo_count(1e308)
    (True, False, False)
    """
    return is_number(value) and 0 <= float(value) <= LARGEST_COUNT


def is_temperature(value: object) -> TypeGuard[float]:
    """Tell what log-probabilities may be divided by from anything else.

    >>> is_temperature(0.5), is_temperature(0), is_temperature(1e-300)
    (True, False, False)
    """
    return is_number(value) and float(value) >= LEAST_TEMPERATURE
