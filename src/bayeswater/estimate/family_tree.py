"""The counts of a column with its parents as a tree, of one level for every parent more: what back-off goes along.

Available cases: level l counts the rows that have the column and its first l parents, unless missing is a state.
"""

import numpy as np

from bayeswater.kernels.family_terms import Tree
from bayeswater.statistics.family import Family
from bayeswater.typing import Array


def family_tree(family: Family, n_parents: int, *, missing_is_state: bool | Array) -> Tree:
    """Lay out the counts of a column with the first `n_parents` of its parents.

    Missing is a state in all columns, or in some: (n_members,), the parents in their order and the column itself.

    >>> family = Family(np.array([3, 3]), np.array([[0, 1], [1, 0], [2, 1]]), np.array([[5], [1], [2]]))
    >>> tree = family_tree(family, 1, missing_is_state=False)  # slot 2 of the parent is that of missing cells
    >>> tree.node_total, tree.slot
    (array([8., 5., 1.]), array([0, 0, 1]))
    """
    is_state = np.broadcast_to(missing_is_state, len(family.n_slots))
    families = [family.with_parents(min(n_parents, family.n_parents))]
    while families[-1].n_parents:
        families.append(families[-1].with_parents(families[-1].n_parents - 1))
    slot, first_child, node_count, first_cell, state, cell_count = [np.zeros(1, dtype=np.int64)], [], [], [], [], []
    n_nodes, n_cells = 0, 0
    keys: list[Array] = []  # of each level but the root: place of the node above among those of its level, and slot
    for one in reversed(families):
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
        int(family.n_slots[-1] - ~is_state[-1]),
    )
