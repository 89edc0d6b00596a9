"""From an order of elimination to a tree of cliques, laid out for passing messages.

The clique of a step is the eliminated variable with the neighbours it had. A clique inside that of an earlier step is
absorbed by it. What remains is put together from the last step to the first: a clique hangs on any one, already
placed, that holds its separator (the variables it shares with all that was placed before); the smallest such clique
is taken, since every message costs a multiplication in each cell of the clique that receives it. Each part of the
forest is then rooted at its largest clique, which is passed through only once.

A clique lists the variables of its separator first. So the cells of one state of the separator stand together, and
the sum over them is a message cell without an index.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.elimination_order import Elimination
from bayeswater.typing import Array


class CliqueTree(NamedTuple):
    """A forest of cliques, parents before children."""

    parent: Array  # (n_cliques,) -1 for a root
    start: Array  # (n_cliques + 1,) where the variables of each clique begin
    variable: Array  # those of the separator first
    n_shared: Array  # (n_cliques,) variables of the separator
    n_states: Array  # (n_cliques,) float64: cells of the clique, which may be too many for an integer
    n_own: Array  # (n_cliques,) float64: cells of the separator, 1 for a root
    host: Array  # (n_variables,) smallest clique with the variable, -1 for none
    home: Array  # (n_variables,) clique with the variable and its neighbours at its turn, -1 for none
    turn: Array  # (n_variables,) step of elimination, -1 for none

    @property
    def n_cells(self) -> float:
        """Cells of all cliques."""
        return float(self.n_states.sum())

    def scope(self, clique: int) -> list[int]:
        """Variables of a clique."""
        return self.variable[self.start[clique] : self.start[clique + 1]].tolist()


def build_tree(elimination: Elimination, cards: Array, *, use_loop: bool) -> CliqueTree:
    """Build the tree of an elimination of variables with `cards` states."""
    n, n_steps = len(cards), len(elimination.order)
    arrays = np.full((3, n), -1, dtype=np.int64)
    work, member = np.full((11, n_steps + 1), -1, dtype=np.int64), np.zeros((n_steps, n), dtype=np.uint8)
    variable, weight = np.empty(n_steps + len(elimination.neighbour), dtype=np.int64), np.ones((3, n_steps))
    parent, start, n_shared = np.empty(n_steps, dtype=np.int64), np.zeros(n_steps + 1, dtype=np.int64), work[10]
    loop = _build_tree_loop if use_loop else _build_tree_loop.loop
    k = loop(*elimination, cards, parent, start, variable, work, member, weight, arrays)
    return CliqueTree(
        parent[:k], start[: k + 1], variable[: start[k]], n_shared[:k], weight[1, :k], weight[2, :k], *arrays
    )


@compiled
def _build_tree_loop(order, step_start, neighbour, cards, parent, start, variable, work, member, weights, arrays):  # type: ignore[no-untyped-def]
    n_steps = order.shape[0]
    host, home, turn = arrays[0], arrays[1], arrays[2]
    following, holder, top, holds, place = work[0], work[1], work[2], work[3], work[4]
    upper, child, sibling, stack, number, n_shared = work[5], work[6], work[7], work[8], work[9], work[10]
    weight, n_states, n_own = weights[0], weights[1], weights[2]
    for i in range(n_steps):
        turn[order[i]] = i
        holder[i] = i
        top[i] = i
    # The next step of a step is the first one of its neighbours. A step inside another is held by it; the top of a
    # clique is the last step of the chain that it holds.
    for i in range(n_steps):
        first = n_steps
        for k in range(step_start[i], step_start[i + 1]):
            if turn[neighbour[k]] < first:
                first = turn[neighbour[k]]
        if first < n_steps:
            following[i] = first
            if (
                holder[first] == first
                and step_start[i + 1] - step_start[i] == 1 + step_start[first + 1] - step_start[first]
            ):
                holder[first] = holder[i]
                top[holder[i]] = first
    for i in range(n_steps):
        if holder[i] == i:
            holds[top[i]] = i
    # Cliques from the last to the first, each hung on the smallest that holds its separator.
    n_cliques = 0
    for back in range(n_steps):
        t = n_steps - 1 - back
        i = holds[t]
        if i >= 0:
            c = n_cliques
            n_cliques += 1
            place[i] = c
            member[c, order[i]] = 1
            weight[c] = cards[order[i]]
            for k in range(step_start[i], step_start[i + 1]):
                member[c, neighbour[k]] = 1
                weight[c] *= cards[neighbour[k]]
            if following[t] >= 0:
                best = place[holder[following[t]]]
                for other in range(c):
                    if weight[other] < weight[best]:
                        k = step_start[t]
                        while k < step_start[t + 1] and member[other, neighbour[k]]:
                            k += 1
                        if k == step_start[t + 1]:
                            best = other
                upper[c] = best
    # Root each part at its largest clique: turn the edges on the way to it. `number` is the part, `stack` its largest.
    for c in range(n_cliques):
        number[c] = c
        if upper[c] >= 0:
            number[c] = number[upper[c]]
        if upper[c] < 0 or weight[c] > weight[stack[number[c]]]:
            stack[number[c]] = c
    for c in range(n_cliques):
        if number[c] == c:
            below = -1
            at = stack[c]
            while at >= 0:
                above = upper[at]
                upper[at] = below
                below = at
                at = above
    # Number them with parents before children, depth first.
    depth = 0
    for back in range(n_cliques):
        c = n_cliques - 1 - back
        if upper[c] < 0:
            stack[depth] = c
            depth += 1
        else:
            sibling[c] = child[upper[c]]
            child[upper[c]] = c
    for i in range(n_steps):
        if holder[i] == i:
            holds[place[i]] = i  # from here on: the step of each clique
    at = 0
    end = 0
    while depth > 0:
        depth -= 1
        c = stack[depth]
        above = upper[c]
        number[c] = at
        parent[at] = -1
        if above >= 0:
            parent[at] = number[above]
        n_own[at] = 1.0
        n_states[at] = weight[c]
        i = holds[c]
        for shared in range(1, -1, -1):
            for k in range(step_start[i] - 1, step_start[i + 1]):
                v = order[i]
                if k >= step_start[i]:
                    v = neighbour[k]
                if (above >= 0 and member[above, v]) == (shared == 1):
                    variable[end] = v
                    end += 1
                    if shared == 1:
                        n_own[at] *= cards[v]
                if host[v] < 0 or weight[c] < n_states[host[v]]:
                    host[v] = at
            if shared == 1:
                n_shared[at] = end - start[at]
        start[at + 1] = end
        at += 1
        below = child[c]
        while below >= 0:
            stack[depth] = below
            depth += 1
            below = sibling[below]
    for i in range(n_steps):
        home[order[i]] = number[place[holder[i]]]
    return n_cliques
