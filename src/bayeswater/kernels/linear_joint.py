"""Rows times weights, for every class: ``joint[i, k] = sum_j x_ij weight[j, k]``.

Weights lie feature by feature, so that one non-zero cell fetches the vector over classes. With a threshold x is
marked (0 or 1).
"""

from functools import cache

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
    joint = np.zeros((len(indptr) - 1, weight.shape[1]))
    arguments = indptr, indices, data, weight, joint
    if use_loop or (
        _scipy_rounds_products() and _sparse_times_weights_loop.serves(len(data), *arguments, use_loop=False)
    ):
        _sparse_times_weights_loop(*arguments)
        return joint
    X = csr_array((data.astype(np.float64, copy=False), indices, indptr), shape=(len(joint), len(weight)))
    return X @ weight


@cache
def _scipy_rounds_products() -> bool:
    """Whether SciPy rounds a product before it is added, as the loop does; compiled for some machines it does not."""
    x = 1 + 2.0**-30  # of its square, 2**-60 does not fit beside 1
    return float((csr_array([[-1.0, x]]) @ np.array([[x * x], [x]]))[0, 0]) == 0.0


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
            for k in range(n_classes):  # one after the other, as SciPy adds them
                total = joint[i, k] + x_a * weight[a, k]
                total += x_b * weight[b, k]
                total += x_c * weight[c, k]
                joint[i, k] = total + x_d * weight[d, k]
        for p in range(in_fours, last):
            a = np.uint64(indices[p])
            x_a = data[p]
            for k in range(n_classes):
                joint[i, k] += x_a * weight[a, k]
