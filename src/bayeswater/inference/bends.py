"""Where the log-odds of two classes bend, as one number of a row moves.

With u the distance that the number is moved by, the squared distance of the row from the mean of a class is a bowl,

    q(u) = q + 2 r u + p u^2

and its log-density falls with it: -q(u) / 2 of a normal density, -(v + d) / 2 log(1 + q(u) / v) of a Student-t in d
directions. Between two neighbouring bends the log-odds only rise or only fall, so that looking at both ends tells
whether they cross any number there.
"""

import numpy as np

from bayeswater.records import record
from bayeswater.typing import Array

IMAGINARY = 1e-9
"""A root whose imaginary part is a smaller share than this is real, but for rounding."""


@record
class Bowls:
    """Squared distances of a row from the means, as one of its numbers moves: one bowl for each class.

    All are (n_classes,). `degrees` is infinite for a normal density; `n_directions` counts those of all columns.
    """

    distance: Array
    slope: Array  # half of it, at the row
    curvature: Array
    degrees: Array
    n_directions: int

    def at(self, u: Array) -> Array:
        """Squared distances (n, n_classes) after moves (n,)."""
        u = u[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            moved = self.distance + u * (2 * self.slope + u * self.curvature)
        moved = np.where(np.isinf(self.degrees), moved, np.maximum(moved, 0.0))  # of a Student-t, no rounding below 0
        return np.where(np.isnan(moved), np.inf, moved)

    def fall(self, distance: Array) -> Array:
        """How far log-densities have fallen from those at the means, at squared distances (n, n_classes)."""
        student = np.isfinite(self.degrees)
        v = np.where(student, self.degrees, 1.0)
        far = np.log1p(np.where(student, distance, 0.0) / v)
        return np.where(student, -0.5 * (v + self.n_directions) * far, -0.5 * distance)

    def bends(self, chosen: int, unit: float) -> Array:
        """Moves at which the log-odds of a class against any other bend; `unit` is a usual move."""
        others = np.flatnonzero(np.arange(len(self.distance)) != chosen)
        if np.isinf(self.degrees).all():
            steeper = self.curvature[others] - self.curvature[chosen]
            with np.errstate(divide="ignore", invalid="ignore"):
                found = (self.slope[chosen] - self.slope[others]) / steeper
        else:
            own = self._rise(chosen, unit)
            found = unit * np.concatenate([_bends(*own, *self._rise(k, unit)) for k in others.tolist()])
        return found[np.isfinite(found)]

    def _rise(self, k: int, unit: float) -> tuple[Array, Array]:
        """Derivative of the log-density of a class as a fraction of two polynomials in units of a usual move."""
        rise = np.array([self.curvature[k] * unit**2, self.slope[k] * unit])
        v = self.degrees[k]
        if np.isinf(v):
            return rise, np.array([1.0])
        bowl = np.array([self.curvature[k] * unit**2, 2 * self.slope[k] * unit, self.distance[k] + v])
        return (v + self.n_directions) * rise, bowl


def _bends(top_a: Array, bottom_a: Array, top_b: Array, bottom_b: Array) -> Array:
    """Find where two fractions are equal."""
    difference: Array = np.polysub(np.convolve(top_a, bottom_b), np.convolve(top_b, bottom_a))
    if not np.isfinite(difference).all():
        return np.empty(0)
    roots = np.roots(difference)
    return roots.real[np.abs(roots.imag) <= IMAGINARY * np.maximum(np.abs(roots), 1.0)]
