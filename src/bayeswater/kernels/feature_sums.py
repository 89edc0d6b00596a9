"""Sum of every feature within every class: ``sums[k, j] = sum over rows of class k of w x_j``.

With a threshold, of ``w [x_j > threshold]``: the feature is marked, not measured. Dense rows are taken in
order; sparse rows too where the sums of all classes stay in cache, and else class by class, so that the one row of sums
being written does, and is written by one thread alone.
"""

from itertools import pairwise

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.ordered_sum import ordered_sum
from bayeswater.typing import Array


def class_feature_sums(
    X: Array,
    y: Array,
    weight: Array | None,
    n_classes: int,
    threshold: float | None,
    kind: type,
    *,
    use_loop: bool,
) -> Array:
    """Sum one block of dense rows into (n_classes, n_features) of dtype `kind`."""
    sums: Array = np.zeros((n_classes, X.shape[1]), dtype=kind)
    arguments = X, y, weight, threshold, sums
    if _class_feature_sums_loop.serves(X.size, *arguments, use_loop=use_loop):
        _class_feature_sums_loop(*arguments)
        return sums
    for k, rows in enumerate(rows_by_class(y, n_classes)):
        x = X.take(rows, axis=0) if threshold is None else X.take(rows, axis=0) > threshold
        sums[k] = ordered_sum(x.astype(kind) if weight is None else weight[rows, None] * x)
    return sums


def add_sparse_rows(
    indptr: Array,
    indices: Array,
    data: Array,
    y: Array,
    weight: Array | None,
    threshold: float | None,
    sums: Array,
    *,
    use_loop: bool,
) -> None:
    """Add the rows of a CSR matrix, in their order, into the sums (n_classes, n_features) of their classes."""
    arguments = indptr, indices, data, y, weight, threshold, sums
    if _add_sparse_rows_loop.serves(int(indptr[-1] - indptr[0]), *arguments, use_loop=use_loop):
        _add_sparse_rows_loop(*arguments)
        return
    stored, n_cells = slice(indptr[0], indptr[-1]), np.diff(indptr)
    x = data[stored] if threshold is None else data[stored] > threshold
    if weight is not None:
        x = np.repeat(weight, n_cells) * x
    place = np.repeat(y.astype(np.intp) * sums.shape[1], n_cells)
    place += indices[stored]
    np.add.at(sums.reshape(-1), place, x.astype(sums.dtype, copy=False))


def sparse_rows_sum(
    indptr: Array,
    indices: Array,
    data: Array,
    rows: Array,
    weight: Array | None,
    threshold: float | None,
    sums: Array,
) -> None:
    """Add the given rows of a CSR matrix into one row of `sums` (n_features,)."""
    _sparse_rows_sum_loop(indptr, indices, data, rows, weight, threshold, sums)


def rows_by_class(y: Array, n_classes: int) -> list[Array]:
    """List the rows of each class, in their order.

    >>> rows_by_class(np.array([1, 0, 1]), 3)
    [array([1]), array([0, 2]), array([], dtype=int64)]
    """
    order = np.argsort(y, kind="stable")  # a radix sort for narrow codes
    last = np.cumsum(np.bincount(y, minlength=n_classes)).tolist()
    return [order[first:stop] for first, stop in pairwise([0, *last])]


@compiled
def _class_feature_sums_loop(X, y, weight, threshold, sums):  # type: ignore[no-untyped-def]
    n_rows, n_features = X.shape
    for i in range(n_rows):
        k = y[i]
        for j in range(n_features):
            x = X[i, j] if threshold is None else X[i, j] > threshold
            sums[k, j] += x if weight is None else weight[i] * x


@compiled
def _add_sparse_rows_loop(indptr, indices, data, y, weight, threshold, sums):  # type: ignore[no-untyped-def]
    # Indices are unsigned: they never count from the end, and the compiled loop need not ask.
    for i in range(len(y)):
        k = np.uint64(y[i])
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            x = data[p] if threshold is None else data[p] > threshold
            sums[k, np.uint64(indices[p])] += x if weight is None else weight[i] * x


@compiled
def _sparse_rows_sum_loop(indptr, indices, data, rows, weight, threshold, sums):  # type: ignore[no-untyped-def]
    for row in rows:
        for p in range(indptr[row], indptr[row + 1]):
            x = data[p] if threshold is None else data[p] > threshold
            sums[indices[p]] += x if weight is None else weight[row] * x
