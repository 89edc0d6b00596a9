"""Independent normal columns: the log-joint of rows, and the same with each row taken out.

A score is an intercept less half the squared standardised distances of the row to the class:

    score[i, k] = intercept_k - sum_j ((x_ij - mean_kj) inverse_scale_kj)^2 / 2

A cell that is NaN is missing: it adds nothing, and the caller is told that there are such cells, where any class has a
density. Loop and reference give the same bits.

Taking a row x out with weight r leaves moments (n, mean, scatter) with

    n' = n - r,   scatter' = scatter - (x - mean)^2 r n / n',   x - mean' = (x - mean) n / n'.

What is left of a scatter and is but rounding counts as zero. The NumPy reference is in `inference`, where it also takes
the cases that are too rare for a loop.

`own_densities_without` is the loop behind the NumPy rule of `NormalBlock`. Rows of which a variance comes near its
floor are only marked: the floor moves with every row, and they are rare.
"""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from bayeswater.kernels.class_scores import ordered_sum
from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.remainders import ROUNDING
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

STRETCH_ROWS = 256
"""Rows worked on together: one column of them is a few cache lines, and every operation runs over that column."""

STRETCH_CELLS = 32_768
"""Distances that the reference holds at a time, of all columns to a class: they stay in the second-level cache."""


def in_one_line(X: Array) -> tuple[Array, int, int]:
    """Give the memory of a table from its first cell to its last, and the steps to the next row and to the next column.

    So one loop reads rows, columns and every other row alike: it would be compiled anew for each layout, and of one
    that is neither row by row nor column by column it could not know that cells are neighbours. A table that goes
    backwards, or whose steps are no whole cells, is copied.

    >>> cells, row_step, column_step = in_one_line(np.arange(12).reshape(3, 4)[::2])
    >>> len(cells), row_step, column_step
    (12, 8, 1)
    """
    n_rows, n_columns = X.shape
    if X.flags.c_contiguous:
        return X.reshape(-1), n_columns, 1
    if X.flags.f_contiguous:
        return X.T.reshape(-1), 1, n_rows
    (row_step, row_rest), (column_step, column_rest) = (divmod(step, X.itemsize) for step in X.strides)
    if row_step < 0 or column_step < 0 or row_rest or column_rest:
        return np.ascontiguousarray(X).reshape(-1), n_columns, 1
    length = 1 + (n_rows - 1) * row_step + (n_columns - 1) * column_step
    return as_strided(X, (length,), (X.itemsize,)), row_step, column_step


def gaussian_scores(
    X: Array, mean: Array, inverse_scale: Array, intercept: Array, *, use_loop: bool
) -> tuple[Array, bool]:
    """Score one block of rows: (n_rows, n_classes), class by class in memory, and whether a cell was missing.

    Means and inverse scales lie column by column: (n_columns, n_classes).
    """
    by_class = np.empty((len(intercept), len(X)))
    arguments = *in_one_line(X), mean, inverse_scale, intercept, by_class, STRETCH_ROWS
    if _gaussian_scores_loop.serves(X.size, *arguments, use_loop=use_loop):
        return by_class.T, _gaussian_scores_loop(*arguments)
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
                np.subtract(intercept[some, None], 0.5 * ordered_sum(z), out=by_class[some, rows])
    return by_class.T, any_missing


@compiled
def _gaussian_scores_loop(cells, row_step, column_step, mean, inverse_scale, intercept, by_class, stretch):  # type: ignore[no-untyped-def]
    # Four columns go together, one after the other into a sum that is fetched and stored once. Indices are unsigned:
    # they never count from the end, and the compiled loop need not ask.
    n_classes, n_rows = by_class.shape
    n_columns = len(mean)
    four = np.empty((4, stretch))
    any_missing = False
    for start in range(0, n_rows, stretch):
        length = min(stretch, n_rows - start)
        for careful in (False, True):  # a sum that is no number tells of a missing cell: then all are taken with care
            for k in range(n_classes):
                total = by_class[k, start : start + length]
                for i in range(length):
                    total[i] = 0.0
            for j in range(0, n_columns, 4):
                n_there = min(4, n_columns - j)
                for side in range(n_there):
                    first = np.uint64(start * row_step + (j + side) * column_step)
                    if row_step == 1:
                        for i in range(length):
                            four[side, i] = cells[first + np.uint64(i)]
                    else:
                        for i in range(length):
                            four[side, i] = cells[first + np.uint64(i * row_step)]
                for k in range(n_classes):
                    total = by_class[k, start : start + length]
                    if n_there == 4 and not careful:
                        m_a, m_b, m_c, m_d = mean[j, k], mean[j + 1, k], mean[j + 2, k], mean[j + 3, k]
                        s_a, s_b = inverse_scale[j, k], inverse_scale[j + 1, k]
                        s_c, s_d = inverse_scale[j + 2, k], inverse_scale[j + 3, k]
                        for i in range(length):
                            a, b = (four[0, i] - m_a) * s_a, (four[1, i] - m_b) * s_b
                            c, d = (four[2, i] - m_c) * s_c, (four[3, i] - m_d) * s_d
                            total[i] = (((total[i] + a * a) + b * b) + c * c) + d * d
                        continue
                    for side in range(n_there):
                        m, s = mean[j + side, k], inverse_scale[j + side, k]
                        if careful and s == 0.0:
                            continue  # no density here: not even an overflow may count
                        for i in range(length):
                            z = (four[side, i] - m) * s
                            total[i] += z * z if z == z or not careful else 0.0
                if careful:
                    for side in range(n_there):
                        for i in range(length):
                            any_missing |= four[side, i] != four[side, i]
            is_whole = True
            for k in range(n_classes):
                total = by_class[k, start : start + length]
                for i in range(length):
                    is_whole &= total[i] == total[i]
            if is_whole:
                break
        for k in range(n_classes):
            total = by_class[k, start : start + length]
            for i in range(length):
                total[i] = intercept[k] - 0.5 * total[i]
    return any_missing


def largest_variance_without(X: Array, removed: Array, n: float, mean: Array, scatter: Array) -> Array:
    """Largest variance of a column without each row: (n_rows,); NaN for a row with a cell that is not finite."""
    largest = np.empty(len(X))
    _largest_variance_without_loop(X, removed, n, mean, scatter, largest, STRETCH_ROWS)
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
    digits_kept: float,
) -> tuple[Array, Array]:
    """Score each row in its own class, out of which it is taken: (n_rows,), and which rows lost digits in that.

    The log-determinant is that of all rows, and the logarithm of a product of ratios to it. A score is NaN where a
    variance has become zero. With `whole` weights, what is left of two rows has no scatter.
    """
    own = np.empty(len(X))
    lost = np.empty(len(X), dtype=np.bool_)
    moments = (n, mean, scatter, log_determinant, inverse_variance)
    _own_scores_without_loop(X, y, removed, epsilon, *moments, whole, digits_kept, own, lost)
    return own, lost


@compiled
def _largest_variance_without_loop(X, removed, n, mean, scatter, largest, stretch):  # type: ignore[no-untyped-def]
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
            least = ROUNDING * s
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
    X, y, removed, epsilon, n, mean, scatter, log_determinant, inverse_variance, whole, digits_kept, own, lost
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
            if alone or left <= ROUNDING * scatter[k, j]:
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


LOG_TWO_PI = float(np.log(2 * np.pi))


def own_densities_without(
    x: Array, y: Array, removed: Array, n: Array, mean: Array, scatter: Array, highest_floor: Array, digits_kept: float
) -> tuple[Array, Array, Array]:
    """Log-likelihood of each row in its own class, which rows lost digits, and which come near a floor: (n_rows,) each.

    `n`, `mean` and `scatter` are (n_classes, n_columns), `highest_floor` (n_columns,); NaN is a missing cell.
    """
    total = np.empty(len(x))
    lost, near = np.zeros(len(x), dtype=bool), np.zeros(len(x), dtype=bool)
    _loop(x, y, removed, n, mean, scatter, highest_floor, digits_kept, total, lost, near)
    return total, lost, near


@compiled
def _loop(x, y, removed, n, mean, scatter, highest_floor, digits_kept, total, lost, near):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        k, r, terms = y[i], removed[i], 0.0
        for j in range(x.shape[1]):
            if np.isnan(x[i, j]):
                continue
            left = n[k, j] - r
            away = x[i, j] - mean[k, j]
            stretch = n[k, j] / left
            rest = scatter[k, j] - away * away * (r * stretch)
            if not rest > ROUNDING * scatter[k, j]:
                rest = 0.0
            variance = rest / left
            if variance < highest_floor[j]:
                near[i] = True
                break
            if rest < digits_kept * scatter[k, j]:
                lost[i] = True
            away *= stretch
            terms += LOG_TWO_PI + np.log(variance) + away * away / variance
        total[i] = -0.5 * terms
