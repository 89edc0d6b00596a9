"""Columns of normal densities with a floor under their variance: log-likelihoods, terms, and each row taken out.

A row moves mean and variance of its own class and, through the floor (a share of the column's variance over all
classes), perhaps those of the others. The others move only where a variance is near its floor or a class has no value:
such columns, and those with a prior, are worked out class by class; in all others only the own class is read again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.estimate.gaussian import GaussianParameters, NormalInverseGamma, floored_parameters
from bayeswater.inference.gaussian import LOG_TWO_PI, GaussianJoint, gaussian_joint, student_log_density
from bayeswater.inference.gaussian_leave_one_out import take_out, warn_of_lost_digits
from bayeswater.inference.leave_one_out import leave_out_own_class
from bayeswater.kernels.normal_without import own_densities_without
from bayeswater.statistics.moments import DIGITS_KEPT, Moments
from bayeswater.statistics.statistic import ROUNDING, remainder
from bayeswater.typing import Array

CLEAR_OF_FLOOR = 4.0
"""A variance this many times its floor stays over it whichever row is taken out of four or more."""


@dataclass(frozen=True)
class NormalColumns:
    """Moments of columns, some of them of logarithms (`is_log`), with the floor and the priors they are read with."""

    moments: Moments
    variance_floor: float
    priors: Mapping[int, NormalInverseGamma]
    is_log: Array  # (n_columns,)

    @cached_property
    def parameters(self) -> GaussianParameters:
        """The densities."""
        return floored_parameters(self.moments, self.variance_floor, self.priors)

    @cached_property
    def joint(self) -> GaussianJoint:
        """The densities, laid out for scoring, with a class prior of one."""
        return gaussian_joint(np.zeros(self.moments.n_classes), self.parameters)

    def likelihood(self, block: Array, use_loop: bool) -> Array:
        """Log-likelihoods of some rows, by logarithms where columns are so marked: (n_rows, n_classes)."""
        likelihood = self.joint.of(block, use_loop)
        if self.is_log.any():  # the density of x is that of log x, divided by x
            likelihood -= np.nansum(block[:, self.is_log & self.parameters.has_factor], axis=1, keepdims=True)
        return likelihood

    def terms(self, block: Array) -> Array:
        """Log-likelihood of each cell: (n_rows, n_columns, n_classes)."""
        return self._terms(block, slice(None))

    def column_terms(self, x: Array, j: int) -> Array:
        """Log-likelihood of numbers (n,) in one column: (n, n_classes)."""
        return self._terms(x[:, None], slice(j, j + 1))[:, 0]

    def _terms(self, block: Array, columns: slice) -> Array:
        p = self.parameters
        x = block[:, :, None]
        mean, variance, degrees = (own.T[columns] for own in (p.mean, p.variance, p.degrees))  # (n_columns, n_classes)
        student = np.isfinite(degrees)
        safe = np.where(variance > 0, variance, 1.0)
        with np.errstate(over="ignore"):
            terms = -0.5 * (LOG_TWO_PI + np.log(safe) + ((x - mean) / np.sqrt(safe)) ** 2)
        if student.any():
            terms = np.where(student, student_log_density(x, mean, safe, np.where(student, degrees, 1.0)), terms)
        terms -= np.where(self.is_log[columns, None], x, 0.0)
        return np.where(np.isnan(x) | ~p.has_factor[columns, None], 0.0, terms)

    # ------------------------------------------------------------------ leave-one-out

    @cached_property
    def _is_regular(self) -> Array:
        """Columns in which a row, taken out, moves nothing but the density of its own class: (n_columns,)."""
        n = np.broadcast_to(self.moments.weight, self.moments.mean.shape)
        n_all, _, scatter_all = self.moments.pooled()
        variance_all = scatter_all / np.where(n_all > 0, n_all, 1.0)
        variance = self.moments.scatter / np.where(n > 0, n, 1)
        clear = (n >= CLEAR_OF_FLOOR) & (variance > CLEAR_OF_FLOOR * self.variance_floor * variance_all)
        # Taking a row out of one class leaves the scatter of another: the floor keeps its digits.
        kept = (self.moments.scatter > DIGITS_KEPT * scatter_all).sum(axis=0) > 1
        return clear.all(axis=0) & kept & ~np.isin(np.arange(n.shape[1]), list(self.priors))

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the moments."""
        regular = self._is_regular
        p = self.parameters
        degrees = np.where(regular, p.degrees, np.inf)  # of the columns that the joint is to leave out
        regular_only = replace(p, has_factor=p.has_factor & regular, degrees=degrees)
        joint = gaussian_joint(np.zeros(self.moments.n_classes), regular_only)
        warned: list[int] = []

        def likelihood(rows: slice, use_loop: bool) -> Array:
            block, y, r = table.block(rows), labels.codes[rows], removed[rows]
            scores, lost = joint.of(block, use_loop), np.zeros(len(y), dtype=bool)
            if regular.any():
                own, lost = self._own_without(block[:, regular], y, r, regular, use_loop)
                leave_out_own_class(scores, own, y)
            for j in np.flatnonzero(~regular):
                terms, lost_here = self._column_without(block[:, j], y, r, int(j))
                scores += terms
                lost |= lost_here
            if lost.any() and not warned:  # once a call, not once a block
                warned.append(rows.start + int(lost.argmax()))
                warn_of_lost_digits(warned[0])
            if self.is_log.any():
                scores -= np.nansum(block[:, self.is_log & p.has_factor], axis=1, keepdims=True)
            return scores

        return likelihood

    def _own_without(self, x: Array, y: Array, removed: Array, columns: Array, use_loop: bool) -> tuple[Array, Array]:
        """Log-likelihood of regular columns in each row's own class, and which rows lost digits in that: (n_rows,)."""
        if not use_loop:
            return self._own_without_numpy(x, y, removed, columns)
        moments = self.moments.take(np.flatnonzero(columns).tolist())
        n = np.broadcast_to(moments.weight, moments.mean.shape).astype(np.float64)
        own, lost, near = own_densities_without(
            *(x, y, removed, n, moments.mean, moments.scatter),
            *(self._highest_floor[columns], ROUNDING, DIGITS_KEPT),
        )
        if near.any():
            own[near], lost[near] = self._own_without_numpy(x[near], y[near], removed[near], columns)
        return own, lost

    @cached_property
    def _highest_floor(self) -> Array:
        """Floor of the variance of each column whichever row is taken out: (n_columns,)."""
        n_all, _, scatter_all = self.moments.pooled()
        return self.variance_floor * scatter_all / np.maximum(n_all - 1.0, 1.0)

    def _own_without_numpy(self, x: Array, y: Array, removed: Array, columns: Array) -> tuple[Array, Array]:
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

    def _column_without(self, x: Array, y: Array, removed: Array, j: int) -> tuple[Array, Array]:
        """Log-likelihood of one column in every class, in any case, and which rows lost digits in that."""
        missing = np.isnan(x)
        r, x = np.where(missing, 0.0, removed), np.where(missing, 0.0, x)
        moments = self.moments
        weight = np.broadcast_to(moments.weight, moments.mean.shape)[:, j].astype(np.float64)
        pooled = [part[j] for part in moments.pooled()]
        n_all, mean_all, scatter_all = take_out(pooled[0], pooled[1], pooled[2], x, r)
        variance_all = (scatter_all / np.where(n_all > 0, n_all, 1.0))[:, None]
        own = y[:, None] == np.arange(moments.n_classes)  # (n_rows, n_classes)
        n, mean, scatter = take_out(
            weight, moments.mean[:, j], moments.scatter[:, j], x[:, None], np.where(own, r[:, None], 0.0)
        )
        if moments.weight.dtype.kind == "i":
            scatter = np.where(n == 1, 0.0, scatter)  # what remains is one row
        if j in self.priors:
            terms = student_log_density(x[:, None], *self.priors[j].predictive(n, mean, scatter))
            return np.where(missing[:, None], 0.0, terms), np.zeros(len(x), dtype=bool)
        mean = np.where(n > 0, mean, mean_all[:, None])
        variance = np.where(n > 0, scatter / np.where(n > 0, n, 1.0), variance_all)
        floor = self.variance_floor * variance_all
        lost_floor = scatter_all < DIGITS_KEPT * pooled[2]  # (n_rows,)
        lost = (scatter < DIGITS_KEPT * moments.scatter[:, j]) & (n > 0) & (variance > floor)
        variance = np.maximum(variance, floor)
        has_factor = (n_all[:, None] > 0) & (variance_all > 0) & ~missing[:, None]
        safe = np.where(has_factor, variance, 1.0)
        with np.errstate(over="ignore"):
            terms = -0.5 * (LOG_TWO_PI + np.log(safe) + ((x[:, None] - mean) / np.sqrt(safe)) ** 2)
        return np.where(has_factor, terms, 0.0), (lost_floor | lost.any(axis=1)) & (n_all > 1) & ~missing
