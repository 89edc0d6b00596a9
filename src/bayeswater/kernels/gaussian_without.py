"""Normal columns with the row itself taken out of the moments: the loops behind exact leave-one-out.

Taking a row x out with weight r leaves moments (n, mean, scatter) with

    n' = n - r,   scatter' = scatter - (x - mean)^2 r n / n',   x - mean' = (x - mean) n / n'.

What is left of a scatter and is but rounding counts as zero. The NumPy reference is in `inference`, where it also takes
the cases that are too rare for a loop.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.gaussian_joint import STRETCH_ROWS
from bayeswater.typing import Array


def largest_variance_without(X: Array, removed: Array, n: float, mean: Array, scatter: Array, rounding: float) -> Array:
    """Largest variance of a column without each row: (n_rows,); NaN for a row with a cell that is not finite."""
    largest = np.empty(len(X))
    _largest_variance_without_loop(X, removed, n, mean, scatter, rounding, largest, STRETCH_ROWS)
    return largest


def scores_at(
    X: Array, mean: Array, variance: Array, epsilon: Array, shift: Array, log_determinant: Array, series: Array
) -> Array:
    """Score rows under variances that differ from row to row: -1/2 (log-determinant + squared distance).

    Row i adds `epsilon[i]` to the variances (n_classes, n_columns); its log-determinants are a series in `shift[i]`
    with coefficients (n_terms, n_classes).
    """
    scores = np.empty((len(X), len(mean)))
    _scores_at_loop(X, mean.T.copy(), variance.T.copy(), epsilon, shift, log_determinant, series, scores, STRETCH_ROWS)
    return scores


def own_scores_without(
    X: Array,
    y: Array,
    removed: Array,
    epsilon: Array,
    n: Array,
    mean: Array,
    scatter: Array,
    log_determinant: Array,
    inverse_variance: Array,
    *,
    whole: bool,
    rounding: float,
    digits_kept: float,
) -> tuple[Array, Array]:
    """Score each row in its own class, out of which it is taken: (n_rows,), and which rows lost digits in that.

    The log-determinant is that of all rows, and the logarithm of a product of ratios to it. A score is NaN where a
    variance has become zero. With `whole` weights, what is left of two rows has no scatter.
    """
    own = np.empty(len(X))
    lost = np.empty(len(X), dtype=np.bool_)
    limits = (rounding, digits_kept)
    moments = (n, mean, scatter, log_determinant, inverse_variance)
    _own_scores_without_loop(X, y, removed, epsilon, *moments, whole, *limits, own, lost)
    return own, lost


@compiled
def _largest_variance_without_loop(X, removed, n, mean, scatter, rounding, largest, stretch):  # type: ignore[no-untyped-def]
    n_rows, n_columns = X.shape
    factor = np.empty(stretch)
    top = np.empty(stretch)
    nothing = np.empty(stretch)  # a sum of zeros, unless a cell is no number
    for start in range(0, n_rows, stretch):
        length = min(stretch, n_rows - start)
        for i in range(length):
            r = removed[start + i]
            factor[i] = r * n / (n - r)
            top[i] = 0.0
            nothing[i] = 0.0
        for j in range(n_columns):
            m = mean[j]
            s = scatter[j]
            least = rounding * s
            for i in range(length):
                x = float(X[start + i, j])
                left = s - (x - m) * (x - m) * factor[i]
                top[i] = left if left > least and left > top[i] else top[i]
                nothing[i] += 0.0 * x
        for i in range(length):
            largest[start + i] = top[i] / (n - removed[start + i]) + nothing[i]


@compiled
def _scores_at_loop(X, mean, variance, epsilon, shift, log_determinant, series, scores, stretch):  # type: ignore[no-untyped-def]
    n_rows, n_columns = X.shape
    n_terms, n_classes = series.shape
    column = np.empty(stretch)
    total = np.empty((n_classes, stretch))
    for start in range(0, n_rows, stretch):
        length = min(stretch, n_rows - start)
        for k in range(n_classes):
            for i in range(length):
                total[k, i] = 0.0
        for j in range(n_columns):
            for i in range(length):
                column[i] = X[start + i, j]
            for k in range(n_classes):
                m = mean[j, k]
                v = variance[j, k]
                for i in range(length):
                    away = column[i] - m
                    total[k, i] += away * away / (v + epsilon[start + i])
        for i in range(length):
            d = shift[start + i]
            for k in range(n_classes):
                moved = 0.0
                for term in range(n_terms - 1, -1, -1):
                    moved = (moved + series[term, k]) * d
                scores[start + i, k] = -0.5 * (log_determinant[k] + moved + total[k, i])


@compiled
def _own_scores_without_loop(  # type: ignore[no-untyped-def]
    X,
    y,
    removed,
    epsilon,
    n,
    mean,
    scatter,
    log_determinant,
    inverse_variance,
    whole,
    rounding,
    digits_kept,
    own,
    lost,
):
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        k = np.uint64(y[i])
        r = removed[i]
        left_n = n[k] - r
        alone = whole and left_n == 1.0
        total = 0.0
        log_ratio = 0.0
        ratio = 1.0
        lost[i] = False
        for j in range(n_columns):
            away = X[i, j] - mean[k, j]
            left = scatter[k, j] - away * away * (r * n[k] / left_n)
            if alone or left <= rounding * scatter[k, j]:
                left = 0.0
            if left < digits_kept * scatter[k, j] and left_n > 1.0:
                lost[i] = True
            variance = left / left_n + epsilon[i]
            away *= n[k] / left_n
            total += away * away / variance if variance > 0.0 else np.nan
            ratio *= variance * inverse_variance[k, j]
            if ratio < 1e-150 or ratio > 1e150:
                log_ratio += np.log(ratio) if ratio > 0.0 else np.nan
                ratio = 1.0
        own[i] = -0.5 * (log_determinant[k] + (log_ratio + np.log(ratio)) + total)
