"""Sums over the cells of every column that are counts: whole numbers from 0 on.

For each class: the weight of the counts and of all other cells, the sum of the counts, and that of log x!. Whole
numbers above 2**53 are no counts: there every float is whole, and being so says nothing.
"""

from itertools import accumulate
from math import log, pi
from operator import mul

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

BEYOND_COUNTS = 2.0**53

LOG_FACTORIALS = np.array([log(x) for x in accumulate(range(1, 1024), mul, initial=1)])
"""Of small numbers; from here on Stirling's series with two terms has every digit of a float64."""

LOG_ROOT = 0.5 * log(2 * pi)


def class_whole_sums(
    X: Array, y: Array, weight: Array | None, n_classes: int, *, use_loop: bool
) -> tuple[Array, Array, Array, Array]:
    """Sum one block of rows: weights of counts and of other cells, sums of x and log x!, (n_classes, n_columns) each.

    Missing cells (NaN) are neither.
    """
    sums = tuple(np.zeros((n_classes, X.shape[1])) for _ in range(4))
    if use_loop:
        _class_whole_sums_loop(X, y, weight, LOG_FACTORIALS, *sums)
        return sums  # type: ignore[return-value]
    for j in range(X.shape[1]):
        x = X[:, j].astype(np.float64)
        is_count = (x >= 0) & (x < BEYOND_COUNTS) & (x == np.floor(x))
        is_other = ~is_count & ~np.isnan(x)
        cells = ((is_count, None), (is_other, None), (is_count, x), (is_count, log_factorial(np.where(is_count, x, 0))))
        for target, (rows, values) in zip(sums, cells, strict=True):
            w = np.ones(len(x)) if weight is None else weight
            terms = w[rows] if values is None else w[rows] * values[rows]
            target[:, j] = np.bincount(y[rows], weights=terms, minlength=n_classes)
    return sums  # type: ignore[return-value]


def log_factorial(x: Array) -> Array:
    """Logarithm of x! of whole numbers, given as floats.

    >>> np.exp(log_factorial(np.array([0.0, 3.0, 4.0]))).round(12)
    array([ 1.,  6., 24.])
    """
    small = x < len(LOG_FACTORIALS)
    large = np.where(small, len(LOG_FACTORIALS), x)
    series = (large + 0.5) * np.log(large) - large + LOG_ROOT + (1 / 12 - 1 / (360 * large * large)) / large
    return np.where(small, LOG_FACTORIALS[np.where(small, x, 0).astype(np.intp)], series)


@compiled
def _class_whole_sums_loop(X, y, weight, log_factorials, whole, other, total, factorials):  # type: ignore[no-untyped-def]
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        k = y[i]
        w = 1.0 if weight is None else float(weight[i])
        for j in range(n_columns):
            x = float(X[i, j])
            if x == np.floor(x) and x >= 0.0 and x < BEYOND_COUNTS:  # the most telling first: it is guessed rightly
                whole[k, j] += w
                total[k, j] += w * x
                if x < log_factorials.shape[0]:
                    factorials[k, j] += w * log_factorials[int(x)]
                else:
                    series = (x + 0.5) * log(x) - x + LOG_ROOT + (1 / 12 - 1 / (360 * x * x)) / x
                    factorials[k, j] += w * series
            elif x == x:
                other[k, j] += w
