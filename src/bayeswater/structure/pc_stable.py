"""PC: the graph that tests of independence leave (Spirtes and Glymour 1991; "stable", Colombo and Maathuis 2014).

The tests are those of `structure.independence`. The graph is made in four steps:

1. All pairs are joined. With sets of 0, 1, 2, ... neighbours given, pairs that test as independent are parted.
   Neighbours are those at the beginning of a round, so the order of the columns does not show.
2. What is known beforehand is directed.
3. Where a and b are not joined, both are joined to c, and c was not in the set that parted them, a -> c <- b: both
   arcs, or neither if what is known or was directed before forbids one of them.
4. Every edge that has to be so lest there be a new such v-structure or a cycle is directed (Meek 1995).

Tests may contradict one another and what is known. V-structures are directed in the order of the p-values that parted
their ends, the least first, as in R's bnlearn; what is left without a direction is directed so that there is no cycle
and, where that can be, no new v-structure. If several sets part a pair, the one of the earliest columns counts.

A pair that may not be joined is not tested in the first step. Where a v-structure depends on it, a set that parts it is
looked for then; if there is none, nothing is concluded.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from bayeswater.records import record
from bayeswater.structure.equivalence import PartlyDirected
from bayeswater.structure.independence import PairTest
from bayeswater.structure.knowledge import Knowledge

Watch = Callable[[], bool]
"""Asked before every pair whether to go on."""

Question = tuple[int, int, tuple[int, ...]]
"""Two variables to test, and those that are given."""


@record
class Parting:
    """A set given which two variables test as independent."""

    given: frozenset[int]
    p_value: float


@dataclass
class Partings:
    """What parts pairs (x, y), x < y, by tests at a significance; None where all sets were tried and none does."""

    test: PairTest
    significance: float
    of: dict[tuple[int, int], Parting | None] = field(default_factory=dict)
    n_tests: int = 0

    def look(self, x: int, y: int, near_x: set[int], near_y: set[int], size: int) -> bool:
        """Look for a set of a size, out of those near x or of those near y, that parts the two."""
        for one, other, given in _questions(x, y, near_x - {y}, near_y - {x}, size):
            self.n_tests += 1
            p_value = self.test.p_value(one, other, given)
            if p_value > self.significance:
                self.of[x, y] = Parting(frozenset(given), p_value)
                return True
        return False


def pc_stable(
    test: PairTest,
    knowledge: Knowledge,
    significance: float,
    watch: Watch = lambda: True,
    max_given: float = np.inf,
) -> tuple[PartlyDirected, int]:
    """Find a graph by tests, and count them: what they leave without a direction has none.

    A test is given `max_given` variables at most.
    """
    graph, partings = PartlyDirected(len(knowledge.names)), Partings(test, significance)
    for x, y in combinations(range(len(graph)), 2):
        if knowledge.allowed[x, y] or knowledge.allowed[y, x]:
            graph.join(x, y)
    _part(graph, partings, knowledge, watch, max_given)
    graph.direct_known(knowledge)
    direct(graph, _tested_v_structures(graph, partings, watch, max_given))
    return graph, partings.n_tests


def direct(graph: PartlyDirected, meeting: Iterable[tuple[float, int, int, int]]) -> None:
    """Direct v-structures (p-value, a, c, b), the least p-value first, and what follows from them."""
    for _, a, c, b in sorted(meeting, key=lambda found: found[0]):
        if not graph.children[c] & {a, b} and not (graph.leads(c, a) or graph.leads(c, b)):
            graph.direct(a, c)
            graph.direct(b, c)
    graph.follow()


def _part(graph: PartlyDirected, partings: Partings, knowledge: Knowledge, watch: Watch, max_given: float) -> None:
    """Part pairs that test as independent, unless an arc is required."""
    size = 0
    while size <= max_given:
        near = [set(own) for own in graph.neighbours]
        pairs = [(x, y) for x, y in graph.edges() if x < y and not knowledge.required[[x, y], [y, x]].any()]
        if not any(max(len(near[x]), len(near[y])) > size for x, y in pairs):
            return
        for x, y in pairs:
            if not watch():
                return
            if partings.look(x, y, near[x], near[y], size):
                graph.part(x, y)
        size += 1


def _tested_v_structures(
    graph: PartlyDirected, partings: Partings, watch: Watch, max_given: float
) -> Iterator[tuple[float, int, int, int]]:
    """Give v-structures a -> c <- b that tests ask for and nothing known forbids, as (p-value of parting, a, c, b)."""
    for c in range(len(graph)):
        for a, b in combinations(sorted(graph.around(c) - graph.children[c]), 2):
            if graph.joined(a, b):
                continue
            if (a, b) not in partings.of:  # they may not be joined, and were not tested
                sides = graph.around(a), graph.around(b)
                sizes = range(int(min(max(map(len, sides)), max_given)) + 1)
                if not any(watch() and partings.look(a, b, *sides, size) for size in sizes):
                    partings.of[a, b] = None
            parting = partings.of[a, b]
            if parting is not None and c not in parting.given:
                yield parting.p_value, a, c, b


def _questions(x: int, y: int, near_x: set[int], near_y: set[int], size: int) -> Iterator[Question]:
    """Sets of a size out of what is near the one or the other, each once, that one first whose set it is."""
    for given in combinations(sorted(near_x), size):
        yield x, y, given
    for given in combinations(sorted(near_y), size):
        if not near_x.issuperset(given):
            yield y, x, given
