"""Which nodes of a network a page draws: all, those around one, or those that nobody has folded away.

Around a node its Markov blanket is drawn, and that of every node that was opened. A whole network is drawn down to a
level, a number of arcs from the nearest root; what follows from an opened node is drawn too, and nothing that follows
from a closed one.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from bayeswater.records import record
from bayeswater.structure.dag import Dag, reached
from bayeswater.web.plain import QuestionError, number_of, place_of

MOST_STEPS = 5
"""Markov blankets around a node that can be drawn."""

MANY_NODES = 300
"""From so many nodes on a network is large: it is first drawn around one of them."""

MOST_AROUND = 25
"""Nodes around the one that a large network is first shown at, if there is such a one."""


@record
class Part:
    """Nodes of a graph that are drawn.

    Parameters
    ----------
    focus, steps : the node that is looked at, and how many Markov blankets around it; None for the whole graph
    levels : levels of a whole graph that are drawn; None for all
    opened, closed : nodes whose surroundings, or what follows from them, are drawn, or not
    """

    dag: Dag
    focus: int | None = None
    steps: int = 1
    levels: int | None = None
    opened: frozenset[int] = frozenset()
    closed: frozenset[int] = frozenset()

    @cached_property
    def nodes(self) -> list[int]:
        """Nodes that are drawn, in their order.

        >>> dag = Dag.parse("a -> b -> c -> d; e -> c")
        >>> Part(dag, levels=2).nodes, Part(dag, closed=frozenset([0])).nodes, Part(dag, focus=0).nodes
        ([0, 1, 2, 4], [0, 4], [0, 1])
        """
        if self.focus is not None:
            found = {*around(self.dag, self.focus, self.steps), *self.opened}
            return sorted(found.union(*(self.dag.markov_blanket(node) for node in self.opened)))
        away = reached((child for node in self.closed for child in self.dag.children[node]), self.dag.children)
        step: dict[int, int] = {}
        found = set()
        for node in self.dag.order:
            parents = self.dag.parents[node]
            step[node] = 1 + min((step[parent] for parent in parents), default=-1)
            near = self.levels is None or step[node] < self.levels
            if node not in away and (near or any(p in found and p in self.opened for p in parents)):
                found.add(node)
        return sorted(found)

    @cached_property
    def folds(self) -> dict[int, int]:
        """Nodes that can be opened, with how many that shows or would show at last, and 0 for those to be closed."""
        shown = set(self.nodes)
        if self.focus is not None:
            beyond = {node: len(self.dag.markov_blanket(node) - shown) for node in shown}
            return {node: n for node, n in beyond.items() if n or node in self.opened}
        hidden = [tuple(child for child in own if child not in shown) for own in self.dag.children]
        return {node: len(reached(hidden[node], hidden)) for node in shown if self.dag.children[node]}

    def toggled(self, node: int) -> "dict[str, list[int]]":
        """Open a node that has something folded away, close another; gives which are opened and closed then."""
        opened, closed = set(self.opened), set(self.closed)
        if self.focus is not None:
            opened ^= {node}
        elif self.folds.get(node, 0):
            opened.add(node)
            closed -= self.dag.ancestral(self.dag.children[node])
        else:
            opened.discard(node)
            closed.add(node)
        return {"opened": sorted(opened), "closed": sorted(closed)}


def part_asked(dag: Dag, asked: Mapping[str, Any]) -> Part:
    """Read which part of a network a question is about; one that does not say is about the start of a large network."""
    steps = int(number_of(asked, "steps", 1, 1, MOST_STEPS))
    focus = asked.get("focus", start_of(dag) if len(dag) >= MANY_NODES else None)
    levels = None if asked.get("levels") is None else int(number_of(asked, "levels", 1, 1, len(dag)))
    opened, closed = (frozenset(_places(asked, name, len(dag))) for name in ("opened", "closed"))
    return Part(dag, None if focus is None else place_of(focus, len(dag), "node"), steps, levels, opened, closed)


def _places(asked: Mapping[str, Any], name: str, n_nodes: int) -> Iterable[int]:
    found = asked.get(name) or []
    if not isinstance(found, list):
        raise QuestionError(f"{name} is no list")
    return [place_of(own, n_nodes, "node") for own in found]


def subgraph(dag: Dag, nodes: Sequence[int]) -> Dag:
    """Take some nodes out of a graph, with the edges between them."""
    place = {node: k for k, node in enumerate(nodes)}
    parents = (tuple(place[p] for p in dag.parents[node] if p in place) for node in nodes)
    return Dag(tuple(dag.names[node] for node in nodes), tuple(parents))


def around(dag: Dag, node: int, steps: int) -> list[int]:
    """Nodes within so many Markov blankets of one.

    >>> around(Dag.parse("a -> b -> c -> d; e -> c"), 1, 1)
    [0, 1, 2, 4]
    """
    found = {node}
    for _ in range(steps):
        found |= {other for own in found for other in dag.markov_blanket(own)}
    return sorted(found)


def start_of(dag: Dag) -> int:
    """Choose the node that a large network is first shown at: with much around it, and not too much.

    >>> start_of(Dag.parse("a -> b -> c -> d; e -> c"))
    1
    """
    sizes = [len(dag.markov_blanket(node)) for node in range(len(dag))]
    return max(range(len(dag)), key=lambda node: (sizes[node] <= MOST_AROUND, min(sizes[node], MOST_AROUND), -node))
