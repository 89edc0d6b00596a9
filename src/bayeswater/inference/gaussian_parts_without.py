"""What classes bring to their covariances, as each of some rows leaves them when it is taken out.

M_k = (1 - shared) S_k + shared S needs S_k of the row's own class without the row, and those of the others as they are;
but a class without a value in a column takes mean and variance of all rows there, which every row moves.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.estimate.covariance import class_parts, expected_scale, pulled, seen_by
from bayeswater.estimate.densities import Densities
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.scatter_without import WithoutRow, scatter_without, squares_without
from bayeswater.typing import Array


@dataclass(frozen=True)
class BlendParts:
    """What some classes bring to a blend: weights (n,), locations (n, n_columns), and S_k with the pull of a prior."""

    count: Array
    location: Array
    matrix: Array

    def take(self, rows: Array) -> "BlendParts":
        """Give those of some rows."""
        return BlendParts(*(part[rows] for part in self))

    def where(self, chosen: Array, other: "BlendParts") -> "BlendParts":
        """Take these where `chosen` (n,), else the other ones; either may be a single one for all."""
        return BlendParts(*(np.where(_like(chosen, mine), mine, its) for mine, its in zip(self, other, strict=True)))

    def __iter__(self) -> Iterator[Array]:
        return iter((self.count, self.location, self.matrix))


@dataclass(frozen=True)
class PartsWithout(ABC):
    """The parts of the classes, as each of some rows leaves them when it is taken out."""

    densities: Densities
    scatter: Scatter
    class_count: Array

    @abstractmethod
    def _stretch(self, x: Array, y: Array, removed: Array, result: Array) -> Array:
        """Put log-likelihoods of rows taken out of their class into `result` (n_rows, n_classes), where they move it.

        Give which rows lost digits in that: (n_rows,).
        """

    def in_stretches(self, x: Array, y: Array, removed: Array, n_together: int, result: Array) -> tuple[Array, Array]:
        """Take rows out `n_together` at a time: each has sums, and perhaps matrices, of its own."""
        lost = np.zeros(len(x), dtype=bool)
        for start in range(0, len(x), n_together):
            rows = slice(start, start + n_together)
            lost[rows] = self._stretch(x[rows], y[rows], removed[rows], result[rows])
        return result, lost

    @cached_property
    def all_in(self) -> BlendParts:
        """Parts of every class with all rows in."""
        return self._pulled(*self._sums)

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array]:
        blend = self.densities.blend
        return class_parts(self.scatter, self.class_count, blend.reading, blend.yardstick)

    @cached_property
    def lacks_values(self) -> Array:
        """Classes that have no value in some column, and take those of all classes: (n_classes, n_columns)."""
        lacks = np.broadcast_to(self.scatter.cells, self.scatter.means.shape) == 0
        return lacks & self.scatter.lacks_cells(self.class_count)

    def own(self, x: Array, y: Array, removed: Array) -> tuple[WithoutRow, BlendParts]:
        """Sums and parts of the class that each row is in, without it."""
        reading = self.densities.blend.reading
        take = squares_without if reading.is_diagonal else scatter_without
        left = take(self.scatter, self.class_count, x, y, removed)
        return left, self._pulled(left.count, left.mean, seen_by(self.densities.blend.yardstick, left.scatter))

    def of_class(self, k: int, y: Array, left: WithoutRow, own: BlendParts) -> BlendParts:
        """Parts of class k for each row: its own, without it, or another one."""
        return own.where(y == k, self._other(k, left))

    def blended(self, part: BlendParts, total: Array | None) -> Array:
        """Make M_k' of S_k' and of the sum over all classes."""
        reading, shared = self.densities.blend.reading, self.densities.blend.reading.shared
        matrix = part.matrix if total is None else (1 - shared) * part.matrix + shared * total
        if reading.prior is None:
            return matrix
        return matrix + expected_scale(reading, reading.prior, self.densities.blend.yardstick)

    def _other(self, k: int, left: WithoutRow) -> BlendParts:
        """Parts of a class that a row is not in: where it has no value, the row moves what stands for one."""
        one, lacks = slice(k, k + 1), self.lacks_values[k]
        if not lacks.any():
            return BlendParts(*(array[one] for array in self.all_in))
        n, mean, parts = (array[one] for array in self._sums)
        weight, _, total = self.scatter.pooled
        variance_all = np.diagonal(total) / np.where(weight > 0, weight, 1.0)
        moved = np.where(lacks, left.variance_all - variance_all, 0.0) * n
        if parts.ndim > 2:
            moved = moved[:, :, None] * np.eye(len(lacks))
        parts = parts + seen_by(self.densities.blend.yardstick, moved)
        return self._pulled(np.broadcast_to(n, len(moved)), np.where(lacks, left.mean_all, mean), parts)

    def _pulled(self, n: Array, mean: Array, parts: Array) -> BlendParts:
        prior = self.densities.blend.reading.prior
        if prior is None:
            return BlendParts(n, mean, parts)
        return BlendParts(n, *pulled(prior, self.densities.blend.yardstick, n, mean, parts))


def _like(chosen: Array, array: Array) -> Array:
    """Give a choice between rows as many axes as what is chosen has."""
    return chosen.reshape(len(chosen), *(1 for _ in array.shape[1:]))
