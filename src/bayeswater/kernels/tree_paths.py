"""Ways of rows down trees, and what is summed along them.

Nodes are laid out as `kernels.tree_growing` grows them: `splits` (n_nodes, 4) holds jump, column, low and high, and
both children of a node stand behind it, side by side. Where a tree has an order of its own, the codes of columns of
states are replaced by their places in it: ``ranks[order, slot[column] + code]``; `slot` is -1 for columns of numbers.

At every node of a path, from equal shares above the root, the posterior is drawn towards that of the node above:

    p_y = (n_y + c p_y) / (N + c)

Classes go their ways apart, but for N: tables of some of them give the same numbers as those of all.
The loops and their NumPy references do the same operations in the same order: they agree to the last bit.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.remainders import ROUNDING
from bayeswater.typing import Array


def find_leaves(
    codes: Array, splits: Array, roots: Array, order: Array, ranks: Array, slot: Array, *, use_loop: bool
) -> Array:
    """Find the leaf of every row in the tree of every root: (n_trees, n_rows) int32.

    Parameters
    ----------
    codes : (n_rows, n_columns)
    roots, order : (n_trees,), root and order of each tree; the order is -1 where there is none
    ranks : (n_orders, n_slots)
    slot : (n_columns,)
    """
    leaf = np.empty((len(roots), len(codes)), dtype=np.int32)
    if use_loop:
        _leaves_loop(codes, splits, roots, order, ranks, slot, leaf)
        return leaf
    leaf[:] = roots[:, None]
    tree, row = (place.reshape(-1) for place in np.indices(leaf.shape))
    while len(row):
        going = splits[leaf[tree, row], 0] > 0
        tree, row = tree[going], row[going]
        leaf[tree, row] = _next(leaf[tree, row], codes, row, splits, order[tree], ranks, slot)
    return leaf


def _next(node: Array, codes: Array, row: Array, splits: Array, order: Array, ranks: Array, slot: Array) -> Array:
    """Give the children of inner nodes (n,) that rows (n,) go to, by the orders (n,) of their trees."""
    jump, column, low, high = splits[node].T
    code = codes[row, column].astype(np.int64)
    is_ranked = (order >= 0) & (slot[column] >= 0)
    code[is_ranked] = ranks[order[is_ranked], slot[column[is_ranked]] + code[is_ranked]]
    return node + jump + ((code < low) | (code > high))


def sum_up(splits: Array, count: Array, total: Array, *, use_loop: bool) -> None:
    """Add what is in the leaves to all nodes above: `count` (n_nodes, n_classes) and `total` (n_nodes,)."""
    if use_loop:
        _sum_up_loop(splits, count, total)
        return
    for inner in _levels(splits)[::-1]:
        child = inner + splits[inner, 0]
        count[inner] = count[child] + count[child + 1]
        total[inner] = total[child] + total[child + 1]


def draw_down(splits: Array, concentration: float, share: float, count: Array, total: Array, *, use_loop: bool) -> None:
    """Replace the counts (n_nodes, n_classes) of all nodes by posteriors; `share` is that above the roots."""
    if use_loop:
        _draw_down_loop(splits, concentration, share, count, total)
        return
    levels = _levels(splits)
    child = [inner + splits[inner, 0] for inner in levels]
    below = np.ones(len(splits), dtype=bool)
    for first in child:
        below[first] = below[first + 1] = False
    _draw(np.flatnonzero(below), share, concentration, count, total)
    for inner, first in zip(levels, child, strict=True):
        _draw(first, count[inner], concentration, count, total)
        _draw(first + 1, count[inner], concentration, count, total)


def _draw(nodes: Array, above: Array | float, concentration: float, count: Array, total: Array) -> None:
    scale = 1.0 / (total[nodes] + concentration)
    count[nodes] = (count[nodes] + concentration * above) * scale[:, None]


def _levels(splits: Array) -> list[Array]:
    """Inner nodes, level by level from the roots down."""
    is_inner = splits[:, 0] > 0
    child = np.flatnonzero(is_inner) + splits[is_inner, 0]
    is_root = is_inner.copy()
    is_root[child] = is_root[child + 1] = False
    levels, inner = [], np.flatnonzero(is_root)
    while len(inner):
        levels.append(inner)
        child = inner + splits[inner, 0]
        both = np.concatenate([child, child + 1])
        inner = both[is_inner[both]]
    return levels


def add_leaves(table: Array, leaf: Array, total: Array, *, use_loop: bool) -> None:
    """Add to `total` (n_rows, n_classes) what the table (n_nodes, n_classes) has for the leaves (n_trees, n_rows)."""
    if use_loop:
        _add_leaves_loop(table, leaf, total)
        return
    for of_tree in leaf:
        total += table[of_tree]


def add_paths_without(
    codes: Array,
    splits: Array,
    root: int,
    order: int,
    ranks: Array,
    slot: Array,
    rows: Array,
    y: Array,
    removed: Array,
    concentration: float,
    share: float,
    count: Array,
    total: Array,
    posterior: Array,
    *,
    use_loop: bool,
) -> int:
    """Add to `posterior` (n_rows, n_classes) those of some `rows` in a tree, each taken out of all counts on its path.

    Gives a row of which a leaf has less than is taken out, as of one that was never counted; -1 if there is none.

    Parameters
    ----------
    rows : those of the codes that are looked at
    y : (n_rows,), place of the class of each row in the tables; -1 if it is none of theirs
    removed : (n_rows,), weight that is taken out of the counts
    count, total : (n_nodes, n_classes) and (n_nodes,), of all rows
    """
    if use_loop:
        return int(
            _paths_without_loop(
                codes, splits, root, order, ranks, slot, rows, y, removed, concentration, share, count, total, posterior
            )
        )
    node = np.full(len(rows), root, dtype=np.int32)
    p = np.full((len(rows), count.shape[1]), share)
    going = np.arange(len(rows))
    while len(going):
        at, r = node[going], rows[going]
        n = count[at]
        known = np.flatnonzero(y[r] >= 0)
        n[known, y[r[known]]] = np.maximum(n[known, y[r[known]]] - removed[r[known]], 0.0)
        scale = 1.0 / (np.maximum(total[at] - removed[r], 0.0) + concentration)
        p[going] = (n + concentration * p[going]) * scale[:, None]
        going = going[splits[at, 0] > 0]
        node[going] = _next(node[going], codes, rows[going], splits, np.full(len(going), order), ranks, slot)
    posterior[rows] += p
    known = np.flatnonzero(y[rows] >= 0)
    r = rows[known]
    short = r[count[node[known], y[r]] < removed[r] * (1 - ROUNDING)]
    return int(short[0]) if len(short) else -1


@compiled
def _leaves_loop(codes, splits, roots, order, ranks, slot, leaf):  # type: ignore[no-untyped-def]
    for t in range(len(roots)):
        for r in range(len(codes)):
            node = roots[t]
            while splits[node, 0] > 0:
                c = splits[node, 1]
                v = np.int64(codes[r, c])
                if order[t] >= 0 and slot[c] >= 0:
                    v = np.int64(ranks[order[t], slot[c] + v])
                node += splits[node, 0] + (1 - ((v >= splits[node, 2]) & (v <= splits[node, 3])))
            leaf[t, r] = node


@compiled
def _sum_up_loop(splits, count, total):  # type: ignore[no-untyped-def]
    for node in range(len(splits) - 1, -1, -1):
        if splits[node, 0] > 0:
            child = node + splits[node, 0]
            for k in range(count.shape[1]):
                count[node, k] = count[child, k] + count[child + 1, k]
            total[node] = total[child] + total[child + 1]


@compiled
def _draw_down_loop(splits, concentration, share, count, total):  # type: ignore[no-untyped-def]
    parent = np.zeros(len(splits), np.int64)  # one more than its number; 0 above a root
    for node in range(len(splits)):
        if splits[node, 0] > 0:
            parent[node + splits[node, 0]] = node + 1
            parent[node + splits[node, 0] + 1] = node + 1
        scale = 1.0 / (total[node] + concentration)
        for k in range(count.shape[1]):
            above = count[parent[node] - 1, k] if parent[node] else share
            count[node, k] = (count[node, k] + concentration * above) * scale


@compiled
def _add_leaves_loop(table, leaf, total):  # type: ignore[no-untyped-def]
    for t in range(leaf.shape[0]):
        for r in range(leaf.shape[1]):
            node = leaf[t, r]
            for k in range(total.shape[1]):
                total[r, k] += table[node, k]


@compiled
def _paths_without_loop(codes, splits, root, order, ranks, slot, rows, y, removed, pull, share, count, total, p_sum):  # type: ignore[no-untyped-def]
    n_classes = count.shape[1]
    p = np.empty(n_classes)
    short = -1
    for i in range(len(rows)):
        r = rows[i]
        for j in range(n_classes):
            p[j] = share
        node = root
        while True:
            scale = 1.0 / (max(total[node] - removed[r], 0.0) + pull)
            k = y[r]
            own = 0.0
            if k >= 0:
                own = (max(count[node, k] - removed[r], 0.0) + pull * p[k]) * scale
            for j in range(n_classes):
                p[j] = (count[node, j] + pull * p[j]) * scale
            if k >= 0:
                p[k] = own
            if splits[node, 0] == 0:
                break
            c = splits[node, 1]
            v = np.int64(codes[r, c])
            if order >= 0 and slot[c] >= 0:
                v = np.int64(ranks[order, slot[c] + v])
            node += splits[node, 0] + (1 - ((v >= splits[node, 2]) & (v <= splits[node, 3])))
        if short < 0 and k >= 0 and count[node, k] < removed[r] * (1 - ROUNDING):
            short = r
        for j in range(n_classes):
            p_sum[r, j] += p[j]
    return short
