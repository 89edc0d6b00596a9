"""Weight, mean and scatter of every column within every class, in one reading of the rows.

scatter = sum of w (x - mean)^2. Rows go in stretches that stay in cache. Of each stretch, deviations d from the mean of
the class so far and their squares are summed: its scatter is sum of w d^2 - (sum of w d)^2 / n, and it is merged by the
formula of Chan, Golub and LeVeque (1979), which adds most of the second term again. Where over three quarters of the
first would be gone, because a class is new or has moved, digits cancel: then the stretch is read again, from cache,
around its own mean. Means are kept relative to the first row of each class, so that a column far from zero loses no
digits and a constant one has scatter exactly zero.

Squares can be too small for floats: that of 1e-160 is 1e-320, which has four digits, and that of 1e-170 is zero. A
scatter of zero must say that all values are equal, so where they are not it is kept as the least number there is:
merged with others it is nothing, and alone it shows whoever reads the sums that its squares are gone.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from bayeswater.kernels.class_scores import ordered_sum
from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

FAINT = 1e-305
"""Scatter below this has lost digits: its terms are numbers of fewer than sixteen."""

LEAST = 5e-324
"""The least number over zero."""

NEAR_ZERO = 1e-135
"""Floats further from zero than this differ by so much, if at all, that their squares are no fainter than that."""


def squared(apart: Array, weight: Array) -> Array:
    """Weighted squares of distances: over zero wherever both are."""
    square: Array = apart**2 * weight
    return np.where((square == 0) & (apart != 0) & (weight > 0), LEAST, square)


def gone_squares(mean: Array, scatter: Array, pieces_of: Callable[[int], Sequence[Array]]) -> list[int]:
    """Find columns whose values differ, but by so little that no square tells: of scatter zero in every class.

    Mean and scatter are (n_classes, n_columns). Only columns near zero are looked at again: `pieces_of` gives the
    arrays that one is made of.
    """
    if scatter.all():
        return []
    near = np.flatnonzero(((scatter == 0) & (np.abs(mean) < NEAR_ZERO)).all(axis=0)).tolist()
    return [j for j in near if 0 < _width(pieces_of(j)) < np.sqrt(FAINT)]


def _width(pieces: Sequence[Array]) -> float:
    """Distance between the least and the largest number in some arrays."""
    known = [piece[piece == piece] for piece in pieces if piece.dtype == np.float64]  # others have no faint squares
    limits = [(piece.min(), piece.max()) for piece in known if len(piece)]
    return max(high for _, high in limits) - min(low for low, _ in limits) if limits else 0.0


CACHE_CELLS = 65_536
"""Cells of a stretch of rows that is read twice: half a megabyte of float64, which a second-level cache holds."""


def class_moments(
    X: Array, y: Array, weight: Array | None, n_classes: int, *, skip_missing: bool, use_loop: bool
) -> tuple[Array, Array, Array]:
    """Sum one block of rows.

    Returns the weights (n_classes, 1), or (n_classes, n_columns) when missing cells are skipped, then means and
    scatters (n_classes, n_columns). A cell that is not finite shows up in the sums of its column.
    """
    n_columns = X.shape[1]
    count = np.zeros((n_classes, n_columns if skip_missing else 1))
    mean = np.zeros((n_classes, n_columns))
    scatter = np.zeros((n_classes, n_columns))
    if skip_missing:
        available = _class_moments_available_loop if use_loop else _class_moments_available_numpy
        available(X, y, weight, count, mean, scatter)
    else:
        # A stretch has rows enough that merging its classes costs little beside summing them.
        stretch = max(CACHE_CELLS // max(n_columns, 1), 32 * n_classes, 1)
        arguments = X, y, weight, stretch, count[:, 0], mean, scatter
        is_served = _class_moments_loop.serves(X.size, *arguments, use_loop=use_loop)
        (_class_moments_loop if is_served else _class_moments_numpy)(*arguments)
    return count, mean, scatter


def _class_moments_numpy(
    X: Array, y: Array, weight: Array | None, stretch: int, count: Array, mean: Array, scatter: Array
) -> None:
    # The steps of the loop, and its bits: of each stretch the rows are sorted by class, and stay in their order.
    count, n = count[:, None], np.zeros((len(count), 1))
    origin, center = np.zeros_like(mean), np.zeros_like(mean)
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in row_blocks(len(X), stretch):
            order = np.argsort(y[rows], kind="stable")  # a radix sort for narrow codes
            x = X[rows].take(order, axis=0).astype(np.float64, copy=False)
            w = None if weight is None else weight[rows].take(order).astype(np.float64)[:, None]
            stops = np.cumsum(np.bincount(y[rows], minlength=len(count))).tolist()
            groups = [(k, slice(*ends)) for k, ends in enumerate(pairwise([0, *stops])) if ends[0] < ends[1]]
            n[:] = 0.0
            for k, group in groups:
                n[k] = group.stop - group.start if w is None else ordered_sum(w[group])
                if count[k] == 0.0:
                    origin[k] = x[group.start]
                center[k] = origin[k] + mean[k]
            both, met = count + n, np.where(n > 0.0, n, 1.0)
            total, square = _sums_around(center, x, w, groups)
            if not (total * total <= 0.75 * both * square).all():
                center += total / met
                total, square = _sums_around(center, x, w, groups)
            shift = total / met
            apart = np.where(n > 0.0, (center - origin) + shift - mean, 0.0)
            some = np.where(both > 0.0, both, 1.0)
            mean += apart * (n / some)
            square -= shift * total
            scatter += square + apart * apart * (count * n / some)
            count[:] = both
    mean += origin


def _sums_around(center: Array, x: Array, w: Array | None, groups: Sequence[tuple[int, slice]]) -> tuple[Array, Array]:
    """Sum deviations and squares of rows that are sorted by class: (n_classes, n_columns) each."""
    total, square = np.zeros_like(center), np.zeros_like(center)
    for k, group in groups:
        away = x[group] - center[k]
        term = away if w is None else w[group] * away
        total[k] = ordered_sum(term)
        term *= away
        square[k] = ordered_sum(term)
    return total, square


def _class_moments_available_numpy(
    X: Array, y: Array, weight: Array | None, count: Array, mean: Array, scatter: Array
) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        for k in np.unique(y):
            rows = y == k
            x = X[rows].astype(np.float64, copy=False)  # (n_k, n_columns)
            seen = ~np.isnan(x)
            pivot = x[seen.argmax(axis=0), np.arange(X.shape[1])]
            pivot[np.isnan(pivot)] = 0.0
            x, w = np.where(seen, x, pivot), seen * (1.0 if weight is None else weight[rows, None].astype(np.float64))
            count[k] = w.sum(axis=0)
            mean[k] = pivot + (w * (x - pivot)).sum(axis=0) / np.where(count[k] > 0, count[k], 1.0)
            scatter[k] = (w * (x - mean[k]) ** 2).sum(axis=0)


@compiled
def _class_moments_loop(X, y, weight, stretch, count, mean, scatter):  # type: ignore[no-untyped-def]
    n_rows, n_columns = X.shape
    n_classes = count.shape[0]
    n = np.zeros(n_classes)
    origin = np.zeros((n_classes, n_columns))  # first row of each class; until the end, `mean` is relative to it
    center = np.zeros((n_classes, n_columns))
    total = np.empty((n_classes, n_columns))
    square = np.empty((n_classes, n_columns))
    for start in range(0, n_rows, stretch):
        stop = min(start + stretch, n_rows)
        for reading in range(2):
            for k in range(n_classes):
                n[k] = 0.0
                for j in range(n_columns):
                    total[k, j] = 0.0
                    square[k, j] = 0.0
            for i in range(start, stop):
                own = np.uint64(y[i])
                w = 1.0 if weight is None else float(weight[i])
                if n[own] == 0.0 and reading == 0:
                    for j in range(n_columns):
                        if count[own] == 0.0:
                            origin[own, j] = X[i, j]
                        center[own, j] = origin[own, j] + mean[own, j]
                n[own] += w
                for j in range(n_columns):
                    away = X[i, j] - center[own, j]
                    total[own, j] += w * away
                    square[own, j] += w * away * away
            cancels = False
            for k in range(n_classes):
                for j in range(n_columns):
                    cancels |= not (total[k, j] * total[k, j] <= 0.75 * (count[k] + n[k]) * square[k, j])
            if not cancels or reading == 1:
                break
            for k in range(n_classes):
                for j in range(n_columns):
                    center[k, j] += total[k, j] / n[k] if n[k] > 0.0 else 0.0
        for k in range(n_classes):
            if n[k] > 0.0:
                both = count[k] + n[k]
                for j in range(n_columns):
                    shift = total[k, j] / n[k]
                    apart = (center[k, j] - origin[k, j]) + shift - mean[k, j]
                    mean[k, j] += apart * (n[k] / both)
                    square[k, j] -= shift * total[k, j]
                    scatter[k, j] += square[k, j] + apart * apart * (count[k] * n[k] / both)
                count[k] = both
    for k in range(n_classes):
        for j in range(n_columns):
            mean[k, j] += origin[k, j]


@compiled
def _class_moments_available_loop(X, y, weight, count, mean, scatter):  # type: ignore[no-untyped-def]
    # Welford's update, cell by cell, since each cell of the sums has a weight of its own; means relative to `origin`.
    n_rows, n_columns = X.shape
    origin = np.zeros(mean.shape)
    for i in range(n_rows):
        k = y[i]
        w = 1.0 if weight is None else float(weight[i])
        for j in range(n_columns):
            x = float(X[i, j])
            if x == x:
                if count[k, j] == 0.0:
                    origin[k, j] = x
                count[k, j] += w
                x -= origin[k, j]
                away = x - mean[k, j]
                mean[k, j] += away * (w / count[k, j])
                scatter[k, j] += w * away * (x - mean[k, j])
    for k in range(mean.shape[0]):
        for j in range(n_columns):
            mean[k, j] += origin[k, j]
