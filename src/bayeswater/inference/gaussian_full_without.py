"""Exact leave-one-out log-likelihoods of classes with covariances.

Taking a row x out of its class c with weight r leaves, with N the weight of the class and y = x - mean_c,

    N' = N - r,   mean_c' = mean_c - y r / N',   M_k' = M_k - a y y',   a = r N / N' times 1 for k = c, `shared` else.

All is seen along the axes of M_k, where y and z = x - mean_k' have coordinates, and M_k the extents e_1, e_2, ... With
q' the divisor without the row and t' the mean extent, axis i keeps the variance

    v_i = (1 - spherical) e_i / q' + spherical t' / q'

and with b = (1 - spherical) a / q', by Sherman and Morrison,

    |z|^2 = sum z_i^2 / v_i + b (sum z_i y_i / v_i)^2 / f,   log det = sum log v_i + log f,   f = 1 - b sum y_i^2 / v_i.

So no matrix is factored again. Where that will not do, sums are read again without the row (`gaussian_read_again.py`):
for rows whose class is left with hardly any extent in a direction, and for classes with missing cells. The yardstick is
held.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.estimate.densities import Densities
from bayeswater.inference.gaussian_full import FAR, FullJoint, log_density
from bayeswater.inference.gaussian_read_again import ReadAgain
from bayeswater.inference.leave_one_out import STRETCH_CELLS
from bayeswater.statistics.moments import DIGITS_KEPT
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import Array


@dataclass(frozen=True)
class Moved:
    """Coordinates along the axes of a class of rows that had a part in it, and how they move its matrix: (n_rows,)."""

    from_own: Array  # (n_rows, n_directions): y, from the mean of the row's own class
    from_class: Array  # (n_rows, n_directions): z, from the mean of this class without the row
    outer: Array  # a
    divisor: Array  # q'
    degrees: Array


@dataclass(frozen=True)
class FullWithout:
    """Densities with a covariance between columns, ready to have single rows taken out."""

    densities: Densities
    joint: FullJoint  # the densities with all rows in, without a prior
    again: ReadAgain

    @cached_property
    def projections(self) -> list[Array]:
        """What leads to coordinates along the axes of each class."""
        return [self.densities.projection(k) for k in range(self.densities.n_classes)]

    @cached_property
    def is_changed(self) -> Array:
        """Whether the density of class k moves with the rows of class c: (n_classes, n_classes)."""
        n = self.densities.n_classes
        return np.ones((n, n), dtype=bool) if self.densities.blend.reading.shared > 0 else np.eye(n, dtype=bool)

    def likelihood(self, block: Array, y: Array, removed: Array) -> tuple[Array, Array]:
        """Log-likelihoods (n_rows, n_classes) of rows taken out of their class, and which rows lost digits in that."""
        x = block.astype(np.float64, copy=False)
        apart = self._must_be_read_again(x, y, removed)
        lost = np.zeros(len(x), dtype=bool)
        result = np.empty((len(x), self.densities.n_classes))
        rows = np.flatnonzero(~apart)
        stretch = max(1, STRETCH_CELLS // x.shape[1])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # such rows are read again
            for start in range(0, len(rows), stretch):
                part = rows[start : start + stretch]
                result[part], lost[part], apart[part] = self._together(x[part], y[part], removed[part])
        rows = np.flatnonzero(apart)
        if len(rows):
            result[rows], lost_again = self.again.likelihood(x[rows], y[rows], removed[rows])
            lost[rows] |= lost_again
        return result, lost

    def _must_be_read_again(self, x: Array, y: Array, removed: Array) -> Array:
        """Rows for which the formula does not hold: (n_rows,)."""
        p, again = self.densities, self.again
        if again.lacks_values.any() or p.n_directions == 0:
            return np.ones(len(x), dtype=bool)
        alone = remainder(again.class_count[y].astype(np.float64), removed) == 0
        skew = (self.is_changed[y] & p.is_skew).any(axis=1)
        return np.isnan(x).any(axis=1) | alone | skew | ~self._is_whole[y]

    @cached_property
    def _is_whole(self) -> Array:
        """Classes none of whose rows lacks a cell: (n_classes,)."""
        again = self.again
        cells = again.scatter.weight.min(axis=(1, 2))
        return cells == again.class_count if again.scatter.lacks_cells(again.class_count) else np.full(len(cells), True)

    @property
    def _can_be_lifted(self) -> bool:
        return self.densities.blend.reading.prior is None

    def _together(self, x: Array, y: Array, removed: Array) -> tuple[Array, Array, Array]:
        """Log-likelihoods of rows by the formula, which of them lost digits, and which must be read again."""
        p = self.densities
        unchanged = ~self.is_changed[y]  # (n_rows, n_classes)
        result = self.joint.likelihood(x) if unchanged.any() else np.empty((len(x), p.n_classes))
        lost, apart = np.zeros((2, len(x)), dtype=bool)
        for k in range(p.n_classes):
            rows = np.flatnonzero(~unchanged[:, k])
            if not p.blend.has_density[k]:
                result[rows, k] = -np.inf
            elif len(rows):
                moved = self._moved(k, x[rows], y[rows], removed[rows])
                result[rows, k], factor, least = self._density(k, moved)
                left = p.blend.count[k] - np.where(y[rows] == k, removed[rows], 0.0)
                lost[rows] |= (factor < DIGITS_KEPT) & (left > p.n_directions)
                apart[rows] |= (factor < DIGITS_KEPT) | (self._can_be_lifted & (least < p.variance_floor))
        return result, lost, apart | lost | np.isnan(result).any(axis=1)

    def _moved(self, k: int, x: Array, y: Array, removed: Array) -> Moved:
        """How rows move the matrix of class k when they are taken out."""
        p, blend = self.densities, self.densities.blend
        own = y == k
        before = blend.weight[y]
        after = before - removed
        from_mean = (x - p.mean[k]) @ self.projections[k]
        from_own = from_mean if own.all() else self._from_own(k, x, y, from_mean)
        from_class = np.where(own, before / after, 1.0)[:, None] * from_mean
        outer = removed * before / after * np.where(own, 1.0, blend.reading.shared)
        count = blend.count[k] - np.where(own, removed, 0.0)
        return Moved(from_own, from_class, outer, *blend.divisor(count, blend.count.sum() - removed))

    def _from_own(self, k: int, x: Array, y: Array, from_mean: Array) -> Array:
        """Coordinates along the axes of class k from the mean of the row's own class, by way of that of k if near."""
        p = self.densities
        between = (p.mean[k] - p.mean) @ self.projections[k]  # (n_classes, n_directions)
        if (np.abs(between) <= FAR * np.sqrt(p.variance[k])).all():
            return from_mean + between[y]
        return (x - p.mean[y]) @ self.projections[k]

    def _density(self, k: int, moved: Moved) -> tuple[Array, Array, Array]:
        """Log-densities in class k, the factor f, and what share of the reference is left in any direction, at least.

        M - a y y' is no less than f M, and what is drawn to a sphere no less than the sphere's part.
        """
        p, measure = self.densities, self.densities.blend.yardstick
        s, d = self.densities.blend.spherical[k], self.densities.n_directions
        extent = p.extent[k if len(p.extent) > 1 else 0]
        divisor = moved.divisor
        if s > 0:
            mean_extent = (extent.sum() - moved.outer * (moved.from_own**2).sum(axis=1)) / (divisor * d)
            variance = (1 - s) * extent / divisor[:, None] + s * mean_extent[:, None]
            log_determinant = np.log(variance).sum(axis=1)
        else:
            variance = extent / divisor[:, None]
            log_determinant = np.log(extent).sum() - d * np.log(divisor)
        b = (1 - s) * moved.outer / divisor
        weighted = moved.from_own / variance
        factor = 1 - b * np.einsum("ij,ij->i", weighted, moved.from_own)
        cross = np.einsum("ij,ij->i", weighted, moved.from_class)
        distance = np.einsum("ij,ij->i", moved.from_class, moved.from_class / variance) + b * cross**2 / factor
        density = log_density(distance, log_determinant + np.log(factor), moved.degrees, d) - measure.log_volume
        least = s * mean_extent / np.diagonal(measure.reference).max() if s > 0 else p.least_share[k] * factor
        return density, factor, least
