"""`MixedTable`: the tables of all groups of columns, read in blocks of the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayeswater.data.column_plan import ColumnPlan


@dataclass(frozen=True)
class MixedTable:
    """One table for each group of columns."""

    plan: ColumnPlan
    groups: Mapping[str, Any]
    n_rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.plan)

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        return sum(table.n_cells for table in self.groups.values())

    def block(self, rows: slice) -> dict[str, Any]:
        """Give some rows of every group."""
        return {key: table.block(rows) for key, table in self.groups.items()}
