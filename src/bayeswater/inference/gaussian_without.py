"""Exact leave-one-out log-likelihoods of Gaussian classes, by formula, and by counting again where it has no digits.

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

**Independent columns.** A row taken out moves mean and variance of each column by a formula of that column alone; so
missing cells change nothing but the weight that a column is counted with, and a row has the density of the cells that
it has.

**Lost digits.** A row far away from all others of its class makes up nearly all of its scatter, and what is left when
it is subtracted is rounding. There are few such rows, at most one for each direction of a class: for them the class is
summed again without the row, where its rows are at hand.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from bayeswater.data.matrix import DenseTable
from bayeswater.errors import PrecisionWarning, warn_user
from bayeswater.estimate.densities import Densities, drawn_to_sphere, least_variance, read_densities
from bayeswater.inference.gaussian_full import FAR, FullJoint, log_density
from bayeswater.inference.gaussian_line import line_joint
from bayeswater.inference.gaussian_read_again import BlendParts, PartsWithout, ReadAgain
from bayeswater.inference.leave_one_out import STRETCH_CELLS
from bayeswater.inference.normal_joint import IndependentJoint, independent_joint
from bayeswater.kernels.remainders import ROUNDING, remainder
from bayeswater.kernels.scatter import class_scatter, merged
from bayeswater.kernels.threads import row_blocks
from bayeswater.records import record
from bayeswater.statistics.moments import DIGITS_KEPT
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


@record
class Moved:
    """Coordinates along the axes of a class of rows that had a part in it, and how they move its matrix: (n_rows,)."""

    from_own: Array  # (n_rows, n_directions): y, from the mean of the row's own class
    from_class: Array  # (n_rows, n_directions): z, from the mean of this class without the row
    outer: Array  # a
    divisor: Array  # q'
    degrees: Array


@record
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


@record
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


def joint_of(log_prior: Array, read: Densities) -> FullJoint | IndependentJoint:
    """Lay densities out for scoring; only those of independent columns are taken column by column."""
    reading = read.blend.reading
    if reading.is_diagonal and not (reading.form == "spherical" and reading.prior is not None):
        return independent_joint(log_prior, read)
    return FullJoint(log_prior, read)


def without(sums: Sums[Scatter], read: Densities) -> FullWithout | ColumnsWithout:
    """Make densities ready to have single rows taken out; yardstick and intensities are held."""
    count = sums.class_count.count
    if read.blend.reading.is_diagonal:
        return ColumnsWithout(read, sums.columns, count, least_variance(read.blend, read.variance_floor))
    joint = FullJoint(np.zeros(read.n_classes), read)
    return FullWithout(read, joint, ReadAgain(read, sums.columns, count, joint))


def likelihood_of_sums(scatter: Scatter, class_count: Array, held: Densities, rows: Array) -> Array:
    """Log-likelihoods (n_rows, n_classes) of rows under other sums, by the yardstick and the intensities of `held`."""
    reading = held.blend.reading
    intensity = held.blend.spherical if reading.prior is None else None
    again = read_densities(scatter, class_count, reading, held.variance_floor, held.blend.yardstick, intensity)
    none = np.zeros(len(class_count))
    joint = joint_of(none, again)
    return (line_joint(none, again, joint) or joint).of(rows, False)


def likelihood_without(
    sums: Sums[Scatter], read: Densities, table: DenseTable, codes: Array, removed: Array, weight: Array | None = None
) -> Callable[[slice, bool], Array]:
    """Give a function of some rows: their log-likelihoods (n_rows, n_classes), each row taken out of the sums.

    `removed` is what leaving a row out takes away of its `weight`; where that is not known it is taken for all of it.
    """
    left_out = without(sums, read)
    count = sums.class_count.count.astype(np.float64)
    weight = removed if weight is None else weight.astype(np.float64)
    given = np.bincount(codes, weights=weight, minlength=len(count))
    is_complete = np.abs(given - count) <= 1e-9 * count  # all rows of the class are here
    warned: list[int] = []

    def counted_again(row: int) -> Array:
        k, left = int(codes[row]), count.copy()
        left[k] = remainder(count[k], removed[row])
        scatter = sums.columns.with_class(k, _class_without(sums.columns, table, codes, weight, row, removed[row]))
        return likelihood_of_sums(scatter, left, read, table.block(slice(row, row + 1)))

    def likelihood(rows: slice, use_loop: bool) -> Array:
        terms, lost = left_out.likelihood(table.block(rows), codes[rows], removed[rows])
        for i in np.flatnonzero(lost):
            if is_complete[codes[rows.start + i]]:
                terms[i] = counted_again(rows.start + int(i))
            elif not warned:  # once a call, not once a block
                warned.append(rows.start + int(i))
                warn_user(
                    f"row {warned[0]} makes up nearly all of the scatter of its class in a direction, and others may "
                    "too; without such a row few digits of the scatter are right, or none. Give all rows of the class: "
                    "then it is counted again without that row",
                    PrecisionWarning,
                )
        return terms

    return likelihood


def _class_without(sums: Scatter, table: DenseTable, codes: Array, weight: Array, row: int, removed: float) -> Scatter:
    """Sum the class of a row again, from its other rows and what is left of it."""
    weight = weight.copy()
    weight[row] -= removed
    total = None
    for block in row_blocks(table.shape[0]):
        chosen = np.flatnonzero((codes[block] == codes[row]) & (weight[block] > 0))
        if len(chosen):
            part = class_scatter(
                table.block(block)[chosen],
                np.zeros(len(chosen), dtype=np.intp),
                weight[block][chosen],
                1,
                skip_missing=sums.is_pairwise or sums.n_columns == 1,
            )
            total = part if total is None else merged(total, part)  # type: ignore[arg-type]
    if total is None:  # the row is alone in its class
        none, skip_missing = np.zeros(0, dtype=np.intp), sums.is_pairwise or sums.n_columns == 1
        total = class_scatter(table.block(slice(0, 1))[:0], none, None, 1, skip_missing=skip_missing)
    return Scatter(sums.classes, sums.names, *total)
