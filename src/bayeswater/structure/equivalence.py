"""Markov equivalence: graphs that say the same, the graph of a class (CPDAG), and the distance between structures.

Two DAGs are equivalent, and no data can tell them apart, where they have the same edges but for direction and the same
v-structures (a -> c <- b with a and b not joined; Verma and Pearl 1990). In the graph of the class, the completed
partially directed graph, an edge has a direction where all members agree on it. It is found by going through the nodes
in order and asking whether their edges could be turned (Chickering 1995), in time of edges times parents. What is known
beforehand leaves fewer members, and directs more edges (Meek 1995).

`PartlyDirected` is a graph of arcs and of edges that have no direction yet. An edge has to be x -> y where y -> x would
close a cycle or make a new v-structure. In the graph of an equivalence class, with any directions that are known of it,
the four rules of Meek (1995) find all such edges; those that they leave have one direction in some members and the
other in others. A graph that directs all of them and has no new v-structure is an extension (Dor and Tarsi 1992).
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import combinations
from typing import Any

from bayeswater.data.frames import write_frame
from bayeswater.errors import ParameterError, nearest_names
from bayeswater.markup import preformatted
from bayeswater.records import record
from bayeswater.structure.dag import Dag, Nodes, reached, skeleton
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.notation import quoted


class PartlyDirected:
    """Arcs, as parents and children of every node, and edges without a direction, as neighbours."""

    def __init__(self, n_nodes: int) -> None:
        self.parents: list[set[int]] = [set() for _ in range(n_nodes)]
        self.children: list[set[int]] = [set() for _ in range(n_nodes)]
        self.neighbours: list[set[int]] = [set() for _ in range(n_nodes)]

    def __len__(self) -> int:
        return len(self.parents)

    def around(self, x: int) -> set[int]:
        """All nodes that x is joined to."""
        return self.parents[x] | self.children[x] | self.neighbours[x]

    def joined(self, x: int, y: int) -> bool:
        """Whether there is an arc or an edge."""
        return y in self.parents[x] or y in self.children[x] or y in self.neighbours[x]

    def join(self, x: int, y: int) -> None:
        """Make an edge x -- y."""
        self.neighbours[x].add(y)
        self.neighbours[y].add(x)

    def part(self, x: int, y: int) -> None:
        """Take the edge x -- y away."""
        self.neighbours[x].discard(y)
        self.neighbours[y].discard(x)

    def direct(self, x: int, y: int) -> None:
        """Make an arc x -> y, perhaps of an edge."""
        self.part(x, y)
        self.children[x].add(y)
        self.parents[y].add(x)

    def edges(self) -> Iterator[tuple[int, int]]:
        """Edges without a direction, each both ways."""
        for x, own in enumerate(self.neighbours):
            for y in sorted(own):
                yield x, y

    def leads(self, x: int, y: int) -> bool:
        """Whether a way along arcs leads from x to y."""
        return y in reached([x], self.children)

    def direct_known(self, knowledge: Knowledge) -> None:
        """Direct the edges of which one direction is required, or the other forbidden."""
        for x, y in list(self.edges()):
            if knowledge.required[x, y] or not knowledge.allowed[y, x]:
                self.direct(x, y)

    def follow(self) -> None:
        """Direct what follows, round after round until nothing does.

        A round goes by the arcs that were there when it began, so the order of the nodes does not show. An edge stays
        as it is where either direction would close a cycle or make a new v-structure: tests, or tests and knowledge,
        contradict one another there.
        """
        rules = (self.leads, self._would_meet, self._would_meet_beside, self._would_meet_behind)
        while any(self._follow(rule) for rule in rules):
            pass

    def _follow(self, must_lead: Callable[[int, int], bool]) -> bool:
        must = [(x, y) for x, y in self.edges() if must_lead(x, y) and not self._would_meet(y, x)]
        n_directed = 0
        for x, y in sorted(must):
            if not self.leads(y, x):  # arcs of this round may do so, too
                self.direct(x, y)
                n_directed += 1
        return n_directed > 0

    def _would_meet(self, x: int, y: int) -> bool:
        """Whether y -> x would be a new v-structure with a parent of x."""
        return any(not self.joined(z, y) for z in self.parents[x])

    def _would_meet_beside(self, x: int, y: int) -> bool:
        """Whether of x -- a -> y and x -- b -> y, a and b not joined, y -> x would make a -> x <- b."""
        beside = sorted(self.neighbours[x] & self.parents[y])
        return any(not self.joined(a, b) for a, b in combinations(beside, 2))

    def _would_meet_behind(self, x: int, y: int) -> bool:
        """Whether of z -> w -> y, x joined to both z and w, and z not joined to y, y -> x would make z -> x <- y."""
        around, into = self.around(x), self.parents[y]
        return any(z != y and not self.joined(z, y) and self.children[z] & into & around for z in around)

    def extension(self, knowledge: Knowledge) -> tuple[frozenset[int], ...]:
        """Direct what is left: node after node that can stand last is taken away, all its edges leading to it.

        Where arcs form a cycle no node can, nor where every way to direct the edges makes a new v-structure: then one
        from which no required arc leads, and as few others as can be, stands last. Its arcs are turned where that is
        allowed, and otherwise left out.
        """
        left = set(range(len(self)))
        parents: list[frozenset[int]] = [frozenset()] * len(self)
        while left:
            last = next((x for x in sorted(left, reverse=True) if self._can_stand_last(x, left)), None)
            if last is None:
                free = [x for x in sorted(left) if not knowledge.required[x, sorted(left)].any()]
                last = min(free, key=lambda x: len(self.children[x] & left))
            left.discard(last)
            parents[last] = frozenset(y for y in self.around(last) & left if knowledge.allowed[y, last])
        return tuple(parents)

    def frozen(self, names: tuple[str, ...]) -> "EquivalenceClass":
        """Give the graph with names, to look at and to compare."""
        return EquivalenceClass(names, tuple(map(frozenset, self.parents)), tuple(map(frozenset, self.neighbours)))

    def _can_stand_last(self, x: int, left: set[int]) -> bool:
        """Whether no arc leads from x, and who has an edge with it is joined to all others around it."""
        around = self.around(x) & left
        return not self.children[x] & left and all(
            z == y or self.joined(y, z) for y in self.neighbours[x] & left for z in around
        )


@record
class EquivalenceClass:
    """The graph of a class of equivalent DAGs: parents by compelled edges, and neighbours by those that may be turned.

    >>> pattern = equivalence_class(Dag.parse("a -> b; b -> d <- c"))
    >>> print(pattern)
    a -- b
    b -> d
    c -> d
    """

    names: tuple[str, ...]
    parents: tuple[Nodes, ...]
    neighbours: tuple[Nodes, ...]

    def directed(self) -> Iterator[tuple[str, str]]:
        """Edges (parent, child) that all members have."""
        for child, own in enumerate(self.parents):
            for parent in sorted(own):
                yield self.names[parent], self.names[child]

    def undirected(self) -> Iterator[tuple[str, str]]:
        """Edges that members have in one direction or the other, once each."""
        for node, others in enumerate(self.neighbours):
            for other in sorted(others):
                if node < other:
                    yield self.names[node], self.names[other]

    @cached_property
    def n_edges(self) -> int:
        """Number of edges, of both kinds."""
        return sum(map(len, self.parents)) + sum(map(len, self.neighbours)) // 2

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line for each edge: from, to, and whether all members have it in that direction.

        >>> equivalence_class(Dag.parse("b -> d <- c")).to_frame().to_pylist()[0]
        {'from': 'b', 'to': 'd', 'directed': True}
        """
        edges = [(*edge, False) for edge in self.undirected()] + [(*edge, True) for edge in self.directed()]
        return write_frame({name: [e[j] for e in edges] for j, name in enumerate(("from", "to", "directed"))}, library)

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def __str__(self) -> str:
        lines = [f"{quoted(a)} -- {quoted(b)}" for a, b in self.undirected()]
        lines += [f"{quoted(a)} -> {quoted(b)}" for a, b in self.directed()]
        return "\n".join(lines)


def equivalence_class(dag: Dag, knowledge: Knowledge | None = None) -> EquivalenceClass:
    """Find the graph of the class of a DAG; with knowledge that the DAG keeps to, that of the members that keep to it.

    >>> print(equivalence_class(Dag.parse("a -> b -> c"), Knowledge.of("abc", forbidden="b -> a")))
    a -> b
    b -> c
    """
    graph = PartlyDirected(len(dag))
    for child, (own, compelled) in enumerate(zip(dag.parents, _compelled(dag), strict=True)):
        for parent in own:
            (graph.direct if parent in compelled else graph.join)(parent, child)
    if knowledge is not None:
        graph.direct_known(knowledge)
        graph.follow()
    return graph.frozen(dag.names)


def _compelled(dag: Dag) -> list[Nodes]:
    """Parents of each node by edges that are compelled (Chickering's Label-Edges).

    Nodes are taken in topological order. Of the parents of y it is the last one, x, that decides.
    """
    rank = {node: place for place, node in enumerate(dag.order)}
    compelled: list[Nodes] = [frozenset()] * len(dag)
    for y in dag.order:
        if not dag.parents[y]:
            continue
        own = frozenset(dag.parents[y])
        x = max(own, key=rank.__getitem__)
        # w -> x is compelled and w is not joined to y: x -> y turned would be a new v-structure w -> x <- y. Or a
        # parent of y is not joined to x: they are a v-structure at y. Then all edges into y are compelled.
        if not compelled[x] <= own or own - {x, *dag.parents[x]}:
            compelled[y] = own
        else:
            compelled[y] = compelled[x]  # w -> x -> y and w -> y: turning the last would close a cycle
    return compelled


def v_structures(dag: Dag) -> frozenset[tuple[int, int, int]]:
    """Triples (a, c, b) with a -> c <- b, a < b, and a and b not joined."""
    parents = [frozenset(own) for own in dag.parents]
    return frozenset(
        (a, c, b)
        for c, own in enumerate(parents)
        for a in own
        for b in own
        if a < b and a not in parents[b] and b not in parents[a]
    )


def is_equivalent(a: Dag, b: Dag) -> bool:
    """Say whether two graphs of the same names imply the same independencies.

    >>> chain, fork, collider = map(Dag.parse, ["a -> b -> c", "a <- b -> c", "a -> b <- c"])
    >>> is_equivalent(chain, fork), is_equivalent(chain, collider)
    (True, False)
    """
    b = in_order_of(a, b)
    return skeleton(a) == skeleton(b) and v_structures(a) == v_structures(b)


def structural_hamming_distance(a: Dag, b: Dag, *, of_classes: bool = True) -> int:
    """Count the pairs of nodes that are joined differently: an edge missing, added, turned, or with a direction or not.

    Parameters
    ----------
    a, b : graphs of the same names, in any order
    of_classes : compare the graphs of their classes (as ``bnlearn::shd`` does), or the edges of the graphs themselves

    >>> chain, fork = Dag.parse("a -> b -> c"), Dag.parse("a <- b -> c")
    >>> structural_hamming_distance(chain, fork), structural_hamming_distance(chain, fork, of_classes=False)
    (0, 1)
    """
    b = in_order_of(a, b)
    marks_a, marks_b = (_marks(equivalence_class(dag) if of_classes else dag) for dag in (a, b))
    return sum(marks_a.get(pair) != marks_b.get(pair) for pair in marks_a.keys() | marks_b.keys())


def hamming_distance(a: Dag, b: Dag) -> int:
    """Count the pairs of nodes that are joined in one graph and not in the other, whatever the directions.

    >>> hamming_distance(Dag.parse("a -> b -> c"), Dag.parse("b -> a -> c"))
    2
    """
    one, other = ({frozenset(arc) for arc in dag.edges()} for dag in (a, in_order_of(a, b)))
    return len(one ^ other)


@record
class ArcAgreement:
    """Arcs of a graph beside those of the true one; an arc that is turned is a false one, and a missed one.

    >>> ArcAgreement.of(Dag.parse("a -> b -> c; a -> c"), Dag.parse("a -> b <- c"))
    ArcAgreement(n_found=1, n_false=2, n_missed=1)
    """

    n_found: int
    n_false: int
    n_missed: int

    @classmethod
    def of(cls, learned: Dag, true: Dag) -> "ArcAgreement":
        """Compare the arcs of graphs of the same names."""
        mine, theirs = set(in_order_of(true, learned).edges()), set(true.edges())
        return cls(len(mine & theirs), len(mine - theirs), len(theirs - mine))

    @property
    def precision(self) -> float:
        """Share of the arcs that are true; 1 where there are none."""
        n_arcs = self.n_found + self.n_false
        return self.n_found / n_arcs if n_arcs else 1.0

    @property
    def recall(self) -> float:
        """Share of the true arcs that are there; 1 where there are none."""
        n_true = self.n_found + self.n_missed
        return self.n_found / n_true if n_true else 1.0


def _marks(graph: Dag | EquivalenceClass) -> dict[tuple[int, int], int]:
    """What joins each pair of nodes: an edge to the first one, the second, or neither."""
    marks = {}
    for child, own in enumerate(graph.parents):
        for parent in own:
            marks[min(parent, child), max(parent, child)] = 1 if parent < child else -1
    if isinstance(graph, EquivalenceClass):
        marks |= {(a, b): 0 for a, others in enumerate(graph.neighbours) for b in others if a < b}
    return marks


def in_order_of(a: Dag, b: Dag) -> Dag:
    """Number the nodes of b as a does."""
    if a.names == b.names:
        return b
    for one, other in ((a, b), (b, a)):
        missing = next((name for name in one.names if name not in other.position), None)
        if missing is not None:
            raise ParameterError(
                f"the node {missing!r} is in one graph only; compare graphs of the same nodes "
                f"({nearest_names(missing, other.names)})"
            )
    place = [a.position[name] for name in b.names]
    own = {place[node]: tuple(place[parent] for parent in parents) for node, parents in enumerate(b.parents)}
    return Dag(a.names, tuple(own[node] for node in range(len(a))))
