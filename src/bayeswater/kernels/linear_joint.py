"""Rows times weights, for every class: ``joint[i, k] = sum_j x_ij weight[j, k]``.

Weights lie feature by feature, so that one non-zero cell fetches the vector over classes. With a threshold x is
marked (0 or 1).
"""

import numpy as np
from scipy.sparse import csr_array

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

STRETCH_CELLS = 65_536
"""Cells multiplied at a time: they stay in the second-level cache, and are too few for BLAS to start own threads."""


def dense_times_weights(X: Array, weight: Array, threshold: float | None) -> Array:
    """Multiply one block of dense rows: (n_rows, n_classes); BLAS does the work on stretches of float64."""
    joint = np.empty((len(X), weight.shape[1]))
    stretch = max(1, STRETCH_CELLS // X.shape[1])
    for start in range(0, len(X), stretch):
        rows = slice(start, start + stretch)
        x = X[rows] if threshold is None else X[rows] > threshold
        np.matmul(x.astype(np.float64, copy=False), weight, out=joint[rows])
    return joint


def sparse_times_weights(
    indptr: Array, indices: Array, data: Array, weight: Array, threshold: float | None, *, use_loop: bool
) -> Array:
    """Multiply rows of a CSR matrix, given by their stretch of `indptr`: (n_rows, n_classes)."""
    stored = slice(indptr[0], indptr[-1])
    indptr, indices, data = indptr - indptr[0], indices[stored], data[stored]
    if threshold is not None:
        data = (data > threshold).view(np.uint8)
    if not use_loop:
        X = csr_array((data.astype(np.float64, copy=False), indices, indptr), shape=(len(indptr) - 1, len(weight)))
        return X @ weight
    joint = np.zeros((len(indptr) - 1, weight.shape[1]))
    _sparse_times_weights_loop(indptr, indices, data, weight, joint)
    return joint


@compiled
def _sparse_times_weights_loop(indptr, indices, data, weight, joint):  # type: ignore[no-untyped-def]
    # Four cells go together: their rows of weights, spread over memory, are fetched at the same time, and a sum is
    # stored once for the four. Indices are unsigned: they never count from the end, and the compiled loop need not ask.
    n_rows, n_classes = joint.shape
    for i in range(n_rows):
        first, last = indptr[i], indptr[i + 1]
        in_fours = last - (last - first) % 4
        for p in range(first, in_fours, 4):
            a, b = np.uint64(indices[p]), np.uint64(indices[p + 1])
            c, d = np.uint64(indices[p + 2]), np.uint64(indices[p + 3])
            x_a, x_b, x_c, x_d = data[p], data[p + 1], data[p + 2], data[p + 3]
            for k in range(n_classes):
                joint[i, k] += (x_a * weight[a, k] + x_b * weight[b, k]) + (x_c * weight[c, k] + x_d * weight[d, k])
        for p in range(in_fours, last):
            a = np.uint64(indices[p])
            x_a = data[p]
            for k in range(n_classes):
                joint[i, k] += x_a * weight[a, k]
