"""Log-joint of normal and Student-t columns.

    log P(class k, row) = log P(k) + sum_j log density_kj(x_j),   missing cells left out

A density of variance zero is a spike: a row off it is impossible in that class; a row on it is certain, and
among classes the one with most spikes under the row wins. That is the limit of ever smaller variance floors,
reached without dividing by zero.

`IndependentJoint` is the same of densities whose variances were read for all columns together.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import gammaln

from bayeswater.estimate.normal_parameters import GaussianParameters
from bayeswater.kernels.independent_normals import gaussian_scores
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.estimate.densities import Densities

LOG_TWO_PI = np.log(2 * np.pi)


@record
class GaussianJoint:
    """Densities laid out for scoring; what is no normal density has inverse scale 0."""

    log_prior: Array
    parameters: GaussianParameters
    mean: Array  # (n_columns, n_classes)
    inverse_scale: Array  # (n_columns, n_classes)
    log_normaliser: Array  # (n_classes, n_columns)
    intercept: Array  # (n_classes,): log prior and log-normalisers, -inf for a class without a density
    spike: Array | None  # cells of variance zero
    student: Array  # columns that follow Student's t

    is_light: ClassVar = True

    @cached_property
    def sees_all_cells(self) -> bool:
        """Whether every cell has a density in every class: one that is not finite then shows in the scores."""
        return bool(self.inverse_scale.all())

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of rows."""
        return self.scores(block, use_loop)[0]

    def scores(self, block: Array, use_loop: bool) -> tuple[Array, bool]:
        """Log-joints of a block of rows, and whether a cell was missing."""
        mean = self.parameters.mean
        total, any_missing = gaussian_scores(block, self.mean, self.inverse_scale, self.intercept, use_loop=use_loop)
        if any_missing:
            total -= np.isnan(block) @ self.log_normaliser.T
        for j in self.student:
            x = block[:, j, None].astype(np.float64)
            density = student_log_density(x, mean[:, j], self.parameters.variance[:, j], self.parameters.degrees[:, j])
            total += np.where(np.isnan(x), 0.0, density)
        if self.spike is not None:
            for_spikes = [
                (block[:, j, None], mean[:, j], self.spike[:, j]) for j in np.flatnonzero(self.spike.any(axis=0))
            ]
            off = sum(spike & (x != m) & ~np.isnan(x) for x, m, spike in for_spikes)
            on = sum((spike & (x == m)).astype(np.int64) for x, m, spike in for_spikes)
            apply_spikes(total, np.asarray(off, dtype=bool), np.asarray(on), self.log_prior)
        return total, any_missing


@record
class WatchedJoint:
    """Densities that see all cells: rows are looked at once more where scores tell of a missing or an infinite one."""

    densities: GaussianJoint
    look: Callable[[], None]

    is_light: ClassVar = True

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.densities.log_prior

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of rows."""
        scores, any_missing = self.densities.scores(block, use_loop)
        if any_missing or (scores[:, 0] == -np.inf).any():  # what is infinite is so far from each class
            self.look()
        return scores


def gaussian_joint(log_prior: Array, parameters: GaussianParameters) -> GaussianJoint:
    """Prepare parameters for scoring."""
    normal = np.isinf(parameters.degrees) & parameters.has_factor
    positive = normal & (parameters.variance > 0)
    variance = np.where(positive, parameters.variance, 1.0)
    log_normaliser = np.where(positive, -0.5 * (LOG_TWO_PI + np.log(variance)), 0.0)
    spike = normal & ~positive & parameters.seen[:, None]
    return GaussianJoint(
        log_prior,
        parameters,
        parameters.mean.T.copy(),
        np.where(positive, 1.0 / np.sqrt(variance), 0.0).T.copy(),
        log_normaliser,
        np.where(parameters.seen, log_prior + log_normaliser.sum(axis=1), -np.inf),
        spike if spike.any() else None,
        np.flatnonzero(np.isfinite(parameters.degrees).all(axis=0) & parameters.has_factor),
    )


def student_log_density(x: Array, location: Array, squared_scale: Array, degrees: Array) -> Array:
    """Logarithm of Student's t density."""
    half = (degrees + 1) / 2
    constant = gammaln(half) - gammaln(degrees / 2) - 0.5 * (np.log(np.pi * degrees) + np.log(squared_scale))
    with np.errstate(over="ignore"):
        density: Array = constant - half * np.log1p((x - location) ** 2 / (degrees * squared_scale))
    return density


def apply_spikes(log_likelihood: Array, off: Array, on: Array, log_prior: Array) -> None:
    """Strike out the classes whose spike a row misses, and those with fewer spikes under it than a possible one has."""
    log_likelihood[off] = -np.inf
    certain = np.where(np.isneginf(log_likelihood + log_prior), -1, on)
    log_likelihood[certain < certain.max(axis=1, keepdims=True)] = -np.inf


@record
class IndependentJoint:
    """Densities of single columns, and what they were read from."""

    densities: "Densities"
    columns: GaussianJoint

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.columns.log_prior

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of rows."""
        return self.columns.of(block, use_loop)


def independent_joint(log_prior: Array, densities: "Densities") -> IndependentJoint:
    """Lay the densities out column by column."""
    measure, shape = densities.blend.yardstick, densities.mean.shape
    columns = measure.directions.columns
    variance = np.ones(shape)
    variance[:, columns] = densities.variance * measure.scale[columns] ** 2
    has_factor = np.isin(np.arange(shape[1]), columns)
    degrees = np.broadcast_to(densities.degrees[:, None], shape).copy()
    seen = densities.blend.has_density
    variance = np.where(seen[:, None], variance, 1.0)
    return IndependentJoint(
        densities,
        gaussian_joint(log_prior, GaussianParameters(densities.mean, variance, degrees, has_factor, seen, epsilon=0.0)),
    )
