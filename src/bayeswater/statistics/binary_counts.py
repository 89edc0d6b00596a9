"""`BinaryCounts`: in how many rows of every class a feature was present, and in how many it was observed at all.

The difference is where it was absent. Of whole weights it is exact; of fractional ones it would cancel where rows that
lack a feature weigh little beside those that have it, so absence is then counted for itself. The difference still says
which features need that: only where over four digits of it have cancelled are cells looked at again.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix, SparseMatrix
from bayeswater.errors import StatisticsError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import block_map, row_blocks
from bayeswater.statistics.class_counts import ClassCounts
from bayeswater.statistics.feature_sums import sum_features
from bayeswater.statistics.statistic import ROUNDING, ColumnStatistic, remainder
from bayeswater.typing import Array

DIGITS_LEFT = 1e-4
"""Share that a difference of two sums must have of them: twelve of sixteen digits are then right."""

BLOCK_CELLS = 2**20
"""Cells of rows that are looked at together."""


@dataclass(frozen=True, eq=False)
class BinaryCounts(ColumnStatistic):
    """Counts of presence (n_classes, n_features) and of observation.

    `observed` is (n_classes, 1) as long as no cell was missing, and (n_classes, n_features) from then on.
    `counted_absent` (n_classes, n_features) is there for fractional weights; files of before it have none.
    """

    present: Array
    observed: Array
    counted_absent: Array | None = None

    @classmethod
    def of(cls, matrix: Matrix, labels: Labels, weight: Array | None, threshold: float, *, skip_missing: bool) -> Self:
        """Count the cells above `threshold`; NaN is none of them."""
        present = sum_features(matrix, labels, weight, threshold)
        observed = count = ClassCounts.of(labels, weight).count[:, None]
        if skip_missing and matrix.dtype.kind == "f" and not isinstance(matrix, SparseMatrix):
            missing = _count_missing(matrix, labels, weight)
            if missing.any():
                observed = observed - missing
        if weight is None or weight.dtype.kind == "i":
            return cls(labels.variable, matrix.names, present, observed)
        absent = _count_absent(matrix, labels, weight, threshold, remainder(observed, present), count)
        return cls(labels.variable, matrix.names, present, present + absent if observed is not count else count, absent)

    @cached_property
    def absent(self) -> Array:
        """Weight of the rows in which a feature is known to be absent: (n_classes, n_features)."""
        return remainder(self.observed, self.present) if self.counted_absent is None else self.counted_absent

    @property
    def cells(self) -> Array:
        """Weight of the cells that were there."""
        return self.observed

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        mine, theirs = super()._aligned(other)
        if (mine.counted_absent is None) == (theirs.counted_absent is None):
            return mine, theirs
        return mine._with({"counted_absent": mine.absent}), theirs._with({"counted_absent": theirs.absent})

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


def _count_absent(
    matrix: Matrix, labels: Labels, weight: Array, threshold: float, absent: Array, count: Array
) -> Array:
    """Weight of the cells that are there and not over the threshold, as a difference has it or counted again."""
    lightest = np.full(count.shape, np.inf)
    np.minimum.at(lightest[:, 0], labels.codes, weight)
    rounding = ROUNDING * count  # (n_classes, 1)
    is_none = (absent <= rounding) & (lightest > 2 * rounding)  # no row is as light as that
    absent[is_none] = 0.0
    doubtful = np.flatnonzero((~is_none & (absent < DIGITS_LEFT * count)).any(axis=0))
    if not len(doubtful):
        return absent
    absent[:, doubtful] = 0.0
    for rows in row_blocks(matrix.shape[0], max(1, BLOCK_CELLS // len(doubtful))):
        block = matrix.block(rows)
        x = block.to_dense(doubtful) if isinstance(block, SparseMatrix) else block[:, doubtful]
        for k in np.unique(labels.codes[rows]):
            own = labels.codes[rows] == k
            absent[k, doubtful] += weight[rows][own] @ (x[own] <= threshold)
    return absent


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

    blocks = block_map(count, row_blocks(matrix.shape[0]), together=worth_compiling(matrix.n_cells))
    total: Array = sum(blocks, start=np.zeros(n_classes * matrix.shape[1], kind))
    return total.reshape(n_classes, matrix.shape[1])
