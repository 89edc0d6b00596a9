"""What is left of sums when a part of them is taken away: what is but rounding is nothing."""

import numpy as np

from bayeswater.typing import Array

ROUNDING = 1e-12
"""Float sums of the same rows agree within this share, in whatever order they were added: less is no remainder."""


def remainder(total: Array, part: Array | float) -> Array:
    """What is left of sums when a part of them is taken away: never negative, and zero where it is but rounding.

    >>> remainder(np.array([3.0, 0.1 + 0.2]), np.array([1.0, 0.3]))
    array([2., 0.])
    """
    rest = total - part
    return np.where(rest <= ROUNDING * total, 0.0, rest)
