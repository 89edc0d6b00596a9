"""Figures of rows with the interval in which they lie with 95 %: shares, means, and differences of either.

share        Wilson's interval: it is never below 0, and says something of 0 rows of 100 too
mean         mean +- z standard deviation / sqrt(n)
difference   of two figures a, b of different rows: (a - b) - sqrt((a - low_a)^2 + (high_b - b)^2), and so above;
of shares that is Newcombe's interval (Newcombe 1998; Zou and Donner 2008 for all others)
"""

from math import inf
from typing import NamedTuple

import numpy as np

from bayeswater.typing import Array

Z = 1.959963984540054
"""Standard deviations of a normal distribution within which 95 % of it lies."""


class Measured(NamedTuple):
    """A figure, and the interval in which it lies with 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"

    def widened(self, factor: float, most: float = inf) -> "Measured":
        """Move both ends away from a figure from 0 to `most`.

        >>> Measured(0.1, 0.05, 0.2).widened(2.0)
        Measured(value=0.1, low=0.0, high=0.30000000000000004)
        """
        low, high = (self.value + factor * (end - self.value) for end in (self.low, self.high))
        return Measured(self.value, max(low, 0.0), min(high, most))

    @property
    def includes_zero(self) -> bool:
        """Whether it may be 0."""
        return self.low <= 0.0 <= self.high


def wilson(share: float, n_rows: float) -> Measured:
    """Give Wilson's interval of a share of rows.

    >>> print(wilson(0.0, 100.0))
    0 (0 to 0.03699)
    """
    q = Z**2 / n_rows  # no square of a weight, which may be less or more than a float64 holds
    centre = (share + q / 2) / (1 + q)
    half = float(np.sqrt(q) * np.sqrt(share * (1 - share) + q / 4)) / (1 + q)
    return Measured(share, min(share, max(centre - half, 0.0)), max(share, min(centre + half, 1.0)))


def mean_of(values: Array, weight: Array) -> Measured:
    """Give the mean of some values (n_rows,); where one is infinite, nothing is known of its interval.

    >>> print(mean_of(np.array([1.0, 3.0]), np.ones(2)))
    2 (0.6141 to 3.386)
    """
    n_rows = float(weight.sum())
    mean = float(weight @ values) / n_rows
    if not np.isfinite(mean):
        return Measured(mean, -np.inf, np.inf)
    half = Z * float(np.sqrt(float(weight @ (values - mean) ** 2) / n_rows / n_rows))
    return Measured(mean, mean - half, mean + half)


def difference(a: Measured, b: Measured) -> Measured:
    """Give how much larger a figure of some rows is than the same of others.

    >>> print(difference(wilson(56 / 70, 70), wilson(48 / 80, 80)))  # Newcombe's example (a)
    0.2 (0.05243 to 0.3339)
    """
    value = a.value - b.value
    below = float(np.hypot(a.value - a.low, b.high - b.value))
    above = float(np.hypot(a.high - a.value, b.value - b.low))
    return Measured(value, value - below, value + above)
