"""Search over orders: the best graph in which every parent stands before its child, one variable moved at a time.

A graph that no single arc improves may be far from the best one; a variable that moves to another place in the order
takes all its arcs along. After Andrews and others, "Fast scalable and accurate discovery of DAGs using the best order
score search and grow-shrink trees" (2023). Around it:

1. a climb with a tabu list gives the first order;
2. variables are moved, in random turn, each to the place where it gains most, until none gains;
3. the graph of the order is climbed from, with a tabu list; if that gains, its order is the next one for 2;
4. a few variables that are near one another are thrown to random places, and those around them moved until none gains;
   what is not worse is kept, and a new best is climbed from as in 3.

An order says less than a graph: the best graph is kept, not the best order.

`GrowTrees` remembers, for every variable, the parents it grows when some others may be taken. From a set of parents the
variable whose joining gains most is taken, of those that may be, until none gains; then parents are dropped as long as
that gains. The sets met on the way are nodes of a tree, which serve every order (see `kernels.variable_orders`).
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bayeswater.kernels.variable_orders import UNMADE, settle
from bayeswater.records import record
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.hill_climbing import TIE, Parents, hill_climb, topological_order
from bayeswater.structure.knowledge import Knowledge
from bayeswater.typing import Array

WANTED_AT_ONCE = 256
"""Links that are asked for before the nodes are made."""


@record
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

    def __init__(self, local_scores: FamilyScores, knowledge: Knowledge) -> None:
        n = local_scores.n_variables
        self.local_scores = local_scores
        self.knowledge = knowledge
        self.tie = TIE * max(1.0, abs(local_scores.total([()] * n)))
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
        self._room = np.empty((3, n))
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
            *self._room,
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
        columns = np.array(self.local_scores.columns(sets)).reshape(member.shape)
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
            column = self.local_scores.leaving(y, own)
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


BYTES_OF_A_LINK = 6 * 8
"""What grow trees of all variables hold of every two of them while they begin."""

TABU = 30
"""Length of the tabu list of the climbs."""

MOST_THROWN = 6
"""Variables thrown to random places at once."""

AT_ONCE = 8
"""Throws that are under way at once, so that what their walks ask for is counted together, by several threads."""


@record
class FoundGraph:
    """A graph and its score."""

    parents: Parents
    score: float


class OrderSearch:
    """A search over orders on its way.

    Parameters
    ----------
    parent sets, knowledge : what is scored, and what may be there
    seed : of the random turns and throws
    watch : called with every new best; says whether to go on
    goes_on : asked at every step whether there is time left
    """

    def __init__(
        self,
        local_scores: FamilyScores,
        knowledge: Knowledge,
        seed: int,
        watch: Callable[[FoundGraph], bool] = lambda found: True,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self.local_scores = local_scores
        self.knowledge = knowledge
        self.rng = np.random.default_rng(seed)
        self.watch = watch
        self.goes_on = goes_on
        self.trees = GrowTrees(local_scores, knowledge)
        self.tie = self.trees.tie
        self.n_steps = 0
        self._is_bound = bool(knowledge.required.any())

    def from_graph(self, start: Parents) -> FoundGraph:
        """Go from a graph through steps 1 to 3."""
        best = self._climbed(start)
        if not self.watch(best):
            return best
        return self._from_order(topological_order(best.parents), best)

    def from_random_order(self) -> FoundGraph:
        """Go through steps 2 and 3 from a random order."""
        order = np.array(topological_order(self.knowledge.start), dtype=np.int64)
        for x in self.rng.permutation(len(order)).tolist():
            self._move(order, x, int(self.rng.integers(len(order))))
        start = self.knowledge.start
        return self._from_order(order, FoundGraph(start, self.local_scores.total(start)))

    def _from_order(self, order: Sequence[int] | Array, best: FoundGraph) -> FoundGraph:
        while True:
            standing = self._settled(order)
            if standing.n_spoiled and not self.goes_on():
                return best
            found = self._polished(standing)
            if found.score <= best.score + self.tie:
                return best
            best = found
            order = topological_order(best.parents)
            if not self.watch(best):
                return best

    def throw_about(self, best: FoundGraph, n_throws: int | None = None) -> FoundGraph:
        """Go on with step 4: a number of throws, or as long as there is time."""
        if not self.goes_on():
            return best
        now = self._settled(topological_order(best.parents))
        if now.n_spoiled and not self.goes_on():
            return best
        parents, score = self.trees.graph(now)
        if self.local_scores.total(best.parents) > score + self.tie:
            parents = best.parents  # the neighbours of a variable are read from the better graph
        under_way: list[Standing] = []
        n_begun = 0
        while self.goes_on():
            while len(under_way) < AT_ONCE and n_begun != n_throws:
                under_way.append(self._thrown(now.order, parents))
                n_begun += 1
            if not under_way:
                break
            waiting = []
            for trial in under_way:
                if not self.trees.settle(trial):
                    waiting.append(trial)
                    continue
                trial_score = self.trees.score(trial)
                if trial_score < score - self.tie:
                    continue
                is_better = trial_score > score + self.tie
                now = trial
                parents, score = self.trees.graph(now)
                if is_better:
                    found = self._polished(now)
                    if found.score > best.score + self.tie:
                        best = found
                        self.watch(best)
            under_way = waiting
            self.trees.make_wanted()
        return best

    # ------------------------------------------------------------------ steps

    def _climbed(self, start: Parents) -> FoundGraph:
        goes_on = self.goes_on
        parents, score, n_steps = hill_climb(
            self.local_scores, self.knowledge, start, tabu=TABU, watch=lambda score, n_arcs: goes_on()
        )
        self.n_steps += n_steps
        return FoundGraph(parents, score)

    def _polished(self, standing: Standing) -> FoundGraph:
        return self._climbed(self.trees.graph(standing)[0])

    def _settled(self, order: Sequence[int] | Array) -> Standing:
        """Move all variables, in random turn, until none gains."""
        n = len(order)
        standing = Standing.of(order)
        while standing.n_idle < n and self.goes_on():
            standing.wait(self.rng.permutation(n).tolist())
            while not self.trees.settle(standing) and self.goes_on():
                self.trees.make_wanted()
        return standing

    def _thrown(self, order: Array, parents: Parents) -> Standing:
        """Throw a few variables near one another to random places; those around them wait to be moved."""
        v = int(self.rng.integers(len(order)))
        near = self._neighbours(parents, [v]) | {v}
        thrown = self.rng.permutation(sorted(near))[: 1 + int(self.rng.integers(MOST_THROWN))]
        order = order.copy()
        for x in thrown.tolist():
            self._move(order, x, int(self.rng.integers(len(order))))
        return Standing.of(order, sorted(near | self._neighbours(parents, near)))

    def _range(self, order: Array, x: int) -> tuple[int, int]:
        """Places that leave x after its required parents and before its required children."""
        required = self.knowledge.required
        if not self._is_bound:
            return 0, len(order) - 1
        above, below = required[:, x], required[x]
        others = order[order != x]
        after = np.flatnonzero(above[others])
        before = np.flatnonzero(below[others])
        return (int(after[-1]) + 1 if len(after) else 0), (int(before[0]) if len(before) else len(others))

    def _move(self, order: Array, x: int, place: int) -> None:
        """Move x to a place among the others, within what is required."""
        lowest, highest = self._range(order, x)
        others = order[order != x]
        place = min(max(place, lowest), highest)
        order[:] = np.concatenate([others[:place], [x], others[place:]])

    @staticmethod
    def _neighbours(parents: Parents, nodes: Iterable[int]) -> set[int]:
        wanted = set(nodes)
        near = {x for y in wanted for x in parents[y]}
        return near | {y for y, own in enumerate(parents) if own & wanted}
