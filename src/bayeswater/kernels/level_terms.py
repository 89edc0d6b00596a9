"""Probability of a row's cell given its class and its parents, level by level, from the counts of a family.

The counts form a tree. The root has no parent; a node of level l is a combination of states of the first l parents
that occurs. It keeps N(y, p_1..p_l), and cells with N(y, p_1..p_l, x) of the states x that occur there. A row goes down
from the root as far as there are nodes, and on its way

    F_l = (N(x, p) + f_l F_{l-1}) / (N(p) + f_l)                                            without the class
    P_l = (N(x, y, p) + c_l [(1 - lambda) P_{l-1} + lambda F_l]) / (N(y, p) + c_l)          with it

or, where levels are flat, P_l = (N(x, y, p) + c_l / v) / (N(y, p) + c_l) of each level for itself. A row that is taken
out lowers the counts of the levels it is counted in, and a node that no other row has is none.

Nodes are numbered level by level in the order of their states, so the children of a node, and its cells, stand one
after the other. The reference goes down with all rows at once.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.remainders import ROUNDING, remainder
from bayeswater.typing import Array


class Tree(NamedTuple):
    """The counts of a family: float64, and int64 places."""

    slot: Array  # (n_nodes,) state of the last parent of each node
    first_child: Array  # (n_nodes + 1,)
    node_count: Array  # (n_nodes, n_classes)
    node_total: Array  # (n_nodes,)
    first_cell: Array  # (n_nodes + 1,)
    state: Array  # (n_cells,)
    cell_count: Array  # (n_cells, n_classes)
    cell_total: Array  # (n_cells,)
    n_states: int  # v


class BackOffRule(NamedTuple):
    """Concentrations of each level with and without the class, and lambda; F_{-1} is 1/v."""

    with_class: Array  # (n_levels,)
    without_class: Array  # (n_levels,)
    class_free: float
    is_flat: bool


class Taken(NamedTuple):
    """What each row is taken out with: its class, its weight, and the number of levels it is counted in: (n_rows,)."""

    codes: Array
    weight: Array
    n_levels: Array


def level_terms(
    slots: Array, tree: Tree, rule: BackOffRule, taken: Taken | None, n_terms: int, *, use_loop: bool
) -> Array:
    """Probabilities of some rows: (n_terms, n_rows, n_classes); 1 where the cell itself is not there.

    Parameters
    ----------
    slots : (n_rows, n_levels), states of the parents in their order and, last, of the column itself
    taken : rows that are taken out, or None
    n_terms : 1 for the last level that a row reaches, or the number of levels for all of them
    """
    n_rows, n_classes = len(slots), tree.node_count.shape[1]
    terms = np.ones((n_terms, n_rows, n_classes))
    if taken is None:
        nobody = np.full(n_rows, -1)
        taken = Taken(nobody, np.zeros(n_rows), np.zeros(n_rows, dtype=np.int64))
    if use_loop:
        _terms_loop(
            np.ascontiguousarray(slots, dtype=np.int64),
            *tree,
            rule.with_class,
            rule.without_class,
            float(rule.class_free),
            bool(rule.is_flat),
            taken.codes.astype(np.int64, copy=False),
            taken.weight.astype(np.float64, copy=False),
            taken.n_levels.astype(np.int64, copy=False),
            terms,
        )
    else:
        _by_reference(slots, tree, rule, taken, terms)
    return terms


def paths(slots: Array, tree: Tree) -> tuple[Array, Array]:
    """Nodes that rows of slots go through, and their cells there: (n_levels, n_rows), -1 where there is none."""
    width = int(max(tree.slot.max(initial=0), tree.n_states, slots.max(initial=0))) + 1
    parent_of = np.repeat(np.arange(len(tree.slot)), np.diff(tree.first_child))
    node_of = np.repeat(np.arange(len(tree.slot)), np.diff(tree.first_cell))
    child_key, cell_key = parent_of * width + tree.slot[1:], node_of * width + tree.state
    x = slots[:, -1].astype(np.int64)
    nodes = np.empty(slots.shape[::-1], dtype=np.int64)
    cells = np.empty_like(nodes)
    node = np.where(x < tree.n_states, 0, -1)
    for level in range(len(nodes)):
        if level:
            child = _find(child_key, node * width + slots[:, level - 1])
            node = np.where((node >= 0) & (child >= 0), child + 1, -1)
        nodes[level] = node
        cells[level] = np.where(node >= 0, _find(cell_key, node * width + x), -1)
    return nodes, cells


def _by_reference(slots: Array, tree: Tree, rule: BackOffRule, taken: Taken, terms: Array) -> None:
    n_terms, n_rows, n_classes = terms.shape
    v = max(tree.n_states, 1)
    nodes, cells = paths(slots, tree)
    free, share = np.full(n_rows, 1 / v), np.ones((n_rows, n_classes))
    is_own = taken.codes[:, None] == np.arange(n_classes)
    for level, (node, cell) in enumerate(zip(nodes, cells, strict=True)):
        removed = np.where(level < taken.n_levels, taken.weight, 0.0)
        whole = remainder(tree.node_total[node], removed)
        is_node = (node >= 0) & ((whole > 0) | (level == 0))
        of_all = remainder(at_cells(tree.cell_total, cell), removed)
        free = np.where(is_node, _pulled(of_all, whole, rule.without_class[level], free), free)
        own = is_own * removed[:, None]
        count, total = remainder(at_cells(tree.cell_count, cell), own), remainder(tree.node_count[node], own)
        base = np.full(share.shape, 1 / v)
        if not rule.is_flat:
            mixed = (1 - rule.class_free) * share + rule.class_free * free[:, None]
            base = mixed if level else np.repeat(free[:, None], n_classes, axis=1)
        share = np.where(is_node[:, None], _pulled(count, total, rule.with_class[level], base), share)
        terms[level if n_terms > 1 else 0 :] = share


def _pulled(count: Array, total: Array, weight: float, base: Array) -> Array:
    """Share of a count in a total, pulled towards a base by a weight."""
    known = total + weight > 0
    pulled: Array = np.where(known, (count + weight * base) / np.where(known, total + weight, 1.0), base)
    return pulled


def at_cells(counts: Array, cell: Array) -> Array:
    """Counts of cells; zero where there is none (-1)."""
    if not len(counts):
        return np.zeros((len(cell), *counts.shape[1:]))
    occurs = cell >= 0
    return np.where(occurs.reshape(-1, *[1] * (counts.ndim - 1)), counts[cell], 0.0)


def _find(keys: Array, key: Array) -> Array:
    """Place of each key among sorted ones, or -1."""
    if not len(keys):
        return np.full(len(key), -1)
    place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    return np.where(keys[place] == key, place, -1)


@compiled
def _terms_loop(  # type: ignore[no-untyped-def]
    slots,
    slot,
    first_child,
    node_count,
    node_total,
    first_cell,
    state,
    cell_count,
    cell_total,
    n_states,
    with_class,
    without_class,
    class_free,
    is_flat,
    codes,
    weight,
    n_levels,
    terms,
):
    n_terms, n_rows, n_classes = terms.shape
    depth = slots.shape[1]
    for r in range(n_rows):
        x = slots[r, depth - 1]
        if x >= n_states:
            continue
        node, free, at, reached = 0, 1.0 / n_states, 0, 0
        for level in range(depth):
            if level:
                low, high, wanted = first_child[node], first_child[node + 1], slots[r, level - 1]
                end = high
                while low < high:
                    middle = (low + high) // 2
                    if slot[middle] < wanted:
                        low = middle + 1
                    else:
                        high = middle
                if low == end or slot[low] != wanted:
                    break
                node = low
            removed = weight[r] if level < n_levels[r] else 0.0
            whole = node_total[node] - removed
            if whole <= ROUNDING * node_total[node]:
                whole = 0.0
                if level:
                    break
            low, high = first_cell[node], first_cell[node + 1]
            end = high
            while low < high:
                middle = (low + high) // 2
                if state[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            occurs = low < end and state[low] == x
            of_all = 0.0
            if occurs:
                of_all = cell_total[low] - removed
                if of_all <= ROUNDING * cell_total[low]:
                    of_all = 0.0
            pull = without_class[level]
            if whole + pull > 0:
                free = (of_all + pull * free) / (whole + pull)
            c = with_class[level]
            last = at
            at = level if n_terms > 1 else 0
            for k in range(n_classes):
                count = cell_count[low, k] if occurs else 0.0
                total = node_count[node, k]
                if k == codes[r]:
                    rest = count - removed
                    count = rest if rest > ROUNDING * count else 0.0
                    rest = total - removed
                    total = rest if rest > ROUNDING * total else 0.0
                if is_flat:
                    base = 1.0 / n_states
                elif level == 0:
                    base = free
                else:
                    base = (1.0 - class_free) * terms[last, r, k] + class_free * free
                terms[at, r, k] = (count + c * base) / (total + c) if total + c > 0 else base
            reached = level
        for level in range(reached + 1, n_terms):
            for k in range(n_classes):
                terms[level, r, k] = terms[reached, r, k]
