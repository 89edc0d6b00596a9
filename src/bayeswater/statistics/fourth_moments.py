"""`FourthMoments`: scatter matrices, and beside them the sums that the Ledoit-Wolf intensity is read from.

That intensity needs, for every pair of columns, the sum of y_i^2 y_j^2, with y the distance from the mean of the class.
When two sets of rows are merged the mean moves, and the sum moves with it by way of the sums of y_i^2 y_j: so both are
kept. They cost twice the memory and twice the products, and are kept only by a model that asks for them.

Fourth powers lose digits twice as fast as squares do: rows a thousand times as far away as the others have 10^12 times
the fourth sums. So what remains of them is looked at by itself. Of pairs nothing need be asked: their sums are at most
the geometric mean of those of the two columns.
"""

from dataclasses import replace
from typing import Self

import numpy as np

from bayeswater.kernels.scatter import merged_higher, shifted_higher
from bayeswater.records import record
from bayeswater.statistics.moments import DIGITS_KEPT, LostDigits
from bayeswater.statistics.scatter import Scatter
from bayeswater.typing import Array


@record(eq=False)
class FourthMoments(Scatter):
    """Moments up to the fourth, (n_classes, n_columns, n_columns) each; no cell may be missing."""

    third: Array  # sum of y_i^2 y_j
    fourth: Array  # sum of y_i^2 y_j^2

    keeps_higher = True

    def _plus(self, other: Self) -> Self:
        both = super()._plus(other)
        with np.errstate(over="ignore", invalid="ignore"):
            third, fourth = merged_higher(self._all, other._all, both.mean)
        return replace(both, third=third, fourth=fourth)

    @property
    def _all(self) -> tuple[Array, ...]:
        return self.weight, self.mean, self.scatter, self.third, self.fourth

    def _minus(self, other: Self, rest: Self | None) -> Self:
        left = super()._minus(other, rest)
        mine = shifted_higher(*self._about(left.mean))
        theirs = shifted_higher(*other._about(left.mean))
        third, fourth = (a - b for a, b in zip(mine, theirs, strict=True))
        remains = (left.scatter != 0).any(axis=(1, 2))[:, None, None]  # where nothing differs, all sums are zero
        lost = remains[:, 0] & (_own(fourth) < DIGITS_KEPT * (self._size(left.mean) + other._size(left.mean)))
        third, fourth = np.where(remains, third, 0.0), np.where(remains, np.maximum(fourth, 0.0), 0.0)
        if rest is not None:
            recounted = (left.scatter == rest.scatter).all(axis=(1, 2))
            lost[recounted] = False
            third = np.where(recounted[:, None, None], rest.third, third)
            fourth = np.where(recounted[:, None, None], rest.fourth, fourth)
        arrays = {**left.to_arrays(), "third": third, "fourth": fourth}
        if rest is None and lost.any():
            k, j = (int(index) for index in np.argwhere(lost)[0])
            raise LostDigits(
                f"taking these rows away would leave column {self.column_name(j)!r} of class "
                f"{self.classes.states[k]!r} with a fourth moment, which shrinkage='ledoit_wolf' needs, of which fewer "
                "than 8 digits would be right. Give the rows that remain: forget(X, y, remaining=(X_rest, y_rest)) "
                "recounts that class"
            )
        if rest is not None and lost.any():
            arrays = {name: array.copy() for name, array in arrays.items()}
            for k in np.flatnonzero(lost.any(axis=1)).tolist():
                self._recount(arrays, rest, k)
        return left.with_arrays(arrays)

    def _size(self, mean: Array) -> Array:
        """What the fourth sums of single columns about some means are rounded like: (n_classes, n_columns)."""
        weight, scatter, third, fourth, away = self._about(mean)
        return _own(shifted_higher(weight, np.abs(scatter), np.abs(third), fourth, np.abs(away))[1])

    def _about(self, mean: Array) -> tuple[Array, Array, Array, Array, Array]:
        away = np.where(self.weight > 0, self.mean - mean, 0.0)
        return self.weight, self.scatter, self.third, self.fourth, away


def _own(matrices: Array) -> Array:
    return np.diagonal(matrices, axis1=1, axis2=2)
