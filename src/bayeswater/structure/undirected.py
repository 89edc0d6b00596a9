"""`UndirectedGraph`: neighbours without direction, as the moral graph has them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayeswater.structure.dag import Dag, Nodes


@dataclass(frozen=True)
class UndirectedGraph:
    """A graph without directions: the neighbours of every node.

    >>> graph = moral_graph(Dag.parse("a -> c <- b; c -> d"))
    >>> list(graph.edges())
    [('a', 'c'), ('a', 'b'), ('c', 'b'), ('c', 'd')]
    """

    names: tuple[str, ...]
    neighbours: tuple[Nodes, ...]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges."""
        return sum(map(len, self.neighbours)) // 2

    def edges(self) -> Iterator[tuple[str, str]]:
        """All edges by name, once each."""
        for node, others in enumerate(self.neighbours):
            for other in sorted(others):
                if node < other:
                    yield self.names[node], self.names[other]

    def to_networkx(self) -> Any:
        """Give a ``networkx.Graph`` of the names."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges())
        return graph


def skeleton(dag: Dag) -> UndirectedGraph:
    """Forget the directions of the edges."""
    pairs = zip(dag.parents, dag.children, strict=True)
    return UndirectedGraph(dag.names, tuple(frozenset(parents + children) for parents, children in pairs))


def moral_graph(dag: Dag, among: Iterable[int] | None = None) -> UndirectedGraph:
    """Join the parents of every node and forget the directions.

    With `among`, a set of nodes that holds the ancestors of each, only these have neighbours: the moral graph of
    the subgraph. Separation in the moral graph of all nodes proves independence; that it shows no separation proves
    nothing, since a common descendant that nobody looked at joins its parents there.
    """
    neighbours: list[set[int]] = [set() for _ in dag.names]
    for node in range(len(dag)) if among is None else among:
        family = {node, *dag.parents[node]}
        for member in family:
            neighbours[member] |= family
    for node, others in enumerate(neighbours):
        others.discard(node)
    return UndirectedGraph(dag.names, tuple(map(frozenset, neighbours)))
