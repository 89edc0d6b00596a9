"""`StandardNumbers`: numbers brought to mean 0 and deviation 1, far ones brought near, missing ones put in the middle.

    z = (x - mean) / deviation,  no further than 8 deviations away;  a missing number is the median

Mean, deviation and median are those of the rows at hand when a family learns, whatever their class, and stay. A column
in which nothing varies is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayeswater.data.matrix import DenseMatrix
from bayeswater.errors import StatisticsError
from bayeswater.models.ensemble.labelled_table import EnsembleTable
from bayeswater.typing import Array

FARTHEST = 8.0
"""Deviations beyond which a number is brought back: one wild number shall not decide a covariance."""


@dataclass(frozen=True)
class StandardNumbers:
    """Mean, deviation and median of each column of numbers (n_numbers,); the deviation of one left out is 0."""

    mean: Array
    deviation: Array
    median: Array

    @classmethod
    def learn(cls, table: EnsembleTable) -> "StandardNumbers":
        """Look at all rows; a row of weight w is looked at as w rows."""
        columns = [_moments(values, table.weights) for values in table.numbers.T]
        mean, deviation, median = np.array(columns, dtype=np.float64).reshape(-1, 3).T
        return cls(mean, deviation, median)

    @property
    def kept(self) -> Array:
        """Places of the columns that vary."""
        return np.flatnonzero(self.deviation > 0)

    def read(self, table: EnsembleTable) -> DenseMatrix:
        """Give the columns that vary in their new units: (n_rows, n_kept)."""
        x = table.numbers[:, self.kept]
        x = np.where(np.isnan(x), self.median[self.kept], x)
        with np.errstate(over="ignore"):  # what is too far for a float is far
            z = (x - self.mean[self.kept]) / self.deviation[self.kept]
        return DenseMatrix(np.clip(z, -FARTHEST, FARTHEST))

    def to_arrays(self) -> dict[str, Array]:
        """Give mean, deviation and median as arrays."""
        return {"mean": self.mean, "deviation": self.deviation, "median": self.median}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int) -> "StandardNumbers":
        """Read them back; refuse what is not finite, or of other columns."""
        parts = [np.asarray(arrays[name]) for name in ("mean", "deviation", "median")]
        if any(part.shape != (n_numbers,) or part.dtype != np.float64 for part in parts):
            raise StatisticsError(f"means, deviations and medians are not those of {n_numbers} columns of numbers")
        if not all(np.isfinite(part).all() for part in parts) or (parts[1] < 0).any():
            raise StatisticsError("means, deviations and medians of numbers are finite, and no deviation is negative")
        return cls(*parts)


def _moments(values: Array, weight: Array) -> tuple[float, float, float]:
    """Mean, deviation and (lower) median of the numbers that are there."""
    there = ~np.isnan(values)
    x, w = values[there], weight[there]
    if not len(x) or x.min() == x.max():
        return 0.0, 0.0, 0.0
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    below = np.cumsum(w)
    median = float(x[np.searchsorted(below, below[-1] / 2)])
    size = max(abs(x[0]), abs(x[-1]))  # of numbers as large as floats can be, the squares are not
    share = w / below[-1]
    mean = float(share @ (x / size))
    deviation = float(np.sqrt(share @ (x / size - mean) ** 2))
    return mean * size, deviation * size, median
