"""Exact leave-one-out log-likelihoods of normal and Student-t columns.

Taking a row x out with weight r leaves its class with

    n' = n - r,   mean' = mean + (mean - x) r / n',   scatter' = scatter - (x - mean)^2 r n / n',

and moves epsilon, which hangs on the largest variance of a column over all classes, for every class. The
log-normalisers become log(v + epsilon') = log(v + epsilon) + log(1 + d u) with d = epsilon' - epsilon and
u = 1 / (v + epsilon); where d u is small, their sum over columns is a short series in the power sums of u, which are
taken once for each class.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.errors import PrecisionWarning, warn_user
from bayeswater.estimate.gaussian import NormalInverseGamma, gaussian_parameters
from bayeswater.inference.gaussian import LOG_TWO_PI, apply_spikes, student_log_density
from bayeswater.inference.leave_one_out import leave_out_own_class
from bayeswater.kernels.independent_normals import largest_variance_without, own_scores_without, scores_at
from bayeswater.statistics.moments import DIGITS_KEPT, Moments
from bayeswater.statistics.statistic import ROUNDING, remainder
from bayeswater.typing import Array

SERIES_TERMS = 6
SERIES_REACH = 1e-3
"""With |d u| below this, the first term left out, (d u)^7 / 7, is far under the last bit of the sum."""


@dataclass(frozen=True)
class GaussianWithout:
    """Moments of all classes, ready to have single rows taken out of them."""

    moments: Moments
    class_count: Array
    var_smoothing: float
    priors: Mapping[int, NormalInverseGamma]
    log_prior: Array  # of the classes, with all rows in: -inf where one is impossible

    @cached_property
    def n(self) -> Array:
        """Weight of each class and column."""
        return np.broadcast_to(self.moments.weight, self.moments.mean.shape).astype(np.float64)

    @cached_property
    def variance(self) -> Array:
        """Maximum-likelihood variance of each class and column."""
        return self.moments.scatter / np.where(self.n > 0, self.n, 1.0)

    @cached_property
    def epsilon(self) -> float:
        """What smoothing adds to every variance while all rows are in."""
        return gaussian_parameters(self.moments, self.class_count, self.var_smoothing, {}).epsilon

    @cached_property
    def is_plain(self) -> bool:
        """Whether every class has a value in every column and all columns are normal."""
        return bool((self.n > 0).all()) and not self.priors

    @cached_property
    def least(self) -> float:
        """Smallest of all variances: the unit in which epsilon moves, so that no power of it overflows."""
        return float((self.variance + self.epsilon).min())

    @cached_property
    def power_sums(self) -> Array:
        """Sums of u^m over columns, in that unit: (SERIES_TERMS, n_classes)."""
        u = self.least / (self.variance + self.epsilon)
        return np.array([(u**m).sum(axis=1) for m in range(1, SERIES_TERMS + 1)])

    @cached_property
    def is_smooth(self) -> bool:
        """Whether all is normal, positive and of one weight in each class, so that rows can go to the loops."""
        one_weight = self.moments.weight.shape[1] == 1
        return self.is_plain and one_weight and bool((self.variance + self.epsilon > 0).all())

    def likelihood(self, block: Array, y: Array, removed: Array, use_loop: bool) -> tuple[Array, Array]:
        """Log-likelihoods (n_rows, n_classes) of rows taken out of their class, and which rows lost digits in that."""
        if not (use_loop and self.is_smooth):
            return self._row_by_row(block, y, removed)
        n = self.n[:, 0]
        n_all, mean_all, scatter_all = self.moments.pooled()
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # a row alone in its class goes another way
            largest = largest_variance_without(block, removed, n_all[0], mean_all, scatter_all, ROUNDING)
            epsilon = self.var_smoothing * largest  # (n_rows,)
            d = (epsilon - self.epsilon) / self.least
            variance = self.variance + self.epsilon
            constant = block.shape[1] * LOG_TWO_PI + np.log(variance).sum(axis=1)  # (n_classes,)
            sign_over_m = np.array([(-1) ** (m + 1) / m for m in range(1, SERIES_TERMS + 1)])
            series = self.power_sums * sign_over_m[:, None]
            scores = scores_at(block, self.moments.mean, self.variance, epsilon, d, constant, series)
            own, lost = own_scores_without(
                block,
                y,
                removed,
                epsilon,
                n,
                self.moments.mean,
                self.moments.scatter,
                constant,
                1.0 / variance,
                whole=self.moments.weight.dtype.kind == "i",
                rounding=ROUNDING,
                digits_kept=DIGITS_KEPT,
            )
        leave_out_own_class(scores, own, y)
        within_reach = np.abs(d) < SERIES_REACH
        rare = np.flatnonzero(~within_reach | ~np.isfinite(own) | (remainder(n[y], removed) == 0))
        if len(rare):
            scores[rare], lost[rare] = self._row_by_row(block[rare], y[rare], removed[rare])
        return scores, lost

    def _row_by_row(self, block: Array, y: Array, removed: Array) -> tuple[Array, Array]:
        """Do the same in NumPy, in every case."""
        x = block.astype(np.float64, copy=False)
        missing = np.isnan(x)
        r = removed[:, None] * ~missing  # (n_rows, n_columns)
        x = np.where(missing, 0.0, x) if missing.any() else x
        n_all, mean_all, scatter_all = take_out(*self.moments.pooled(), x, r)
        variance_all = scatter_all / np.where(n_all > 0, n_all, 1.0)
        epsilon = self.var_smoothing * variance_all.max(axis=1, keepdims=True)  # (n_rows, 1)
        n, mean, scatter = take_out(self.n[y], self.moments.mean[y], self.moments.scatter[y], x, r)
        if self.moments.weight.dtype.kind == "i":
            scatter[n == 1] = 0.0  # what remains is one row
        lost: Array = np.asarray(((scatter < DIGITS_KEPT * self.moments.scatter[y]) & (n > 1) & (r > 0)).any(axis=1))
        if self.is_plain and not missing.any() and self._stays_regular(epsilon, n):
            return self._plain(x, y, epsilon, n, mean, scatter), lost
        left = remainder(self.class_count[y], removed)  # (n_rows,)
        return self._general(x, y, left, missing, epsilon, (n_all, mean_all, variance_all), (n, mean, scatter)), lost

    def _stays_regular(self, epsilon: Array, n_own: Array) -> bool:
        positive = (epsilon > 0).all() and (self.variance + self.epsilon > 0).all()
        return bool(positive) and bool((n_own > 0).all())

    def _plain(self, x: Array, y: Array, epsilon: Array, n: Array, mean: Array, scatter: Array) -> Array:
        """Every class has a positive variance in every column, with and without the row."""
        likelihood = np.empty((len(x), self.moments.n_classes))
        constant = x.shape[1] * LOG_TWO_PI
        with np.errstate(over="ignore"):
            d = (epsilon - self.epsilon)[:, 0] / self.least
            for k in range(self.moments.n_classes):
                variance = self.variance[k] + epsilon
                z = x - self.moments.mean[k]
                z *= z
                z /= variance
                if np.abs(d).max() < SERIES_REACH:
                    log_determinant = np.full(len(x), np.log(self.variance[k] + self.epsilon).sum())
                    for m in range(1, SERIES_TERMS + 1):
                        log_determinant -= (-d) ** m * (self.power_sums[m - 1, k] / m)
                else:
                    log_determinant = np.log(variance).sum(axis=1)
                likelihood[:, k] = -0.5 * (constant + log_determinant + z.sum(axis=1))
            variance = scatter / n + epsilon
            own = -0.5 * (constant + np.log(variance).sum(axis=1) + ((x - mean) ** 2 / variance).sum(axis=1))
        likelihood[np.arange(len(x)), y] = own
        return likelihood

    def _general(
        self,
        x: Array,
        y: Array,
        left: Array,
        missing: Array,
        epsilon: Array,
        pooled: tuple[Array, Array, Array],
        own: tuple[Array, Array, Array],
    ) -> Array:
        """Any case: missing cells, classes or columns that empty, spikes, Student-t columns."""
        n_rows, n_classes = len(x), self.moments.n_classes
        likelihood = np.empty((n_rows, n_classes))
        off = np.zeros((n_rows, n_classes), dtype=bool)
        on = np.zeros((n_rows, n_classes), dtype=np.int64)
        has_factor = ~missing & (pooled[0] > 0) & (pooled[2] + epsilon > 0)
        by_prior = np.isin(np.arange(x.shape[1]), list(self.priors))
        for k in range(n_classes):
            seen = (np.where(y == k, left, self.class_count[k]) > 0) | by_prior.all()
            is_own = (y == k)[:, None]
            n = np.where(is_own, own[0], self.n[k])
            mean = np.where(is_own, own[1], self.moments.mean[k])
            scatter = np.where(is_own, own[2], self.moments.scatter[k])
            borrowed = n <= 0
            center = np.where(borrowed, pooled[1], mean)
            variance = np.where(borrowed, pooled[2], scatter / np.where(borrowed, 1.0, n)) + epsilon
            normal = has_factor & ~by_prior
            positive = normal & (variance > 0)
            safe = np.where(positive, variance, 1.0)
            with np.errstate(over="ignore"):
                terms = np.where(positive, -0.5 * (LOG_TWO_PI + np.log(safe) + (x - center) ** 2 / safe), 0.0)
            for j, prior in self.priors.items():
                location, squared_scale, degrees = prior.predictive(n[:, j], mean[:, j], scatter[:, j])
                density = student_log_density(x[:, j], location, squared_scale, degrees)
                terms[:, j] = np.where(missing[:, j], 0.0, density)
            likelihood[:, k] = np.where(seen, terms.sum(axis=1), -np.inf)
            spike = normal & ~positive & seen[:, None]
            off[:, k] = (spike & (x != center)).any(axis=1)
            on[:, k] = (spike & (x == center)).sum(axis=1)
        apply_spikes(likelihood, off, on, self.log_prior)
        return likelihood


def warn_of_lost_digits(row: int) -> None:
    """Say that a row, taken out, leaves a scatter of few digits."""
    warn_user(
        f"row {row} makes up nearly all of the scatter of its class in a column, and others may too; "
        "without such a row fewer than 8 digits of the scatter are right",
        PrecisionWarning,
    )


def take_out(n: Array, mean: Array, scatter: Array, x: Array, r: Array) -> tuple[Array, Array, Array]:
    """Take rows x out with weights r, each out of the sums beside it: (n_rows, n_columns) each."""
    without = remainder(n, r)
    safe = np.where(without > 0, without, 1.0)
    with np.errstate(over="ignore"):
        away = np.where(r > 0, x - mean, 0.0)  # where nothing is taken out, its distance may be beyond any square
        left = remainder(scatter, away**2 * (r * n / safe))
    return without, mean - away * (r / safe), np.where(without > 0, left, 0.0)
