"""Logarithms of factorials."""

from itertools import accumulate
from math import log, pi
from operator import mul

import numpy as np

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
