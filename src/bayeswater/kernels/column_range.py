"""Smallest and largest value of every column of integers."""

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array


def column_range(X: Array, *, use_loop: bool) -> tuple[Array, Array]:
    """Find the range of each column of one block of rows.

    >>> import numpy as np
    >>> column_range(np.array([[1, 5], [3, 2]]), use_loop=False)
    (array([1, 2]), array([3, 5]))
    """
    low, high = X[0].copy(), X[0].copy()
    if not _column_range_loop.serves(X.size, X, low, high, use_loop=use_loop):
        return X.min(axis=0), X.max(axis=0)
    _column_range_loop(X, low, high)
    return low, high


@compiled
def _column_range_loop(X, low, high):  # type: ignore[no-untyped-def]
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        for j in range(n_columns):
            low[j] = min(low[j], X[i, j])
            high[j] = max(high[j], X[i, j])
