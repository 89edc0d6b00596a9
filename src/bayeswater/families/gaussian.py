"""Normal densities of numbers (`gaussian`) or of their logarithms (`lognormal`), with a floor under their variance.

    log P(x | k) = -(log(2 pi var_k) + (x - mean_k)^2 / var_k) / 2,    less log x for a log-normal column

With a Normal-inverse-gamma prior the prediction is a Student's t.

The floor is a share of the column's variance over all classes, which every row moves (`inference/normals_without.py`).

The evidence of a column left open has weak priors that carry its unit, so another unit shifts all densities alike: the
variance of a class is expected to be that within classes, its mean to be as far from the mean of all as the values are.
A density can be raised without limit where values repeat: a class of nothing but zeros would make the narrowest normal
curve the best of all laws. But values on a grid, whole numbers for one, are known no better than to half the way to
their neighbours. So normal values are taken as spread evenly over their cell, which adds to the scatter the variance
that the spacing hides (`Occupied.hidden_variance`; for whole numbers 1/12, as in Sheppard's correction).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri, stdtrit

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnPieces, DenseTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.number_table import NumberTable
from bayeswater.data.variable import Variable
from bayeswater.decision.facts import NOTHING, DensityFact, Fact
from bayeswater.errors import ParameterError
from bayeswater.estimate.normal_parameters import (
    GaussianParameters,
    NormalInverseGamma,
    floored_parameters,
    normal_log_evidence,
    or_impossible,
    require_finite_moments,
    require_near_priors,
)
from bayeswater.families.curve import ColumnCurve, class_shares, grid_over
from bayeswater.families.family import Settings, require_sums
from bayeswater.families.numbers import NumberBlock, NumberFamily, NumberView
from bayeswater.families.open_numbers import Candidate, OpenColumn, Weighed
from bayeswater.families.view import ColumnView, NumberOptions
from bayeswater.inference.bends import Bowls
from bayeswater.inference.drawing import log_gamma
from bayeswater.inference.formula import Distance, NumberForm
from bayeswater.inference.normal_joint import LOG_TWO_PI, GaussianJoint, gaussian_joint, student_log_density
from bayeswater.inference.normals_without import FloorWithout
from bayeswater.kernels.moments import FAINT
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.statistics.moments import Moments
from bayeswater.typing import Array

own_reasons(
    {
        "gaussian": "正态",
        "Gaussian": "正态",
        "lognormal": "对数正态",
        "log-normal": "对数正态",
        "zeros": "有零",
    }
)

VARIANCE_SHAPE = 1.0
"""Half the rows that the variance within classes is worth as an expectation of the variance of a class."""

LARGEST_LOG = float(np.log(np.finfo(np.float64).max))
"""Logarithm of the largest number there is."""

LOGARITHMS = (-745.0, 710.0)
"""Where the logarithms of all numbers over 0 lie."""


class NormalView(NumberView):
    """A normal or log-normal column, or with a prior a Student-t."""

    block: "NormalBlock"

    def options(self, row: int, chosen: int) -> NumberOptions | None:
        """Give the range in which numbers were seen, and where the log-odds bend in it."""
        p, moments, j = self.block.parameters, self.block.moments, self.j
        if not p.has_factor[j]:
            return None
        is_log = bool(self.block.is_log[j])
        counted = np.broadcast_to(moments.weight, moments.mean.shape)[:, j] > 0
        low, high = self.seen.within(self.column.name, moments.mean[counted, j], is_log=is_log)
        weight, mean, scatter = (float(own[j]) for own in moments.pooled())
        spread = sqrt(max(scatter, 0.0) / weight)
        if not (low < high and spread > 0):
            return None
        start, is_missing = self.expected(row, mean, low, high)
        away, variance = start - p.mean[:, j], np.where(p.variance[:, j] > 0, p.variance[:, j], 1.0)
        bowls = Bowls(away**2 / variance, away / variance, 1 / variance, p.degrees[:, j], 1)
        bends = start + bowls.bends(chosen, spread)
        bends = bends[(bends > low) & (bends < high)]
        return NumberOptions(
            low, high, start, is_missing, spread, bends, is_log, self.is_date, self.written, self.in_words
        )


@record
class NormalBlock(NumberBlock):
    """Moments of columns, some of them of logarithms (`is_log`), with the floor and the priors they are read with."""

    moments: Moments
    variance_floor: float
    priors: Mapping[int, NormalInverseGamma]
    is_log: Array  # (n_columns,)

    view: ClassVar[type[ColumnView]] = NormalView

    @property
    def sums(self) -> Moments:  # type: ignore[override]
        """The moments."""
        return self.moments

    @cached_property
    def parameters(self) -> GaussianParameters:
        """The densities."""
        return floored_parameters(self.moments, self.variance_floor, self.priors)

    @cached_property
    def joint(self) -> GaussianJoint:
        """The densities, laid out for scoring, with a class prior of one."""
        return gaussian_joint(np.zeros(self.moments.n_classes), self.parameters)

    def likelihood(self, cells: Array, use_loop: bool) -> Array:
        """Log-likelihoods of some rows, by logarithms where columns are so marked: (n_rows, n_classes)."""
        likelihood = self.joint.of(cells, use_loop)
        if self.is_log.any():  # the density of x is that of log x, divided by x
            likelihood -= np.nansum(cells[:, self.is_log & self.parameters.has_factor], axis=1, keepdims=True)
        return likelihood

    def terms(self, cells: Array) -> Array:
        """Log-likelihood of each cell: (n_rows, n_columns, n_classes)."""
        return self._terms(cells, slice(None))

    def column_terms(self, x: Array, j: int) -> Array:
        """Log-likelihood of numbers (n,) in one column: (n, n_classes)."""
        return self._terms(x[:, None], slice(j, j + 1))[:, 0]

    def _terms(self, cells: Array, columns: slice) -> Array:
        p = self.parameters
        x = cells[:, :, None]
        mean, variance, degrees = (own.T[columns] for own in (p.mean, p.variance, p.degrees))  # (n_columns, n_classes)
        terms = log_density(x, mean, np.where(variance > 0, variance, 1.0), degrees)
        terms -= np.where(self.is_log[columns, None], x, 0.0)
        return np.where(np.isnan(x) | ~p.has_factor[columns, None], 0.0, terms)

    def places(self, j: int) -> Array:
        """Quantiles of all classes."""
        p = self.parameters
        if not p.has_factor[j]:
            return np.empty(0)
        return _normal_places(p.mean[:, j], p.variance[:, j], p.degrees[:, j])

    def curve(self, column: Column, j: int) -> ColumnCurve:
        """Give the density in each class, that of a log-normal column at numbers and not at their logarithms."""
        found = super().curve(column, j)
        if not self.is_log[j]:
            return found
        with np.errstate(over="ignore"):
            at = np.exp(found.at)
        kept = (at > 0) & np.isfinite(at)
        return replace(found, at=at[kept], values=found.values[kept], is_log=True)

    def fact(self, j: int, *, is_unknown: bool) -> Fact | str:
        """Tell the regions of a number; those of a log-normal one are of its logarithm."""
        return normal_fact(self.parameters, j)

    def formula(self, j: int) -> Distance:
        """Give the densities."""
        return normal_formula(self.parameters, j, is_log=bool(self.is_log[j]))

    def drawn_parameters(self, j: int, rng: np.random.Generator, n_draws: int) -> tuple[Array, ...] | None:
        """Draw a normal density: its log-variance, and how far its mean is off a centre in standard deviations.

        They come from the Normal-inverse-gamma posterior of the prior, or else of the reference prior: variance ~
        scatter / chi2(n - 1), never below its floor, mean ~ N(mean, var / n). A class with less than two values, for
        which that does not exist, takes the spread of all classes together; a class without any value takes their mean
        too, as the model does. Of little more than one row the variance may be larger than any float64.
        """
        if not self.parameters.has_factor[j]:
            return None
        moments = self.moments
        n = np.broadcast_to(moments.weight, moments.mean.shape)[:, j].astype(np.float64)
        own_mean, own_scatter = moments.mean[:, j], moments.scatter[:, j]
        floor = -np.inf
        if j in self.priors:
            mean, strength, shape, scale = self.priors[j].posterior(n, own_mean, own_scatter)
        else:
            n_all, mean_all, scatter_all = (float(part[j]) for part in moments.pooled())
            known = n > 1
            degrees = np.where(known, n - 1, n_all - 1 if n_all > 1 else n_all)  # decayed rows may weigh less than one
            mean, strength = np.where(n > 0, own_mean, mean_all), np.where(n > 0, n, n_all)
            shape, scale = degrees / 2, np.where(known, own_scatter, scatter_all) / 2
            floor = float(np.log(self.variance_floor * scatter_all / n_all))
        with np.errstate(divide="ignore"):  # of equal values the scatter is 0, and the floor holds
            log_variance = np.log(scale) - log_gamma(rng, shape, n_draws)
        offset = rng.standard_normal(log_variance.shape) / np.sqrt(strength)
        return mean, offset, np.maximum(log_variance, floor)

    def drawn_terms(self, x: Array, j: int, drawn: tuple[Array, ...]) -> Array:
        """Log-density of numbers by drawn densities, but for a constant that all classes share."""
        centre, offset, log_variance = drawn
        with np.errstate(over="ignore"):
            standard = (x - centre) * np.exp(-0.5 * log_variance) - offset
            return np.where(np.isnan(x), 0.0, -0.5 * (log_variance + standard**2))

    def draw_column(self, codes: Array, j: int, rng: np.random.Generator) -> Array:
        """Draw numbers, or logarithms, from the densities."""
        p = self.parameters
        degrees = p.degrees[codes, j]
        is_normal = np.isinf(degrees)
        normal = rng.standard_normal(len(codes))
        noise = np.where(is_normal, normal, rng.standard_t(np.where(is_normal, 1.0, degrees)))
        drawn: Array = p.mean[codes, j] + np.sqrt(p.variance[codes, j]) * noise
        return drawn

    # ------------------------------------------------------------------ leave-one-out

    @cached_property
    def floor_without(self) -> FloorWithout:
        """The same moments, ready to have rows taken out of them."""
        return FloorWithout(self.moments, self.priors, self.variance_floor, self.parameters)

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the moments."""
        return self.floor_without.over(table, labels, removed, self.is_log & self.parameters.has_factor)


class GaussianCandidate(Candidate):
    """Normal values."""

    family = "gaussian"
    title = "Gaussian"
    is_density = True
    has_no_origin = True

    def sums(self, column: Any) -> tuple[Array, ...]:
        """Weight, mean and scatter of every class."""
        found: tuple[Array, ...] = column.moments()
        return found

    def gathered(
        self, classes: Variable, names: tuple[str, ...] | None, sums: Sequence[Array], matrix: DenseTable | ColumnPieces
    ) -> Moments:
        """Make moments of them."""
        return Moments(classes, names, *sums).compact().with_faint(matrix)

    def weighed(self, column: OpenColumn) -> Weighed:
        """Log-evidence of values spread over the cells between their neighbours."""
        with np.errstate(over="ignore", invalid="ignore"):
            hidden = column.histogram.class_sums(column.occupied.hidden_variance)
            return Weighed(_log_evidence(column.profile.own[self.family], column.j, hidden))


class LognormalCandidate(GaussianCandidate):
    """Normal logarithms."""

    family = "lognormal"
    title = "log-normal"
    has_no_origin = False

    def sums(self, column: Any) -> tuple[Array, ...]:
        """Weight, mean and scatter of the logarithms of the numbers over 0."""
        found: tuple[Array, ...] = column.log_moments()
        return found

    def gathered(
        self, classes: Variable, names: tuple[str, ...] | None, sums: Sequence[Array], matrix: DenseTable | ColumnPieces
    ) -> Moments:
        """Make moments of them."""
        return Moments(classes, names, *sums).compact()

    def why_not(self, column: OpenColumn, *, alone: bool) -> str | None:
        """Say which numbers have no logarithm."""
        first = column.occupied.first
        if not (first <= 0).any():
            return None
        return "negative numbers" if (first < 0).any() else "zeros"

    def weighed(self, column: OpenColumn) -> Weighed:
        """Log-evidence of logarithms, less their sum, which turns their density into one of the values."""
        logs: Moments = column.profile.own[self.family]  # type: ignore[assignment]
        n = np.broadcast_to(logs.weight, logs.mean.shape)[:, column.j]
        with np.errstate(over="ignore", invalid="ignore"):
            hidden = column.histogram.class_sums(column.occupied.logarithms().hidden_variance)
            return Weighed(_log_evidence(logs, column.j, hidden) - float(n @ logs.mean[:, column.j]))


def _log_evidence(moments: Any, j: int, hidden: Array) -> float:
    """Log-evidence of normal values of one column, with the scatter (n_classes,) that their spacing hides."""
    n = np.broadcast_to(moments.weight, moments.mean.shape)[:, j]
    _, pooled_mean, pooled_scatter = (float(part[j]) for part in moments.pooled())
    scatter, n_all = moments.scatter[:, j] + hidden, float(n.sum())
    total, within = float(pooled_scatter + hidden.sum()) / n_all, float(scatter.sum()) / n_all
    if not (FAINT <= n_all * total < np.inf and within / total > 0):  # beyond, squares are no numbers
        return -np.inf
    # Of the mean of a class the prior variance is within / strength: that of all values.
    prior = NormalInverseGamma(pooled_mean, within / total, VARIANCE_SHAPE, VARIANCE_SHAPE * within)
    return or_impossible(normal_log_evidence(prior, n, moments.mean[:, j], scatter).sum())


class Normal(NumberFamily):
    """Normal densities of numbers or, where they are log-normal, of their logarithms."""

    key: ClassVar = "normal"
    families: ClassVar = ("gaussian", "lognormal")
    statistic: ClassVar = Moments
    takes: ClassVar = {"lognormal": "numbers over 0"}
    candidates: ClassVar = (GaussianCandidate(), LognormalCandidate())
    priors: ClassVar = (NormalInverseGamma,)

    @property
    def is_log(self) -> tuple[bool, ...]:
        """Which columns are read by their logarithm."""
        return tuple(column.family == "lognormal" for column in self.columns)

    def impossible(self, column: Column, values: Array) -> Array:
        """Mark what has no logarithm."""
        return values <= 0

    def cell_form(self, sums: Any, j: int) -> NumberForm:
        """Cells that are read by their logarithm are over 0."""
        return NumberForm(low=0.0) if self.is_log[j] else NumberForm()

    def count(self, table: NumberTable, labels: Labels, weight: Array | None, settings: Settings) -> Moments:
        """Sum first and second moments."""
        return Moments.of_numbers(table, labels, weight, self.is_log)

    def read(self, sums: Moments, settings: Settings) -> NormalBlock:
        """Read the densities."""
        priors = {
            j: prior for j, column in enumerate(self.columns) if (prior := self.prior_of(column, settings)) is not None
        }
        require_finite_moments(sums, priors=priors)
        require_near_priors(sums, priors)
        return NormalBlock(sums, settings.variance_floor, priors, np.array(self.is_log))

    def tables(self, sums: Moments, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give mean and standard deviation in each class, of the logarithm where a column is log-normal."""
        p = self.read(sums, settings).parameters
        result = {}
        for j, column in enumerate(self.columns):
            what = f"log {column.name}" if column.family == "lognormal" else column.name
            result[column.name] = {
                "class": list(classes),
                f"mean({what})": p.mean[:, j],
                f"std({what})": np.sqrt(p.variance[:, j]),
            }
        return result

    def n_parameters(self, sums: Moments) -> int:
        """A mean and a variance for each class and column."""
        return 2 * sums.n_classes * len(self.columns)

    def sample(self, sums: Moments, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw from the densities."""
        values = draw_normals(self.read(sums, settings).parameters, codes, rng)
        values[:, self.is_log] = np.exp(np.minimum(values[:, self.is_log], LARGEST_LOG))
        return dict(zip(self.names, values.T, strict=True))

    @classmethod
    def require_column(cls, column: Column, group: Moments, j: int, slack: float) -> None:
        """Refuse moments that logarithms of numbers cannot have, since none is outside of `LOGARITHMS`."""
        if column.family == "lognormal":
            low, high = LOGARITHMS
            weight = group.weight[:, min(j, group.weight.shape[1] - 1)]
            mean, scatter = group.mean[:, j], group.scatter[:, j]
            within = (mean >= low) & (mean <= high) & (scatter <= weight * ((high - low) / 2) ** 2)
            require_sums(bool(within.all()), f"the moments of column {column.name!r} are not those of logarithms")


def draw_normals(parameters: GaussianParameters, codes: Array, rng: np.random.Generator) -> Array:
    """Draw rows of numbers of the given classes: (n_rows, n_columns)."""
    mean, degrees = parameters.mean[codes], parameters.degrees[codes]
    noise = rng.standard_normal(mean.shape)
    student = np.isfinite(degrees)
    if student.any():
        noise[student] = rng.standard_t(degrees[student])
    drawn: Array = mean + np.sqrt(parameters.variance[codes]) * noise
    return drawn


def log_density(x: Array, mean: Array, variance: Array, degrees: Array) -> Array:
    """Logarithm of normal densities, or of Student's t where `degrees` are finite, elementwise."""
    student = np.isfinite(degrees)
    with np.errstate(over="ignore"):
        found: Array = -0.5 * (LOG_TWO_PI + np.log(variance) + ((x - mean) / np.sqrt(variance)) ** 2)
    if student.any():
        found = np.where(student, student_log_density(x, mean, variance, np.where(student, degrees, 1.0)), found)
    return found


def _normal_places(mean: Array, variance: Array, degrees: Array) -> Array:
    """Places of normal or Student-t densities (n_classes,) each: quantiles of all of them."""
    standard = class_shares(len(mean))
    student = stdtrit(np.where(np.isinf(degrees), 1.0, degrees), standard)
    return grid_over(mean + np.sqrt(variance) * np.where(np.isinf(degrees), ndtri(standard), student))


def normal_curve(name: str, mean: Array, variance: Array, degrees: Array) -> ColumnCurve:
    """Give the densities of a column whose variances (n_classes,) are over 0; NaN is a class without a density."""
    at = _normal_places(mean, variance, degrees)
    values = np.exp(log_density(at[:, None], mean, variance, degrees))
    return ColumnCurve(name, "density", at, np.where(np.isnan(values), 0.0, values))


def normal_fact(parameters: GaussianParameters, j: int) -> Fact:
    """Give column j of normal densities as a fact; a column without a factor tells nothing."""
    if not parameters.has_factor[j]:
        return NOTHING
    return DensityFact(parameters.mean[:, j], parameters.variance[:, j], parameters.degrees[:, j])


def normal_formula(parameters: GaussianParameters, j: int, *, is_log: bool = False) -> Distance:
    """Give column j of normal densities as a formula; one without a factor adds nothing."""
    n_classes, degrees = len(parameters.mean), parameters.degrees[:, j]
    mean, variance = parameters.mean[:, j], parameters.variance[:, j]
    if not parameters.has_factor[j]:
        none = np.zeros(n_classes)
        return Distance(none, none, none, none, is_student=False, is_log=is_log)
    if not (variance[parameters.seen] > 0).all():
        raise ParameterError(f"column {j} has variance 0 in a class, so it has no density; fit with a smoothing over 0")
    mean, variance = np.where(parameters.seen, mean, 0.0), np.where(parameters.seen, variance, 1.0)
    if np.isinf(degrees).all():
        intercept, weight, scale = -0.5 * np.log(variance), np.full(n_classes, 0.5), 1 / np.sqrt(variance)
        return Distance(intercept, weight, mean, scale, is_student=False, is_log=is_log)
    at_mean = student_log_density(mean, mean, variance, degrees)
    return Distance(at_mean, (degrees + 1) / 2, mean, 1 / np.sqrt(degrees * variance), is_student=True, is_log=is_log)
