"""How far a covariance is drawn towards a simpler one.

On columns scaled by their standard deviation within classes, a covariance C of d columns from n rows becomes

    (1 - s) C + s (tr C / d) I

with an intensity s that is given, or read off the sums: by Oracle Approximating Shrinkage (Chen, Wiesel, Eldar, Hero,
2010), or by Ledoit and Wolf (2004). Regularised discriminants (Friedman, 1989) first draw each class towards the
covariance shared by all.
"""

from dataclasses import dataclass

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.typing import Array, is_number


@dataclass(frozen=True)
class Friedman:
    """Friedman's two parameters, each from 0 to 1.

    `shared` leads from the covariance of each class (0) to the one of all classes (1), `spherical` from there to one
    variance for all (scaled) columns.

    >>> Friedman(shared=0.5)
    Friedman(shared=0.5, spherical=0.0)
    """

    shared: float = 0.0
    spherical: float = 0.0

    def __post_init__(self) -> None:
        for name in ("shared", "spherical"):
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value <= 1):
                raise ParameterError(f"Friedman: {name} is {value!r}; give a number from 0 to 1")


CANDIDATES = tuple(
    Friedman(shared, spherical)
    for shared in (0.0, 0.05, 0.15, 0.35, 0.65, 1.0)
    for spherical in (0.0, 0.001, 0.01, 0.05, 0.15, 0.4, 1.0)
)
"""What ``shrinkage="auto"`` chooses among: dense near zero, where much data ends up."""


def oas_intensity(covariance: Array, n: float) -> float:
    """Intensity of Oracle Approximating Shrinkage for a covariance (1/n) of n rows.

    >>> oas_intensity(np.eye(3), 10.0)
    1.0
    """
    d = len(covariance)
    if d == 0:
        return 1.0
    mean_square = float((covariance**2).mean())
    trace_mean_square = (float(np.trace(covariance)) / d) ** 2
    above = mean_square + trace_mean_square
    below = (n + 1) * (mean_square - trace_mean_square / d)
    return 1.0 if below <= 0 else min(above / below, 1.0)


def ledoit_wolf_intensity(covariance: Array, n: float, fourth: float) -> float:
    """Intensity of Ledoit and Wolf for a covariance (1/n) of n rows; `fourth` is the sum of their fourth powers |x|^4.

    >>> ledoit_wolf_intensity(np.eye(2), 10.0, 80.0)
    0.0
    """
    d = len(covariance)
    if d == 0:
        return 0.0
    square = float((covariance**2).sum())
    variance_of_entries = (fourth / n - square) / (d * n)
    distance = (square - float(np.trace(covariance)) ** 2 / d) / d
    least = min(variance_of_entries, distance)
    return 0.0 if least <= 0 or distance <= 0 else least / distance
