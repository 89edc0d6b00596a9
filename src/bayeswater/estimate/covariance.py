"""Covariances of the classes, read off their scatter matrices.

Every form and every estimate is one formula. With S_k the scatter of class k, S the sum of all of them, and d columns,

    M_k = (1 - shared) S_k + shared S
    covariance_k = (1 - spherical) M_k / divisor_k + spherical tr(M_k) / (d divisor_k) I

of which "shared" is shared = 1, "spherical" is spherical = 1, and the diagonal forms keep but the diagonal of M_k. The
divisor is (1 - shared) n_k + shared n by maximum likelihood, and with n_k - 1 and n - K for those it is unbiased. Under
a Normal-inverse-Wishart prior, the prior's scale is a part of S_k, and the density a Student-t.

One row more or less changes S_k by a multiple of the outer product of its distance from the mean, and the divisor by
its weight: that is all leave-one-out needs to know (`Blend.divisor`).
"""

from typing import Literal

import numpy as np

from bayeswater.estimate.covariance_priors import Friedman, NormalInverseWishart, ledoit_wolf_intensity, oas_intensity
from bayeswater.estimate.yardstick import Yardstick
from bayeswater.records import record
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.scatter import Scatter
from bayeswater.typing import Array

Form = Literal["full", "shared", "diagonal", "shared_diagonal", "spherical"]
FORMS: tuple[Form, ...] = ("full", "shared", "diagonal", "shared_diagonal", "spherical")
Shrinkage = Friedman | Literal["oas", "ledoit_wolf"]


@record
class CovarianceReading:
    """How covariances are to be read: their form, their divisor, and what they are drawn to."""

    form: Form = "full"
    unbiased: bool = False
    shrinkage: Shrinkage = Friedman()
    prior: NormalInverseWishart | None = None

    @property
    def is_diagonal(self) -> bool:
        """Whether columns are independent within a class."""
        return self.form in ("diagonal", "shared_diagonal", "spherical")

    @property
    def is_drawn_to_sphere(self) -> bool:
        """Whether covariances have an extent in every direction as soon as they have one in any."""
        return not isinstance(self.shrinkage, Friedman) or self.shrinkage.spherical > 0

    @property
    def shared(self) -> float:
        """How far the classes share a covariance."""
        if self.form in ("shared", "shared_diagonal"):
            return 1.0
        return self.shrinkage.shared if isinstance(self.shrinkage, Friedman) else 0.0

    def n_parameters(self, n_classes: int, n_columns: int) -> int:
        """Number of free parameters of the covariances.

        Shrinkage all the way (Friedman's parameters of 1) leaves but the covariance that is shared, or one variance.
        Short of that all entries are free to move with the data, if not as far, and count in full.
        """
        is_sphere = isinstance(self.shrinkage, Friedman) and self.shrinkage.spherical == 1
        if self.form == "spherical" or is_sphere:
            of_one = 1
        else:
            of_one = n_columns if self.is_diagonal else n_columns * (n_columns + 1) // 2
        return of_one * (1 if self.shared == 1 else n_classes)


@record
class Blend:
    """The parts that covariances are made of, in the coordinates of the yardstick.

    `weight` is what a row's weight is compared with where it moves the mean: n_k, and the strength of a prior with it.
    """

    reading: CovarianceReading
    yardstick: Yardstick
    count: Array  # (n_classes,): n_k
    weight: Array  # (n_classes,)
    mean: Array  # (n_classes, n_columns), in the units of the columns
    matrix: Array  # M_k: (n_classes or 1, n_directions, n_directions), or (n_classes or 1, n_directions) of diagonals
    spherical: Array  # (n_classes,)
    strength: float = 0.0
    degrees: float = np.inf  # of Student's t before any row

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.count)

    @property
    def n_directions(self) -> int:
        """Number of directions."""
        return self.matrix.shape[-1]

    @property
    def has_density(self) -> Array:
        """Which classes have a density: those with rows, or all where there is a prior."""
        return (self.count > 0) | (self.reading.prior is not None)

    @property
    def degrees_of_a_row(self) -> int:
        """Degrees of freedom that a row brings."""
        return max(self.n_directions, 1) if self.reading.form == "spherical" else 1

    def class_matrix(self, k: int) -> Array:
        """M_k of one class."""
        return self.matrix[k if len(self.matrix) > 1 else 0]

    def divisor(self, n: Array | float, n_all: Array | float) -> tuple[Array, Array]:
        """Divisor of M_k and degrees of freedom, where a class has n rows and all classes have n_all.

        The unbiased divisor counts weights as rows: n - f, where f means were estimated (one for each class that has a
        part). No fewer than f + 1 whole rows can have any scatter. For fractional weights whose sum is below that, the
        divisor is n / (f + 1), which meets n - f at n = f + 1: it never jumps, nor falls to zero.
        """
        shared = self.reading.shared
        n, n_all = np.asarray(n, dtype=np.float64), np.asarray(n_all, dtype=np.float64)
        rows = (1 - shared) * n + shared * n_all
        if self.reading.prior is not None:
            per_row = self.degrees_of_a_row
            degrees = self.degrees + per_row * rows
            strength = self.strength + n
            return degrees * strength / (per_row * (strength + 1)), degrees
        if self.reading.unbiased:
            n_classes = int((self.count > 0).sum())
            n_means = (1 - shared) + shared * n_classes
            rows = np.maximum(rows - n_means, rows / (n_means + 1))
        return np.where(rows > 0, rows, 1.0), np.full_like(rows, np.inf)

    def divisors(self) -> tuple[Array, Array]:
        """Divisor and degrees of freedom of every class: (n_classes,) each."""
        return self.divisor(self.count, self.count.sum())


def blend(
    scatter: Scatter, class_count: Array, reading: CovarianceReading, measure: Yardstick, spherical: Array | None = None
) -> Blend:
    """Read the parts of the covariances off the sums; `spherical` holds intensities (n_classes,) that are known."""
    n, mean, parts = class_parts(scatter, class_count, reading, measure)
    if reading.prior is not None:
        return _with_prior(reading, reading.prior, measure, n, mean, parts)
    if spherical is None:
        spherical = _intensities(scatter, class_count, reading, measure, parts, n)
    shared = reading.shared
    pooled = parts.sum(axis=0)
    matrix = pooled[None] if shared == 1 else (1 - shared) * parts + shared * pooled if shared else parts
    return Blend(reading, measure, n, n, mean, matrix, spherical)


def class_parts(
    scatter: Scatter, class_count: Array, reading: CovarianceReading, measure: Yardstick
) -> tuple[Array, Array, Array]:
    """Weights (n_classes,), means (n_classes, n_columns) and S_k in the coordinates of the yardstick."""
    if reading.is_diagonal:
        n, mean, squares = _diagonal_sums(scatter, class_count)
        return n, mean, seen_by(measure, squares)
    n, mean, matrices = scatter.complete(class_count)
    return n, mean, seen_by(measure, matrices)


def seen_by(measure: Yardstick, scatter: Array) -> Array:
    """See scatter matrices (n, n_columns, n_columns), or diagonals of them, in the coordinates of the yardstick."""
    if scatter.ndim == 2:
        columns = measure.directions.columns
        return scatter[:, columns] / measure.scale[columns] ** 2
    return measure.directions.inward(measure.scaled(scatter))


def _diagonal_sums(scatter: Scatter, class_count: Array) -> tuple[Array, Array, Array]:
    """Weights, means and squares of the columns, as if missing cells were like those that are there."""
    n = class_count.astype(np.float64)
    if not scatter.lacks_cells(class_count):
        return n, scatter.means, scatter.squares
    cells = np.broadcast_to(scatter.cells, scatter.means.shape).astype(np.float64)
    n_all, mean_all, scatter_all = scatter.pooled
    variance_all = np.diagonal(scatter_all) / np.where(n_all > 0, n_all, 1.0)
    variance = np.where(cells > 0, scatter.squares / np.where(cells > 0, cells, 1.0), variance_all)
    return n, np.where(cells > 0, scatter.means, mean_all), variance * n[:, None]


def _with_prior(
    reading: CovarianceReading, prior: NormalInverseWishart, measure: Yardstick, n: Array, mean: Array, parts: Array
) -> Blend:
    n_columns = mean.shape[1]
    degrees = prior.degrees_for(n_columns)
    location, added = pulled(prior, measure, n, mean, parts)
    scale = expected_scale(reading, prior, measure)
    matrix = scale + (added.sum(axis=0)[None] if reading.shared == 1 else added)
    d = matrix.shape[-1]
    start = 2 + d * (degrees - n_columns - 1) if reading.form == "spherical" else degrees - n_columns + 1
    spherical = np.full(len(n), 1.0 if reading.form == "spherical" else 0.0)
    return Blend(reading, measure, n, prior.strength + n, location, matrix, spherical, prior.strength, start)


def pulled(prior: NormalInverseWishart, measure: Yardstick, n: Array, mean: Array, parts: Array) -> tuple[Array, Array]:
    """Means drawn to the one that the prior expects, and scatters with the distance between both."""
    expected = prior.mean_for(measure.center)
    strength = prior.strength + n
    away = mean - expected
    pull = prior.strength * n / strength
    u = (away / measure.scale) @ measure.directions.basis
    outer = pull[:, None] * u**2 if parts.ndim == 2 else pull[:, None, None] * u[:, :, None] * u[:, None, :]
    return expected + away * (n / strength)[:, None], parts + outer


def expected_scale(reading: CovarianceReading, prior: NormalInverseWishart, measure: Yardstick) -> Array:
    """Scatter that the prior is worth, in the coordinates of the yardstick; of diagonal forms its diagonal."""
    covariance = measure.directions.inward(measure.scaled(prior.covariance_for(measure.scale**2)))
    n_columns = len(measure.scale)
    scale = (prior.degrees_for(n_columns) - n_columns - 1) * covariance
    return np.diagonal(scale) if reading.is_diagonal else scale


def _intensities(
    scatter: Scatter, class_count: Array, reading: CovarianceReading, measure: Yardstick, parts: Array, n: Array
) -> Array:
    """How far each class is drawn to a sphere: (n_classes,)."""
    n_classes = len(class_count)
    if reading.form == "spherical":
        return np.ones(n_classes)
    if isinstance(reading.shrinkage, Friedman):
        return np.full(n_classes, reading.shrinkage.spherical)
    groups = [np.arange(n_classes)] if reading.shared == 1 else [np.array([k]) for k in range(n_classes)]
    intensity = np.ones(n_classes)
    for group in groups:
        weight = float(n[group].sum())
        if weight == 0:
            continue
        covariance = parts[group].sum(axis=0) / weight
        if reading.shrinkage == "oas":
            intensity[group] = oas_intensity(covariance, weight)
        else:
            assert isinstance(scatter, FourthMoments)
            fourth = measure.directions.inward(measure.scaled(measure.scaled(scatter.fourth[group].sum(axis=0))))
            intensity[group] = ledoit_wolf_intensity(covariance, weight, float(fourth.sum()))
    return intensity
