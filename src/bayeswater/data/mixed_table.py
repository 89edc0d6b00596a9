"""`MixedTable`: the tables of all groups of columns, read in blocks of the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.column_plan import ColumnPlan
from bayeswater.typing import Array


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

    def known_cells(self, missing_is_state: Mapping[str, bool | Array]) -> Array:
        """Count the known cells of each row, the words of a text one by one: (n_rows,).

        `missing_is_state` tells of groups of states where a missing cell is one.
        """
        known = np.zeros(self.n_rows, dtype=np.int64)
        for key, table in self.groups.items():
            known += table.known_cells(missing_is_state[key]) if key in missing_is_state else table.known_cells()
        return known
