"""`FeatureSums`: the sum of every feature over the rows of every class (word counts, tf-idf weights)."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix, SparseMatrix
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.feature_sums import class_feature_sums, rows_by_class, sparse_rows_sum
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.typing import Array


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
    if isinstance(matrix, SparseMatrix):
        return _sum_sparse(matrix, labels, weight, threshold, kind)
    use_loop = worth_compiling(n_rows * n_features)

    def block_sums(rows: slice) -> Array:
        w = None if weight is None else weight[rows]
        return class_feature_sums(
            matrix.block(rows), labels.codes[rows], w, n_classes, threshold, kind, use_loop=use_loop
        )

    blocks = ordered_map(block_sums, row_blocks(n_rows))
    total = next(blocks)
    for part in blocks:
        total += part
    return total


def _sum_sparse(
    matrix: SparseMatrix, labels: Labels, weight: Array | None, threshold: float | None, kind: type
) -> Array:
    """Sum the rows class by class: each thread writes sums that no other writes, in the order of the rows."""
    sums: Array = np.zeros((labels.n_classes, matrix.n_columns), dtype=kind)
    groups = rows_by_class(labels.codes, labels.n_classes)
    if not worth_compiling(len(matrix.data)):
        from scipy import sparse

        cells = matrix.data if threshold is None else matrix.data > threshold
        X = sparse.csr_array((cells.astype(kind), matrix.indices, matrix.indptr), shape=matrix.shape)
        for k, rows in enumerate(groups):
            w: Array = np.ones(len(rows), dtype=kind) if weight is None else weight[rows].astype(kind)
            if len(rows):
                sums[k] = w @ X[rows]
        return sums

    # A class of many rows is cut into parts, so that two threads can share it; parts are added in order.
    parts = [(k, rows[part]) for k, rows in enumerate(groups) for part in row_blocks(len(rows))]

    def part_sum(part: tuple[int, Array]) -> tuple[int, Array]:
        k, rows = part
        alone = len(groups[k]) == len(rows)
        target = sums[k] if alone else np.zeros(matrix.n_columns, dtype=kind)
        sparse_rows_sum(matrix.indptr, matrix.indices, matrix.data, rows, weight, threshold, target)
        return k, target

    for k, target in ordered_map(part_sum, parts):
        if target.base is not sums:
            sums[k] += target
    return sums


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
    heaviest = 1.0 if weight is None else float(weight.max())
    return np.int64 if largest * heaviest * matrix.shape[0] < 2**62 else np.float64
