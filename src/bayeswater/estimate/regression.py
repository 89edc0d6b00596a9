"""Linear regression read off moments: the last column on all others, for many groups of rows at once.

    y = intercept + slopes . x + noise,    slopes = S_xx^-1 S_xy,    S the scatter around the means

The matrices are brought to unit diagonal and reduced column by column (Gauss and Jordan). A column that those before it
tell exactly has the slope 0: the first of several that say the same is the one that counts. What is left of y is the
sum of squared residuals; where it is rounding, it is 0.

The variance is that sum divided by the rows that are left over, n - k - 1 with k columns, and 0 where none is: the
convention of R's `lm` and bnlearn.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.typing import Array

COLLINEAR = 1e-11
"""Share of the squares of a column below which what others leave of it is rounding."""

EXACT = 1e-13
"""The same for y."""

NEAR = 1e-6
"""Share of the squares of a column below which moments have lost digits of what is left of y."""


class Regressed(NamedTuple):
    """Regressions of several groups; `left` is the sum of squared residuals."""

    weight: Array  # (...)
    intercept: Array  # (...)
    slopes: Array  # (..., n_columns - 1)
    left: Array  # (...)
    is_near: Array  # (...), whether digits of `left` are lost, though there are rows to tell it

    @property
    def variance(self) -> Array:
        """Squared residuals for each row that the slopes leave over; 0 where none is: (...)."""
        spare = self.weight - self.slopes.shape[-1] - 1
        return np.where(spare > 0, self.left / np.where(spare > 0, spare, 1.0), 0.0)

    @property
    def log_likelihood(self) -> Array:
        """Log-density of the rows by their own regression: (...); -inf where it leaves no variance.

        A group without rows has 0.
        """
        variance = self.variance
        sure = variance > 0
        known = np.where(sure, variance, 1.0)
        spread = -0.5 * self.weight * np.log(2 * np.pi * known) - 0.5 * self.left / known
        return np.where(self.weight > 0, np.where(sure, spread, -np.inf), 0.0)


def regress(weight: Array, mean: Array, scatter: Array) -> Regressed:
    """Regress the last column on the others.

    Parameters
    ----------
    weight : (...), rows of each group
    mean : (..., n_columns)
    scatter : (..., n_columns, n_columns), sums of products of distances from the mean

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.5])
    >>> found = regress(np.array(3.0), np.array([1.0, 9.5 / 3]), np.cov(x, y) * 2)
    >>> round(float(found.intercept), 6), found.slopes.round(6).tolist()
    (0.916667, [2.25])
    """
    length = np.sqrt(np.maximum(np.diagonal(scatter, axis1=-2, axis2=-1), 0.0))
    unit = np.where(length > 0, length, 1.0)
    reduced = scatter / unit[..., :, None] / unit[..., None, :]
    n = reduced.shape[-1]
    counts = np.zeros((*reduced.shape[:-2], n - 1), dtype=bool)
    for j in range(n - 1):
        pivot = reduced[..., j, j]
        counts[..., j] = pivot > COLLINEAR
        factor = reduced[..., :, j] / np.where(counts[..., j], pivot, 1.0)[..., None]
        factor[..., j] = 0.0
        factor[~counts[..., j]] = 0.0
        reduced = reduced - factor[..., :, None] * reduced[..., None, j, :]
    pivots = np.diagonal(reduced, axis1=-2, axis2=-1)[..., :-1]
    shares = np.where(counts, reduced[..., :-1, -1] / np.where(counts, pivots, 1.0), 0.0)
    slopes = shares * (unit[..., -1:] / unit[..., :-1])
    left = reduced[..., -1, -1]
    is_near = (left < NEAR) | (pivots < NEAR).any(axis=-1)
    is_near &= (length[..., -1] > 0) & (np.asarray(weight) > n)
    left = np.where(left > EXACT, left, 0.0) * length[..., -1] ** 2
    intercept = mean[..., -1] - (slopes * mean[..., :-1]).sum(axis=-1)
    return Regressed(np.asarray(weight, dtype=np.float64), intercept, slopes, left, is_near)


def left_of_rows(columns: Array, weight: Array | None = None) -> float:
    """Sum of squared residuals of the last column on all others, by the rows themselves, to nearly all digits.

    Parameters
    ----------
    columns : (n_columns, n_rows)
    weight : (n_rows,), optional

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.5])
    >>> round(left_of_rows(np.array([x, y])), 6)
    0.041667
    """
    apart = columns - np.average(columns, axis=1, weights=weight)[:, None]
    if weight is not None:
        apart *= np.sqrt(weight)
    squares = (apart**2).sum(axis=1)
    basis = np.zeros((0, apart.shape[1]))
    for j, own in enumerate(apart):
        for _ in range(2):  # once more for what rounding left of the others
            own = own - basis.T @ (basis @ own)
        left = float(own @ own)
        if j < len(apart) - 1 and left > COLLINEAR * squares[j]:
            basis = np.vstack([basis, own / np.sqrt(left)])
    return left if left > EXACT * squares[-1] else 0.0
