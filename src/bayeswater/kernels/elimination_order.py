"""The order in which variables are summed out, by a greedy rule, and the clique that each one leaves behind.

Eliminating a variable joins all of its neighbours to one another: the edges that are new are its fill, and the states
of it and its neighbours together are its weight, the cells of the table that the step needs. The best order is hard
to find; taking the variable of least fill, the lighter one among equals, comes close on most graphs, and taking the
lightest, that of less fill among equals, wins on some. Ties go to the lower index.

The loop keeps the fill of every variable up to date: an edge that is added or taken away moves only the fill of its
ends and of their common neighbours.
"""

from collections.abc import Collection, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled_plainly
from bayeswater.typing import Array

MIN_FILL, MIN_WEIGHT = 0, 1
"""Greedy rules: least fill before weight, or least weight before fill."""


class Elimination(NamedTuple):
    """Variables in the order of elimination, and the neighbours each had when its turn came."""

    order: Array  # (n_steps,)
    start: Array  # (n_steps + 1,) where the neighbours of each step begin
    neighbour: Array  # in any order within a step

    def step(self, i: int) -> list[int]:
        """Variables of the clique of step `i`, the eliminated one first, the others in rising order."""
        return [int(self.order[i]), *sorted(self.neighbour[self.start[i] : self.start[i + 1]].tolist())]


def eliminate_greedily(
    scope_start: Array, scope: Array, relevant: Array, fixed: Array, cards: Array, rule: int, *, use_loop: bool
) -> Elimination:
    """Order the variables, but for the `fixed` ones, of a graph where those of each `relevant` scope are joined.

    >>> pairs = np.array([0, 1, 1, 2])
    >>> yes, no = np.ones(3, dtype=np.uint8), np.zeros(3, dtype=np.uint8)
    >>> eliminate_greedily(np.array([0, 2, 4]), pairs, yes[:2], no, np.array([2, 2, 2]), MIN_FILL, use_loop=False).order
    array([0, 1, 2])
    """
    if not use_loop:
        masks = masks_of(scope_start.tolist(), scope.tolist(), relevant.tolist(), fixed.tolist())
        steps, cliques, _ = order_of_masks(masks, cards.tolist(), rule)
        start = np.concatenate([[0], np.cumsum([mask.bit_count() for mask in cliques])]).astype(np.int64)
        flat = [v for mask in cliques for v in bits_of(mask)]
        return Elimination(np.array(steps, dtype=np.int64), start, np.array(flat, dtype=np.int64))
    n = len(cards)
    order, start = np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    neighbour, around = np.empty(n * n, dtype=np.int64), np.empty((n + 1, n), dtype=np.int64)
    adjacency, degree = np.zeros((n, n), dtype=np.uint8), np.zeros(n + 1, dtype=np.int64)
    keys = fill, weight = np.zeros(n), cards.astype(np.float64)
    n_steps = _eliminate_loop(
        scope_start, scope, relevant, fixed, cards, adjacency, around, degree, np.empty_like(order), fill, weight,
        keys[rule], keys[1 - rule], order, start, neighbour,
    )  # fmt: skip
    return Elimination(order[:n_steps], start[: n_steps + 1], neighbour[: start[n_steps]])


def masks_of(scope_start: list[int], scope: list[int], relevant: list[int], fixed: list[int]) -> dict[int, int]:
    """Neighbours of every variable that is in a relevant scope and not fixed, as bit masks."""
    masks: dict[int, int] = {}
    for f, counts in enumerate(relevant):
        if counts:
            free = [v for v in scope[scope_start[f] : scope_start[f + 1]] if not fixed[v]]
            together = sum(1 << v for v in free)
            for v in free:
                masks[v] = (masks.get(v, 0) | together) & ~(1 << v)
    return masks


def bits_of(mask: int) -> list[int]:
    """Positions of the bits that are set, in rising order.

    >>> bits_of(0b1010)
    [1, 3]
    """
    positions = []
    while mask:
        lowest = mask & -mask
        positions.append(lowest.bit_length() - 1)
        mask ^= lowest
    return positions


def order_of_masks(
    masks: dict[int, int], cards: Sequence[int], rule: int, kept: Collection[int] = ()
) -> tuple[list[int], list[int], list[float]]:
    """Order the variables, but for those that are `kept`, of a graph of bit masks.

    Also the mask of the neighbours of each step, and its cells.
    """
    masks = dict(masks)

    def rank(v: int) -> tuple[float, float, int]:
        rest = around = masks[v]
        fill, weight = 0, float(cards[v])
        while rest:
            lowest = rest & -rest
            rest ^= lowest
            u = lowest.bit_length() - 1
            fill += (around & ~masks[u]).bit_count() - 1  # a neighbour is no neighbour of itself
            weight *= cards[u]
        return (fill // 2, weight, v) if rule == MIN_FILL else (weight, fill // 2, v)

    key = {v: rank(v) for v in masks if v not in kept}
    heap = list(key.values())
    heapify(heap)
    order, cliques, cells = [], [], []
    while key:
        best = heappop(heap)
        v = best[2]
        if key.get(v) != best:  # it has changed since, or is gone
            continue
        cells.append(best[1 - rule])
        around = masks.pop(v)
        touched = around
        for u in bits_of(around):
            if (around & ~masks[u]) != 1 << u:
                touched |= masks[u]  # a new edge at u moves the fill of all that see it
            masks[u] = (masks[u] | around) & ~(1 << u) & ~(1 << v)
        order.append(v)
        cliques.append(around)
        del key[v]
        for u in bits_of(touched):
            if u in key:
                key[u] = rank(u)
                heappush(heap, key[u])
    return order, cliques, cells


@compiled_plainly
def _eliminate_loop(  # type: ignore[no-untyped-def]
    scope_start, scope, relevant, fixed, cards, adjacency, around, degree, alive, fill, weight, first, second,
    order, start, neighbour,
):  # fmt: skip
    # A scope is joined like the neighbours of a variable: those of one more, which is never in the graph itself. The
    # diagonal of the adjacency tells which variables have come into it.
    n_scopes = relevant.shape[0]
    n_alive = 0
    end = 0
    step = -n_scopes
    while step < 0 or n_alive > 0:
        v = cards.shape[0]
        if step < 0:
            n_here = 0
            if relevant[step + n_scopes]:
                for i in range(scope_start[step + n_scopes], scope_start[step + n_scopes + 1]):
                    a = scope[i]
                    if not fixed[a]:
                        around[v, n_here] = a
                        n_here += 1
                        if not adjacency[a, a]:
                            adjacency[a, a] = 1
                            alive[n_alive] = a
                            n_alive += 1
            degree[v] = n_here
        else:
            best = 0
            least = np.inf
            least_second = np.inf
            for i in range(n_alive):
                u = alive[i]
                key = first[u]
                if key <= least:
                    other = second[u]
                    if key < least or other < least_second or (other == least_second and u < v):
                        least = key
                        least_second = other
                        best = i
                        v = u
            n_alive -= 1
            alive[best] = alive[n_alive]
        n_here = degree[v]
        for i in range(n_here):
            for j in range(i):
                a = around[v, i]
                b = around[v, j]
                if not adjacency[a, b]:
                    for _ in range(2):  # the edge, seen from both ends
                        for k in range(degree[a]):
                            x = around[a, k]
                            if adjacency[x, b]:
                                fill[x] -= 0.5
                            else:
                                fill[a] += 1
                        adjacency[a, b] = 1
                        around[a, degree[a]] = b
                        degree[a] += 1
                        weight[a] *= cards[b]
                        a, b = b, a
        if step >= 0:
            order[step] = v
            for i in range(n_here):
                a = around[v, i]
                neighbour[end] = a
                end += 1
                place = 0
                for k in range(degree[a]):
                    x = around[a, k]
                    if x == v:
                        place = k
                    elif not adjacency[x, v]:
                        fill[a] -= 1
                degree[a] -= 1
                around[a, place] = around[a, degree[a]]
                weight[a] /= cards[v]
            start[step + 1] = end
        step += 1
    return step
