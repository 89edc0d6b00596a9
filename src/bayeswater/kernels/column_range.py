"""Smallest and largest value of every column of integers."""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

LANES = 64
"""Rows that the reference takes as one long row: NumPy spends little time between long rows."""


def column_range(X: Array, *, use_loop: bool) -> tuple[Array, Array]:
    """Find the range of each column of one block of rows.

    >>> column_range(np.array([[1, 5], [3, 2]]), use_loop=False)
    (array([1, 2]), array([3, 5]))
    """
    low, high = X[0].copy(), X[0].copy()
    if not _column_range_loop.serves(X.size, X, low, high, use_loop=use_loop):
        return _reduced(np.minimum, X), _reduced(np.maximum, X)
    _column_range_loop(X, low, high)
    return low, high


def _reduced(larger_or_smaller: np.ufunc, X: Array) -> Array:
    """Reduce the rows to one; rows that lie one behind the other are taken as longer ones, as far as they go."""
    n_rows, n_columns = X.shape
    n_long = n_rows // LANES if X.flags.c_contiguous else 0
    long = X[: n_long * LANES].reshape(n_long, LANES * n_columns)
    if n_long > 1:
        X = np.concatenate([larger_or_smaller.reduce(long).reshape(LANES, n_columns), X[n_long * LANES :]])
    reduced: Array = larger_or_smaller.reduce(X)
    return reduced


@compiled
def _column_range_loop(X, low, high):  # type: ignore[no-untyped-def]
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        for j in range(n_columns):
            low[j] = min(low[j], X[i, j])
            high[j] = max(high[j], X[i, j])
