"""`CountTotals`: weight and sum of every column of counts within every class; and `WholeSums`, of any numbers."""

from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseTable
from bayeswater.data.weights import EXACT
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.records import record
from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.typing import Array


@record(eq=False)
class CountTotals(ColumnStatistic):
    """Weight of the cells that are there, and their sum: (n_classes, n_columns) each.

    The sums are float64, and exact as long as they are whole and under 2**53.
    """

    weight: Array
    total: Array

    @classmethod
    def of(cls, matrix: DenseTable, labels: Labels, weight: Array | None) -> Self:
        """Sum some rows, over the cells that are there."""
        whole = weight is None or weight.dtype.kind == "i"

        def block_sums(rows: slice) -> tuple[Array, Array]:
            block, codes = matrix.block(rows), labels.codes[rows]
            there = ~np.isnan(block) if block.dtype.kind == "f" else np.ones(block.shape, dtype=bool)
            values = np.where(there, block, 0)
            w = np.ones(len(block)) if weight is None else weight[rows]

            def summed(cells: Array) -> Array:
                by_column = [np.bincount(codes, weights=w * column, minlength=labels.n_classes) for column in cells.T]
                return np.stack(by_column, axis=1)

            return summed(there), summed(values)

        blocks = ordered_map(block_sums, row_blocks(matrix.shape[0]))
        n, total = next(blocks)
        for part in blocks:
            n, total = n + part[0], total + part[1]
        return cls(labels.variable, matrix.names, n.astype(np.int64) if whole else n, total)

    @property
    def cells(self) -> Array:
        """Weight of the cells that were there."""
        return self.weight

    def taken_away(self, name: str, a: Array, b: Array) -> Array:
        """Take away whole numbers as such: what is left of them, however little, is no rounding."""
        if self.weight.dtype.kind == "i" and (b == np.floor(b)).all() and (a < EXACT).all():
            return super().taken_away(name, a.astype(np.int64), b.astype(np.int64)).astype(np.result_type(a, b))
        return super().taken_away(name, a, b)

    def pooled(self) -> tuple[Array, Array]:
        """Weight and sum of each column over all classes together: (n_columns,) each."""
        return self.weight.sum(axis=0), self.total.sum(axis=0)


@record(eq=False)
class WholeSums(ColumnStatistic):
    """Weights of the cells that are counts and of those that are not, sum of the counts and of log x!.

    A count is a whole number from 0 on, below 2**53. All sums are (n_classes, n_columns); the weights are int64 where
    those of the rows are whole, and `total` is float64, exact as long as it is whole and under 2**53.
    """

    whole: Array
    other: Array
    total: Array
    log_factorials: Array
