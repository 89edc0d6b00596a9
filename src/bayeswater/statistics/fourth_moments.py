"""`FourthMoments`: scatter matrices, and beside them the sums that the Ledoit-Wolf intensity is read from.

That intensity needs, for every pair of columns, the sum of y_i^2 y_j^2, with y the distance from the mean of the class.
When two sets of rows are merged the mean moves, and the sum moves with it by way of the sums of y_i^2 y_j: so both are
kept. They cost twice the memory and twice the products, and are kept only by a model that asks for them.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayeswater.kernels.scatter import merged_higher, shifted_higher
from bayeswater.statistics.scatter import Scatter
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False)
class FourthMoments(Scatter):
    """Moments up to the fourth, (n_classes, n_columns, n_columns) each; no cell may be missing."""

    third: Array  # sum of y_i^2 y_j
    fourth: Array  # sum of y_i^2 y_j^2

    keeps_higher = True

    def _plus(self, other: Self) -> Self:
        both = super()._plus(other)
        with np.errstate(over="ignore", invalid="ignore"):
            third, fourth = merged_higher(self._all, other._all, both.mean)
        return both._with({"third": third, "fourth": fourth})

    @property
    def _all(self) -> tuple[Array, ...]:
        return self.weight, self.mean, self.scatter, self.third, self.fourth

    def _minus(self, other: Self, rest: Self | None) -> Self:
        left = super()._minus(other, rest)
        mine = shifted_higher(*self._about(left.mean))
        theirs = shifted_higher(*other._about(left.mean))
        third, fourth = (a - b for a, b in zip(mine, theirs, strict=True))
        remains = left.weight > 0
        third, fourth = np.where(remains, third, 0.0), np.where(remains, np.maximum(fourth, 0.0), 0.0)
        if rest is not None:
            recounted = (left.scatter == rest.scatter).all(axis=(1, 2))[:, None, None]
            third, fourth = np.where(recounted, rest.third, third), np.where(recounted, rest.fourth, fourth)
        return left._with({"third": third, "fourth": fourth})

    def _about(self, mean: Array) -> tuple[Array, Array, Array, Array, Array]:
        away = np.where(self.weight > 0, self.mean - mean, 0.0)
        return self.weight, self.scatter, self.third, self.fourth, away
