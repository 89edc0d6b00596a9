"""What each column alone tells about the class, MI(X; Y), for each row with that row not counted.

Written as sums of n log n, mutual information is moved by taking a row out in four places only:

    N MI = sum of N(x, y) log N(x, y) - sum of N(x) log N(x) - sum of N(y) log N(y) + N log N

over the rows that have a value in X. `structure.mutual_information` is the same with all rows counted.
"""

import numpy as np
from scipy.special import xlogy

from bayeswater.estimate.pairs import PairEstimate
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import Array


def information_without(estimate: PairEstimate, slots: Array, codes: Array, removed: Array) -> Array:
    """Mutual information of each column with the class, never negative: (n_rows, n_columns)."""
    start = estimate.start[:-1]
    of_class = estimate.observed  # (n_columns, n_classes)
    total = of_class.sum(axis=1)
    part = (
        np.add.reduceat(_nlogn(estimate.single).sum(axis=1), start)
        - np.add.reduceat(_nlogn(estimate.support), start)
        - _nlogn(of_class).sum(axis=1)
        + _nlogn(total)
    )
    r = np.where(estimate.is_state[slots], removed[:, None], 0.0)
    whole = remainder(total, r)
    moved = (
        _step(estimate.single[slots, codes[:, None]], r)
        - _step(estimate.support[slots], r)
        - _step(of_class.T[codes], r)
        + _step(total, r)
    )
    return np.maximum(part + moved, 0.0) / np.where(whole > 0, whole, 1.0)


def _nlogn(n: Array) -> Array:
    found: Array = xlogy(n, n)
    return found


def _step(n: Array, removed: Array) -> Array:
    """How n log n moves."""
    return _nlogn(remainder(n, removed)) - _nlogn(n)
