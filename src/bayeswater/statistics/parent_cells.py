"""`ParentCells`: how often a column met its parents and the class, in the configurations that occur.

The cells of the first l parents are a marginal of those of all: one of these holds every level of a back-off.

Where classes are many, the class is the last column (`class_cells`), and only cells that have rows are counted: deep
configurations have few rows, and of many classes but one or two, so a column for each class would be nearly empty.
Cells stand in the order of the parents' slots, the first parent leading, then of the column's own state, then of the
class; so those of the first parents alone, for any number of them, are stretches of neighbours (`kernels.cell_terms`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.kernels.parent_cells import number_configurations
from bayeswater.limits import require_table_bytes
from bayeswater.statistics.statistic import ROUNDING
from bayeswater.typing import Array


@dataclass(frozen=True)
class ParentCells:
    """Cells in the order of the parents' slots, the first parent leading, and then of the column's own.

    `n_slots` (1 + n_parents,) and `cell` (n_cells, 1 + n_parents) have the parents first and the column itself last;
    the last slot of each is that of missing cells. `count` is (n_cells, n_classes), and no cell is without a row.
    """

    n_slots: Array
    cell: Array
    count: Array

    @classmethod
    def of(cls, slots: Array, n_slots: Array, y: Array, weight: Array | None, n_classes: int) -> "ParentCells":
        """Count some rows, as slots (1 + n_parents, n_rows)."""
        number, row = number_configurations(slots, n_slots)
        kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64
        flat = np.bincount(number * n_classes + y, weights=weight, minlength=len(row) * n_classes)
        return cls(n_slots, slots[:, row].T, flat.astype(kind).reshape(-1, n_classes))

    @property
    def n_parents(self) -> int:
        """Number of parents."""
        return len(self.n_slots) - 1

    def with_parents(self, n_parents: int) -> "ParentCells":
        """Give the counts with the first `n_parents` parents alone, summed over the others.

        >>> cells = ParentCells(np.array([2, 2]), np.array([[0, 1], [1, 0], [1, 1]]), np.array([[5], [1], [2]]))
        >>> cells.with_parents(0).count
        array([[1],
               [7]])
        """
        if n_parents == self.n_parents:
            return self
        kept = [*range(n_parents), self.n_parents]
        return joined([ParentCells(self.n_slots[kept], self.cell[:, kept], self.count)])

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

        >>> cells = ParentCells(np.array([2, 2]), np.array([[0, 1], [1, 0], [1, 1]]), np.array([[5], [1], [2]]))
        >>> cells.find(np.array([[1, 0], [1, 0]]))
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


def joined(parts: Sequence[ParentCells]) -> ParentCells:
    """Add up the counts of one family, part by part; cells that are left without a row go."""
    cell = np.concatenate([part.cell for part in parts])
    count = np.concatenate([part.count for part in parts])
    number, row = number_configurations(cell.T, parts[0].n_slots)
    order = np.argsort(number, kind="stable")  # the parts of a cell are added in their order
    first = np.searchsorted(number[order], np.arange(len(row)))
    total = np.add.reduceat(count[order], first) if len(row) else count
    occurs = total.any(axis=1)
    return ParentCells(parts[0].n_slots, cell[row][occurs], total[occurs])


def class_cells(slots: Array, n_slots: Array, weight: Array | None) -> ParentCells:
    """Count rows by slots (n_parents + 2, n_rows) of the parents, the column itself and the class.

    Rows in which the column itself is missing, in its last slot, are left out.

    >>> cells = class_cells(np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0]]), np.array([3, 3, 2]), None)
    >>> cells.cell.tolist(), cells.count[:, 0]
    ([[0, 0, 1], [1, 1, 0]], array([1., 2.]))
    """
    there = slots[-2] < n_slots[-2] - 1
    if not there.all():
        slots, weight = slots[:, there], None if weight is None else weight[there]
    found = ParentCells.of(slots, n_slots, np.zeros(slots.shape[1], dtype=np.int64), weight, 1)
    return ParentCells(n_slots, found.cell, found.count.astype(np.float64))


def of_first_parents(cells: ParentCells, n_parents: int) -> ParentCells:
    """Give the counts with the first parents alone."""
    n_columns = len(cells.n_slots)
    if n_parents >= n_columns - 2:
        return cells
    kept = [*range(n_parents), n_columns - 2, n_columns - 1]
    return joined([ParentCells(cells.n_slots[kept], cells.cell[:, kept], cells.count)])


def taken_away(whole: ParentCells, part: ParentCells) -> ParentCells:
    """Take counts away; refuse those that were never counted."""
    both = joined([whole, part])
    mine, theirs = (np.zeros(len(both.cell)) for _ in range(2))
    for counts, cells in ((mine, whole), (theirs, part)):
        counts[both.find(cells.cell.T)] = cells.count[:, 0]
    rest = remaining(mine, theirs)
    kept = rest > 0
    return ParentCells(both.n_slots, both.cell[kept], rest[kept, None])


def remaining(count: Array, part: Array) -> Array:
    """Take counts away from others; refuse more than there are, and clear what is but rounding.

    >>> remaining(np.array([3.0, 0.3]), np.array([1.0, 0.1 + 0.2]))
    array([2., 0.])
    """
    rest = count - part
    rest[np.abs(rest) <= ROUNDING * count] = 0.0
    if (rest < 0).any():
        raise StatisticsError(
            f"cannot take away rows that were never counted: a count of {count[rest < 0][0]:g} would become "
            f"{rest.min():g}"
        )
    return rest
