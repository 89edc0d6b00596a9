"""`ColumnView`: one column of a table as an explanation looks at it, row by row.

What a cell holds, what the model made of it, and which other cells could be in its place.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from bayeswater.data.cells import is_missing, python_value
from bayeswater.data.column_plan import Column
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.raw_table import RawTable
from bayeswater.explain.options import NumberOptions, Options
from bayeswater.statistics.seen_ranges import SeenRanges
from bayeswater.typing import Array


class Cell(IntEnum):
    """What became of a cell: a factor of the posterior, or left out since it is missing or was never seen."""

    READ = 0
    MISSING = 1
    UNSEEN = 2


class LastBlock:
    """The cells of the row that was looked at last: one column after the other looks at the same row."""

    def __init__(self) -> None:
        self._last: tuple[int, Any] = (-1, None)

    def of(self, row: int, table: Any) -> Any:
        """Give a row of a table, which is always the same."""
        known, block = self._last
        if known != row:
            block = table.block(slice(row, row + 1))
            self._last = row, block
        return block


@dataclass(frozen=True)
class ColumnView(ABC):
    """A column, the terms of its group and the table they are of; `j` is its place there."""

    column: Column
    terms: Any
    table: Any
    j: int
    raw: RawTable
    seen: SeenRanges
    blocks: "LastBlock"

    @property
    def is_score(self) -> bool:
        """Whether contributions are differences of scores rather than of log-likelihoods."""
        return False

    def value(self, row: int) -> Any:
        """Give the cell as the user gave it, None where it is missing."""
        cells = self.raw.columns[self.column.source]
        if isinstance(cells, SparseMatrix):
            return cells.data[cells.indptr[row] : cells.indptr[row + 1]].sum().item()
        value = python_value(cells[row])
        return None if is_missing(value) else value

    def own_terms(self, row: int) -> Array:
        """Terms of the cell that is there: (n_classes,)."""
        return self.terms.terms(self._block(row))[0, self.j]

    def _block(self, row: int) -> Any:
        return self.blocks.of(row, self.table)

    @abstractmethod
    def cell(self, row: int) -> Cell:
        """Tell what became of a cell."""

    @abstractmethod
    def reading(self, row: int, chosen: int, against: int) -> str:
        """Say what the model made of the value, where that is not obvious."""

    @abstractmethod
    def options(self, row: int, chosen: int) -> Options | NumberOptions | None:
        """List the other cells that could be there, for a row whose class is `chosen`; None if there are none."""

    @abstractmethod
    def terms_at(self, row: int, cells: Array) -> Array:
        """Terms of cells (n,) of the options, in the place of the one that is there: (n, n_classes)."""
