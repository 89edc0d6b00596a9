"""The order of numbers that rounding may have moved: those within rounding are equal, and the first of them goes first.

The same counts, added in another order or with weights, may give a mutual information that differs in its last digits.
A structure that hung on them would change with the order of the rows.
"""

import numpy as np

from bayeswater.statistics.statistic import ROUNDING
from bayeswater.typing import Array


def descending_ranks(values: Array) -> Array:
    """Rank numbers (n,) from the largest, 0, on; neighbours within `ROUNDING` of the largest size share a rank.

    >>> descending_ranks(np.array([0.5, 2.0, 0.5 + 1e-14, 0.0]))
    array([1, 0, 1, 2])
    """
    order = np.argsort(-values, kind="stable")
    falling = -np.diff(values[order])
    is_new = falling > ROUNDING * np.abs(values).max(initial=0)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.concatenate([np.zeros(min(1, len(values)), dtype=np.int64), np.cumsum(is_new)])
    return ranks


def descending_order(values: Array) -> Array:
    """Places of the numbers (n,) from the largest to the least; of equal ones the first goes first.

    >>> descending_order(np.array([0.5, 2.0, 0.5 + 1e-14, 0.0]))
    array([1, 0, 2, 3])
    """
    return np.argsort(descending_ranks(values), kind="stable")
