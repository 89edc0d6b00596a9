"""`Family`: how often a column met its parents and the class, in the configurations that occur.

The cells of the first l parents are a marginal of those of all: one family holds every level of a back-off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from bayeswater.kernels.parent_cells import number_configurations
from bayeswater.limits import require_table_bytes
from bayeswater.typing import Array


@dataclass(frozen=True)
class Family:
    """Cells in the order of the parents' slots, the first parent leading, and then of the column's own.

    `n_slots` (1 + n_parents,) and `cell` (n_cells, 1 + n_parents) have the parents first and the column itself last;
    the last slot of each is that of missing cells. `count` is (n_cells, n_classes), and no cell is without a row.
    """

    n_slots: Array
    cell: Array
    count: Array

    @classmethod
    def of(cls, slots: Array, n_slots: Array, y: Array, weight: Array | None, n_classes: int) -> "Family":
        """Count some rows, as slots (1 + n_parents, n_rows)."""
        number, row = number_configurations(slots, n_slots)
        kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64
        flat = np.bincount(number * n_classes + y, weights=weight, minlength=len(row) * n_classes)
        return cls(n_slots, slots[:, row].T, flat.astype(kind).reshape(-1, n_classes))

    @property
    def n_parents(self) -> int:
        """Number of parents."""
        return len(self.n_slots) - 1

    def with_parents(self, n_parents: int) -> "Family":
        """Give the counts with the first `n_parents` parents alone, summed over the others.

        >>> family = Family(np.array([2, 2]), np.array([[0, 1], [1, 0], [1, 1]]), np.array([[5], [1], [2]]))
        >>> family.with_parents(0).count
        array([[1],
               [7]])
        """
        if n_parents == self.n_parents:
            return self
        kept = [*range(n_parents), self.n_parents]
        return joined([Family(self.n_slots[kept], self.cell[:, kept], self.count)])

    def dense(self) -> Array:
        """Give all cells, those without a row too: (T_parent1, ..., T_parentl, T_own, n_classes)."""
        shape = (*self.n_slots.tolist(), self.count.shape[1])
        require_table_bytes(
            8 * prod(shape), f"all configurations of a column and {self.n_parents} parents", "take fewer parents"
        )
        table = np.zeros(shape, dtype=self.count.dtype)
        table[tuple(self.cell.T)] = self.count
        return table

    def find(self, slots: Array) -> Array:
        """Find the cell of each row of slots (1 + n_parents, n_rows): its place (n_rows,), or -1 where there is none.

        A slot beyond those of its column, as unseen states have, is found nowhere.

        >>> family = Family(np.array([2, 2]), np.array([[0, 1], [1, 0], [1, 1]]), np.array([[5], [1], [2]]))
        >>> family.find(np.array([[1, 0], [1, 0]]))
        array([ 2, -1])
        """
        node = np.zeros(slots.shape[1], dtype=np.int64)
        for n, keys, column in zip(self.n_slots, self._keys, slots, strict=True):
            key = np.where((node < 0) | (column >= n), -1, node * n + column)
            place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            node = np.where(keys[place] == key, place, -1)
        return node

    @cached_property
    def _keys(self) -> list[Array]:
        """Sorted keys of each level: the node of the level before, and the slot of the next column."""
        levels, node = [], np.zeros(len(self.cell), dtype=np.int64)
        for level, n in enumerate(self.n_slots.tolist()):
            keys, node = np.unique(node * n + self.cell[:, level], return_inverse=True)
            levels.append(keys)
        return levels


def joined(parts: Sequence[Family]) -> Family:
    """Add up the counts of one family, part by part; cells that are left without a row go."""
    cell = np.concatenate([part.cell for part in parts])
    count = np.concatenate([part.count for part in parts])
    number, row = number_configurations(cell.T, parts[0].n_slots)
    order = np.argsort(number, kind="stable")  # the parts of a cell are added in their order
    first = np.searchsorted(number[order], np.arange(len(row)))
    total = np.add.reduceat(count[order], first) if len(row) else count
    occurs = total.any(axis=1)
    return Family(parts[0].n_slots, cell[row][occurs], total[occurs])
