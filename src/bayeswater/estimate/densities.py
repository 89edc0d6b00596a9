"""Densities of the classes: principal axes and variances, no variance being a tiny share of what is usual.

Along its axes a class has variances v_1, v_2, ...: eigenvalues of its covariance in the coordinates of the yardstick. A
class of few rows, or whose rows lie in a plane, has none in some directions, and no density there. Then, and only then,
its covariance is lifted: with T the reference of the yardstick, the shares v'Cv / v'Tv (eigenvalues of C seen from T)
are raised to `variance_floor`. Of independent columns it is the larger of the variance and variance_floor times the
variance over all rows. A share has no unit, so a change of units changes nothing.
"""

from functools import cached_property

import numpy as np

from bayeswater.estimate.covariance import Blend, CovarianceReading, blend
from bayeswater.estimate.yardstick import Yardstick, yardstick
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.records import record
from bayeswater.statistics.scatter import Scatter
from bayeswater.typing import Array

FEW_DIGITS = 1e-10
"""Share of the largest extent of a class below which over ten of the sixteen digits of an extent are lost."""

ROUNDING = 1e-15
"""Share of the largest extent of columns of unit length below which an extent is but rounding."""

AXES_COST = 10
"""Multiplications that the axes of a covariance take, for every cell of a cube of its size."""


@record
class Densities:
    """A normal or Student-t density for each class.

    The coordinates of a row along the axes of class k are ((x - mean_k) / scale) @ basis @ axes_k. For independent
    columns there are no axes: the directions are the columns.
    """

    blend: Blend
    axes: Array | None  # (n_classes or 1, n_directions, n_directions): orthonormal, unless they are skew
    extent: Array  # (n_classes or 1, n_directions): eigenvalues of M_k; of no meaning where axes are skew
    variance: Array  # (n_classes, n_directions)
    log_stretch: Array  # (n_classes,): what axes that are not orthonormal add to the log-determinant of the covariance
    degrees: Array  # (n_classes,): infinite for a normal density
    n_lifted: Array  # (n_classes,): directions whose variance was lifted
    is_skew: Array  # (n_classes,): the axes are not orthonormal
    variance_floor: float

    @property
    def mean(self) -> Array:
        """Mean of each class, in the units of the columns: (n_classes, n_columns)."""
        return self.blend.mean

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.variance)

    @property
    def n_directions(self) -> int:
        """Number of directions."""
        return self.variance.shape[1]

    def class_axes(self, k: int) -> Array:
        """Axes of one class, in the coordinates of the yardstick: (n_directions, n_directions)."""
        if self.axes is None:
            return np.eye(self.n_directions)
        return self.axes[k if len(self.axes) > 1 else 0]

    def projection(self, k: int) -> Array:
        """What leads from distances in the units of the columns to coordinates along the axes of class k."""
        measure = self.blend.yardstick
        return (measure.directions.basis / measure.scale[:, None]) @ self.class_axes(k)

    def scaled_root(self, k: int) -> Array:
        """A root R of the covariance C = R R' of class k, of scaled columns: (n_columns, n_directions)."""
        back = np.linalg.inv(self.class_axes(k)) if self.is_skew[k] else self.class_axes(k).T
        return self.blend.yardstick.directions.step @ (back.T * np.sqrt(self.variance[k]))

    def scaled_covariance(self, k: int) -> Array:
        """Covariance of class k (of a Student-t, its scale matrix), of scaled columns."""
        root = self.scaled_root(k)
        return root @ root.T

    def covariance(self, k: int) -> Array:
        """Covariance of class k (of a Student-t, its scale matrix), in the units of the columns."""
        scale = self.blend.yardstick.scale
        return self.scaled_covariance(k) * scale * scale[:, None]

    @cached_property
    def log_determinant(self) -> Array:
        """Of each covariance in the coordinates of the yardstick: (n_classes,); zero for a class without density."""
        variance = np.where(self.blend.has_density[:, None], self.variance, 1.0)
        return np.log(variance).sum(axis=1) + self.log_stretch

    @cached_property
    def least_share(self) -> Array:
        """Smallest share that M_k / divisor has of what is usual, in any direction: (n_classes,)."""
        divisor, _ = self.blend.divisors()
        matrices = [self.blend.class_matrix(k) for k in range(self.n_classes)]
        least = [self.blend.yardstick.shares(matrix)[0].min(initial=np.inf) for matrix in matrices]
        return np.array(least) / divisor


def read_densities(
    scatter: Scatter,
    class_count: Array,
    reading: CovarianceReading,
    variance_floor: float,
    measure: Yardstick | None = None,
    intensity: Array | None = None,
) -> Densities:
    """Read the densities off the sums; a yardstick, and intensities of shrinkage, may be held."""
    with one_blas_thread(AXES_COST * len(class_count) * scatter.n_columns**3):
        if measure is None:
            only_columns = reading.is_diagonal or reading.is_drawn_to_sphere or reading.prior is not None
            measure = yardstick(scatter, only_columns=only_columns, has_units=reading.form != "spherical")
        return densities(blend(scatter, class_count, reading, measure, intensity), variance_floor)


def densities(parts: Blend, variance_floor: float) -> Densities:
    """Find axes and variances of all classes."""
    if parts.reading.is_diagonal:
        return _of_columns(parts, variance_floor)
    divisor, degrees = parts.divisors()
    n_classes, d = parts.n_classes, parts.n_directions
    n_lifted, is_skew = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=bool)
    log_stretch, variance = np.zeros(n_classes), np.zeros((n_classes, d))
    axes, extent = np.empty_like(parts.matrix), np.zeros(parts.matrix.shape[:2])
    for g, matrix in enumerate(parts.matrix):
        classes = np.arange(n_classes) if len(parts.matrix) < n_classes else np.array([g])
        covariance = matrix / divisor[classes[0]]
        s = parts.spherical[classes[0]]
        if s > 0 and d:
            covariance = (1 - s) * covariance + s * np.trace(covariance) / d * np.eye(d)
        least = variance_floor * parts.yardstick.reference
        has_prior, is_empty = parts.reading.prior is not None, not (d and parts.count[classes].any())
        if has_prior or is_empty or _is_above(covariance, least):
            extent[g], axes[g] = np.linalg.eigh(matrix)
            if s > 0 or is_empty or (extent[g] > FEW_DIGITS * extent[g][-1]).all():
                own = np.maximum(extent[g], 0.0) / divisor[classes, None]
                variance[classes] = drawn_to_sphere(own, parts.spherical[classes])
                continue
            # Beside large extents small ones lose digits, unless it is but the columns that differ in extent.
            unit = np.sqrt(np.diagonal(matrix))
            of_unit, turned = np.linalg.eigh(matrix / unit / unit[:, None])
            rounding = ROUNDING * of_unit[-1]
            if has_prior or of_unit[0] > rounding:
                axes[g], log_stretch[classes], is_skew[classes] = turned / unit[:, None], 2 * np.log(unit).sum(), True
                variance[classes] = np.maximum(of_unit, rounding) / divisor[classes, None]
                continue
        shares, axes[g] = parts.yardstick.shares(covariance)
        n_lifted[classes], is_skew[classes] = max(1, (shares < variance_floor).sum()), True
        variance[classes] = np.maximum(shares, variance_floor)
        log_stretch[classes] = parts.yardstick.even[1]
    return Densities(parts, axes, extent, variance, log_stretch, degrees, n_lifted, is_skew, variance_floor)


def _of_columns(parts: Blend, variance_floor: float) -> Densities:
    """Variances of independent columns."""
    divisor, degrees = parts.divisors()
    extent = np.broadcast_to(parts.matrix, (parts.n_classes, parts.n_directions))
    variance = drawn_to_sphere(extent / divisor[:, None], parts.spherical)
    least = least_variance(parts, variance_floor)
    lifted = (variance < least) & (parts.count > 0)[:, None]
    variance = np.where(lifted, least, variance)
    none, no = np.zeros((2, parts.n_classes))
    return Densities(parts, None, parts.matrix, variance, none, degrees, lifted.sum(axis=1), no > 0, variance_floor)


def drawn_to_sphere(variance: Array, spherical: Array) -> Array:
    """Draw variances (n, n_directions) towards their mean, each row by its intensity (n,)."""
    if not spherical.any() or not variance.shape[1]:
        return variance
    s = spherical[:, None]
    return (1 - s) * variance + s * variance.mean(axis=1, keepdims=True)


def least_variance(parts: Blend, variance_floor: float) -> Array:
    """Least variance of independent columns, by the yardstick: (n_directions,)."""
    if parts.reading.prior is not None:
        return np.zeros(parts.n_directions)
    total = np.diagonal(parts.yardstick.directions.inward(parts.yardstick.total))
    if parts.reading.form == "spherical" and len(total):
        total = np.full_like(total, total.mean())
    return variance_floor * total


def _is_above(matrix: Array, least: Array) -> bool:
    """Say whether a symmetric matrix is larger than another in every direction."""
    try:
        np.linalg.cholesky(matrix - least)
    except np.linalg.LinAlgError:
        return False
    return True
