"""`ParentCounts`: how often every column met its parents and the class, for a given structure.

Column x with the ordered parents p_1, ..., p_l has counts N(x, p_1, ..., p_l, y) of the configurations that occur:
there are never more of them than rows, however large the product of the domains. Each column has a slot of missing
cells, as in `CategoryCounts`. The structure is part of what is counted: only counts of equal parents are added.

`ParentCells` are the counts of one column. The cells of the first l parents are a marginal of those of all: one of
these holds every level of a back-off.

Where classes are many, the class is the last column (`class_cells`), and only cells that have rows are counted: deep
configurations have few rows, and of many classes but one or two, so a column for each class would be nearly empty.
Cells stand in the order of the parents' slots, the first parent leading, then of the column's own state, then of the
class; so those of the first parents alone, for any number of them, are stretches of neighbours (`kernels.cell_terms`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import ParameterError, StatisticsError
from bayeswater.kernels.category_tables import offsets
from bayeswater.kernels.parent_cells import number_configurations
from bayeswater.kernels.remainders import ROUNDING
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts, code_kind, columnwise_codes
from bayeswater.statistics.pair_counts import named_state, shared_slots
from bayeswater.statistics.statistic import Statistic, spread
from bayeswater.typing import Array


@record
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


BLOCK_ROWS = 2**20
"""Rows whose configurations are sorted at once."""

Parents = tuple[tuple[int, ...], ...]


@record(eq=False)
class ParentCounts(Statistic):
    """Cells of all families, one after the other; those of column x from ``start[x]`` up to ``start[x + 1]``.

    `cell` (n_cells, 1 + most parents) has the slots of the parents, in their order, then that of the column itself, and
    zeros behind; `count` is (n_cells, n_classes), int64, or float64 for fractional weights.

    `squared` (n_classes,) is the sum of the squared weights of single rows, where one of weight w >= 1 is w rows: it
    tells how much leaving a row out takes away, which weights that are added up do not.
    """

    schema: Schema
    parents: Parents
    start: Array
    cell: Array
    count: Array
    squared: Array

    @classmethod
    def of(cls, coded: CodedTable, labels: Labels, weight: Array | None, parents: Sequence[Sequence[int]]) -> Self:
        """Count some rows, each column with its parents."""
        structure = checked_parents(parents, coded.schema)
        n_slots = coded.schema.n_states + 1
        cells: list[ParentCells] = []
        for rows in row_blocks(coded.shape[0], BLOCK_ROWS):
            codes, y = columnwise_codes(coded, rows), labels.codes[rows]
            w = None if weight is None else weight[rows]

            def count(x: int, codes: Array = codes, y: Array = y, w: Array | None = w) -> ParentCells:
                columns = [*structure[x], x]
                return ParentCells.of(codes[columns], n_slots[columns], y, w, labels.n_classes)

            counted = list(ordered_map(count, range(len(structure))))
            cells = [joined(parts) for parts in zip(cells, counted, strict=True)] if cells else counted
            _require_room(cells, coded.schema)
        counts = _one_after_the_other(cells, coded.schema)
        return cls(labels.variable, coded.schema, structure, *counts, _squared(labels, weight))

    @property
    def n_states(self) -> Array:
        """Number of states of each column, the missing slot not counted."""
        return self.schema.n_states

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of cells, and of classes."""
        return self.count.shape

    @property
    def row_weight(self) -> float:
        """Weight of a single row, in the mean over all weight: 1 where weights are whole, w where all are w < 1."""
        squared = float(self.squared.sum())
        if squared == 0:  # squares of the smallest weights are too small to tell
            return 1.0
        return min(squared / float(self.cells_of(0).count.sum()), 1.0)

    def cells_of(self, x: int) -> ParentCells:
        """The counts of one column with all its parents."""
        columns, own = [*self.parents[x], x], slice(self.start[x], self.start[x + 1])
        return ParentCells(self.n_states[columns] + 1, self.cell[own, : len(columns)], self.count[own])

    @cached_property
    def singles(self) -> CategoryCounts:
        """The counts of single columns."""
        start = offsets(self.n_states)
        n_bytes = 8 * int(start[-1]) * self.n_classes
        require_table_bytes(n_bytes, f"counting {len(self.schema)} columns", "bin the columns with the most states")
        table = np.zeros((start[-1], self.n_classes), dtype=self.count.dtype)
        for x in range(len(self.schema)):
            alone = self.cells_of(x).with_parents(0)
            table[start[x] + alone.cell[:, 0].astype(np.int64)] = alone.count
        return CategoryCounts(self.classes, self.schema, table)

    def onto(self, classes: Variable) -> Self:
        """Lay the counts out for other classes."""
        if classes.states == self.classes.states:
            return replace(self, classes=classes)
        count, squared = (spread(each, self.classes, classes, axis=-1) for each in (self.count, self.squared))
        return replace(self, classes=classes, count=count, squared=squared)._occurring()

    def pruned(self) -> Self:
        """Drop states that are neither declared nor counted, as if no row had ever had them."""
        return self._onto_schema(self.singles.pruned().schema)

    def declaring(self, schema: Schema) -> Self:
        """Join further declared states to the domains."""
        return self._onto_schema(self.schema.union(schema))

    def scaled(self, factor: float) -> Self:
        """Let every row count `factor` times what it did."""
        return replace(self, count=self.count * factor, squared=self.squared * (factor * min(factor, 1)))

    def _columns(self) -> list[ParentCells]:
        return [self.cells_of(x) for x in range(len(self.schema))]

    def _of_columns(self, cells: Sequence[ParentCells]) -> Self:
        start, cell, count = _one_after_the_other(cells, self.schema)
        return replace(self, start=start, cell=cell, count=count)

    def _occurring(self) -> Self:
        """Leave out cells without a row."""
        return self._of_columns([joined([one]) for one in self._columns()])

    def _onto_schema(self, schema: Schema) -> Self:
        if schema == self.schema:
            return self
        place = []
        for old, new in zip(self.schema, schema, strict=True):
            mine, theirs = shared_slots(old, new)
            slot_of = np.zeros(old.n_states + 1, dtype=np.int64)
            slot_of[mine] = theirs
            place.append(slot_of)
        cells = []
        for x, one in enumerate(self._columns()):
            columns = [*self.parents[x], x]
            cell = np.stack([place[j][one.cell[:, level]] for level, j in enumerate(columns)], axis=1)
            cells.append(joined([ParentCells(schema.n_states[columns] + 1, cell, one.count)]))
        return replace(self, schema=schema)._of_columns(cells)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        classes, schema = self.classes.union(other.classes), self.schema.union(other.schema)
        for x, (mine, theirs) in enumerate(zip(self.parents, other.parents, strict=True)):
            if mine != theirs:
                here, there = ([self.schema[j].name for j in parents] for parents in (mine, theirs))
                raise StatisticsError(
                    f"column {self.schema[x].name!r} has the parents {here} here and {there} there: counts of "
                    "different structures cannot be combined; fit the second model with parents=first.counted_parents_"
                )
        return self.onto(classes)._onto_schema(schema), other.onto(classes)._onto_schema(schema)

    def _plus(self, other: Self) -> Self:
        pairs = zip(self._columns(), other._columns(), strict=True)
        return replace(self._of_columns([joined(parts) for parts in pairs]), squared=self.squared + other.squared)

    def _minus(self, other: Self, rest: Self | None) -> Self:
        """Lay both out over the cells that either has, and drop those that are left without a row."""
        both = [(mine, theirs) for mine, theirs in zip(self._columns(), other._columns(), strict=True)]
        everywhere = self._of_columns([joined(parts) for parts in both])
        mine, theirs = np.zeros((2, *everywhere.shape), dtype=everywhere.count.dtype)
        for x, parts in enumerate(both):
            one, first = everywhere.cells_of(x), everywhere.start[x]
            for counts, part in zip((mine, theirs), parts, strict=True):
                counts[first + one.find(part.cell.T)] = part.count
        count = everywhere.taken_away("count", mine, theirs)
        squared = np.maximum(self.squared - other.squared, 0)  # a row may go in larger pieces than it came in
        return replace(everywhere, count=count, squared=squared)._occurring()

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        row, k = place
        x = int(np.searchsorted(self.start, row, side="right")) - 1
        columns = [*self.parents[x], x]
        states = [named_state(self.schema[j], int(self.cell[row, level])) for level, j in enumerate(columns)]
        return f"the count of {' and '.join(states[::-1])} in class {self.classes.states[k]!r}"


def checked_parents(parents: Sequence[Sequence[int]], schema: Schema) -> Parents:
    """Check that every column has different parents among the other columns."""
    if len(parents) != len(schema):
        raise ParameterError(f"there are parents of {len(parents)} columns, and {len(schema)} columns")
    structure = tuple(tuple(int(j) for j in own) for own in parents)
    for x, own in enumerate(structure):
        if x in own or len(set(own)) < len(own) or not all(0 <= j < len(schema) for j in own):
            raise ParameterError(
                f"column {schema[x].name!r} has the parents {own}; give different columns, other than itself, by index"
            )
    return structure


def _squared(labels: Labels, weight: Array | None) -> Array:
    """Sum of squared weights of the single rows of each class: (n_classes,)."""
    if weight is None:
        return labels.count
    squared = np.bincount(labels.codes, weights=weight * np.minimum(weight, 1), minlength=labels.n_classes)
    return squared.astype(weight.dtype)


def _one_after_the_other(cells: Sequence[ParentCells], schema: Schema) -> tuple[Array, Array, Array]:
    """Start, cells and counts of all families."""
    start = np.cumsum([0, *(len(one.cell) for one in cells)])
    cell = np.zeros((start[-1], max(len(one.n_slots) for one in cells)), dtype=code_kind(schema.n_states))
    for (first, last), one in zip(pairwise(start.tolist()), cells, strict=True):
        cell[first:last, : len(one.n_slots)] = one.cell
    return start, cell, np.concatenate([one.count for one in cells])


def _require_room(cells: Sequence[ParentCells], schema: Schema) -> None:
    largest = int(np.argmax([len(one.cell) for one in cells]))
    require_table_bytes(
        sum(8 * one.count.size + one.cell.size * code_kind(schema.n_states).itemsize for one in cells),
        f"counting {len(cells)} columns with their parents (the most configurations are those of "
        f"{schema[largest].name!r}: {len(cells[largest].cell)})",
        "take fewer parents, or bin the columns with the most states",
    )
