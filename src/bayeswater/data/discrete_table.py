"""`DiscreteTable`: all columns of a plan as codes side by side, in the order of the plan."""

from dataclasses import dataclass, replace

import numpy as np

from bayeswater.data.coded_table import CodedTable
from bayeswater.data.column_plan import ColumnPlan
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.typing import Array


@dataclass(frozen=True)
class DiscreteTable:
    """Codes of every cell (n_rows, n_columns), and the plan by which they were read."""

    plan: ColumnPlan
    coded: CodedTable

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.coded.shape

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        return self.coded.n_cells

    def take(self, rows: Array) -> "DiscreteTable":
        """Give some rows, marked or numbered."""
        codes = ColumnMatrix(tuple(np.ascontiguousarray(column[rows]) for column in self.columns))
        return replace(self, coded=replace(self.coded, codes=codes))

    @property
    def columns(self) -> tuple[Array, ...]:
        """Codes of each column: (n_rows,)."""
        codes = self.coded.codes
        return codes.columns if isinstance(codes, ColumnMatrix) else tuple(codes.values.T)

    def block(self, rows: slice) -> Array:
        """Codes of some rows."""
        return self.coded.block(rows)

    def known_cells(self, missing_is_state: bool | Array = False) -> Array:
        """Count the cells of each row that have a state, as `CodedTable` does: (n_rows,)."""
        return self.coded.known_cells(missing_is_state)
