"""Exact leave-one-out log-likelihoods of independent normal and Student-t columns, for each rule of smoothing.

Taking a row x out with weight r leaves its class with

    n' = n - r,   mean' = mean + (mean - x) r / n',   scatter' = scatter - (x - mean)^2 r n / n'

and moves what smooths the variances of all classes:

    EpsilonWithout   v + epsilon, a share of the largest variance of a column over all classes       `GaussianNB`
    FloorWithout     v, or at least a share of the variance of its column over all classes           `NaiveBayes`

With an epsilon every row moves every density. The log-normalisers become log(v + epsilon') = log(v + epsilon) +
log(1 + d u) with d = epsilon' - epsilon and u = 1 / (v + epsilon); where d u is small, their sum over columns is a
short series in the power sums of u, which are taken once for each class. A floor moves other classes only where a
variance is near it or a class has no value; in all other columns, the regular ones, only the own class is read again.
What is left in either case, with missing cells, priors, empty classes and spikes, goes one way
(`NormalsWithout.in_any_case`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.errors import PrecisionWarning, warn_user
from bayeswater.estimate.normal_parameters import GaussianParameters, NormalInverseGamma, gaussian_parameters
from bayeswater.inference.leave_one_out import leave_out_own_class
from bayeswater.inference.normal_joint import (
    LOG_TWO_PI,
    GaussianJoint,
    apply_spikes,
    gaussian_joint,
    student_log_density,
)
from bayeswater.kernels.independent_normals import (
    largest_variance_without,
    own_densities_without,
    own_scores_without,
    scores_at,
)
from bayeswater.kernels.remainders import remainder
from bayeswater.records import record
from bayeswater.statistics.moments import DIGITS_KEPT, Moments, take_out
from bayeswater.typing import Array

SERIES_TERMS = 6
SERIES_REACH = 1e-3
"""With |d u| below this, the first term left out, (d u)^7 / 7, is far under the last bit of the sum."""

CLEAR_OF_FLOOR = 4.0
"""A variance this many times its floor stays over it whichever row is taken out of four or more."""


class Left(NamedTuple):
    """Rows that are taken out, by some columns, and the sums that they leave: (n_rows, n_columns) each."""

    x: Array  # 0 where a cell is missing
    missing: Array
    removed: Array
    own: tuple[Array, Array, Array]  # n', mean', scatter' of the own class
    pooled: tuple[Array, Array, Array]  # the same of all classes

    @property
    def variance_all(self) -> Array:
        """Variance of the columns over all classes."""
        n, _, scatter = self.pooled
        return scatter / np.where(n > 0, n, 1.0)


@record
class NormalsWithout(ABC):
    """Moments of all classes, ready to have single rows taken out of them."""

    moments: Moments
    priors: Mapping[int, NormalInverseGamma]

    @abstractmethod
    def likelihood(self, block: Array, y: Array, removed: Array, use_loop: bool) -> tuple[Array, Array]:
        """Log-likelihoods (n_rows, n_classes) of rows taken out of their class, and which rows lost digits in that."""

    def over(
        self, table: Any, labels: Labels, removed: Array, logarithms: Array | None = None
    ) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out; lost digits are reported once.

        In columns of `logarithms` (n_columns,) the density of x is that of log x, divided by x.
        """
        warned: list[int] = []

        def likelihood(rows: slice, use_loop: bool) -> Array:
            block = table.block(rows)
            scores, lost = self.likelihood(block, labels.codes[rows], removed[rows], use_loop)
            if lost.any() and not warned:  # once a call, not once a block
                warned.append(rows.start + int(lost.argmax()))
                warn_user(
                    f"row {warned[0]} makes up nearly all of the scatter of its class in a column, and others may too; "
                    "without such a row fewer than 8 digits of the scatter are right",
                    PrecisionWarning,
                )
            if logarithms is not None and logarithms.any():
                scores -= np.nansum(block[:, logarithms], axis=1, keepdims=True)
            return scores

        return likelihood

    @cached_property
    def n(self) -> Array:
        """Weight of each class and column."""
        return np.broadcast_to(self.moments.weight, self.moments.mean.shape).astype(np.float64)

    @cached_property
    def variance(self) -> Array:
        """Maximum-likelihood variance of each class and column."""
        return self.moments.scatter / np.where(self.n > 0, self.n, 1.0)

    def taken_out(self, block: Array, y: Array, removed: Array, columns: Array) -> Left:
        """Take rows out of the sums of some columns, given by their places."""
        missing = np.isnan(block)
        x, r = np.where(missing, 0.0, block) if missing.any() else block, removed[:, None] * ~missing
        n_all, mean_all, scatter_all = (part[columns] for part in self.moments.pooled())
        n, mean, scatter = (part[:, columns][y] for part in self._sums)
        n, mean, scatter = take_out(n, mean, scatter, x, r)
        if self.moments.weight.dtype.kind == "i":
            scatter[n == 1] = 0.0  # what remains is one row
        return Left(x, missing, r, (n, mean, scatter), take_out(n_all, mean_all, scatter_all, x, r))

    @property
    def _sums(self) -> tuple[Array, Array, Array]:
        return self.n, self.moments.mean, self.moments.scatter

    def in_any_case(
        self, left: Left, y: Array, columns: Array, epsilon: Array | float, floor: float
    ) -> tuple[Array, Array, Array]:
        """Log-likelihoods of rows taken out, with what is added to variances, and the floor under them.

        Beside them stand the classes that have a spike which a row misses, and the number of those that it meets:
        (n_rows, n_classes) each.
        """
        x, missing, (n_all, mean_all, _), variance_all = left.x, left.missing, left.pooled, left.variance_all
        shape = len(x), self.moments.n_classes
        likelihood, off, on = np.empty(shape), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=np.int64)
        by_prior = np.isin(columns, list(self.priors))
        normal = ~missing & (n_all > 0) & (variance_all + epsilon > 0) & ~by_prior
        sums = [part[:, columns] for part in self._sums]
        for k in range(shape[1]):
            is_own = (y == k)[:, None]
            n, mean, scatter = (np.where(is_own, mine, part[k]) for mine, part in zip(left.own, sums, strict=True))
            empty = n <= 0
            center = np.where(empty, mean_all, mean)
            variance = np.where(empty, variance_all, scatter / np.where(empty, 1.0, n))
            variance = (np.maximum(variance, floor * variance_all) if floor else variance) + epsilon
            positive = normal & (variance > 0)
            safe, away = np.where(positive, variance, 1.0), x - center
            with np.errstate(over="ignore"):  # squares of what is far away are larger than any float
                terms = np.where(positive, -0.5 * (LOG_TWO_PI + np.log(safe) + away / safe * away), 0.0)
            for at in np.flatnonzero(by_prior).tolist():
                predictive = self.priors[int(columns[at])].predictive(n[:, at], mean[:, at], scatter[:, at])
                terms[:, at] = np.where(missing[:, at], 0.0, student_log_density(x[:, at], *predictive))
            likelihood[:, k] = terms.sum(axis=1)
            spike = normal & ~positive
            if spike.any():
                off[:, k] = (spike & (away != 0)).any(axis=1)
                on[:, k] = (spike & (away == 0)).sum(axis=1)
        return likelihood, off, on


@record
class EpsilonWithout(NormalsWithout):
    """Variances that all have the same epsilon added: a share of the largest variance of a column."""

    class_count: Array
    var_smoothing: float
    log_prior: Array  # of the classes, with all rows in: -inf where one is impossible

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
            largest = largest_variance_without(block, removed, n_all[0], mean_all, scatter_all)
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
        x, columns = block.astype(np.float64, copy=False), np.arange(block.shape[1])
        left = self.taken_out(x, y, removed, columns)
        n, mean, scatter = left.own
        epsilon = self.var_smoothing * left.variance_all.max(axis=1, keepdims=True)  # (n_rows, 1)
        few_digits = (scatter < DIGITS_KEPT * self.moments.scatter[y]) & (n > 1) & (left.removed > 0)
        lost: Array = np.asarray(few_digits.any(axis=1))
        if self.is_plain and not left.missing.any() and self._stays_regular(epsilon, n):
            return self._plain(x, y, epsilon, n, mean, scatter), lost
        likelihood, off, on = self.in_any_case(left, y, columns, epsilon, 0.0)
        is_own = y[:, None] == np.arange(self.moments.n_classes)
        count = np.where(is_own, remainder(self.class_count[y], removed)[:, None], self.class_count)
        seen = (count > 0) | (len(self.priors) == x.shape[1])
        scores = np.where(seen, likelihood, -np.inf)
        apply_spikes(scores, off & seen, on * seen, self.log_prior)
        return scores, lost

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


@record
class FloorWithout(NormalsWithout):
    """Variances with a floor of their column under them, and the densities while all rows are in."""

    variance_floor: float
    parameters: GaussianParameters

    @cached_property
    def is_regular(self) -> Array:
        """Columns in which a row, taken out, moves nothing but the density of its own class: (n_columns,)."""
        n_all, _, scatter_all = self.moments.pooled()
        variance_all = scatter_all / np.where(n_all > 0, n_all, 1.0)
        clear = (self.n >= CLEAR_OF_FLOOR) & (self.variance > CLEAR_OF_FLOOR * self.variance_floor * variance_all)
        # Taking a row out of one class leaves the scatter of another: the floor keeps its digits.
        kept = (self.moments.scatter > DIGITS_KEPT * scatter_all).sum(axis=0) > 1
        return clear.all(axis=0) & kept & ~np.isin(np.arange(self.n.shape[1]), list(self.priors))

    @cached_property
    def _regular_joint(self) -> GaussianJoint:
        """The densities of regular columns alone."""
        p, regular = self.parameters, self.is_regular
        degrees = np.where(regular, p.degrees, np.inf)  # of the columns that the joint is to leave out
        regular_only = replace(p, has_factor=p.has_factor & regular, degrees=degrees)
        return gaussian_joint(np.zeros(self.moments.n_classes), regular_only)

    def likelihood(self, block: Array, y: Array, removed: Array, use_loop: bool) -> tuple[Array, Array]:
        """Log-likelihoods (n_rows, n_classes) of rows taken out of their class, and which rows lost digits in that."""
        regular = self.is_regular
        scores, lost = self._regular_joint.of(block, use_loop), np.zeros(len(y), dtype=bool)
        if regular.any():
            own, lost = self.own_class(block[:, regular], y, removed, regular, use_loop)
            leave_out_own_class(scores, own, y)
        others = np.flatnonzero(~regular)
        if len(others):
            x = block[:, others].astype(np.float64, copy=False)
            left = self.taken_out(x, y, removed, others)
            scores += self.in_any_case(left, y, others, 0.0, self.variance_floor)[0]
            lost |= self._lost(y, others, left)
        return scores, lost

    def _lost(self, y: Array, columns: Array, left: Left) -> Array:
        """Which rows leave a scatter of few digits: (n_rows,); what the floor hides is not lost."""
        (n, _, scatter), (n_all, _, scatter_all) = left.own, left.pooled
        floor = self.variance_floor * left.variance_all
        few = (scatter < DIGITS_KEPT * self.moments.scatter[:, columns][y]) & (n > 0)
        few &= scatter / np.where(n > 0, n, 1.0) > floor
        few |= scatter_all < DIGITS_KEPT * self.moments.pooled()[2][columns]
        few &= (n_all > 1) & ~left.missing & ~np.isin(columns, list(self.priors))
        return np.asarray(few.any(axis=1))

    def own_class(self, x: Array, y: Array, removed: Array, columns: Array, use_loop: bool) -> tuple[Array, Array]:
        """Log-likelihood of regular columns in each row's own class, and which rows lost digits in that: (n_rows,)."""
        if not use_loop:
            return self._own_by_reference(x, y, removed, columns)
        moments = self.moments.take(np.flatnonzero(columns).tolist())
        n = np.broadcast_to(moments.weight, moments.mean.shape).astype(np.float64)
        own, lost, near = own_densities_without(
            *(x, y, removed, n, moments.mean, moments.scatter), self._highest_floor[columns], DIGITS_KEPT
        )
        if near.any():
            own[near], lost[near] = self._own_by_reference(x[near], y[near], removed[near], columns)
        return own, lost

    @cached_property
    def _highest_floor(self) -> Array:
        """Floor of the variance of each column whichever row is taken out: (n_columns,)."""
        n_all, _, scatter_all = self.moments.pooled()
        return self.variance_floor * scatter_all / np.maximum(n_all - 1.0, 1.0)

    def _own_by_reference(self, x: Array, y: Array, removed: Array, columns: Array) -> tuple[Array, Array]:
        """Do the same in NumPy, also where a variance is near its floor."""
        missing = np.isnan(x)
        some_missing = bool(missing.any())
        r = removed[:, None] * ~missing if some_missing else removed[:, None]
        weight = self.moments.weight if self.moments.weight.shape[1] == 1 else self.moments.weight[:, columns]
        n = weight[y].astype(np.float64)  # (n_rows, 1) while no cell has been missing
        left = n - r  # over 0: the column is regular
        before = self.moments.scatter[:, columns][y]
        away = x - self.moments.mean[:, columns][y]
        if some_missing:
            away[missing] = 0.0
        stretch = n / left
        with np.errstate(over="ignore"):
            scatter = remainder(before, away**2 * (r * stretch))
            variance = scatter / left
            lost = scatter < DIGITS_KEPT * before
            self._raise_to_floor(variance, lost, x, r, columns)
            terms = LOG_TWO_PI + np.log(variance) + (away * stretch / np.sqrt(variance)) ** 2  # x - mean' = away n / n'
        terms = np.where(missing, 0.0, terms) if some_missing else terms
        return -0.5 * terms.sum(axis=1), np.asarray(lost.any(axis=1))

    def _raise_to_floor(self, variance: Array, lost: Array, x: Array, r: Array, columns: Array) -> None:
        """Put the floor, which each row moves, under variances that may be below it; what it hides is not lost."""
        n_all, mean_all, scatter_all = (part[columns] for part in self.moments.pooled())
        rows = np.flatnonzero((variance < self._highest_floor[columns]).any(axis=1))
        if len(rows):
            cells = np.where(np.isnan(x[rows]), 0.0, x[rows])
            n_rest, _, scatter_rest = take_out(n_all, mean_all, scatter_all, cells, r[rows])
            floor = self.variance_floor * (scatter_rest / n_rest)
            lost[rows] &= variance[rows] > floor
            variance[rows] = np.maximum(variance[rows], floor)
