"""Gaussian classes with fifty digits: mean, covariance and density from their definitions, one sum at a time."""

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

DIGITS = 50


def exact(value: Any) -> Any:
    """A float as the number it is."""
    return mpmath.mpf(float(value))


def mean_and_scatter(X: Any, weight: Any = None) -> tuple[Any, Any, Any]:
    """Weight, mean (d, 1) and scatter matrix of rows, by definition."""
    with mpmath.workdps(DIGITS):
        rows = [[exact(v) for v in row] for row in np.asarray(X)]
        w = [mpmath.mpf(1)] * len(rows) if weight is None else [exact(v) for v in weight]
        n, d = mpmath.fsum(w), len(rows[0])
        mean = mpmath.matrix([mpmath.fsum(wi * row[j] for wi, row in zip(w, rows, strict=True)) / n for j in range(d)])
        scatter = mpmath.matrix(d, d)
        for i in range(d):
            for j in range(i + 1):
                entry = mpmath.fsum(
                    wi * (row[i] - mean[i]) * (row[j] - mean[j]) for wi, row in zip(w, rows, strict=True)
                )
                scatter[i, j] = scatter[j, i] = entry
        return n, mean, scatter


def class_sums(X: Any, y: Any, weight: Any = None) -> list[tuple[Any, Any, Any]]:
    """Sums of every class."""
    w = np.ones(len(X)) if weight is None else np.asarray(weight)
    return [mean_and_scatter(X[y == k], w[y == k]) for k in np.unique(y)]


def covariances(sums: Sequence[tuple[Any, Any, Any]], form: str, *, unbiased: bool = False) -> list[Any]:
    """Covariance of every class in one of the five forms."""
    with mpmath.workdps(DIGITS):
        d, fewer = sums[0][2].rows, 1 if unbiased else 0
        own = [scatter / (n - fewer) for n, _, scatter in sums]
        total = sum((scatter for _, _, scatter in sums), mpmath.zeros(d))
        pooled = total / (mpmath.fsum(n for n, _, _ in sums) - fewer * len(sums))
        if form == "full":
            return own
        if form == "shared":
            return [pooled] * len(sums)
        if form == "spherical":
            return [mpmath.eye(d) * (mpmath.fsum(c[j, j] for j in range(d)) / d) for c in own]
        return [mpmath.diag([c[j, j] for j in range(d)]) for c in (own if form == "diagonal" else [pooled] * len(sums))]


def log_normal(x: Any, mean: Any, covariance: Any) -> Any:
    """Logarithm of the normal density of a row."""
    with mpmath.workdps(DIGITS):
        d = covariance.rows
        away = mpmath.matrix([exact(v) for v in x]) - mean
        distance = (away.T * mpmath.lu_solve(covariance, away))[0]
        return -(d * mpmath.log(2 * mpmath.pi) + mpmath.log(mpmath.det(covariance)) + distance) / 2


def log_student(x: Any, mean: Any, scale: Any, degrees: Any) -> Any:
    """Logarithm of the multivariate Student-t density of a row."""
    with mpmath.workdps(DIGITS):
        d = scale.rows
        away = mpmath.matrix([exact(v) for v in x]) - mean
        distance = (away.T * mpmath.lu_solve(scale, away))[0]
        half = (degrees + d) / 2
        constant = mpmath.loggamma(half) - mpmath.loggamma(degrees / 2)
        constant -= (d * mpmath.log(mpmath.pi * degrees) + mpmath.log(mpmath.det(scale))) / 2
        return constant - half * mpmath.log(1 + distance / degrees)


def log_joints(X: Any, y: Any, queries: Any, form: str, *, unbiased: bool = False) -> list[list[Any]]:
    """Logarithm of P(class, row) for every query and class."""
    sums = class_sums(X, y)
    with mpmath.workdps(DIGITS):
        total = mpmath.fsum(n for n, _, _ in sums)
        matrices = covariances(sums, form, unbiased=unbiased)
        return [
            [
                mpmath.log(n / total) + log_normal(x, mean, covariance)
                for (n, mean, _), covariance in zip(sums, matrices, strict=True)
            ]
            for x in queries
        ]
