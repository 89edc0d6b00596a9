"""Counts and posteriors at the nodes of class trees, laid out as tables of some trees and some classes.

    p_y(node) = (n_y + c p_y(node above)) / (N + c),    and 1 / K above a root

A node with N rows takes c / (N + c) of its posterior from the node above: with c well under one row, a leaf of a
single row says nearly all that it can. One member is then too sure; the mean of many is not.

The tables of all trees may be large. `portions` cuts them into pieces of trees and, where a single tree is too large,
of classes, which go their ways apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.tree_paths import draw_down, sum_up
from bayeswater.statistics.node_counts import NodeCounts
from bayeswater.typing import Array

PORTION_BYTES = 2**27
"""Largest table of a portion, unless one class of one tree alone takes more."""


@dataclass(frozen=True)
class Portion:
    """Some consecutive trees, their nodes, and some consecutive classes."""

    trees: range
    nodes: slice
    classes: slice


def portions(start: Array, n_classes: int, most_bytes: int = PORTION_BYTES) -> Iterator[Portion]:
    """Cut trees, whose nodes begin at `start`, into portions; all classes of a tree follow one another.

    >>> [(p.trees, p.classes) for p in portions(np.array([0, 3, 4, 14]), 2, most_bytes=80)]  # doctest: +ELLIPSIS
    [(range(0, 2), slice(0, 2, None)), (range(2, 3), slice(0, 1, None)), (range(2, 3), slice(1, 2, None))]
    """
    first, n_trees = 0, len(start) - 1
    while first < n_trees:
        fitting = int(np.searchsorted(start, start[first] + most_bytes // (8 * n_classes), side="right")) - 1
        last = max(first + 1, fitting)
        nodes = slice(int(start[first]), int(start[last]))
        n_at_once = max(1, min(n_classes, most_bytes // (8 * (nodes.stop - nodes.start))))
        for k in range(0, n_classes, n_at_once):
            yield Portion(range(first, last), nodes, slice(k, min(k + n_at_once, n_classes)))
        first = last


def node_counts(splits: Array, counts: NodeCounts, portion: Portion) -> tuple[Array, Array]:
    """Counts (n_nodes, n_classes) at all nodes of a portion, and the weight of all classes (n_nodes,)."""
    table, total = counts.within(portion.nodes, portion.classes), counts.totals(portion.nodes)
    sum_up(splits[portion.nodes], table, total, use_loop=worth_compiling(table.size))
    return table, total


def node_posteriors(splits: Array, counts: NodeCounts, portion: Portion, concentration: float) -> Array:
    """Posteriors (n_nodes, n_classes) at all nodes of a portion."""
    table, total = node_counts(splits, counts, portion)
    share, use_loop = 1 / counts.n_classes, worth_compiling(table.size)
    draw_down(splits[portion.nodes], concentration, share, table, total, use_loop=use_loop)
    return table
