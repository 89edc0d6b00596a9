"""Exact leave-one-out log-likelihoods of classes with covariances.

Taking a row x out of its class c with weight r leaves, with N the weight of the class and d = x - mean_c,

    N' = N - r,   mean_c' = mean_c - d r / N',   M_k' = M_k - a d d',   a = r N / N' times 1 for k = c, `shared` else.

Along the axes of M_k, d has coordinates y and x - mean_k has z. Each axis i keeps the variance
v_i = (1 - spherical) e_i / q' + spherical t', where q' is the divisor without the row and t' the mean extent; and with
b = (1 - spherical) a / q', by Sherman and Morrison,

    |z|^2 = sum z_i^2 / v_i + b (sum z_i y_i / v_i)^2 / f,   log det = sum log v_i + log f,   f = 1 - b sum y_i^2 / v_i.

So no matrix is factored again, except for the few rows whose class is left with hardly any extent in a direction, and
for rows of tables with missing cells: their sums are taken apart one by one. The yardstick is held.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.estimate.densities import Densities, drawn_to_sphere
from bayeswater.inference.gaussian_full import FullJoint, log_density
from bayeswater.inference.leave_one_out import STRETCH_CELLS
from bayeswater.statistics.moments import DIGITS_KEPT
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import Array

Likelihood = Callable[[Scatter, Array, Array, slice], Array]
"""Log-likelihoods (1, n_classes) of one row under the sums and counts of some classes, with the yardstick held."""


@dataclass(frozen=True)
class Without:
    """Densities and the sums they were read from, ready to have single rows taken out."""

    densities: Densities
    scatter: Scatter
    class_count: Array
    anew: Likelihood

    @cached_property
    def lacks_cells(self) -> bool:
        """Whether cells were missing among the rows that were counted."""
        return self.scatter.lacks_cells(self.class_count)

    def must_be_single(self, x: Array, y: Array, removed: Array) -> Array:
        """Rows whose sums have to be taken apart one by one: (n_rows,)."""
        alone = remainder(self.class_count[y].astype(np.float64), removed) == 0
        return np.isnan(x).any(axis=1) | alone | self.lacks_cells | (self.densities.n_directions == 0)

    def one_by_one(self, rows: Array, x: Array, y: Array, removed: Array, result: Array) -> None:
        """Put the log-likelihoods of some rows into `result`, from sums that are read again without them."""
        reading = self.densities.blend.reading
        by_class = reading.shared == 0 and not self.lacks_cells
        if by_class and len(rows):
            result[rows] = self.anew(self.scatter, self.class_count, x[rows], slice(None))
        for i in rows:
            k = int(y[i])
            left = remainder(self.class_count[k].astype(np.float64), removed[i])
            if by_class:
                alone = self.scatter.of_class(k).without_row(0, x[i], float(removed[i]))
                result[i, k] = self.anew(alone, np.array([left]), x[i : i + 1], slice(k, k + 1))[0, 0]
            else:
                count = self.class_count.astype(np.float64)
                count[k] = left
                others = self.scatter.without_row(k, x[i], float(removed[i]))
                result[i] = self.anew(others, count, x[i : i + 1], slice(None))[0]


@dataclass(frozen=True)
class FullWithout(Without):
    """The same for classes with a covariance between columns."""

    @cached_property
    def joint(self) -> FullJoint:
        """The densities with all rows in, without a prior."""
        return FullJoint(np.zeros(self.densities.n_classes), self.densities)

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
        p = self.densities
        x = block.astype(np.float64, copy=False)
        single = self.must_be_single(x, y, removed)
        single |= (self.is_changed[y] & (p.n_lifted > 0) & self._can_be_lifted).any(axis=1)
        lost = np.zeros(len(x), dtype=bool)
        result = np.empty((len(x), p.n_classes))
        rows = np.flatnonzero(~single)
        stretch = max(1, STRETCH_CELLS // x.shape[1])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # such rows are taken apart singly
            for start in range(0, len(rows), stretch):
                part = rows[start : start + stretch]
                result[part], lost[part], single[part] = self._together(x[part], y[part], removed[part])
        self.one_by_one(np.flatnonzero(single), x, y, removed, result)
        return result, lost

    @property
    def _can_be_lifted(self) -> bool:
        return self.densities.blend.reading.prior is None

    def _together(self, x: Array, y: Array, removed: Array) -> tuple[Array, Array, Array]:
        """Log-likelihoods of rows by the formula, which of them lost digits, and which must be taken apart singly."""
        p = self.densities
        result = np.empty((len(x), p.n_classes))
        lost, single = np.zeros((2, len(x)), dtype=bool)
        unchanged = ~self.is_changed[y]  # (n_rows, n_classes)
        if unchanged.any():
            result = self.joint.likelihood(x)
        for k in range(p.n_classes):
            rows = np.flatnonzero(~unchanged[:, k])
            if not len(rows):
                continue
            result[rows, k], factor, least = self._changed(k, x[rows], y[rows], removed[rows])
            if not p.blend.has_density[k]:
                result[rows, k] = -np.inf
                continue
            left = p.blend.count[k] - np.where(y[rows] == k, removed[rows], 0.0)
            lost[rows] |= (factor < DIGITS_KEPT) & (left > p.n_directions)
            single[rows] |= factor < DIGITS_KEPT
            if self._can_be_lifted:
                single[rows] |= least < p.variance_floor
        return result, lost, single | lost | np.isnan(result).any(axis=1)

    def _changed(self, k: int, x: Array, y: Array, removed: Array) -> tuple[Array, Array, Array]:
        """Log-likelihoods in class k of rows that had a part in it.

        Also the factor f of the determinant, and what share of the reference is left in any direction, at
        least: M - a d d' is no less than f M, and what is drawn to a sphere no less than that.
        """
        p, blend = self.densities, self.densities.blend
        own = y == k
        before = blend.weight[y]
        after = before - removed
        z = (x - p.mean[k]) @ self.projections[k]
        from_own = z if own.all() else z + ((p.mean[k] - p.mean) @ self.projections[k])[y]
        z = np.where(own, before / after, 1.0)[:, None] * z
        a = removed * before / after * np.where(own, 1.0, blend.reading.shared)
        count = blend.count[k] - np.where(own, removed, 0.0)
        divisor, degrees = blend.divisor(k, count, blend.count.sum() - removed)
        extent = p.extent[k if len(p.extent) > 1 else 0]
        s = blend.spherical[k]
        d = p.n_directions
        if s > 0:
            mean_extent = (extent.sum() - a * (from_own**2).sum(axis=1)) / (divisor * d)
            variance = (1 - s) * extent / divisor[:, None] + s * mean_extent[:, None]
            log_determinant = np.log(variance).sum(axis=1)
            least = s * mean_extent / np.diagonal(blend.yardstick.reference).max()
        else:
            variance = extent / divisor[:, None]
            log_determinant = np.log(extent).sum() - d * np.log(divisor)
        b = (1 - s) * a / divisor
        weighted = from_own / variance
        factor = 1 - b * np.einsum("ij,ij->i", weighted, from_own)
        if s == 0:
            least = p.least_share[k] * factor
        cross = np.einsum("ij,ij->i", weighted, z)
        distance = np.einsum("ij,ij->i", z, z / variance) + b * cross**2 / factor
        density = log_density(distance, log_determinant + np.log(factor), degrees, d)
        return density - blend.yardstick.log_volume, factor, least


@dataclass(frozen=True)
class IndependentWithout(Without):
    """The same for independent columns, where every column keeps a variance of its own."""

    least: Array  # least variance of each direction

    def likelihood(self, block: Array, y: Array, removed: Array) -> tuple[Array, Array]:
        """Log-likelihoods (n_rows, n_classes) of rows taken out of their class, and which rows lost digits in that."""
        x = block.astype(np.float64, copy=False)
        single = self.must_be_single(x, y, removed)
        lost = np.zeros(len(x), dtype=bool)
        result = np.empty((len(x), self.densities.n_classes))
        rows = np.flatnonzero(~single)
        stretch = max(1, STRETCH_CELLS // x.shape[1])
        with np.errstate(over="ignore"):
            for start in range(0, len(rows), stretch):
                part = rows[start : start + stretch]
                for k in range(self.densities.n_classes):
                    result[part, k], lost_here = self._of_class(k, x[part], y[part], removed[part])
                    lost[part] |= lost_here
        self.one_by_one(np.flatnonzero(single), x, y, removed, result)
        return result, lost

    def _of_class(self, k: int, x: Array, y: Array, removed: Array) -> tuple[Array, Array]:
        p, blend = self.densities, self.densities.blend
        if not blend.has_density[k]:
            return np.full(len(x), -np.inf), np.zeros(len(x), dtype=bool)
        measure, own = blend.yardstick, y == k
        columns = measure.directions.columns
        scale = measure.scale[columns]
        before = blend.weight[y]
        after = before - removed
        from_own = (x[:, columns] - p.mean[y][:, columns]) / scale
        a = removed * before / after * np.where(own, 1.0, blend.reading.shared)
        matrix = blend.class_matrix(k)
        left = remainder(matrix, a[:, None] * from_own**2)
        lost = (left < DIGITS_KEPT * matrix).any(axis=1) & (a > 0)
        count = blend.count[k] - np.where(own, removed, 0.0)
        divisor, degrees = blend.divisor(k, count, blend.count.sum() - removed)
        if blend.reading.prior is None and blend.reading.shared == 0 and blend.reading.form != "spherical":
            alone = own & (np.abs(count - 1) < 1e-9) & (self.scatter.weight.dtype.kind == "i")
            left[alone] = 0.0  # what remains is one row
            lost &= ~alone
        variance = drawn_to_sphere(left / divisor[:, None], np.full(len(x), blend.spherical[k]))
        variance = np.maximum(variance, self.least)
        z = (x[:, columns] - p.mean[k, columns]) / scale
        z = np.where(own, before / after, 1.0)[:, None] * z
        if np.isfinite(p.degrees[k]) and blend.reading.form != "spherical":
            terms = log_density(z**2 / variance, np.log(variance), degrees[:, None], 1)
            density = terms.sum(axis=1)
        else:
            density = log_density((z**2 / variance).sum(axis=1), np.log(variance).sum(axis=1), degrees, len(columns))
        return density - np.log(scale).sum(), lost
