"""How the levels of a column are smoothed: each for itself, or drawn towards the level before (`kernels.level_terms`).

In a back-off the concentrations c_l and f_l, one of each for a level of all columns together, are those under which the
counts predict each other best. From the root down, c_l maximises the sum of log P_l over all rows and columns, each row
taken out of the counts that it predicts:

    sum of N(x, y, p) log [(N(x, y, p) - 1 + c B) / (N(y, p) - 1 + c)],    B = (1 - lambda) P_{l-1} + lambda F_l

and f_l likewise that of log F_l. A row that is alone at its node says nothing there. Rows of equal cells say the same,
so the sums are all that is looked at; of very many cells, some. Where weights are fractions, the sums do not tell those
of single rows: each takes away their mean u in the place of 1, and c is looked for among multiples of u, so that a
common factor of all weights goes into c and nowhere else. In log c the terms bend slowly: a grid of factors of 4
finds the highest peak, and a search beside its best point the maximum.

A member of an ensemble learns them from rows that its structure has not seen, each taken out:
f_l of each column, and c_l, one for all columns, times 0.3. What is best for one member is too smooth for many: their
mean smooths again what each says too boldly. One c for each level is all that some hundred rows can tell; one for each
column and level fits their noise.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from bayeswater.data.weights import evenly_spaced
from bayeswater.estimate.dirichlet import PseudoCounts
from bayeswater.kernels.level_terms import BackOffRule, Tree, at_cells, paths
from bayeswater.kernels.parent_cells import log_likelihoods
from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.threads import ordered_map
from bayeswater.records import record
from bayeswater.statistics.parent_counts import ParentCells
from bayeswater.typing import Array

LOOKED_AT = 2**16
"""Terms of all columns together that concentrations are learned from, at most."""

LOG_GRID = np.log(4.0) * np.arange(-3, 9)
"""Concentrations from 1/64 to 65536 rows: beyond them the counts say all, or nothing."""

ON_GRID = 2**12
"""Terms that are looked at on the grid, about: they need only tell its points apart."""

NOTHING_LEARNED = 1.0
"""Concentration, in rows, of a level that says nothing about it."""

TOLERANCE = 1e-4
"""Width of the interval of log c at which the search ends."""


def flat_rule(smoothing: PseudoCounts, n_states: int, n_levels: int) -> BackOffRule:
    """Smooth each level for itself, by pseudo-counts."""
    pull = np.full(n_levels, float(smoothing.of(n_states)) * n_states)
    return BackOffRule(pull, np.zeros(n_levels), 0.0, True)


@record
class Groups:
    """Rows of equal cells in one column: weights (n_groups,), and the counts at their nodes (n_levels, n_groups)."""

    weight: Array
    n_states: Array  # v, (n_groups,)
    is_counted: Array
    own: Array  # N(x, y, p)
    of_class: Array  # N(y, p)
    of_state: Array  # N(x, p)
    whole: Array  # N(p)

    @classmethod
    def of(cls, counted: ParentCells, tree: Tree, n_parents: int, n_levels: int, most: int) -> "Groups":
        """Group the rows of a column, whose tree has the first `n_parents` parents; of more than `most`, some.

        Groups are told apart by all parents: so levels have the same concentrations, however many are below.
        """
        cell, y = np.nonzero((counted.count > 0) & (counted.cell[:, -1] < tree.n_states)[:, None])
        kept = evenly_spaced(len(cell), most) if len(cell) else np.zeros(0, dtype=bool)
        cell, y = cell[kept], y[kept]
        nodes, cells = paths(counted.cell[cell][:, [*range(n_parents), -1]], tree)
        shape = n_levels, len(cell)
        counts = np.zeros((4, *shape))
        is_counted = np.zeros(shape, dtype=bool)
        for level, (node, place) in enumerate(zip(nodes, cells, strict=True)):
            is_counted[level] = node >= 0
            counts[0, level] = at_cells(tree.cell_count, place)[np.arange(len(y)), y]
            counts[1, level] = tree.node_count[node, y]
            counts[2, level] = at_cells(tree.cell_total, place)
            counts[3, level] = tree.node_total[node]
        weight = counted.count[cell, y].astype(np.float64)
        return cls(weight, np.full(len(cell), tree.n_states), is_counted, *counts)


def fitted_rule(
    counts: Sequence[ParentCells],
    trees: Sequence[Tree],
    n_parents: Sequence[int],
    class_free: float,
    alpha: float,
    row_weight: float,
) -> BackOffRule:
    """Learn the concentrations of all levels from families and trees of their first parents.

    `alpha` is the concentration of F_0 towards equal shares, `row_weight` what a single row weighs.
    """
    n_levels, most = 1 + max(n_parents), max(1, LOOKED_AT // len(counts))
    columns = list(zip(counts, trees, n_parents, strict=True))
    found = list(ordered_map(lambda one: Groups.of(*one, n_levels, most), columns))
    weight, n_states = (np.concatenate([getattr(one, name) for one in found]) for name in ("weight", "n_states"))
    is_counted, own, of_class, of_state, whole = (
        np.concatenate([getattr(one, name) for one in found], axis=1)
        for name in ("is_counted", "own", "of_class", "of_state", "whole")
    )
    removed = np.minimum(weight, row_weight)
    with_class, without_class = np.empty(n_levels), np.empty(n_levels)
    free, share = 1 / np.maximum(n_states, 1), np.ones(len(weight))

    def best(said: Array, count: Array, total: Array, base: Array) -> float:
        return _best(weight[said], count[said], total[said], base[said], row_weight)

    for level in range(n_levels):
        rest = remainder(whole[level], removed)
        said = is_counted[level] & (rest > 0)
        a, b = remainder(of_state[level], removed), rest
        without_class[level] = f = alpha if level == 0 else best(said, a, b, free)
        free = np.where(said, (a + f * free) / np.where(said, b + f, 1.0), free)
        base = free if level == 0 else (1 - class_free) * share + class_free * free
        a, b = remainder(own[level], removed), remainder(of_class[level], removed)
        with_class[level] = c = best(said, a, b, base)
        share = np.where(said, (a + c * base) / (b + c), base if level == 0 else share)
    return BackOffRule(with_class, without_class, class_free, False)


def _best(weight: Array, count: Array, total: Array, base: Array, row_weight: float) -> float:
    """Concentration of the largest sum of weight * log((count + c base) / (total + c))."""
    says = total > 0  # elsewhere the share is the base, whatever c
    weight, count, total, base = weight[says], count[says], total[says], base[says]
    if not len(weight):
        return NOTHING_LEARNED * row_weight

    def loss(log_c: float, step: int = 1) -> float:
        c, some = np.exp(log_c), slice(None, None, step)
        with np.errstate(divide="ignore"):
            return -float(weight[some] @ (np.log(count[some] + c * base[some]) - np.log(total[some] + c)))

    grid = LOG_GRID + np.log(row_weight)
    coarse = max(1, len(weight) // ON_GRID)
    best = int(np.argmin([loss(log_c, coarse) for log_c in grid]))
    least = loss(grid[best])
    if not np.isfinite(least):
        return NOTHING_LEARNED * row_weight
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": TOLERANCE})
    return float(np.exp(found.x if found.fun < least else grid[best]))


GRID = np.array([0.05, 0.15, 0.4, 1, 2, 4, 8, 16, 32, 64, 128, 300, 1e3, 1e5])
"""Concentrations, in rows, that are tried."""

BOLDNESS = 0.3
"""Share of the best concentration of one member that each of many has."""


class Concentrations(NamedTuple):
    """c_l (n_levels,), and f_l of each column (n_columns, n_levels)."""

    with_class: Array
    without_class: Array


def level_concentrations(
    counts: Array, weight: Array, n_states: Array, class_free: float, *, use_loop: bool
) -> Concentrations:
    """Learn the concentrations of all levels.

    Parameters
    ----------
    counts : (n_columns, 4, n_levels, n_rows), what `kernels.cell_terms.own_counts` gives of rows that are taken out
    weight : (n_rows,), weight of each row
    n_states : (n_columns,)
    class_free : lambda
    """
    n_columns, _, n_levels, n_rows = counts.shape
    own, of_class, of_state, whole = np.moveaxis(counts, 1, 0)
    with_class, without_class = np.empty(n_levels), np.ones((n_columns, n_levels))
    free, share = np.repeat(1.0 / n_states, n_rows).reshape(n_columns, n_rows), np.ones((n_columns, n_rows))
    times = np.broadcast_to(weight, free.shape)

    def best(some: Array, times: Array, count: Array, total: Array, base: Array) -> float:
        if not some.any():
            return NOTHING_LEARNED
        found = log_likelihoods(times[some], count[some], total[some], base[some], GRID, use_loop=use_loop)
        return float(GRID[np.argmax(found)])

    for level in range(n_levels):
        said = whole[:, level] > 0  # (n_columns, n_rows)
        if level:
            for j in range(n_columns):
                without_class[j, level] = best(said[j], weight, of_state[j, level], whole[j, level], free[j])
        f = without_class[:, level, None]
        free = np.where(said, (of_state[:, level] + f * free) / (whole[:, level] + f), free)
        base = free if level == 0 else (1 - class_free) * share + class_free * free
        c = BOLDNESS * best(said & (of_class[:, level] > 0), times, own[:, level], of_class[:, level], base)
        with_class[level] = c
        share = np.where(said, (own[:, level] + c * base) / (of_class[:, level] + c), base if level == 0 else share)
    return Concentrations(with_class, without_class)
