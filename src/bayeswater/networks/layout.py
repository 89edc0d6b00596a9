"""Where the nodes of a graph are drawn: layers, few crossings, coordinates.

Nodes stand in layers, parents above children, and every edge is cut into steps from one layer to the next. Layers are
such that all edges together are as short as can be. An edge that passes over layers gets a vertex of its own in each of
them, a bend: it takes room there as a node does.

Within each layer the vertices are ordered such that few edges cross. Sweeps down and up put each vertex at the mean
place of its neighbours in the layer before (Sugiyama's barycentres), then neighbours are exchanged as long as that
takes a crossing away. The best order met is kept. No chance is involved: the same graph is always drawn alike.

Each vertex then stands near its neighbours in other layers, in the order of its layer, without overlap. Within a layer
the centres minimise the squared distances to the mean of their neighbours, under the condition that x[i + 1] - x[i] is
at least the room that both need. With that room taken off it is isotonic regression, which pooling adjacent violators
solves exactly. Layers are gone through up and down until they come to rest.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, sqrt

import numpy as np

from bayeswater.data.weights import evenly_spaced
from bayeswater.records import record
from bayeswater.structure.dag import Dag, reached, skeleton

LEAST_WIDTH = 6
WIDTH_OF_ROOT = 1.5
"""A layer has no more nodes than this many times the root of their number, where that can be."""


@record
class Layers:
    """Vertices in layers: nodes 0 .. n_nodes - 1, then bends.

    Parameters
    ----------
    n_nodes : number of nodes
    rows : for each layer its vertices, in the order of a walk downward
    above, below : neighbours of every vertex in the layer above and in that below
    chains : for each edge (parent, child) its vertices from end to end
    """

    n_nodes: int
    rows: list[list[int]]
    above: list[list[int]]
    below: list[list[int]]
    chains: dict[tuple[int, int], list[int]]


def layered(dag: Dag) -> Layers:
    """Put the nodes of a graph into layers.

    >>> layers = layered(Dag.parse("a -> b -> c; a -> c"))
    >>> layers.rows, layers.chains[0, 2]
    ([[0], [1, 3], [2]], [0, 3, 2])
    """
    layer = _layer_of(dag)
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for node, place in enumerate(layer):
        rows[place].append(node)
    above: list[list[int]] = [[] for _ in dag.names]
    below: list[list[int]] = [[] for _ in dag.names]
    chains = {}
    for child, own in enumerate(dag.parents):
        for parent in own:
            chain = [parent]
            for place in range(layer[parent] + 1, layer[child]):
                chain.append(len(above))
                rows[place].append(len(above))
                above.append([])
                below.append([])
            chain.append(child)
            for upper, lower in pairwise(chain):
                below[upper].append(lower)
                above[lower].append(upper)
            chains[parent, child] = chain
    return Layers(len(dag), _in_depth_first_order(dag, rows, chains), above, below, chains)


def _in_depth_first_order(dag: Dag, rows: list[list[int]], chains: dict[tuple[int, int], list[int]]) -> list[list[int]]:
    """Order the layers as a walk from the roots downward meets the nodes; a bend goes with the child it leads to."""
    met: dict[int, int] = {}
    waiting = [node for node in reversed(dag.order) if not dag.parents[node]]
    while waiting:
        node = waiting.pop()
        if node not in met:
            met[node] = len(met)
            waiting.extend(reversed(dag.children[node]))
    place: dict[int, tuple[int, int]] = {node: (k, -1) for node, k in met.items()}
    place |= {v: (met[child], met[parent]) for (parent, child), chain in chains.items() for v in chain[1:-1]}
    return [sorted(row, key=place.__getitem__) for row in rows]


def _layer_of(dag: Dag) -> list[int]:
    """Layers of least total length of the edges: a linear programme whose corners are whole numbers.

    Its conditions, layer[child] - layer[parent] >= 1, are differences of two unknowns: a totally unimodular matrix.
    """
    if not dag.n_edges:
        return _wrapped(dag, [0] * len(dag))
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    edges = np.array([(parent, child) for child, own in enumerate(dag.parents) for parent in own])
    rows = np.arange(len(edges))
    ones = np.ones(len(edges))
    difference = csr_array(
        (np.concatenate([ones, -ones]), (np.concatenate([rows, rows]), edges.T.ravel())), shape=(len(edges), len(dag))
    )
    length = -difference.sum(axis=0)  # of all edges together
    found = linprog(length, A_ub=difference, b_ub=-ones, bounds=(0, len(dag)), method="highs-ds")
    layer: list[int] = np.rint(found.x).astype(int).tolist()
    neighbours = skeleton(dag).neighbours
    waiting = set(range(len(dag)))
    while waiting:  # parts that no edge joins are drawn side by side, from the top
        part = reached([min(waiting)], neighbours)
        highest = min(layer[node] for node in part)
        for node in part:
            layer[node] -= highest
        waiting -= part
    return _wrapped(dag, layer)


def _wrapped(dag: Dag, layer: list[int]) -> list[int]:
    """Move nodes out of layers that are too wide into the next, where no child of theirs is there already.

    A variable with dozens of children would otherwise be drawn in one endless line.
    """
    most = max(LEAST_WIDTH, ceil(WIDTH_OF_ROOT * sqrt(len(dag))))
    place = 0
    while place <= max(layer, default=-1):
        row = [node for node, own in enumerate(layer) if own == place]
        n_over = len(row) - most
        leaves = [node for node in row if not dag.children[node]]
        others = [node for node in row if dag.children[node] and min(layer[c] for c in dag.children[node]) > place + 1]
        if n_over > 0:
            # Every so many leaves one stays, so that the edges of those that go pass between those that stay.
            stays = evenly_spaced(len(leaves), max(0, len(leaves) - n_over))
            goes = [node for node, stay in zip(leaves, stays.tolist(), strict=True) if not stay]
            for node in [*goes, *others][:n_over]:
                layer[node] += 1
        place += 1
    return layer


SWEEPS = 24
"""Sweeps down and up; after a dozen little changes."""

Rows = list[list[int]]


def ordered_rows(layers: Layers) -> Rows:
    """Order every layer."""
    rows = [list(row) for row in layers.rows]
    best, fewest = [list(row) for row in rows], _crossings(rows, layers)
    for sweep in range(SWEEPS):
        downward = sweep % 2 == 0
        neighbours = layers.above if downward else layers.below
        walk = range(1, len(rows)) if downward else range(len(rows) - 2, -1, -1)
        for place in walk:
            before = rows[place - 1 if downward else place + 1]
            _by_barycentre(rows[place], before, neighbours, keep_order=sweep % 4 < 2)
        _exchange(rows, layers)
        crossings = _crossings(rows, layers)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
        if fewest == 0:
            break
    return best


def _by_barycentre(
    row: list[int], before: Sequence[int], neighbours: Sequence[Sequence[int]], keep_order: bool
) -> None:
    """Sort a layer by the mean place of the neighbours; vertices without any stay where they are.

    Ties keep their order in half of the sweeps and turn it in the others, or equal vertices would never change places.
    """
    place = {vertex: i for i, vertex in enumerate(before)}
    centre = {v: sum(place[w] for w in neighbours[v]) / len(neighbours[v]) for v in row if neighbours[v]}
    moving = [v for v in row if v in centre]
    moving = sorted(moving if keep_order else reversed(moving), key=centre.__getitem__)
    taken = iter(moving)
    row[:] = [next(taken) if v in centre else v for v in row]


def _exchange(rows: Rows, layers: Layers) -> None:
    """Exchange neighbours in a layer while fewer of their edges cross then."""
    waiting = set(range(len(rows)))  # layers that have changed, or a neighbour of theirs has, since they were looked at
    while waiting:
        for i in sorted(waiting):
            waiting.discard(i)
            if _exchange_in(rows, i, layers):
                waiting.update(j for j in (i - 1, i, i + 1) if 0 <= j < len(rows))


def _exchange_in(rows: Rows, i: int, layers: Layers) -> bool:
    """Walk along one layer once; tell whether anything was exchanged."""
    row, improved = rows[i], False
    sides = []
    for j, neighbours in ((i - 1, layers.above), (i + 1, layers.below)):
        if 0 <= j < len(rows):
            place = {vertex: k for k, vertex in enumerate(rows[j])}
            sides.append({v: [place[w] for w in neighbours[v]] for v in row})
    for k in range(len(row) - 1):
        a, b = row[k], row[k + 1]
        if sum((x > y) - (x < y) for side in sides for x in side[a] for y in side[b]) > 0:
            row[k], row[k + 1] = b, a
            improved = True
    return improved


def _crossings(rows: Rows, layers: Layers) -> int:
    """Count the pairs of edges that cross."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {vertex: i for i, vertex in enumerate(lower)}
        ends = [end for vertex in upper for end in sorted(place[w] for w in layers.below[vertex])]
        # Edges sorted by their upper end: two cross where the lower ends are the other way round.
        before: list[int] = []
        for end in ends:
            total += len(before) - bisect_right(before, end)
            insort(before, end)
    return total


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

    >>> from bayeswater.networks.layout import layered
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
