"""`FeatureSums`: the sum of every feature over the rows of every class (word counts, tf-idf weights).

`BinaryCounts` tells in how many rows of every class a feature was present, and in how many it was observed at all. The
difference is where it was absent. Of whole weights it is exact; of fractional ones it would cancel where rows that lack
a feature weigh little beside those that have it, so absence is then counted for itself. The difference still says which
features need that: only where over four digits of it have cancelled are cells looked at again.
"""

from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix, SparseMatrix
from bayeswater.errors import StatisticsError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.feature_sums import add_sparse_rows, class_feature_sums, rows_by_class, sparse_rows_sum
from bayeswater.kernels.remainders import ROUNDING, remainder
from bayeswater.kernels.threads import BLOCK_ROWS, block_map, ordered_map, row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.statistics.sums import ClassCounts
from bayeswater.typing import Array

TASKS = 32
"""Tasks that the rows of a sparse matrix are divided into, about."""

BYTES_IN_CACHE, BYTES_IN_CACHES = 2**19, 2**23
"""Bytes of the sums of all classes up to which caches of the second or of the third level hold them beside rows."""

CELLS_OF_SUM = 4
"""Cells that a block of rows has for each of many sums, at least: then to add up those of blocks is little work."""

Part = tuple[int, Array]
"""A class, and some of its rows."""


@record(eq=False)
class FeatureSums(ColumnStatistic):
    """Sums (n_classes, n_features): int64 for whole data and weights, else float64."""

    feature_sum: Array

    @classmethod
    def of(cls, matrix: Matrix, labels: Labels, weight: Array | None) -> Self:
        """Sum some rows."""
        return cls(labels.variable, matrix.names, sum_features(matrix, labels, weight, None))


def sum_features(matrix: Matrix, labels: Labels, weight: Array | None, threshold: float | None) -> Array:
    """Sum features, or with a threshold count the cells above it, per class: (n_classes, n_features)."""
    n_rows, n_features = matrix.shape
    n_classes = labels.n_classes
    require_table_bytes(
        n_classes * n_features * 8, f"sums of {n_features} features in {n_classes} classes", "use fewer features"
    )
    kind = _kind_of_sum(matrix, weight, threshold)
    if weight is not None:
        weight = weight.astype(kind, copy=False)  # the product of two whole numbers may pass 2**63, too
    if isinstance(matrix, SparseMatrix):
        return _sum_sparse(matrix, labels, weight, threshold, kind)
    use_loop = worth_compiling(n_rows * n_features)

    def block_sums(rows: slice) -> Array:
        w = None if weight is None else weight[rows]
        return class_feature_sums(
            matrix.block(rows), labels.codes[rows], w, n_classes, threshold, kind, use_loop=use_loop
        )

    blocks = block_map(block_sums, row_blocks(n_rows), together=use_loop)
    total = next(blocks)
    for part in blocks:
        total += part
    return total


def _sum_sparse(
    matrix: SparseMatrix, labels: Labels, weight: Array | None, threshold: float | None, kind: type
) -> Array:
    """Sum the rows block by block or, where sums are many, class by class: each thread writes sums of its own."""
    sums: Array = np.zeros((labels.n_classes, matrix.n_columns), dtype=kind)
    use_loop, n_rows = worth_compiling(matrix.n_cells), matrix.shape[0]
    are_few = sums.nbytes <= BYTES_IN_CACHE
    enough = BLOCK_ROWS if are_few else -(-CELLS_OF_SUM * sums.size * n_rows // max(1, matrix.n_cells))
    if not use_loop or are_few or (sums.nbytes <= BYTES_IN_CACHES and enough <= n_rows):

        def block_sums(rows: slice) -> Array:
            block, w, added = matrix.block(rows), None if weight is None else weight[rows], np.zeros_like(sums)
            csr = block.indptr, block.indices, block.data
            add_sparse_rows(*csr, labels.codes[rows], w, threshold, added, use_loop=use_loop)
            return added

        blocks = row_blocks(n_rows, enough if use_loop else n_rows)
        for added in block_map(block_sums, blocks, together=use_loop):
            sums += added
        return sums
    groups = rows_by_class(labels.codes, labels.n_classes)
    # A class of many rows is cut into parts, so that two threads can share it; parts are added in order.
    parts = [(k, rows[part]) for k, rows in enumerate(groups) for part in row_blocks(len(rows))]

    def part_sum(part: Part) -> tuple[int, Array]:
        k, rows = part
        alone = len(groups[k]) == len(rows)
        target = sums[k] if alone else np.zeros(matrix.n_columns, dtype=kind)
        sparse_rows_sum(matrix.indptr, matrix.indices, matrix.data, rows, weight, threshold, target)
        return k, target

    for results in ordered_map(lambda task: [part_sum(part) for part in task], _tasks(parts, n_rows)):
        for k, target in results:
            if target.base is not sums:
                sums[k] += target
    return sums


def _tasks(parts: list[Part], n_rows: int) -> list[list[Part]]:
    """Put small classes together: enough tasks for many threads, and few enough that handing over is cheap."""
    tasks: list[list[Part]] = [[]]
    taken = 0  # rows in the last task
    for part in parts:
        if taken * TASKS >= n_rows:
            tasks.append([])
            taken = 0
        tasks[-1].append(part)
        taken += len(part[1])
    return tasks


def _kind_of_sum(matrix: Matrix, weight: Array | None, threshold: float | None) -> type:
    """Choose int64 where every term is whole and no sum can pass 2**63."""
    if weight is not None and weight.dtype.kind == "f":
        return np.float64
    if threshold is not None:
        return np.int64
    if matrix.dtype.kind == "f":
        return np.float64
    largest = float(np.iinfo(matrix.dtype).max)
    if matrix.dtype.itemsize == 8:  # the type says little: look at the values
        largest = max(float(cells.max(initial=0)) for cells in matrix.pieces)
    n_copies = matrix.shape[0] if weight is None else float(weight.sum())  # a row of weight w is w of them
    # An unsigned integer of 64 bits times a signed one is a float.
    limit = 2**53 if matrix.dtype == np.uint64 and weight is not None else 2**62
    return np.int64 if largest * n_copies < limit else np.float64


DIGITS_LEFT = 1e-4
"""Share that a difference of two sums must have of them: twelve of sixteen digits are then right."""

BLOCK_CELLS = 2**20
"""Cells of rows that are looked at together."""


@record(eq=False)
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
        return replace(mine, counted_absent=mine.absent), replace(theirs, counted_absent=theirs.absent)

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
