"""`BinaryCounts`: in how many rows of every class a feature was present, and in how many it was observed at all."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix, SparseMatrix
from bayeswater.errors import StatisticsError
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.statistics.class_counts import ClassCounts
from bayeswater.statistics.feature_sums import sum_features
from bayeswater.statistics.statistic import ROUNDING, ColumnStatistic
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False)
class BinaryCounts(ColumnStatistic):
    """Counts of presence (n_classes, n_features) and of observation.

    `observed` is (n_classes, 1) as long as no cell was missing, and (n_classes, n_features) from then on.
    """

    present: Array
    observed: Array

    @classmethod
    def of(cls, matrix: Matrix, labels: Labels, weight: Array | None, threshold: float, *, skip_missing: bool) -> Self:
        """Count the cells above `threshold`; NaN is none of them."""
        present = sum_features(matrix, labels, weight, threshold)
        observed = ClassCounts.of(labels, weight).count[:, None]
        if skip_missing and matrix.dtype.kind == "f" and not isinstance(matrix, SparseMatrix):
            missing = _count_missing(matrix, labels, weight)
            if missing.any():
                observed = observed - missing
        return cls(labels.variable, matrix.names, present, observed)

    @property
    def cells(self) -> Array:
        """Weight of the cells that were there."""
        return self.observed

    def _minus(self, other: Self, rest: Self | None) -> Self:
        absent = (self.observed - self.present) - (other.observed - other.present)
        never = np.argwhere(absent < -ROUNDING * self.observed)
        if len(never):
            k, j = (int(index) for index in never[0])
            raise StatisticsError(
                f"cannot take away rows that were never counted: the absence of {self.column_name(j)!r} in class "
                f"{self.classes.states[k]!r} would be counted {absent[k, j]} times"
            )
        return super()._minus(other, rest)


def _count_missing(matrix: Matrix, labels: Labels, weight: Array | None) -> Array:
    n_classes = labels.n_classes
    kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64

    def count(rows: slice) -> Array:
        block = matrix.block(rows)
        assert not isinstance(block, SparseMatrix)
        row, column = np.nonzero(np.isnan(block))
        w = None if weight is None else weight[rows][row]
        cell = labels.codes[rows][row].astype(np.int64) * matrix.shape[1] + column
        return np.bincount(cell, weights=w, minlength=n_classes * matrix.shape[1]).astype(kind)

    total: Array = sum(
        ordered_map(count, row_blocks(matrix.shape[0])), start=np.zeros(n_classes * matrix.shape[1], kind)
    )
    return total.reshape(n_classes, matrix.shape[1])
