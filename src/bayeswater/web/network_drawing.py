"""Where a page draws the nodes of a network: all of them, or those around one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.networks.drawing import MOST_STATES, PADDING, PERCENT, Box, NodeLine, Places, placed, state_label
from bayeswater.structure.dag import Dag

DRAWINGS_KEPT = 64
"""Drawings that are remembered: of the whole network, and around nodes."""


MOST_AROUND = 25
"""Nodes around the one that a large network is first shown at, if there is such a one."""


@dataclass(frozen=True)
class Drawn:
    """Nodes that are drawn, what is written in them, and where they stand."""

    nodes: tuple[int, ...]
    boxes: tuple[Box, ...]
    places: Places

    def facts(self) -> dict[str, Any]:
        """Give it as plain data."""
        nodes = []
        for node, box, x, top in zip(self.nodes, self.boxes, self.places.x, self.places.top, strict=True):
            start = PADDING + box.label_width if box.lines else 0.0
            room = box.width - PADDING - PERCENT - start if box.lines else 0.0
            size = {"x": x - box.width / 2, "y": top, "width": box.width, "height": box.height}
            nodes.append({"node": node, **size, "start": start, "room": room})
        edges = [
            {"parent": self.nodes[parent], "child": self.nodes[child], "line": line, "head": head}
            for (parent, child), (line, head) in self.places.edges.items()
        ]
        return {"nodes": nodes, "edges": edges, "width": self.places.width, "height": self.places.height}


def drawn(network: BayesianNetwork, nodes: Sequence[int]) -> Drawn:
    """Place some nodes of a network, with the edges between them."""
    boxes = []
    for node in nodes:
        states = network.variables[node].states if network.has_tables else ()
        lines = [NodeLine(state_label(state), 0.0) for state in states]
        if len(lines) > MOST_STATES:  # the widest, for those that are shown change with what is known
            lines = sorted(lines, key=lambda line: -len(line.label))[:MOST_STATES]
        boxes.append(Box(network.names[node], tuple(lines), False))
    dag = part_of(network.dag, nodes)
    return Drawn(tuple(nodes), tuple(boxes), placed(dag, [b.width for b in boxes], [b.height for b in boxes]))


def part_of(dag: Dag, nodes: Sequence[int]) -> Dag:
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
