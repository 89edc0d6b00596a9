"""The order of the vertices within each layer, such that few edges cross.

Sweeps down and up put each vertex at the mean place of its neighbours in the layer before (Sugiyama's barycentres),
then neighbours are exchanged as long as that takes a crossing away. The best order met is kept. No chance is involved:
the same graph is always drawn alike.
"""

from collections.abc import Sequence
from itertools import pairwise

from bayeswater.networks.drawing.layers import Layers

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
    improved = True
    while improved:
        improved = False
        for i, row in enumerate(rows):
            places = [
                {vertex: k for k, vertex in enumerate(rows[j])} if 0 <= j < len(rows) else {} for j in (i - 1, i + 1)
            ]
            for k in range(len(row) - 1):
                a, b = row[k], row[k + 1]
                gain = 0
                for place, neighbours in zip(places, (layers.above, layers.below), strict=True):
                    left, right = [place[v] for v in neighbours[a]], [place[v] for v in neighbours[b]]
                    gain += sum((x > y) - (x < y) for x in left for y in right)
                if gain > 0:
                    row[k], row[k + 1] = b, a
                    improved = True


def _crossings(rows: Rows, layers: Layers) -> int:
    """Count the pairs of edges that cross."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {vertex: i for i, vertex in enumerate(lower)}
        ends = [end for vertex in upper for end in sorted(place[w] for w in layers.below[vertex])]
        # Edges sorted by their upper end: two cross where the lower ends are the other way round.
        total += sum(ends[i] > ends[j] for i in range(len(ends)) for j in range(i + 1, len(ends)))
    return total
