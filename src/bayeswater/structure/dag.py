"""`Dag`: a directed acyclic graph, as integers inside and names outside.

A node is its position in `names`, and the graph is the tuple of every node's parents. So a graph is light to build and
to compare, and what asks it a thousand times a second (a search) never touches a string. The order in which the parents
of a node stand is kept: it is the order of the axes of its table.

`UndirectedGraph` has neighbours without direction, as the moral graph has them.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any, Self

from bayeswater.data.frames import write_frame
from bayeswater.errors import ParameterError, nearest_names
from bayeswater.markup import html_table
from bayeswater.records import record
from bayeswater.structure.notation import quoted, read_edges

Nodes = frozenset[int]

CYCLE_SHOWN = 20
"""Nodes of a cycle that an error names."""


@record
class Dag:
    """A directed acyclic graph.

    Parameters
    ----------
    names : tuple of str, distinct
    parents : for each node, the positions of its parents, in the order of the axes of its table

    Raises
    ------
    ParameterError
        Where a name stands twice, a parent is no node, or the edges form a cycle, which is named.

    Examples
    --------
    >>> dag = Dag(("smoke", "pollution", "cancer"), ((), (), (0, 1)))
    >>> list(dag.edges()), dag.order
    ([('smoke', 'cancer'), ('pollution', 'cancer')], (0, 1, 2))
    >>> Dag(("a", "b"), ((1,), (0,)))
    Traceback (most recent call last):
        ...
    bayeswater.errors.ParameterError: the edges form a cycle: a -> b -> a; leave out or turn one of them
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.parents):
            raise ParameterError(f"{len(self.names)} names, but parents of {len(self.parents)} nodes; give one each")
        if len(self.position) < len(self.names):
            twice = next(name for j, name in enumerate(self.names) if self.position[name] != j)
            raise ParameterError(f"the node {twice!r} occurs more than once; give every node its own name")
        for name, own in zip(self.names, self.parents, strict=True):
            if len(set(own)) < len(own) or not all(0 <= parent < len(self.names) for parent in own):
                raise ParameterError(f"the parents of {name!r} are {own}; they are distinct positions among the nodes")
        self.order  # noqa: B018 (a cycle is refused here and now)

    # ------------------------------------------------------------------ ways to make one

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], nodes: Iterable[str] = ()) -> Self:
        """Make a graph of edges (parent, child), and of nodes; they are numbered as they come.

        >>> Dag.from_edges([("a", "c"), ("b", "c")], nodes=["d"]).names
        ('d', 'a', 'c', 'b')
        """
        position: dict[str, int] = {}
        for node in nodes:
            position.setdefault(_checked_name(node), len(position))
        parents: list[list[int]] = [[] for _ in position]
        for edge in edges:
            try:
                start, end = [edge] if isinstance(edge, str) else edge  # a text of two letters is no pair
            except (TypeError, ValueError):
                raise ParameterError(f"{edge!r} is no edge; give pairs of names: (parent, child)") from None
            for node in (start, end):
                if position.setdefault(_checked_name(node), len(position)) == len(parents):
                    parents.append([])
            if position[start] in parents[position[end]]:
                raise ParameterError(f"the edge {start} -> {end} occurs more than once; leave one out")
            parents[position[end]].append(position[start])
        return cls(tuple(position), tuple(map(tuple, parents)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a graph such as ``"smoke -> cancer <- pollution; cancer -> xray"``: see `structure.notation`.

        >>> Dag.parse("a -> b <- c; d").parents
        ((), (0, 2), (), ())
        """
        nodes, edges = read_edges(text)
        return cls.from_edges(edges, nodes)

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Make a graph of a ``networkx.DiGraph``, whose nodes are named by their text."""
        if not graph.is_directed():
            raise ParameterError("the graph of networkx has no directions; give a DiGraph")
        node_of: dict[str, Any] = {}
        for node in graph.nodes():
            if str(node) in node_of:
                raise ParameterError(
                    f"the nodes {node_of[str(node)]!r} and {node!r} of networkx are the same as text, and nodes are "
                    "named by it; rename one, for example with networkx.relabel_nodes"
                )
            node_of[str(node)] = node
        return cls.from_edges(((str(a), str(b)) for a, b in graph.edges()), node_of)

    def to_networkx(self) -> Any:
        """Give a ``networkx.DiGraph`` of the names."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges())
        return graph

    # ------------------------------------------------------------------ names

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def position(self) -> dict[str, int]:
        """The node of each name."""
        return {name: node for node, name in enumerate(self.names)}

    def node(self, name: str) -> int:
        """Find a node by its name; one that is not there is refused, with the names that come near."""
        found = self.position.get(name)
        if found is None:
            raise ParameterError(f"there is no node {name!r}; {nearest_names(str(name), self.names)}")
        return found

    def nodes(self, names: str | Iterable[str]) -> Nodes:
        """Find the nodes of one name or of several."""
        return frozenset(map(self.node, [names] if isinstance(names, str) else names))

    def named(self, nodes: Iterable[int]) -> tuple[str, ...]:
        """Names of some nodes, in the order of the graph."""
        return tuple(self.names[node] for node in sorted(nodes))

    # ------------------------------------------------------------------ what the graph says

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of every node, in order."""
        found: list[list[int]] = [[] for _ in self.names]
        for child, own in enumerate(self.parents):
            for parent in own:
                found[parent].append(child)
        return tuple(map(tuple, found))

    def edges(self) -> Iterator[tuple[str, str]]:
        """All edges (parent, child) by name, child after child."""
        for child, own in zip(self.names, self.parents, strict=True):
            for parent in own:
                yield self.names[parent], child

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line for each edge: parent and child.

        >>> Dag.parse("a -> b <- c").to_frame().to_pylist()
        [{'parent': 'a', 'child': 'b'}, {'parent': 'c', 'child': 'b'}]
        """
        edges = list(self.edges())
        return write_frame({"parent": [a for a, _ in edges], "child": [b for _, b in edges]}, library)

    def __str__(self) -> str:
        """Write a line for each edge, and one for each node without any, as `parse` reads it.

        >>> print(Dag.parse("a -> b <- c; d"))
        a -> b
        c -> b
        d
        """
        joined = {name for edge in self.edges() for name in edge}
        lines = [f"{quoted(parent)} -> {quoted(child)}" for parent, child in self.edges()]
        return "\n".join(lines + [quoted(name) for name in self.names if name not in joined])

    def _repr_html_(self) -> str:
        rows = (
            (child, ", ".join(self.names[p] for p in own)) for child, own in zip(self.names, self.parents, strict=True)
        )
        return html_table(("variable", "parents"), rows)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges."""
        return sum(map(len, self.parents))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Topological order: every node after its parents, and of those that are free the first one first."""
        waiting = [len(own) for own in self.parents]
        free = [node for node, n_parents in enumerate(waiting) if n_parents == 0]
        heapify(free)
        order = []
        while free:
            node = heappop(free)
            order.append(node)
            for child in self.children[node]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    heappush(free, child)
        if len(order) < len(self.names):
            cycle = [quoted(self.names[node]) for node in _cycle(self.parents, waiting)]
            if len(cycle) > CYCLE_SHOWN:
                half = CYCLE_SHOWN // 2
                cycle = [*cycle[:half], f"({len(cycle) - 2 * half} more)", *cycle[-half:]]
            raise ParameterError(f"the edges form a cycle: {' -> '.join(cycle)}; leave out or turn one of them")
        return tuple(order)

    def ancestors(self, nodes: Iterable[int]) -> Nodes:
        """Nodes from which a directed path leads to one of these, which are not counted among them."""
        nodes = frozenset(nodes)
        return reached(nodes, self.parents) - nodes

    def descendants(self, nodes: Iterable[int]) -> Nodes:
        """Nodes to which a directed path leads from one of these, which are not counted among them."""
        nodes = frozenset(nodes)
        return reached(nodes, self.children) - nodes

    def ancestral(self, nodes: Iterable[int]) -> Nodes:
        """These nodes and all their ancestors."""
        return reached(nodes, self.parents)

    def markov_blanket(self, node: int) -> Nodes:
        """Parents, children, and the other parents of the children: given these, nothing else tells of the node."""
        spouses = (parent for child in self.children[node] for parent in self.parents[child])
        return frozenset([*self.parents[node], *self.children[node], *spouses]) - {node}


def reached(start: Iterable[int], neighbours: Sequence[Iterable[int]]) -> Nodes:
    """Nodes that can be reached from `start`, those of `start` included."""
    found = set(start)
    waiting = list(found)
    while waiting:
        for node in neighbours[waiting.pop()]:
            if node not in found:
                found.add(node)
                waiting.append(node)
    return frozenset(found)


def _cycle(parents: Sequence[Sequence[int]], waiting: Sequence[int]) -> list[int]:
    """Nodes of one cycle in the direction of its edges, the first one again at the end.

    A node that still waits has a parent that waits: going from parent to parent comes back to where it was.
    """
    node = next(node for node, n_parents in enumerate(waiting) if n_parents)
    path: dict[int, int] = {}
    while node not in path:
        path[node] = len(path)
        node = next(parent for parent in parents[node] if waiting[parent])
    backwards = [*list(path)[path[node] :], node]
    start = backwards.index(min(backwards))  # the same cycle is always told from the same node
    return (backwards[start:-1] + backwards[: start + 1])[::-1]


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ParameterError(f"{name!r} is no name of a node; a name is a text")
    return name


@record
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
