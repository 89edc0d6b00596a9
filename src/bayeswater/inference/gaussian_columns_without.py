"""Exact leave-one-out log-likelihoods of classes whose columns are independent.

A row taken out moves mean and variance of each column by a formula of that column alone; so missing cells change
nothing but the weight that a column is counted with, and a row has the density of the cells that it has.
"""

from dataclasses import dataclass

import numpy as np

from bayeswater.estimate.densities import drawn_to_sphere
from bayeswater.inference.gaussian_full import log_density
from bayeswater.inference.gaussian_parts_without import BlendParts, PartsWithout
from bayeswater.inference.leave_one_out import STRETCH_CELLS
from bayeswater.statistics.moments import DIGITS_KEPT
from bayeswater.statistics.statistic import ROUNDING
from bayeswater.typing import Array


@dataclass(frozen=True)
class ColumnsWithout(PartsWithout):
    """Densities of independent columns, and the sums they were read from, ready to have single rows taken out."""

    least: Array  # least variance of each direction

    def likelihood(self, block: Array, y: Array, removed: Array) -> tuple[Array, Array]:
        """Log-likelihoods (n_rows, n_classes) of rows taken out of their class, and which rows lost digits in that."""
        x = block.astype(np.float64, copy=False)
        with np.errstate(over="ignore"):
            none = np.empty((len(x), self.densities.n_classes))
            return self.in_stretches(x, y, removed, max(1, STRETCH_CELLS // x.shape[1]), none)

    def _stretch(self, x: Array, y: Array, removed: Array, result: Array) -> Array:
        blend = self.densities.blend
        left, own = self.own(x, y, removed)
        if blend.reading.prior is None and self.scatter.weight.dtype.kind == "i":
            own.matrix[np.abs(own.count - 1) < 1e-9] = 0.0  # one row has no scatter
        parts = [self.of_class(k, y, left, own) for k in range(blend.n_classes)]
        total = sum((part.matrix for part in parts), np.zeros(1)) if blend.reading.shared else None
        count_all = blend.count.sum() - blend.count[y] + own.count
        lost = np.zeros(len(x), dtype=bool)
        for k, part in enumerate(parts):
            matrix = np.broadcast_to(self.blended(part, total), (len(x), len(self.least)))
            result[:, k], lost_here = self._density(k, x, part, matrix, count_all)
            lost |= lost_here
        return lost

    def _density(self, k: int, x: Array, part: BlendParts, matrix: Array, count_all: Array) -> tuple[Array, Array]:
        """Log-densities in class k, and which rows left a column with but the rounding of what it was before.

        Where even that rounding is less than the least variance, nothing was lost.
        """
        blend = self.densities.blend
        measure, reading = blend.yardstick, blend.reading
        columns = measure.directions.columns
        count = np.broadcast_to(part.count, len(x))
        divisor, degrees = blend.divisor(count, count_all)
        variance = drawn_to_sphere(matrix / divisor[:, None], np.full(len(x), blend.spherical[k]))
        before = blend.class_matrix(k)
        lost = (matrix < DIGITS_KEPT * before) & (matrix + ROUNDING * before > self.least * divisor[:, None])
        variance = np.maximum(variance, self.least)
        z = (x[:, columns] - part.location[:, columns]) / measure.scale[columns]
        there = ~np.isnan(z)
        with np.errstate(divide="ignore", invalid="ignore"):  # a class without density has no variance
            squared = np.where(there, z**2 / variance, 0.0)
            log_variance = np.where(there, np.log(variance), 0.0)
        if reading.prior is not None and reading.form != "spherical":
            density = np.where(there, log_density(squared, log_variance, degrees[:, None], 1), 0.0).sum(axis=1)
        else:
            density = log_density(squared.sum(axis=1), log_variance.sum(axis=1), degrees, there.sum(axis=1))
        density = density - there @ np.log(measure.scale[columns])
        has_density = (count > 0) | (reading.prior is not None)
        return np.where(has_density, density, -np.inf), lost.any(axis=1) & has_density
