"""Gaussian naive Bayes with fifty digits: moments from the definition, densities from the formula, one cell at a time.

`None` stands for a missing cell. Sums are exact fractions; only logarithms and the gamma function need mpmath.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
from tests.oracles.exact import DIGITS, Rows, class_counts, class_prior, log


@dataclass(frozen=True)
class Moments:
    """Weight, mean and scatter of one column in one class, as exact fractions."""

    weight: Fraction
    mean: Fraction
    scatter: Fraction

    @property
    def variance(self) -> Fraction:
        return self.scatter / self.weight if self.weight else Fraction(0)


@dataclass(frozen=True)
class Normal:
    """A normal density; of variance zero it is a spike."""

    mean: Fraction
    variance: Fraction

    def log_density(self, x: Fraction) -> Any:
        with mpmath.workdps(DIGITS):
            variance = _number(self.variance)
            return -(mpmath.log(2 * mpmath.pi * variance) + _number(x - self.mean) ** 2 / variance) / 2


@dataclass(frozen=True)
class Student:
    """Student's t density."""

    mean: Fraction
    variance: Fraction  # the squared scale
    degrees: Fraction

    def log_density(self, x: Fraction) -> Any:
        with mpmath.workdps(DIGITS):
            degrees, squared_scale = _number(self.degrees), _number(self.variance)
            return (
                mpmath.loggamma((degrees + 1) / 2)
                - mpmath.loggamma(degrees / 2)
                - mpmath.log(mpmath.pi * degrees * squared_scale) / 2
                - (degrees + 1) / 2 * mpmath.log(1 + _number(x - self.mean) ** 2 / (degrees * squared_scale))
            )


def moments_of(cells: list[tuple[Fraction | None, Fraction]]) -> Moments:
    """Moments of (value, weight) pairs, by definition."""
    there = [(x, w) for x, w in cells if x is not None and w]
    weight = sum((w for _, w in there), Fraction(0))
    if not weight:
        return Moments(Fraction(0), Fraction(0), Fraction(0))
    mean = sum(w * x for x, w in there) / weight
    return Moments(weight, mean, sum(w * (x - mean) ** 2 for x, w in there))


def class_moments(rows: Rows) -> list[list[Moments]]:
    """Moments of every class and column: [class][column]."""
    return [
        [
            moments_of([(row[j], w) for row, label, w in zip(rows.X, rows.y, rows.weight, strict=True) if label == k])
            for j in range(rows.n_columns)
        ]
        for k in rows.classes
    ]


def pooled_moments(rows: Rows) -> list[Moments]:
    """Moments of every column over all classes."""
    return [
        moments_of([(row[j], w) for row, w in zip(rows.X, rows.weight, strict=True)]) for j in range(rows.n_columns)
    ]


def epsilon(rows: Rows, var_smoothing: float) -> Fraction:
    """What smoothing adds to every variance: a share of the largest variance of a column."""
    return Fraction(var_smoothing) * max(m.variance for m in pooled_moments(rows))


def predictive(prior: Any, m: Moments) -> Student:
    """Student-t of a new value under a Normal-inverse-gamma prior, by the updates of Murphy (2007), section 3."""
    prior_mean, strength, shape, scale = (Fraction(v) for v in (prior.mean, prior.strength, prior.shape, prior.scale))
    n = m.weight
    posterior_strength = strength + n
    posterior_mean = (strength * prior_mean + n * m.mean) / posterior_strength
    posterior_shape = shape + n / 2
    posterior_scale = scale + m.scatter / 2 + strength * n * (m.mean - prior_mean) ** 2 / (2 * posterior_strength)
    squared_scale = posterior_scale * (posterior_strength + 1) / (posterior_shape * posterior_strength)
    return Student(posterior_mean, squared_scale, 2 * posterior_shape)


def densities(
    rows: Rows, var_smoothing: float, priors: Mapping[int, Any] | None = None
) -> list[list[Normal | Student | None]]:
    """Density of every class and column; None for a column without a factor.

    It has none if it holds no value at all, or one value only and is not smoothed. A class that has rows, but no value
    in a column, takes the moments of all classes there.
    """
    priors = priors or {}
    added, pooled = epsilon(rows, var_smoothing), pooled_moments(rows)
    result = []
    for of_class in class_moments(rows):
        row: list[Normal | Student | None] = []
        for j, (m, everything) in enumerate(zip(of_class, pooled, strict=True)):
            own = m if m.weight else everything
            if j in priors:
                row.append(predictive(priors[j], m))
            elif not everything.weight or everything.variance + added == 0:
                row.append(None)
            else:
                row.append(Normal(own.mean, own.variance + added))
        result.append(row)
    return result


def log_joints(
    rows: Rows,
    query: list[Fraction | None],
    var_smoothing: float,
    *,
    priors: Mapping[int, Any] | None = None,
    class_prior_given: Any = None,
    class_alpha: float = 0,
) -> list[Any]:
    """Logarithm of P(class, row) for one row; a class without rows has no density unless all its columns have priors.

    Spikes are the limit of vanishing variance: off one, a class is impossible; and of the possible classes the one with
    most spikes under the row outweighs the others. Such a spike adds nothing to the number itself.
    """
    prior = class_prior(rows, given=class_prior_given, class_alpha=class_alpha)
    counted = class_counts(rows)
    all_by_prior = len(priors or {}) == rows.n_columns
    finite, spikes = [], []
    for k, of_class in enumerate(densities(rows, var_smoothing, priors)):
        cells = [(density, x) for density, x in zip(of_class, query, strict=True) if x is not None and density]
        spiked = [x == density.mean for density, x in cells if not density.variance]
        has_density = all_by_prior or counted[k]
        impossible = not prior[k] or not all(spiked) or not has_density
        terms = [density.log_density(x) for density, x in cells if density.variance]
        with mpmath.workdps(DIGITS):
            finite.append(-mpmath.inf if impossible else mpmath.fsum(terms))
            spikes.append(-1 if impossible else len(spiked))
    with mpmath.workdps(DIGITS):
        return [
            log(p) + likelihood if on == max(spikes) else -mpmath.inf
            for p, likelihood, on in zip(prior, finite, spikes, strict=True)
        ]


def _number(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / mpmath.mpf(x.denominator)
