"""The cells of a column laid out for `kernels.cell_terms`: the trunk, counts of the nodes that have many cells."""

import numpy as np

from bayeswater.kernels.cell_terms import CellTree
from bayeswater.statistics.family import Family
from bayeswater.typing import Array

LONG, SHARE_OF_TABLE = 64, 0.5
"""Cells that are added up on the spot, at most, or this share of those that a node in the trunk has room for."""


def cell_tree(cells: Family) -> CellTree:
    """Lay out the counts of a column, its parents and the class (`statistics.class_cells`).

    >>> from bayeswater.statistics.class_cells import class_cells
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


def _table(node: Array, n_nodes: int, state: Array, code: Array, count: Array, cells: Family) -> Array:
    """Counts of nodes by state and class: (n_nodes, n_states, n_classes)."""
    n_states, n_classes = int(cells.n_slots[-2]) - 1, int(cells.n_slots[-1])
    key = (node * n_states + state) * n_classes + code
    flat = np.bincount(key, weights=count, minlength=n_nodes * n_states * n_classes)
    return flat.reshape(n_nodes, n_states, n_classes)
