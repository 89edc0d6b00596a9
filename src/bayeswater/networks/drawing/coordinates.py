"""Where each vertex stands: near its neighbours, in the order of its layer, and not on its neighbour's toes.

Within a layer the centres minimise the squared distances to the mean of their neighbours, under the condition that
x[i + 1] - x[i] is at least the room that both need. With that room taken off it is isotonic regression, which pooling
adjacent violators solves exactly. Layers are gone through up and down until they come to rest.
"""

from collections.abc import Sequence
from itertools import pairwise

from bayeswater.networks.drawing.layers import Layers

ROUNDS = 60
"""Times that all layers are gone through, alternately from above and from below."""

BEND_WEIGHT = 8.0
"""How much more a bend counts than a node: long edges are to be straight."""


def centres(
    layers: Layers, rows: Sequence[Sequence[int]], widths: Sequence[float], gap: float, bend_gap: float = 0.0
) -> list[float]:
    """Horizontal centres of all vertices; the leftmost edge of all is at 0.

    Parameters
    ----------
    layers, rows : the vertices, and their order in every layer
    widths : of each vertex
    gap, bend_gap : room between two nodes, and beside an edge that passes

    >>> from bayeswater.networks.drawing.layers import layered
    >>> from bayeswater.structure.dag import Dag
    >>> layers = layered(Dag.parse("a -> b; a -> c"))
    >>> centres(layers, layers.rows, [10.0, 10.0, 10.0], gap=10.0)
    [15.0, 5.0, 25.0]
    """
    x = [0.0] * len(layers.above)
    for row in rows:
        right = 0.0
        for v in row:
            x[v] = right + widths[v] / 2
            right += widths[v] + gap
        for v in row:
            x[v] -= (right - gap) / 2
    for round_ in range(ROUNDS):
        downward = round_ % 2 == 0
        last = round_ >= ROUNDS - 20  # in the end both sides are looked at, so that a node stands between them
        for row in rows if downward else reversed(rows):
            wanted, weight = [], []
            for v in row:
                near = layers.above[v] + layers.below[v] if last else (layers.above if downward else layers.below)[v]
                is_bend = v >= layers.n_nodes
                wanted.append(sum(x[w] for w in near) / len(near) if near else x[v])
                # What has no neighbours on this side stays only as long as nobody needs its place.
                weight.append((BEND_WEIGHT if is_bend else 1.0) * len(near) if near else 0.1)
            room = [0.0]
            for a, b in pairwise(row):
                are_nodes = max(a, b) < layers.n_nodes
                room.append(room[-1] + (widths[a] + widths[b]) / 2 + (gap if are_nodes else bend_gap))
            free = isotonic([w - r for w, r in zip(wanted, room, strict=True)], weight)
            for v, place, r in zip(row, free, room, strict=True):
                x[v] = place + r
    left = min((x[v] - widths[v] / 2 for v in range(len(x))), default=0.0)
    return [place - left for place in x]


def isotonic(wanted: Sequence[float], weight: Sequence[float]) -> list[float]:
    """Numbers that do not fall and are nearest to those wanted, in weighted squares.

    >>> isotonic([1.0, 3.0, 2.0, 4.0], [1.0, 1.0, 1.0, 1.0])
    [1.0, 2.5, 2.5, 4.0]
    """
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for value, own in zip(wanted, weight, strict=True):
        mean, total, size = value, own, 1
        while pools and pools[-1][0] > mean:
            other, w, n = pools.pop()
            mean = (mean * total + other * w) / (total + w)
            total, size = total + w, size + n
        pools.append((mean, total, size))
    return [mean for mean, _, size in pools for _ in range(size)]
