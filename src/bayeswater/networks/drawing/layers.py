"""Nodes in layers, parents above children, and every edge cut into steps from one layer to the next.

Layers are such that all edges together are as short as can be. An edge that passes over layers gets a vertex of its own
in each of them, a bend: it takes room there as a node does.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt

import numpy as np

from bayeswater.data.weights import evenly_spaced
from bayeswater.structure.dag import Dag, reached
from bayeswater.structure.undirected import skeleton

LEAST_WIDTH = 6
WIDTH_OF_ROOT = 1.5
"""A layer has no more nodes than this many times the root of their number, where that can be."""


@dataclass(frozen=True)
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
