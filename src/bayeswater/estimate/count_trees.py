"""The counts of a column with its parents as a tree, of one level for every parent more: what back-off goes along.

`level_tree` lays out counts by class (`kernels.level_terms`). Available cases: level l counts the rows that have the
column and its first l parents, unless missing is a state. `cell_tree` lays out cells that occur, the class among them
(`kernels.cell_terms`): its trunk is the counts of the nodes that have many cells.
"""

import numpy as np

from bayeswater.kernels.cell_terms import CellTree
from bayeswater.kernels.level_terms import Tree
from bayeswater.statistics.parent_counts import ParentCells
from bayeswater.typing import Array


def level_tree(counts: ParentCells, n_parents: int, *, missing_is_state: bool | Array) -> Tree:
    """Lay out the counts of a column with the first `n_parents` of its parents.

    Missing is a state in all columns, or in some: (n_members,), the parents in their order and the column itself.

    >>> counts = ParentCells(np.array([3, 3]), np.array([[0, 1], [1, 0], [2, 1]]), np.array([[5], [1], [2]]))
    >>> tree = level_tree(counts, 1, missing_is_state=False)  # slot 2 of the parent is that of missing cells
    >>> tree.node_total, tree.slot
    (array([8., 5., 1.]), array([0, 0, 1]))
    """
    is_state = np.broadcast_to(missing_is_state, len(counts.n_slots))
    levels = [counts.with_parents(min(n_parents, counts.n_parents))]
    while levels[-1].n_parents:
        levels.append(levels[-1].with_parents(levels[-1].n_parents - 1))
    slot, first_child, node_count, first_cell, state, cell_count = [np.zeros(1, dtype=np.int64)], [], [], [], [], []
    n_nodes, n_cells = 0, 0
    keys: list[Array] = []  # of each level but the root: place of the node above among those of its level, and slot
    for one in reversed(levels):
        cell, count = one.cell.astype(np.int64), one.count.astype(np.float64)
        there = (cell < one.n_slots - ~is_state[[*range(one.n_parents), -1]]).all(axis=1)
        cell, count = cell[there], count[there]
        above = cell[:, :-1]
        is_first = np.ones(len(cell), dtype=bool)
        is_first[1:] = (above[1:] != above[:-1]).any(axis=1)
        first = np.flatnonzero(is_first) if one.n_parents else np.zeros(1, dtype=np.int64)
        node_count.append(np.add.reduceat(count, first) if len(cell) else np.zeros((len(first), count.shape[1])))
        first_cell.append(n_cells + first)
        state.append(cell[:, -1])
        cell_count.append(count)
        if one.n_parents:
            node = np.zeros(len(first), dtype=np.int64)
            for level, n in enumerate(one.n_slots[:-2].tolist()):
                node = np.searchsorted(keys[level], node * n + above[first, level])
            slot.append(above[first, -1])
            keys.append(node * one.n_slots[-2] + above[first, -1])
            n_above = len(first_cell[-2])
            first_child.append(n_nodes + np.searchsorted(node, np.arange(n_above)))
        n_nodes += len(first)
        n_cells += len(cell)
    first_child.append(np.full(len(first_cell[-1]) + 1, n_nodes))
    nodes, cells = np.concatenate(node_count), np.concatenate(cell_count)
    return Tree(
        np.concatenate(slot),
        np.concatenate(first_child),
        nodes,
        nodes.sum(axis=1),
        np.concatenate([*first_cell, [n_cells]]),
        np.concatenate(state),
        cells,
        cells.sum(axis=1),
        int(counts.n_slots[-1] - ~is_state[-1]),
    )


LONG, SHARE_OF_TABLE = 64, 0.5
"""Cells that are added up on the spot, at most, or this share of those that a node in the trunk has room for."""


def cell_tree(cells: ParentCells) -> CellTree:
    """Lay out the counts of a column, its parents and the class (`statistics.parent_counts`).

    >>> from bayeswater.statistics.parent_counts import class_cells
    >>> tree = cell_tree(class_cells(np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0]]), np.array([3, 3, 2]), None))
    >>> tree.trunk_class, tree.trunk_cell[0]
    (array([[2., 1.]]), array([[0., 1.],
           [2., 0.]]))
    """
    columns = np.ascontiguousarray(cells.cell.T)
    slot, state, code, count = columns[:-2], columns[-2], columns[-1], cells.count[:, 0]
    n_states, n_classes = int(cells.n_slots[-2]) - 1, int(cells.n_slots[-1])
    long = max(LONG, int(SHARE_OF_TABLE * n_states * n_classes))
    root = np.zeros(len(count), dtype=np.int64)
    first, tables = [root[:1]], [_table(root, 1, state, code, count, cells)]
    begins = np.zeros(len(count), dtype=bool)
    begins[:1] = True
    for level in slot:
        begins[1:] |= level[1:] != level[:-1]
        starts = np.flatnonzero(begins)
        sizes = np.diff(starts, append=len(count))
        is_long = sizes > long
        if not is_long.any():  # nor is any node below
            break
        inside = np.repeat(is_long, sizes)
        place = np.repeat(np.cumsum(is_long) - 1, sizes)[inside]
        first.append(starts[is_long])
        tables.append(_table(place, int(is_long.sum()), state[inside], code[inside], count[inside], cells))
    ends = np.cumsum([0, *(len(part) for part in first)])
    start = np.concatenate([ends, np.full(len(slot) + 2 - len(ends), ends[-1])])
    trunk = np.concatenate(tables)
    by_state, by_class = trunk.sum(axis=2), trunk.sum(axis=1)
    sums = by_class.sum(axis=1), by_state, by_class
    return CellTree(slot, state, code, count, start, np.concatenate(first), *sums, trunk, long)


def _table(node: Array, n_nodes: int, state: Array, code: Array, count: Array, cells: ParentCells) -> Array:
    """Counts of nodes by state and class: (n_nodes, n_states, n_classes)."""
    n_states, n_classes = int(cells.n_slots[-2]) - 1, int(cells.n_slots[-1])
    key = (node * n_states + state) * n_classes + code
    flat = np.bincount(key, weights=count, minlength=n_nodes * n_states * n_classes)
    return flat.reshape(n_nodes, n_states, n_classes)
