"""`WholeSums`: what Poisson's law needs of every column: how many cells are counts, their sum, and that of log x!."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseTable
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.kernels.whole_sums import class_whole_sums
from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False)
class WholeSums(ColumnStatistic):
    """Weights of the cells that are counts and of those that are not, sum of the counts and of log x!.

    A count is a whole number from 0 on, below 2**53. All sums are (n_classes, n_columns); the weights are int64 where
    those of the rows are whole, and `total` is float64, exact as long as it is whole and under 2**53.
    """

    whole: Array
    other: Array
    total: Array
    log_factorials: Array

    @classmethod
    def of(cls, matrix: DenseTable, labels: Labels, weight: Array | None) -> Self:
        """Sum some rows; missing cells are neither counts nor others."""
        n_rows, n_columns = matrix.shape
        use_loop = worth_compiling(n_rows * n_columns)

        def block_sums(rows: slice) -> tuple[Array, ...]:
            w = None if weight is None else weight[rows]
            return class_whole_sums(matrix.block(rows), labels.codes[rows], w, labels.n_classes, use_loop=use_loop)

        blocks = ordered_map(block_sums, row_blocks(n_rows))
        sums = next(blocks)
        for part in blocks:
            for total, term in zip(sums, part, strict=True):
                total += term
        whole, other, total, log_factorials = sums
        kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64
        return cls(labels.variable, matrix.names, whole.astype(kind), other.astype(kind), total, log_factorials)
