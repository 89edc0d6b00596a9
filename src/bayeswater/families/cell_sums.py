"""What laws share whose parameters are read off the weight of a class and sums of functions of its cells.

Shares (`beta`) are summed by their logarithms, numbers on a circle (`von_mises`) by cosine and sine. Parameters are the
most probable ones under a prior that is worth `alpha` rows spread evenly, one if nothing is said. Leaving a row out
takes its cells out of the sums of its own class, and reads the parameters of that class anew.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseTable
from bayeswater.families.numbers import NumberBlock
from bayeswater.inference.leave_one_out import leave_out_own_class
from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.records import record
from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.typing import Array

EVEN_ROWS = 1.0
"""Rows spread evenly that every class is taken to have had, when nothing is said."""

STEPS, CONVERGED = 100, 1e-14
"""Steps of Newton's method at most, and the share by which the last one moves: some six are enough."""


@record(eq=False)
class CellSums(ColumnStatistic):
    """Weight of the cells, and sums over them that are never negative: (n_classes, n_columns) each."""

    weight: Array

    @classmethod
    def over_cells(
        cls, matrix: DenseTable, labels: Labels, weight: Array | None, functions: Callable[[Array], tuple[Array, ...]]
    ) -> Self:
        """Sum functions of the cells that are there, given those of some rows (n_rows, n_columns)."""
        whole = weight is None or weight.dtype.kind == "i"

        def block_sums(rows: slice) -> Array:
            block, codes = matrix.block(rows), labels.codes[rows]
            w = np.ones(len(block)) if weight is None else weight[rows]
            there = ~np.isnan(block)
            parts = there, *(np.where(there, cells, 0.0) for cells in functions(block))
            return np.array(
                [[np.bincount(codes, weights=w * own, minlength=labels.n_classes) for own in part.T] for part in parts]
            ).swapaxes(1, 2)

        n, *sums = reduce(np.add, ordered_map(block_sums, row_blocks(matrix.shape[0])))
        return cls(labels.variable, matrix.names, n.astype(np.int64) if whole else n, *sums)

    @property
    def cells(self) -> Array:
        """Weight of the cells that were there."""
        return self.weight


class CellSumBlock(NumberBlock):
    """Columns with the parameters that are read off such sums, by a prior worth `even_rows` (n_columns,)."""

    sums: CellSums
    even_rows: Array

    @staticmethod
    @abstractmethod
    def functions(x: Array, *options: Any) -> tuple[Array, ...]:
        """Give what numbers add to the sums beside their weight."""

    @staticmethod
    @abstractmethod
    def read(even_rows: Array, weight: Array, *sums: Array) -> tuple[Array, ...]:
        """Read parameters off sums of any shape."""

    @staticmethod
    @abstractmethod
    def log_density(x: Array, *parameters: Any) -> Array:
        """Logarithm of the density of numbers by the parameters, and the options of their column; 0 for NaN."""

    def options(self, j: int) -> tuple[float, ...]:
        """Give what the law was given of a column."""
        return ()

    @cached_property
    def parameters(self) -> tuple[Array, ...]:
        """Parameters of each class and column: (n_classes, n_columns) each."""
        return self.read(self.even_rows, *self.sums.to_arrays().values())

    def column_terms(self, x: Array, j: int) -> Array:
        """Log-likelihood of numbers (n,) in one column: (n, n_classes)."""
        return self.log_density(x[:, None], *(own[:, j] for own in self.parameters), *self.options(j))

    def drawn_terms(self, x: Array, j: int, drawn: tuple[Array, ...]) -> Array:
        """Log-likelihood of numbers by parameters that were drawn."""
        return self.log_density(x, *drawn, *self.options(j))

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the sums of its own class."""
        weight, *sums = self.sums.to_arrays().values()

        def likelihood(rows: slice, use_loop: bool) -> Array:
            cells, y, r = table.block(rows), labels.codes[rows], removed[rows]
            own = np.zeros(len(cells))
            for j in range(cells.shape[1]):
                missing, options = np.isnan(cells[:, j]), self.options(j)
                left = np.where(missing, 0.0, r)
                parts = self.functions(np.where(missing, 0.5, cells[:, j]), *options)  # a half is in every domain
                rest = (remainder(all_of[y, j], left * part) for all_of, part in zip(sums, parts, strict=True))
                parameters = self.read(self.even_rows[j], remainder(weight[y, j], left), *rest)
                own += self.log_density(cells[:, j], *parameters, *options)
            return leave_out_own_class(self.likelihood(cells, use_loop), own, y)

        return likelihood
