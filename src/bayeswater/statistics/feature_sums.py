"""`FeatureSums`: the sum of every feature over the rows of every class (word counts, tf-idf weights)."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix, SparseMatrix
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.feature_sums import add_sparse_rows, class_feature_sums, rows_by_class, sparse_rows_sum
from bayeswater.kernels.threads import BLOCK_ROWS, block_map, ordered_map, row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.typing import Array

TASKS = 32
"""Tasks that the rows of a sparse matrix are divided into, about."""

BYTES_IN_CACHE = 2**19
"""Bytes of the sums of all classes up to which a second-level cache holds them beside the rows."""

Part = tuple[int, Array]
"""A class, and some of its rows."""


@dataclass(frozen=True, eq=False)
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
        n_classes * n_features * 8,
        f"sums of {n_features} features in {n_classes} classes",
        "use fewer features",
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
    use_loop = worth_compiling(matrix.n_cells)
    if not use_loop or sums.nbytes <= BYTES_IN_CACHE:

        def block_sums(rows: slice) -> Array:
            block, w, added = matrix.block(rows), None if weight is None else weight[rows], np.zeros_like(sums)
            csr = block.indptr, block.indices, block.data
            add_sparse_rows(*csr, labels.codes[rows], w, threshold, added, use_loop=use_loop)
            return added

        blocks = row_blocks(matrix.shape[0], BLOCK_ROWS if use_loop else matrix.shape[0])
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

    for results in ordered_map(lambda task: [part_sum(part) for part in task], _tasks(parts, matrix.shape[0])):
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
