"""Pictures of networks: SVG and DOT, the language of Graphviz.

In SVG, parents stand above children, and in each node a bar shows the probability of every state.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from xml.sax.saxutils import escape

import numpy as np

from bayeswater.data.display_width import display_width, on_one_line, shortened
from bayeswater.markup import Safe, preformatted
from bayeswater.networks.layout import centres, layered, ordered_rows
from bayeswater.records import record
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

LINE = 15.0  # height of the line of a state
TITLE = 22.0  # height of the name
PADDING = 8.0
BAR = 56.0  # length of the bar of probability 1
PERCENT = 36.0  # room for "100.0"
GAP = 22.0  # between neighbours in a layer
BEND = 2.0  # room for an edge that passes
BEND_GAP = 8.0  # beside such an edge
LAYER_GAP = 46.0  # between layers, for the edges
MARGIN = 12.0
MOST_STATES = 8  # lines in a node
MOST_CHARACTERS = 24  # of a name
MOST_LABEL = 14  # characters of a state

STYLE = (
    "text{font:11px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#1c2733}"
    ".name{font-weight:600;text-anchor:middle}.p{text-anchor:end;fill:#55626f}.more{fill:#8a949e}"
    ".node{fill:#f6f8fa;stroke:#8a949e}.observed{fill:#fff3d6;stroke:#c58a00}"
    ".edge{fill:none;stroke:#8a949e;stroke-width:1.2}.head{fill:#8a949e}"
    ".track{fill:#e3e8ee}.bar{fill:#3b78b5}.observed-bar{fill:#c58a00}"
)


@record
class NodeLine:
    """One line in a node: a state and its probability, how many more there are, or the mean of a number."""

    label: str
    probability: float | None = None
    is_faint: bool = False


@record
class Box:
    """What is written in a node."""

    name: str
    lines: tuple[NodeLine, ...]
    observed: bool

    @property
    def width(self) -> float:
        """Pixels from side to side."""
        name = 1.1 * _width(shortened(self.name, MOST_CHARACTERS)) + 2 * PADDING  # it is set in bold
        if not self.lines:
            return max(name, 44.0)
        beside = BAR + PERCENT if any(line.probability is not None for line in self.lines) else 0.0
        return max(name, self.label_width + beside + 2 * PADDING)

    @property
    def label_width(self) -> float:
        """Pixels of the longest label, and a little."""
        return max(_width(line.label) for line in self.lines) + 6.0

    @property
    def height(self) -> float:
        """Pixels from top to bottom."""
        return TITLE + (LINE * len(self.lines) + 5.0 if self.lines else 4.0)


MOST_DRAWN = 60
"""Nodes up to which a cell of a notebook shows a drawing."""


def shown_in_cell(text: str, dag: Dag, draw: Callable[[], str] | None = None) -> Safe:
    """Write the end of a cell of a notebook: a text, and below it the drawing of a graph that is not too large."""
    drawing = (draw or partial(to_svg, dag))() if len(dag) <= MOST_DRAWN else ""
    return Safe(preformatted(text) + drawing)


def to_svg(
    dag: Dag,
    states: Sequence[Sequence[object]] | None = None,
    marginals: Mapping[int, Array | tuple[float, float]] | None = None,
    observed: frozenset[int] = frozenset(),
    widths: Mapping[tuple[int, int], float] | None = None,
) -> str:
    """Draw a graph, with the probabilities of states where there are any.

    Parameters
    ----------
    dag : the graph
    states : labels of the states of every node
    marginals : probabilities of the states of some nodes; of a number, its mean and standard deviation
    observed : nodes that are marked
    widths : of some edges (parent, child), the width of the line

    >>> print(to_svg(Dag.parse("a -> b"))[:60])
    <svg xmlns="http://www.w3.org/2000/svg" width="68" height="1
    """
    boxes = [
        box_of(name, (states or [()] * len(dag))[node], (marginals or {}).get(node), node in observed)
        for node, name in enumerate(dag.names)
    ]
    places = placed(dag, [box.width for box in boxes], [box.height for box in boxes])
    width, height = places.width, places.height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<style>{STYLE}</style>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for edge, (line, head) in places.edges.items():
        wide = f' style="stroke-width:{widths[edge]:.2f}"' if widths and edge in widths else ""
        parts.append(f'<path class="edge"{wide} d="{line}"/><path class="head" d="{head}"/>')
    parts += [_node(box, x, top) for box, x, top in zip(boxes, places.x, places.top, strict=True)]
    return "\n".join([*parts, "</svg>"])


def state_label(state: object) -> str:
    """Write a state as it stands in a node."""
    return shortened(on_one_line(str(state)), MOST_LABEL)


@record
class Places:
    """Where the nodes of a graph are drawn, and its edges.

    Parameters
    ----------
    x, top : of every node its horizontal centre and its upper edge
    edges : for each (parent, child) the path of its line, and that of its head
    width, height : of the whole picture
    """

    x: list[float]
    top: list[float]
    edges: dict[tuple[int, int], tuple[str, str]]
    width: float
    height: float


def placed(dag: Dag, widths: Sequence[float], heights: Sequence[float]) -> Places:
    """Place nodes of these sizes: parents above children, few edges that cross, nothing on top of anything.

    >>> places = placed(Dag.parse("a -> b"), [50.0, 50.0], [20.0, 20.0])
    >>> places.x, places.top, places.edges[0, 1][1]
    ([37.0, 37.0], [12.0, 78.0], 'M37.0,78.0l-3.5,-7.0h7z')
    """
    layers = layered(dag)
    rows = ordered_rows(layers)
    n_nodes = len(dag)
    all_widths = [*widths, *([BEND] * (len(layers.above) - n_nodes))]
    x = [MARGIN + place for place in centres(layers, rows, all_widths, GAP, BEND_GAP)]
    top, bottom = [0.0] * len(x), [0.0] * len(x)
    y = MARGIN
    for row in rows:
        height = max(heights[v] if v < n_nodes else 0.0 for v in row)
        for v in row:
            own = heights[v] if v < n_nodes else height  # an edge passes straight through a layer
            top[v] = y + (height - own) / 2
            bottom[v] = top[v] + own
        y += height + LAYER_GAP
    width = max((x[v] + all_widths[v] / 2 for v in range(len(x))), default=0.0) + MARGIN
    edges = {edge: _edge(chain, x, top, bottom) for edge, chain in layers.chains.items()}
    return Places(x[:n_nodes], top[:n_nodes], edges, width, max(y - LAYER_GAP, 0.0) + MARGIN)


def _edge(chain: Sequence[int], x: Sequence[float], top: Sequence[float], bottom: Sequence[float]) -> tuple[str, str]:
    """Draw an edge from below the parent to the top of the child, upright where it passes a layer."""
    path = [f"M{x[chain[0]]:.1f},{bottom[chain[0]]:.1f}"]
    head = 7.0
    for a, b in pairwise(chain):
        start, end = bottom[a], top[b] - (head if b == chain[-1] else 0.0)
        middle = (start + end) / 2
        path.append(f"C{x[a]:.1f},{middle:.1f} {x[b]:.1f},{middle:.1f} {x[b]:.1f},{end:.1f}")
        if b != chain[-1]:
            path.append(f"V{bottom[b]:.1f}")
    tip, y = x[chain[-1]], top[chain[-1]]
    return "".join(path), f"M{tip:.1f},{y:.1f}l-3.5,{-head:.1f}h7z"


def box_of(name: str, states: Sequence[object], probability: Array | tuple[float, float] | None, observed: bool) -> Box:
    """Write a node: its name, and where there are probabilities the states, the likeliest of them if they are many."""
    lines: list[NodeLine] = []
    if isinstance(probability, tuple):
        mean, deviation = probability
        lines = [NodeLine(f"{mean:.4g}" + f" ± {deviation:.3g}" * (deviation > 0))]
    elif probability is not None:
        shown = list(range(len(states)))
        if len(states) > MOST_STATES:  # the likeliest, in their order
            shown = sorted(np.argsort(-probability, kind="stable")[: MOST_STATES - 1].tolist())
        lines = [NodeLine(state_label(states[k]), float(probability[k])) for k in shown]
        if len(states) > MOST_STATES:
            lines.append(NodeLine(f"{len(states) - len(shown)} more", is_faint=True))
    return Box(on_one_line(name), tuple(lines), observed)


def _node(box: Box, x: float, top: float) -> str:
    left, mark = x - box.width / 2, " observed" if box.observed else ""
    parts = [
        f"<g><title>{escape(box.name)}</title>",
        f'<rect class="node{mark}" x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        'rx="4"/>',
        f'<text class="name" x="{x:.1f}" y="{top + 16:.1f}">{escape(shortened(box.name, MOST_CHARACTERS))}</text>',
    ]
    for k, line in enumerate(box.lines):
        y = top + TITLE + LINE * k
        css = ' class="more"' if line.is_faint else ""
        parts.append(f'<text{css} x="{left + PADDING:.1f}" y="{y + 10:.1f}">{escape(line.label)}</text>')
        if line.probability is not None:
            right = left + box.width - PADDING
            start = left + PADDING + box.label_width
            room = right - PERCENT - start
            bar = "observed-bar" if box.observed else "bar"
            place = f'x="{start:.1f}" y="{y + 2:.1f}" height="9"'
            parts.append(
                f'<rect class="track" {place} width="{room:.1f}"/>'
                f'<rect class="{bar}" {place} width="{room * line.probability:.1f}"/>'
                f'<text class="p" x="{right:.1f}" y="{y + 10:.1f}">{100 * line.probability:.1f}</text>'
            )
    return "".join([*parts, "</g>"])


def _width(text: str) -> float:
    """Pixels that a text takes at most, about, in a sans-serif of 11 pixels."""
    wide = sum(character.isupper() or character in "mw%@" for character in text)
    return 6.7 * display_width(text) + 1.5 * wide


def to_dot(dag: Dag) -> str:
    """Write a graph as DOT.

    >>> print(to_dot(Dag.parse("smoke -> cancer")))
    digraph {
      node [shape=box, style=rounded];
      "smoke";
      "cancer";
      "smoke" -> "cancer";
    }
    """
    lines = ["digraph {", "  node [shape=box, style=rounded];"]
    lines += [f"  {_quoted(name)};" for name in dag.names]
    lines += [f"  {_quoted(parent)} -> {_quoted(child)};" for parent, child in dag.edges()]
    return "\n".join([*lines, "}"])


def _quoted(name: str) -> str:
    # In a label of Graphviz \n and its like are orders; a backslash doubled is a backslash.
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
