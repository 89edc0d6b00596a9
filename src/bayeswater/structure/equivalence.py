"""Graphs that say the same: Markov equivalence, the graph of a class (CPDAG), and the distance between structures.

Two DAGs are equivalent, and no data can tell them apart, where they have the same edges but for direction and the same
v-structures (a -> c <- b with a and b not joined; Verma and Pearl 1990). In the graph of the class, the completed
partially directed graph, an edge has a direction where all members agree on it. It is found by going through the nodes
in order and asking whether their edges could be turned (Chickering 1995), in time of edges times parents. What is known
beforehand leaves fewer members, and directs more edges (Meek 1995).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from bayeswater.errors import ParameterError, nearest_names
from bayeswater.structure.dag import Dag, Nodes
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.notation import quoted
from bayeswater.structure.partly_directed import PartlyDirected
from bayeswater.structure.undirected import skeleton


@dataclass(frozen=True)
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
    return EquivalenceClass(dag.names, tuple(map(frozenset, graph.parents)), tuple(map(frozenset, graph.neighbours)))


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
    b = _in_order_of(a, b)
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
    b = _in_order_of(a, b)
    marks_a, marks_b = (_marks(equivalence_class(dag) if of_classes else dag) for dag in (a, b))
    return sum(marks_a.get(pair) != marks_b.get(pair) for pair in marks_a.keys() | marks_b.keys())


def _marks(graph: Dag | EquivalenceClass) -> dict[tuple[int, int], int]:
    """What joins each pair of nodes: an edge to the first one, the second, or neither."""
    marks = {}
    for child, own in enumerate(graph.parents):
        for parent in own:
            marks[min(parent, child), max(parent, child)] = 1 if parent < child else -1
    if isinstance(graph, EquivalenceClass):
        marks |= {(a, b): 0 for a, others in enumerate(graph.neighbours) for b in others if a < b}
    return marks


def _in_order_of(a: Dag, b: Dag) -> Dag:
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
