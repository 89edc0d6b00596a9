"""A row of states that depend on one another, and what would become of its log-joint if some cells were others."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.families.states import StateView
from bayeswater.families.view import NumberOptions, Options
from bayeswater.typing import Array


@dataclass(frozen=True)
class StateLandscape:
    """One row of codes (1, n_columns), the model that scores rows, and the views of the columns."""

    row: int
    codes: Array
    joint: Any
    views: tuple[StateView, ...]
    chosen: int

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [view.column.name for view in self.views]

    @cached_property
    def options(self) -> list[Options | NumberOptions | None]:
        """What could be in each column."""
        return [view.options(self.row, self.chosen) for view in self.views]

    @cached_property
    def log_joint(self) -> Array:
        """Log-joints of the row as it is: (n_classes,)."""
        return self.joint.of(self.codes, False)[0]

    def is_known(self, j: int) -> bool:
        """Whether the cell in column j is known."""
        return bool(self.codes[0, j] < len(self.views[j].labels))

    def with_cells(self, j: int, cells: Array) -> Array:
        """Log-joints with each of some states in column j."""
        return self._with({j: cells})

    def with_pairs(self, i: int, cells: Array, j: int, others: Array) -> Array:
        """Log-joints with pairs of states in columns i and j."""
        return self._with({i: cells, j: others})

    def _with(self, cells: dict[int, Array]) -> Array:
        n = len(next(iter(cells.values())))
        if not n:
            return np.empty((0, len(self.log_joint)))
        rows = np.repeat(self.codes.astype(np.int64), n, axis=0)
        for j, own in cells.items():
            rows[:, j] = own
        return self.joint.of(rows, False)
