"""Where a page draws the nodes of a network."""

from collections.abc import Sequence
from typing import Any

from bayeswater.networks.drawing import MOST_STATES, PADDING, PERCENT, Box, NodeLine, Places, placed, state_label
from bayeswater.records import record
from bayeswater.structure.dag import Dag
from bayeswater.web.network_parts import subgraph

NUMBER_LINES = (NodeLine("0000.000 ± 000.000"),) * 3
"""Room of a number: a line for its mean and deviation, and two for its curve."""

DRAWINGS_KEPT = 64
"""Drawings that are remembered: of the whole network, and around nodes."""


@record
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


def drawn(whole: Dag, states: Sequence[Sequence[object] | None], nodes: Sequence[int]) -> Drawn:
    """Place some nodes of a network, with the edges between them; what has no states, not even none, is a number."""
    boxes = []
    for node in nodes:
        own = states[node]
        lines = list(NUMBER_LINES) if own is None else [NodeLine(state_label(state), 0.0) for state in own]
        if len(lines) > MOST_STATES:  # the widest, for those that are shown change with what is known
            lines = sorted(lines, key=lambda line: -len(line.label))[:MOST_STATES]
        boxes.append(Box(whole.names[node], tuple(lines), False))
    dag = subgraph(whole, nodes)
    return Drawn(tuple(nodes), tuple(boxes), placed(dag, [b.width for b in boxes], [b.height for b in boxes]))
