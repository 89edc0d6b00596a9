"""Names for the array types used throughout, and what counts as a number."""

from math import isfinite
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


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
