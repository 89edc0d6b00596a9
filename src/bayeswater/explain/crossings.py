"""Where the log-odds of two densities of a number cross zero.

Two normal densities: a quadratic. Two Student-t densities: the log-odds rise or fall between the roots of a cubic, so
in each of these stretches they cross at most once, and bisection finds where.
"""

from collections.abc import Callable
from itertools import pairwise
from math import copysign, isfinite, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

DOUBLINGS = 1000
"""How often the search for a crossing doubles its step before it gives up: as far as float64 reaches."""


class Density(NamedTuple):
    """A normal density, or with finite degrees of freedom a Student-t."""

    mean: float
    variance: float
    degrees: float = np.inf

    def log_at(self, x: float) -> float:
        """Logarithm of the density, but for a constant that depends on the degrees of freedom alone."""
        with np.errstate(over="ignore"):
            square = np.float64(x - self.mean) ** 2 / self.variance
        if isfinite(self.degrees):
            square = (self.degrees + 1) * np.log1p(square / self.degrees)
        return float(-0.5 * (np.log(self.variance) + square))


class Crossing(NamedTuple):
    """A number at which the log-odds are zero, and whether they are negative above it."""

    at: float
    is_above: bool


def normal_crossings(a: Density, b: Density, log_odds: float) -> list[Crossing]:
    """Solve ``log_odds + log a(x) - log b(x) = 0`` for normal densities.

    With u = x - mean_a it reads A u^2 + B u + C = 0; a root that is only touched is no crossing.

    >>> normal_crossings(Density(0.0, 1.0), Density(4.0, 1.0), 0.0)
    [Crossing(at=2.0, is_above=True)]
    """
    away = b.mean - a.mean
    square = 0.5 * (1 / b.variance - 1 / a.variance)
    linear = -away / b.variance
    constant = log_odds + 0.5 * float(np.log(b.variance) - np.log(a.variance)) + away**2 / (2 * b.variance)
    if square == 0:
        roots = [-constant / linear] if linear else []
    else:
        discriminant = linear**2 - 4 * square * constant
        if not discriminant > 0:
            return []
        # The sum whose terms have one sign: nothing cancels. The product of the roots is constant / square.
        q = -0.5 * (linear + copysign(sqrt(discriminant), linear))
        roots = sorted({q / square, constant / q if q else 0.0})
    return [Crossing(a.mean + u, 2 * square * u + linear < 0) for u in roots if isfinite(u)]


def student_crossings(a: Density, b: Density, log_odds: float) -> list[Crossing]:
    """Solve ``log_odds + log a(x) - log b(x) = 0`` for Student-t densities.

    `log_odds` holds the constants of both that depend on the degrees of freedom alone.

    >>> [round(c.at, 3) for c in student_crossings(Density(0.0, 1.0, 3.0), Density(4.0, 1.0, 3.0), 0.0)]
    [2.0]
    """

    def log_odds_at(x: float) -> float:
        return log_odds + a.log_at(x) - b.log_at(x)

    # The derivative, its denominators multiplied out, in u = (x - mean_a) / step.
    step = sqrt(max(a.variance, b.variance))
    away, spread_a, spread_b = (
        (b.mean - a.mean) / step,
        a.degrees * a.variance / step**2,
        b.degrees * b.variance / step**2,
    )
    rise_a = np.polymul([a.degrees + 1, 0.0], [1.0, -2 * away, away**2 + spread_b])
    rise_b = np.polymul([b.degrees + 1, -(b.degrees + 1) * away], [1.0, 0.0, spread_a])
    roots = np.roots(np.polysub(rise_b, rise_a))
    bends = sorted(a.mean + step * float(u.real) for u in roots if abs(u.imag) <= 1e-9 * abs(u)) or [a.mean]
    points = [_beyond(bends[0], -step, log_odds_at), *bends, _beyond(bends[-1], step, log_odds_at)]
    crossings = []
    for low, high in pairwise(points):
        ends = log_odds_at(low), log_odds_at(high)
        if ends[0] * ends[1] < 0:
            crossings.append(Crossing(float(brentq(log_odds_at, low, high, xtol=1e-14 * step)), ends[0] > 0))
    return crossings


def _beyond(start: float, step: float, log_odds_at: Callable[[float], float]) -> float:
    """Go outwards until the sign changes, or as far as it goes."""
    sign, x = log_odds_at(start), start
    for _ in range(DOUBLINGS):
        value = log_odds_at(start + step)
        if not isfinite(value):
            break
        x, step = start + step, 2 * step
        if value * sign < 0:
            break
    return x
