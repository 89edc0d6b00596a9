"""Sum over columns of the squared standardised distances of each row to each class.

``quadratic[i, k] = sum_j ((x_ij - mean_kj) inverse_scale_kj)^2``. With missing cells, the log-normaliser of
each missing cell is collected too, so that the caller can take its factor out.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

STRETCH_ROWS = 256
"""Rows worked on together: one column of them is a few cache lines, and every operation runs over that column."""


def squared_distances(X: Array, mean: Array, inverse_scale: Array, *, use_loop: bool) -> Array:
    """Distances of one block of rows: (n_rows, n_classes). A cell that is NaN counts as missing: it adds nothing."""
    quadratic = np.empty((len(X), len(mean)))
    if use_loop:
        _squared_distances_loop(X, mean.T.copy(), inverse_scale.T.copy(), quadratic, STRETCH_ROWS)
        return quadratic
    with np.errstate(over="ignore"):
        for k in range(len(mean)):
            z = (X - mean[k]) * inverse_scale[k]  # (n_rows, n_columns)
            z *= z
            quadratic[:, k] = z.sum(axis=1)
        if np.isnan(quadratic).any():
            for k in range(len(mean)):
                quadratic[:, k] = np.nansum(((X - mean[k]) * inverse_scale[k]) ** 2, axis=1)
    return quadratic


@compiled
def _squared_distances_loop(X, mean, inverse_scale, quadratic, stretch):  # type: ignore[no-untyped-def]
    n_rows, n_columns = X.shape
    n_classes = mean.shape[1]
    column = np.empty(stretch)
    total = np.empty((n_classes, stretch))
    for start in range(0, n_rows, stretch):
        length = min(stretch, n_rows - start)
        total[:] = 0.0
        for j in range(n_columns):
            missing = False
            for i in range(length):
                column[i] = X[start + i, j]
                missing |= column[i] != column[i]
            for k in range(n_classes):
                m = mean[j, k]
                s = inverse_scale[j, k]
                if missing:
                    for i in range(length):
                        z = (column[i] - m) * s
                        total[k, i] += z * z if z == z else 0.0
                else:
                    for i in range(length):
                        z = (column[i] - m) * s
                        total[k, i] += z * z
        for i in range(length):
            for k in range(n_classes):
                quadratic[start + i, k] = total[k, i]
