"""Scores of normal columns: an intercept less half the squared standardised distances of each row to each class.

``score[i, k] = intercept_k - sum_j ((x_ij - mean_kj) inverse_scale_kj)^2 / 2``. A cell that is NaN is missing: it adds
nothing, and the caller is told that there are such cells.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

STRETCH_ROWS = 256
"""Rows worked on together: one column of them is a few cache lines, and every operation runs over that column."""

STRETCH_CELLS = 65_536
"""Distances that the reference holds at a time, of all classes and columns: they stay in the second-level cache."""


def gaussian_scores(
    X: Array, mean: Array, inverse_scale: Array, intercept: Array, *, use_loop: bool
) -> tuple[Array, bool]:
    """Score one block of rows: (n_rows, n_classes), and whether a cell was missing."""
    scores = np.empty((len(X), len(mean)))
    if use_loop:
        any_missing = _gaussian_scores_loop(X, mean.T.copy(), inverse_scale.T.copy(), intercept, scores, STRETCH_ROWS)
        return scores, any_missing
    stretch = max(1, STRETCH_CELLS // mean.size)
    any_missing = False
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(X), stretch):
            rows = slice(start, start + stretch)
            z = (X[rows, None] - mean) * inverse_scale  # (n_rows, n_classes, n_columns)
            z *= z
            scores[rows] = intercept - 0.5 * z.sum(axis=2)
            if np.isnan(scores[rows]).any():
                any_missing |= bool(np.isnan(X[rows]).any())
                scores[rows] = intercept - 0.5 * np.nansum(z, axis=2)
    return scores, any_missing


@compiled
def _gaussian_scores_loop(X, mean, inverse_scale, intercept, scores, stretch):  # type: ignore[no-untyped-def]
    n_rows, n_columns = X.shape
    n_classes = mean.shape[1]
    column = np.empty(stretch)
    total = np.empty((n_classes, stretch))
    any_missing = False
    for start in range(0, n_rows, stretch):
        length = min(stretch, n_rows - start)
        for k in range(n_classes):
            for i in range(length):
                total[k, i] = 0.0
        for j in range(n_columns):
            missing = False
            for i in range(length):
                column[i] = X[start + i, j]
                missing |= column[i] != column[i]
            any_missing |= missing
            for k in range(n_classes):
                m = mean[j, k]
                s = inverse_scale[j, k]
                if s == 0.0:
                    continue  # no density here: not even an overflow may count
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
                scores[start + i, k] = intercept[k] - 0.5 * total[k, i]
    return any_missing
