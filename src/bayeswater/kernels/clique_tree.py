"""From an order of elimination to a tree of cliques, laid out for passing messages.

The clique of a step is the eliminated variable with the neighbours it had. A clique inside that of an earlier step is
absorbed by it. What remains is put together from the last step to the first: a clique hangs on any one, already
placed, that holds its separator (the variables it shares with all that was placed before); the smallest such clique
is taken, since every message costs a multiplication in each cell of the clique that receives it. Each part of the
forest is then rooted at its largest clique, which is passed through only once.

Sets of variables and of cliques are the bits of whole numbers: what holds a separator is found by a few steps on all
cliques at once, which needs no compiled loop.

A clique lists the variables of its separator first. So the cells of one state of the separator stand together, and
the sum over them is a message cell without an index.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np

from bayeswater.kernels.elimination_order import Elimination, bits_of
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


def build_tree(eliminations: Iterable[Elimination], cards: Array) -> CliqueTree:
    """Build the tree of the elimination, of variables with `cards` states, whose cliques have the fewest cells."""
    size = cards.astype(np.float64).tolist()
    cliques = min((_Cliques.of(elimination, size) for elimination in eliminations), key=lambda one: sum(one.weight))
    above = cliques.hung()
    _root_at_largest(above, cliques.weight)
    return _laid_out(above, cliques, size)


class _Cliques(NamedTuple):
    """The cliques that no other holds, from that of the last step to that of the first."""

    order: list[int]  # (n_steps,) variables
    turn: Array  # (n_variables,) their steps, -1 for none
    of_step: list[int]  # (n_steps,) clique that holds the variable and its neighbours
    scopes: list[list[int]]
    weight: list[float]  # cells
    separators: list[list[int]]
    following: list[int]  # clique of the step after the last one that each holds, -1 for none

    @classmethod
    def of(cls, elimination: Elimination, size: Sequence[float]) -> "_Cliques":
        """Take the cliques from an elimination of variables with so many states each."""
        order, neighbour = elimination.order.tolist(), elimination.neighbour.tolist()
        around = [neighbour[i:j] for i, j in pairwise(elimination.start.tolist()[: len(order) + 1])]
        turn = np.full(len(size), -1, dtype=np.int64)
        turn[order] = np.arange(len(order))
        holder, last, following = _held(around, turn.tolist())
        steps = sorted(last, key=last.__getitem__, reverse=True)
        number = {i: c for c, i in enumerate(steps)}
        scopes = [[order[i], *around[i]] for i in steps]
        after = [following[last[i]] for i in steps]
        return cls(
            order,
            turn,
            [number[i] for i in holder],
            scopes,
            [prod([size[v] for v in scope]) for scope in scopes],
            [around[last[i]] for i in steps],
            [number[holder[i]] if i >= 0 else -1 for i in after],
        )

    def hung(self) -> list[int]:
        """Give the clique that each one hangs on, -1 for none: the smallest before it that has its separator."""
        above, holding = list(self.following), [0] * len(self.turn)  # cliques so far with each variable
        for c, scope in enumerate(self.scopes):
            if above[c] >= 0:
                candidates = -1
                for v in self.separators[c]:
                    candidates &= holding[v]
                above[c] = min([above[c], *bits_of(candidates)], key=self.weight.__getitem__)
            for v in scope:
                holding[v] |= 1 << c
        return above


def _held(around: Sequence[Sequence[int]], turn: Sequence[int]) -> tuple[list[int], dict[int, int], list[int]]:
    """Find the step whose clique holds that of each step, the last step that each such clique holds, and what follows.

    What follows a step is the first turn of its neighbours, -1 if it has none.
    """
    n_steps = len(around)
    following = [min([turn[v] for v in others], default=-1) for others in around]
    holder = list(range(n_steps))
    last = dict(enumerate(holder))
    for i, first in enumerate(following):
        if first >= 0 and holder[first] == first and len(around[i]) == 1 + len(around[first]):
            holder[first] = holder[i]
            last[holder[i]] = first
            del last[first]
    return holder, last, following


def _root_at_largest(above: list[int], weight: Sequence[float]) -> None:
    """Turn the edges of each part on the way from its root to its largest clique."""
    part: list[int] = []
    largest: dict[int, int] = {}
    for c, upper in enumerate(above):
        part.append(c if upper < 0 else part[upper])
        if upper < 0 or weight[c] > weight[largest[part[c]]]:
            largest[part[c]] = c
    for at in largest.values():
        below = -1
        while at >= 0:
            above[at], below, at = below, at, above[at]


def _laid_out(above: Sequence[int], cliques: _Cliques, size: Sequence[float]) -> CliqueTree:
    """Number the cliques with parents before children, depth first."""
    scopes, weight = cliques.scopes, cliques.weight
    children: list[list[int]] = [[] for _ in above]
    waiting: list[int] = []
    for c, upper in enumerate(above):
        (waiting if upper < 0 else children[upper]).append(c)
    waiting.reverse()
    number = [-1] * len(above)
    sequence: list[int] = []
    while waiting:
        c = waiting.pop()
        number[c] = len(sequence)
        sequence.append(c)
        waiting += children[c]
    parent = [number[above[c]] if above[c] >= 0 else -1 for c in sequence]
    variables: list[int] = []
    start, n_shared, n_own = [0], [], []
    host, home = np.full((2, len(size)), -1, dtype=np.int64)
    for c in sorted(sequence, key=lambda c: (weight[c], number[c]), reverse=True):
        host[scopes[c]] = number[c]  # the last to say so is the smallest, the first of equals
    for c in sequence:
        placed = set(scopes[above[c]] if above[c] >= 0 else ())
        shared = [v for v in scopes[c] if v in placed]
        variables += shared + [v for v in scopes[c] if v not in placed]
        start.append(len(variables))
        n_shared.append(len(shared))
        n_own.append(prod([size[v] for v in shared]))
    home[cliques.order] = [number[c] for c in cliques.of_step]
    return CliqueTree(
        np.array(parent, dtype=np.int64),
        np.array(start, dtype=np.int64),
        np.array(variables, dtype=np.int64),
        np.array(n_shared, dtype=np.int64),
        np.array([weight[c] for c in sequence], dtype=np.float64),
        np.array(n_own, dtype=np.float64),
        host,
        home,
        cliques.turn,
    )
