"""`GrowTrees`: for every variable, the parents it grows when some others may be taken; remembered as trees.

From a set of parents the variable whose joining gains most is taken, of those that may be, until none gains; then
parents are dropped as long as that gains. The sets met on the way are nodes of a tree, which serve every order (see
`kernels.order_walks`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.kernels.order_walks import UNMADE, settle
from bayeswater.structure.families import Families
from bayeswater.structure.hill_climbing import TIE, Parents
from bayeswater.structure.knowledge import Knowledge
from bayeswater.typing import Array

WANTED_AT_ONCE = 256
"""Links that are asked for before the nodes are made."""


@dataclass(frozen=True)
class Standing:
    """An order of the variables, the walks of all of them in it, and those that wait to be moved: see `settle`."""

    order: Array
    end: Array
    touched: Array
    spoiled: Array
    queue: Array
    turn: Array

    @classmethod
    def of(cls, order: Sequence[int] | Array, queue: Iterable[int] = ()) -> "Standing":
        """Stand in an order, with no walk made yet."""
        order = np.array(order, dtype=np.int64)
        n = len(order)
        standing = cls(
            order,
            np.zeros(n, dtype=np.int64),
            np.zeros((n + 2, n + 1), dtype=np.int32),
            np.ones(n, dtype=bool),
            np.empty(n, dtype=np.int64),
            np.array([0, 0, 0, 0, n, 0], dtype=np.int64),
        )
        standing.wait(queue)
        return standing

    def wait(self, variables: Iterable[int]) -> None:
        """Put variables, each once, in the place of those that wait to be moved."""
        waiting = list(variables)
        self.queue[: len(waiting)] = waiting
        self.turn[:3] = 0, len(waiting), 0

    @property
    def n_idle(self) -> int:
        """Variables in a row, of those that were put to wait last, that stayed where they were."""
        return int(self.turn[2])

    @property
    def n_spoiled(self) -> int:
        """Walks that have to be made again before the order has a graph."""
        return int(self.turn[4])


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
        self._n_wanted = 0
        self._root = self._make(list(enumerate(knowledge.start)))

    def settle(self, standing: Standing) -> bool:
        """Move those that wait, until none is left; False if nodes have to be made first."""
        self._n_wanted = settle(
            standing.order,
            standing.end,
            standing.touched,
            standing.spoiled,
            standing.queue,
            standing.turn,
            self.tie,
            self.knowledge.required,
            self._root,
            self._first,
            self._n_listed,
            self._listed,
            self._child,
            self._score,
            self._wanted,
            self._n_wanted,
        )
        return not standing.turn[3]

    def graph(self, standing: Standing) -> tuple[Parents, float]:
        """Parents of all variables in an order, and the score of that graph; nobody is moved any more."""
        standing.wait(())
        while not self.settle(standing):
            self.make_wanted()
        return tuple([self._shrunk[node] for node in standing.end.tolist()]), self.score(standing)

    def score(self, standing: Standing) -> float:
        """Score of the graph of an order that is settled."""
        return float(self._score[standing.end].sum())

    # ------------------------------------------------------------------ making nodes

    def make_wanted(self) -> None:
        """Make the nodes that walks have asked for."""
        links, self._n_wanted = self._wanted[: self._n_wanted], 0
        # Nodes without a link of their own begin where the next one does: the last of those is the owner.
        nodes = np.searchsorted(self._first[: len(self._set)], links, side="right") - 1
        sets = [
            (self._owner[node], self._set[node] | {x})
            for node, x in zip(nodes.tolist(), self._listed[links].tolist(), strict=True)
        ]
        self._child[links] = self._make(sets)

    def _make(self, sets: list[tuple[int, frozenset[int]]]) -> Array:
        """Make nodes, and give their numbers."""
        known = self.knowledge
        owner = np.array([y for y, _ in sets], dtype=np.int64)
        member = np.zeros((len(sets), len(known.names)), dtype=bool)
        for row, (_, own) in zip(member, sets, strict=True):
            row[list(own)] = True
        columns = np.array(self.families.columns(sets)).reshape(member.shape)
        score = columns[np.arange(len(sets)), owner]
        gain = np.rint((columns - score[:, None]) / self.tie)  # equal where they differ by rounding
        # Whose joining gains, the best first, those that gain the same in their order.
        joins = ~member & known.allowed.T[owner] & (gain >= 1) & (member.sum(axis=1) < known.max_parents)[:, None]
        listed = np.argsort(np.where(joins, -gain, np.inf), axis=1, kind="stable")
        n_listed = joins.sum(axis=1)
        listed = listed[np.arange(member.shape[1]) < n_listed[:, None]]
        nodes = np.arange(len(self._set), len(self._set) + len(sets))
        links = np.arange(self._n_links, self._n_links + len(listed))
        self._first, self._n_listed, self._score = (
            _with_room(array, len(self._set) + len(sets)) for array in (self._first, self._n_listed, self._score)
        )
        self._listed, self._child = (
            _with_room(array, self._n_links + len(listed)) for array in (self._listed, self._child)
        )
        self._listed[links], self._child[links] = listed, UNMADE
        self._first[nodes], self._n_listed[nodes] = self._n_links + np.cumsum(n_listed) - n_listed, n_listed
        self._n_links += len(listed)
        self._owner += owner.tolist()
        self._set += [own for _, own in sets]
        self._score[nodes] = score
        self._shrunk += [own for _, own in sets]
        shrinks = (member & ~known.required.T[owner] & (gain >= 1)).any(axis=1)
        for node in nodes[shrinks].tolist():
            self._shrunk[node], self._score[node] = self._shrink(self._owner[node], self._set[node])
        return nodes

    def _shrink(self, y: int, own: frozenset[int]) -> tuple[frozenset[int], float]:
        """Drop parents, each time the one without which y gains most, until none gains."""
        required = self.knowledge.required
        while True:
            column = self.families.leaving(y, own)
            free = sorted(x for x in own if not required[x, y])
            gain = np.rint((column[free] - column[y]) / self.tie)
            if not (gain >= 1).any():
                return own, float(column[y])
            own = own - {free[int(np.argmax(gain))]}


def _with_room(array: Array, length: int) -> Array:
    """Give the array, or one at least twice as long that begins with it."""
    if length <= len(array):
        return array
    return np.concatenate([array, np.empty(max(len(array), length - len(array)), dtype=array.dtype)])
