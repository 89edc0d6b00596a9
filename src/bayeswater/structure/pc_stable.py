"""PC: the graph that tests of independence leave (Spirtes and Glymour 1991; "stable", Colombo and Maathuis 2014).

1. All pairs are joined. With sets of 0, 1, 2, ... neighbours given, pairs that test as independent are parted.
   Neighbours are those at the beginning of a round, so the order of the columns does not show.
2. Where a and b are not joined, both are joined to c, and c was not in the set that parted them, a -> c <- b.
3. Every arc that has to be so lest there be a new such meeting or a cycle is directed (Meek 1995).

Tests may contradict one another. An arc that was directed stays as it is, unless arcs form a cycle, and the pairs are
gone through in the order of the columns; what is left without a direction is directed so that there is no cycle and,
where that can be, no new meeting (Dor and Tarsi 1992).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from bayeswater.structure.independence_tests import IndependenceTest
from bayeswater.structure.knowledge import Knowledge

Watch = Callable[[], bool]
"""Asked before every pair whether to go on."""


@dataclass
class PartlyDirected:
    """A graph of arcs and of edges without a direction: `out[x]` are the children and neighbours of x."""

    out: list[set[int]]

    def joined(self, x: int, y: int) -> bool:
        """Whether there is an edge."""
        return y in self.out[x] or x in self.out[y]

    def leads(self, x: int, y: int) -> bool:
        """Whether x -> y."""
        return y in self.out[x] and x not in self.out[y]

    def open(self, x: int, y: int) -> bool:
        """Whether x -- y has no direction yet."""
        return y in self.out[x] and x in self.out[y]

    def direct(self, x: int, y: int) -> None:
        """Make x -- y an arc x -> y."""
        self.out[y].discard(x)

    def neighbours(self, x: int) -> set[int]:
        """All nodes that x is joined to."""
        return {y for y in range(len(self.out)) if y != x and self.joined(x, y)}


def pc_stable(
    test: IndependenceTest, knowledge: Knowledge, significance: float, watch: Watch = lambda: True
) -> tuple[tuple[frozenset[int], ...], PartlyDirected, int]:
    """Find a graph by tests: parents of every variable, the graph before all arcs were directed, and the tests made."""
    n = len(knowledge.names)
    graph = PartlyDirected(
        [{y for y in range(n) if knowledge.allowed[x, y] or knowledge.allowed[y, x]} for x in range(n)]
    )
    parting, n_tests = _part(graph, test, knowledge, significance, watch)
    for x in range(n):
        for y in sorted(graph.out[x]):
            if graph.open(x, y) and (knowledge.required[x, y] or not knowledge.allowed[y, x]):
                graph.direct(x, y)
    for c in range(n):
        for a, b in combinations(sorted(graph.neighbours(c)), 2):
            if not graph.joined(a, b) and c not in parting.get((a, b), frozenset()):
                for x in (a, b):
                    if graph.open(x, c) and knowledge.allowed[x, c]:
                        graph.direct(x, c)
    _follow(graph)
    pattern = PartlyDirected([set(own) for own in graph.out])
    return _directed(graph, knowledge), pattern, n_tests


def _part(
    graph: PartlyDirected, test: IndependenceTest, knowledge: Knowledge, significance: float, watch: Watch
) -> tuple[dict[tuple[int, int], frozenset[int]], int]:
    """Part pairs that test as independent; give the set that parted each, and the number of tests."""
    parting: dict[tuple[int, int], frozenset[int]] = {}
    n, size, n_tests = len(graph.out), 0, 0
    while True:
        near = [graph.neighbours(x) for x in range(n)]
        pairs = [
            (x, y) for x in range(n) for y in sorted(near[x]) if x < y and not knowledge.required[[x, y], [y, x]].any()
        ]
        if not any(len(near[x] - {y}) >= size or len(near[y] - {x}) >= size for x, y in pairs):
            return parting, n_tests
        for x, y in pairs:
            if not watch():
                return parting, n_tests
            for given in _sets(near[x] - {y}, near[y] - {x}, size):
                n_tests += 1
                if test.p_value(x, y, given) > significance:
                    graph.out[x].discard(y)
                    graph.out[y].discard(x)
                    parting[x, y] = frozenset(given)
                    break
        size += 1


def _sets(a: set[int], b: set[int], size: int) -> Iterator[tuple[int, ...]]:
    """Sets of a size out of one or the other, each once."""
    yield from combinations(sorted(a), size)
    for given in combinations(sorted(b), size):
        if not a.issuperset(given):
            yield given


def _follow(graph: PartlyDirected) -> None:
    """Direct what follows, until nothing does."""
    n = len(graph.out)
    changed = True
    while changed:
        changed = False
        for x in range(n):
            for y in sorted(graph.out[x]):
                if graph.open(x, y) and _must_lead(graph, x, y):
                    graph.direct(x, y)
                    changed = True


def _must_lead(graph: PartlyDirected, x: int, y: int) -> bool:
    """Whether x -- y has to be x -> y."""
    around_x, around_y = graph.neighbours(x), graph.neighbours(y)
    into_x = [z for z in around_x if graph.leads(z, x)]
    into_y = [z for z in around_y if graph.leads(z, y)]
    if any(not graph.joined(z, y) for z in into_x):  # z -> x -- y would meet anew in x
        return True
    if any(graph.leads(x, z) for z in into_y):  # x -> z -> y would become a cycle
        return True
    beside = [z for z in into_y if graph.open(x, z)]
    if any(not graph.joined(a, b) for a, b in combinations(beside, 2)):  # x -- a -> y <- b -- x
        return True
    # x -- z, z -> w -> y, z and y not joined, x joined to w
    return any(
        graph.leads(z, w) and z in around_x and not graph.joined(z, y) and graph.joined(x, w)
        for w in into_y
        for z in around_x
        if z != y
    )


def _directed(graph: PartlyDirected, knowledge: Knowledge) -> tuple[frozenset[int], ...]:
    """Direct what is left: node after node that can stand last is taken away, all its open edges leading to it.

    Where arcs form a cycle no node can: then one from which no required arc leads, and as few others as can be, stands
    last. Its arcs are turned where that is allowed, and otherwise left out.
    """
    n = len(graph.out)
    left = set(range(n))
    parents: list[frozenset[int]] = [frozenset()] * n
    while left:
        last = next((x for x in sorted(left, reverse=True) if _can_stand_last(graph, x, left)), None)
        if last is None:
            free = [x for x in sorted(left) if not knowledge.required[x, sorted(left)].any()]
            last = min(free, key=lambda x: sum(graph.leads(x, y) for y in left))
        parents[last] = frozenset(y for y in left if y != last and graph.joined(y, last) and knowledge.allowed[y, last])
        left.discard(last)
    return tuple(parents)


def _can_stand_last(graph: PartlyDirected, x: int, left: set[int]) -> bool:
    around = graph.neighbours(x) & left
    if any(graph.leads(x, y) for y in around):
        return False
    return all(z == y or graph.joined(y, z) for y in around if graph.open(x, y) for z in around)
