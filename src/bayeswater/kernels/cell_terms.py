"""Probability of a row's cell given its class and its parents, level by level, from cells in the order of the parents.

The rules are those of `kernels.level_terms`, whose NumPy part is the reference for these loops:

    F_l = (N(x, p) + f_l F_{l-1}) / (N(p) + f_l)                                            without the class
    P_l = (N(x, y, p) + c_l [(1 - lambda) P_{l-1} + lambda F_l]) / (N(y, p) + c_l)          with it

Cells (p_1, ..., p_l, x, y) that occur stand in this order, so a node, the rows with the same first parents, is a
stretch of neighbours: it is found by halving, and where it is short its counts are added up on the spot. Counts of long
stretches are laid out once, by state and class: they are the trunk. So nothing is kept but what occurs, however many
classes there are, and deep nodes, nearly all of a row or two, cost nothing.

A row that is taken out lowers the counts of every node it is in, and a node that no other row has is none.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.remainders import ROUNDING
from bayeswater.typing import Array


class CellTree(NamedTuple):
    """Cells of one column, and its trunk; nodes of level l in it are those from ``start[l]`` to ``start[l + 1]``."""

    slot: Array  # (n_parents, n_cells)
    state: Array  # (n_cells,)
    code: Array  # (n_cells,)
    weight: Array  # (n_cells,), float64: counts
    start: Array  # (n_parents + 2,)
    first: Array  # (n_trunk,): first cell of each node, rising within a level
    trunk_total: Array  # (n_trunk,): N(p)
    trunk_state: Array  # (n_trunk, n_states): N(x, p)
    trunk_class: Array  # (n_trunk, n_classes): N(y, p)
    trunk_cell: Array  # (n_trunk, n_states, n_classes): N(x, y, p)
    long: int  # cells of a node beyond which it is in the trunk; the root always is


class LevelRule(NamedTuple):
    """Concentrations of each level with and without the class, and lambda; F_{-1} is 1/v."""

    with_class: Array  # (n_levels,)
    without_class: Array  # (n_levels,)
    class_free: float


def find_nodes(slots: Array, tree: CellTree, no_slot: Array) -> Array:
    """Find the nodes of rows, by the slots of the parents (n_rows, n_parents): (n_rows, n_levels, 3).

    Gives the first cell of a node, the one past its last, and its place in the trunk, or -1; no cells where there is no
    node. A slot from `no_slot` (n_parents,) on is of a cell that is not there, and ends the way down.
    """
    nodes = np.zeros((len(slots), len(tree.slot) + 1, 3), dtype=np.int32)
    _nodes_loop(slots, tree.slot, len(tree.state), tree.start, tree.first, tree.long, no_slot, nodes)
    return nodes


def own_counts(nodes: Array, state: Array, codes: Array, removed: Array, tree: CellTree) -> Array:
    """Counts that rows find in their nodes when they are taken out themselves: (4, n_levels, n_rows).

    These are N(x, y, p), N(y, p), N(x, p) and N(p), y being the row's own class. They are 0 where there is no node, and
    for rows whose own cell is not there.
    """
    counts = np.zeros((4, nodes.shape[1], len(nodes)))
    _counts_loop(
        nodes,
        state,
        codes,
        removed,
        tree.state,
        tree.code,
        tree.weight,
        tree.trunk_total,
        tree.trunk_state,
        tree.trunk_class,
        tree.trunk_cell,
        counts,
    )
    return counts


def cell_terms(
    nodes: Array, state: Array, tree: CellTree, rule: LevelRule, codes: Array, removed: Array, *, every_level: bool
) -> Array:
    """Probabilities of rows: (n_levels or 1, n_rows, n_classes); 1 where the cell itself is not there.

    Parameters
    ----------
    nodes : what `find_nodes` gives
    state : (n_rows,), states of the column itself
    codes, removed : (n_rows,), class and weight that each row is taken out with; -1 and 0 for rows that are not counted
    every_level : whether all levels are asked for, or the last that a row reaches
    """
    n_classes = tree.trunk_class.shape[1]
    terms = np.ones((nodes.shape[1] if every_level else 1, len(nodes), n_classes))
    _terms_loop(
        nodes,
        state,
        tree.state,
        tree.code,
        tree.weight,
        tree.trunk_total,
        tree.trunk_state,
        tree.trunk_class,
        tree.trunk_cell,
        rule.with_class,
        rule.without_class,
        float(rule.class_free),
        codes,
        removed,
        terms,
    )
    return terms


@compiled
def _nodes_loop(slots, slot, n_cells, start, first, long, no_slot, nodes):  # type: ignore[no-untyped-def]
    n_rows, n_parents = slots.shape
    for r in range(n_rows):
        low, high = 0, n_cells
        nodes[r, 0, 1] = n_cells
        for level in range(n_parents):
            wanted = slots[r, level]
            if wanted >= no_slot[level]:
                break
            a, b = low, high
            while a < b:  # the first cell with this slot
                middle = (a + b) // 2
                if slot[level, middle] < wanted:
                    a = middle + 1
                else:
                    b = middle
            low, b = a, high
            while a < b:  # and the first beyond
                middle = (a + b) // 2
                if slot[level, middle] <= wanted:
                    a = middle + 1
                else:
                    b = middle
            high = a
            if low == high:
                break
            place = -1
            if high - low > long:
                a, b = start[level + 1], start[level + 2]
                while a < b:
                    middle = (a + b) // 2
                    if first[middle] < low:
                        a = middle + 1
                    else:
                        b = middle
                place = a
            nodes[r, level + 1, 0] = low
            nodes[r, level + 1, 1] = high
            nodes[r, level + 1, 2] = place


@compiled
def _counts_loop(  # type: ignore[no-untyped-def]
    nodes,
    state,
    codes,
    removed,
    cell_state,
    cell_code,
    cell_count,
    trunk_total,
    trunk_state,
    trunk_class,
    trunk_cell,
    counts,
):
    n_rows, n_levels = nodes.shape[:2]
    n_states = trunk_cell.shape[1]
    for r in range(n_rows):
        x, y = state[r], codes[r]
        if x >= n_states:
            continue
        for level in range(n_levels):
            low, high, place = nodes[r, level, 0], nodes[r, level, 1], nodes[r, level, 2]
            if low == high:
                break
            if place >= 0:
                counts[0, level, r], counts[1, level, r] = trunk_cell[place, x, y], trunk_class[place, y]
                counts[2, level, r], counts[3, level, r] = trunk_state[place, x], trunk_total[place]
            else:
                for cell in range(low, high):
                    count = cell_count[cell]
                    counts[3, level, r] += count
                    if cell_code[cell] == y:
                        counts[1, level, r] += count
                        if cell_state[cell] == x:
                            counts[0, level, r] += count
                    if cell_state[cell] == x:
                        counts[2, level, r] += count
            for which in range(4):
                rest = counts[which, level, r] - removed[r]
                counts[which, level, r] = rest if rest > ROUNDING * counts[which, level, r] else 0.0


@compiled
def _terms_loop(  # type: ignore[no-untyped-def]
    nodes,
    state,
    cell_state,
    cell_code,
    cell_count,
    trunk_total,
    trunk_state,
    trunk_class,
    trunk_cell,
    with_class,
    without_class,
    class_free,
    codes,
    removed,
    terms,
):
    n_rows, n_levels = nodes.shape[:2]
    n_states, n_classes = trunk_cell.shape[1:]
    n_terms = len(terms)
    own, total = np.empty(n_classes), np.empty(n_classes)
    for r in range(n_rows):
        x, y, weight = state[r], codes[r], removed[r]
        if x >= n_states:
            continue
        free, last, at = 1.0 / n_states, 0, 0
        for level in range(n_levels):
            low, high, place = nodes[r, level, 0], nodes[r, level, 1], nodes[r, level, 2]
            if low == high and level > 0:
                break
            of_state, whole = 0.0, 0.0
            if place >= 0:
                of_state, whole = trunk_state[place, x], trunk_total[place]
                for k in range(n_classes):
                    own[k], total[k] = trunk_cell[place, x, k], trunk_class[place, k]
            else:
                for k in range(n_classes):
                    own[k], total[k] = 0.0, 0.0
                for cell in range(low, high):
                    count, k = cell_count[cell], cell_code[cell]
                    whole += count
                    total[k] += count
                    if cell_state[cell] == x:
                        own[k] += count
                        of_state += count
            if weight > 0.0:
                rest = whole - weight
                whole = rest if rest > ROUNDING * whole else 0.0
                if whole == 0.0 and level > 0:
                    break
                rest = of_state - weight
                of_state = rest if rest > ROUNDING * of_state else 0.0
                rest = own[y] - weight
                own[y] = rest if rest > ROUNDING * own[y] else 0.0
                rest = total[y] - weight
                total[y] = rest if rest > ROUNDING * total[y] else 0.0
            pull, c = without_class[level], with_class[level]
            free = (of_state + pull * free) / (whole + pull)
            last = at
            at = level if n_terms > 1 else 0
            if level == 0:
                for k in range(n_classes):
                    terms[at, r, k] = (own[k] + c * free) / (total[k] + c)
            else:
                for k in range(n_classes):
                    base = (1.0 - class_free) * terms[last, r, k] + class_free * free
                    terms[at, r, k] = (own[k] + c * base) / (total[k] + c)
        for level in range(at + 1, n_terms):
            for k in range(n_classes):
                terms[level, r, k] = terms[at, r, k]
