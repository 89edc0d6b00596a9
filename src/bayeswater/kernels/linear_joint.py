"""Rows times weights, for every class: ``joint[i, k] = sum_j x_ij weight[j, k]``.

Weights lie feature by feature, so that one non-zero cell fetches the vector over classes. With a threshold x is
marked (0 or 1).
"""

import numpy as np
from scipy.sparse import csr_array

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

STRETCH_CELLS = 65_536
"""Cells marked at a time before they are multiplied: they stay in the second-level cache."""


def dense_times_weights(X: Array, weight: Array, threshold: float | None) -> Array:
    """Multiply one block of dense rows: (n_rows, n_classes); BLAS does the work on stretches of float64."""
    if threshold is None and X.dtype == np.float64:
        return X @ weight
    joint = np.empty((len(X), weight.shape[1]))
    stretch = max(1, STRETCH_CELLS // max(1, X.shape[1]))
    for start in range(0, len(X), stretch):
        rows = slice(start, start + stretch)
        x = X[rows] if threshold is None else X[rows] > threshold
        np.matmul(x.astype(np.float64), weight, out=joint[rows])
    return joint


def sparse_times_weights(
    indptr: Array, indices: Array, data: Array, weight: Array, threshold: float | None, *, use_loop: bool
) -> Array:
    """Multiply rows of a CSR matrix, given by their stretch of `indptr`: (n_rows, n_classes)."""
    if not use_loop:
        stored = slice(indptr[0], indptr[-1])
        x = data[stored] if threshold is None else data[stored] > threshold
        X = csr_array((x.astype(np.float64), indices[stored], indptr - indptr[0]), shape=(len(indptr) - 1, len(weight)))
        return X @ weight
    joint = np.zeros((len(indptr) - 1, weight.shape[1]))
    _sparse_times_weights_loop(indptr, indices, data, weight, threshold, joint)
    return joint


@compiled
def _sparse_times_weights_loop(indptr, indices, data, weight, threshold, joint):  # type: ignore[no-untyped-def]
    n_classes = joint.shape[1]
    for i in range(joint.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            x = data[p] if threshold is None else data[p] > threshold
            for k in range(n_classes):
                joint[i, k] += x * weight[j, k]
