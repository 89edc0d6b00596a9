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

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayeswater.estimate.shrinkage import Friedman, ledoit_wolf_intensity, oas_intensity
from bayeswater.estimate.wishart import NormalInverseWishart
from bayeswater.estimate.yardstick import Yardstick
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.scatter import Scatter
from bayeswater.typing import Array

Form = Literal["full", "shared", "diagonal", "shared_diagonal", "spherical"]
FORMS: tuple[Form, ...] = ("full", "shared", "diagonal", "shared_diagonal", "spherical")
Shrinkage = Friedman | Literal["oas", "ledoit_wolf"]


@dataclass(frozen=True)
class Reading:
    """How covariances are to be read: their form, their divisor, and what they are drawn to."""

    form: Form = "full"
    unbiased: bool = False
    shrinkage: Shrinkage = Friedman()  # noqa: RUF009
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


@dataclass(frozen=True)
class Blend:
    """The parts that covariances are made of, in the coordinates of the yardstick.

    `weight` is what a row's weight is compared with where it moves the mean: n_k, and the strength of a prior with it.
    """

    reading: Reading
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

    def divisor(self, k: int, n: Array | float, n_all: Array | float) -> tuple[Array, Array]:
        """Divisor of M_k and degrees of freedom, where class k has n rows and all classes have n_all.

        A class with a weight of one or less has no unbiased estimate: it gets that of maximum likelihood.
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
            fewer = rows - (1 - shared) - shared * n_classes
            rows = np.where(fewer > 0, fewer, rows)
        return np.where(rows > 0, rows, 1.0), np.full_like(rows, np.inf)

    def divisors(self) -> tuple[Array, Array]:
        """Divisor and degrees of freedom of every class: (n_classes,) each."""
        pairs = [self.divisor(k, self.count[k], self.count.sum()) for k in range(self.n_classes)]
        return np.array([float(q) for q, _ in pairs]), np.array([float(degrees) for _, degrees in pairs])


def blend(
    scatter: Scatter, class_count: Array, reading: Reading, measure: Yardstick, spherical: Array | None = None
) -> Blend:
    """Read the parts of the covariances off the sums; `spherical` holds intensities (n_classes,) that are known."""
    if reading.is_diagonal:
        n, mean, squares = _diagonal_sums(scatter, class_count)
        columns = measure.directions.columns
        parts = squares[:, columns] / measure.scale[columns] ** 2  # (n_classes, n_directions)
    else:
        n, mean, matrices = scatter.complete(class_count)
        parts = measure.directions.inward(measure.scaled(matrices))
    if reading.prior is None:
        if spherical is None:
            spherical = _intensities(scatter, class_count, reading, measure, parts, n)
        shared = reading.shared
        pooled = parts.sum(axis=0)
        matrix = pooled[None] if shared == 1 else (1 - shared) * parts + shared * pooled if shared else parts
        return Blend(reading, measure, n, n, mean, matrix, spherical)
    return _with_prior(reading, reading.prior, measure, n, mean, parts)


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
    reading: Reading, prior: NormalInverseWishart, measure: Yardstick, n: Array, mean: Array, parts: Array
) -> Blend:
    n_columns = mean.shape[1]
    strength = prior.strength + n
    expected = prior.mean_for(measure.center)
    degrees = prior.degrees_for(n_columns)
    away = mean - expected
    location = expected + away * (n / strength)[:, None]
    pull = prior.strength * n / strength
    covariance = measure.directions.inward(measure.scaled(prior.covariance_for(measure.scale**2)))
    scale = (degrees - n_columns - 1) * covariance
    u = (away / measure.scale) @ measure.directions.basis
    if reading.is_diagonal:
        own, outer = np.diagonal(scale), pull[:, None] * u**2
    else:
        own, outer = scale, pull[:, None, None] * u[:, :, None] * u[:, None, :]
    added = parts + outer
    matrix = own + (added.sum(axis=0)[None] if reading.shared == 1 else added)
    d = matrix.shape[-1]
    start = 2 + d * (degrees - n_columns - 1) if reading.form == "spherical" else degrees - n_columns + 1
    spherical = np.full(len(n), 1.0 if reading.form == "spherical" else 0.0)
    return Blend(reading, measure, n, strength, location, matrix, spherical, prior.strength, start)


def _intensities(
    scatter: Scatter, class_count: Array, reading: Reading, measure: Yardstick, parts: Array, n: Array
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
