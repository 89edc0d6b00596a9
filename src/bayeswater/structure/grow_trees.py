"""`GrowTrees`: for every variable, the parents it grows when some others may be taken; remembered as trees.

From a set of parents the variable whose joining gains most is taken, of those that may be, until none gains; then
parents are dropped as long as that gains. The sets met on the way are nodes of a tree, which serve every order (see
`kernels.order_walks`).
"""

from collections.abc import Sequence

import numpy as np

from bayeswater.kernels.order_walks import UNMADE, best_place, end_nodes
from bayeswater.structure.families import Families
from bayeswater.structure.hill_climbing import TIE, Parents
from bayeswater.structure.knowledge import Knowledge
from bayeswater.typing import Array

WANTED_AT_ONCE = 256
"""Links that one walk may ask for."""


class GrowTrees:
    """Grow trees of all variables, over one table."""

    def __init__(self, families: Families, knowledge: Knowledge) -> None:
        n = families.n_variables
        self.families = families
        self.knowledge = knowledge
        self.tie = TIE * max(1.0, abs(families.total([()] * n)))
        self._first = np.empty(4 * n, dtype=np.int64)
        self._n_listed = np.empty(4 * n, dtype=np.int64)
        self._score = np.empty(4 * n)
        self._listed = np.empty(64 * n, dtype=np.int64)
        self._child = np.empty(64 * n, dtype=np.int64)
        self._set: list[frozenset[int]] = []
        self._shrunk: list[frozenset[int]] = []
        self._owner: list[int] = []
        self._n_links = 0
        self._wanted = np.empty(WANTED_AT_ONCE, dtype=np.int64)
        self._workspace = np.empty((3, n + 1))
        families.prepare(enumerate(knowledge.start))
        self._root = np.array([self._make(y, own) for y, own in enumerate(knowledge.start)], dtype=np.int64)

    def best_place(self, x: int, order: Array, lowest: int, highest: int) -> tuple[int, float]:
        """Say where x stands best in an order of all variables, and what moving it there gains."""
        while True:
            place, gain, n_wanted = best_place(
                x,
                order,
                lowest,
                highest,
                self._root,
                self._first,
                self._n_listed,
                self._listed,
                self._child,
                self._score,
                self._wanted,
                self._workspace,
            )
            if not n_wanted:
                return place, gain
            self._make_wanted(n_wanted)

    def parents(self, order: Array) -> tuple[Parents, float]:
        """Parents of all variables in an order, and the score of that graph."""
        ends = np.empty(len(order), dtype=np.int64)
        while n_wanted := end_nodes(
            order, self._root, self._first, self._n_listed, self._listed, self._child, self._wanted, ends
        ):
            self._make_wanted(n_wanted)
        return tuple(self._shrunk[node] for node in ends.tolist()), float(self._score[ends].sum())

    # ------------------------------------------------------------------ making nodes

    def _make_wanted(self, n_wanted: int) -> None:
        links = self._wanted[:n_wanted]
        # Nodes without a link of their own begin where the next one does: the last of those is the owner.
        nodes = np.searchsorted(self._first[: len(self._set)], links, side="right") - 1
        sets = [
            (self._owner[node], self._set[node] | {x})
            for node, x in zip(nodes.tolist(), self._listed[links].tolist(), strict=True)
        ]
        self.families.prepare(sets)
        for link, (y, own) in zip(links.tolist(), sets, strict=True):
            self._child[link] = self._make(y, own)

    def _make(self, y: int, own: frozenset[int]) -> int:
        node = len(self._set)
        column = self.families.column(y, own)
        joining = self._joining(y, own, column)
        if node == len(self._first):
            self._first, self._n_listed, self._score = (
                np.concatenate([array, np.empty_like(array)]) for array in (self._first, self._n_listed, self._score)
            )
        while self._n_links + len(joining) > len(self._listed):
            self._listed, self._child = (
                np.concatenate([array, np.empty_like(array)]) for array in (self._listed, self._child)
            )
        links = slice(self._n_links, self._n_links + len(joining))
        self._listed[links], self._child[links] = joining, UNMADE
        self._first[node], self._n_listed[node] = self._n_links, len(joining)
        self._n_links += len(joining)
        shrunk, score = self._shrink(y, own, column)
        self._score[node] = score
        self._set.append(own)
        self._shrunk.append(shrunk)
        self._owner.append(y)
        return node

    def _joining(self, y: int, own: frozenset[int], column: Array) -> Sequence[int] | Array:
        """List the variables whose joining gains, the best first, those that gain the same in their order."""
        if len(own) >= self.knowledge.max_parents:
            return []
        gain = (column - column[y]) / self.tie
        may = self.knowledge.allowed[:, y] & (gain > 1.0)
        may[list(own)] = False
        found = np.flatnonzero(may)
        return found[np.argsort(-np.rint(gain[found]), kind="stable")]

    def _shrink(self, y: int, own: frozenset[int], column: Array) -> tuple[frozenset[int], float]:
        required = self.knowledge.required
        while True:
            free = sorted(x for x in own if not required[x, y])
            if not free:
                return own, float(column[y])
            leaving = column[free]
            best = int(np.argmax(leaving))
            if leaving[best] <= column[y] + self.tie:
                return own, float(column[y])
            own = own - {free[best]}
            column = self.families.column(y, own)
