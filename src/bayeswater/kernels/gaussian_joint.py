"""Scores of normal columns: an intercept less half the squared standardised distances of each row to each class.

``score[i, k] = intercept_k - sum_j ((x_ij - mean_kj) inverse_scale_kj)^2 / 2``. A cell that is NaN is missing: it adds
nothing, and the caller is told that there are such cells. Loop and reference give the same bits.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.ordered_sum import ordered_sum
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

STRETCH_ROWS = 256
"""Rows worked on together: one column of them is a few cache lines, and every operation runs over that column."""

STRETCH_CELLS = 32_768
"""Distances that the reference holds at a time, of all columns to a class: they stay in the second-level cache."""


def gaussian_scores(
    X: Array, mean: Array, inverse_scale: Array, intercept: Array, *, use_loop: bool
) -> tuple[Array, bool]:
    """Score one block of rows: (n_rows, n_classes), and whether a cell was missing.

    Means and inverse scales lie column by column: (n_columns, n_classes).
    """
    scores = np.empty((len(X), len(intercept)))
    arguments = X, mean, inverse_scale, intercept, scores, STRETCH_ROWS
    if _gaussian_scores_loop.serves(X.size, *arguments, use_loop=use_loop):
        return scores, _gaussian_scores_loop(*arguments)
    stretch = max(1, STRETCH_CELLS // X.shape[1])
    has_gaps = not inverse_scale.all()  # where there is no density, a distance may overflow
    any_missing = False
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(X), stretch):
            rows = slice(start, start + stretch)
            x = X[rows].T.astype(np.float64, order="C", copy=False)[:, None]  # (n_columns, 1, n_rows)
            missing = bool(np.isnan(x).any())
            any_missing |= missing
            for some in row_blocks(len(intercept), max(1, STRETCH_CELLS // x.size)):  # few rows: classes together
                z = np.subtract(x, mean[:, some, None], order="C")  # (n_columns, n_classes, n_rows)
                z *= inverse_scale[:, some, None]
                z *= z
                if missing or has_gaps:
                    z[np.isnan(z)] = 0.0
                scores[rows, some] = intercept[some] - 0.5 * ordered_sum(z).T
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
