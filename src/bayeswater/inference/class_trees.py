"""Posteriors by class trees: the mean over all of them, and over those that have not seen a row, without that row.

Rows go to threads in stretches; each stretch goes past one tree after the other, whose table stays in cache, and the
sum over trees is always taken in their order.

The counts and posteriors at nodes are laid out as tables of some trees and some classes.

    p_y(node) = (n_y + c p_y(node above)) / (N + c),    and 1 / K above a root

A node with N rows takes c / (N + c) of its posterior from the node above: with c well under one row, a leaf of a single
row says nearly all that it can. One member is then too sure; the mean of many is not.

The tables of all trees may be large. `portions` cuts them into pieces of trees and, where a single tree is too large,
of classes, which go their ways apart.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.kernels.tree_paths import add_leaves, add_paths_without, draw_down, find_leaves, sum_up
from bayeswater.records import record
from bayeswater.statistics.node_counts import NodeCounts
from bayeswater.structure.tree_splits import TreeSplits
from bayeswater.typing import Array

PORTION_BYTES = 2**27
"""Largest table of a portion, unless one class of one tree alone takes more."""


@record
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


class KeptFields:
    """Base of frozen dataclasses with cached properties: these are worked out again in the copy."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


STRETCH_ROWS = 2048
"""Rows that go past the trees together."""

PATH_CELLS = 32
"""Cells looked at on the way of a row down a tree, about: at each node those of the split and one of the row."""


def count_leaves(trees: TreeSplits, codes: Array, y: Array, n_classes: int, weight: Array | None) -> NodeCounts:
    """Count coded rows in the leaves of all trees."""
    use_loop = _worth_compiling(trees, codes)

    def leaves(members: slice) -> Array:
        roots, order = trees.roots[members], trees.order[members]
        return find_leaves(codes, trees.splits, roots, order, *trees.places, use_loop=use_loop)

    if len(codes) <= STRETCH_ROWS:  # few rows go down all trees in the same steps
        return NodeCounts.of(y, n_classes, weight, trees.start, leaves(slice(None)).__getitem__)
    return NodeCounts.of(y, n_classes, weight, trees.start, lambda tree: leaves(slice(tree, tree + 1))[0])


@record(eq=False)
class TreePosterior(KeptFields):
    """Trees, what was counted in them, and the concentration of the back-off."""

    trees: TreeSplits
    counts: NodeCounts
    concentration: float

    def mean(self, codes: Array) -> Array:
        """Mean of the posteriors of all trees: (n_rows, n_classes)."""
        trees, use_loop = self.trees, _worth_compiling(self.trees, codes)
        total = np.zeros((len(codes), self.counts.n_classes))
        for portion in self._portions:
            table = self._posteriors(portion)

            def add(rows: slice, portion: Portion = portion, table: Array = table) -> None:
                splits, own = trees.splits[portion.nodes], np.zeros((rows.stop - rows.start, table.shape[1]))
                members = slice(portion.trees.start, portion.trees.stop)
                roots, order = trees.roots[members] - portion.nodes.start, trees.order[members]
                leaf = find_leaves(codes[rows], splits, roots, order, *trees.places, use_loop=use_loop)
                add_leaves(table, leaf, own, use_loop=use_loop)
                total[rows, portion.classes] += own

            _for_stretches(add, len(codes))
        return total / trees.n_trees

    def honest(self, codes: Array, y: Array, removed: Array, is_seen: Array) -> tuple[Array, Array]:
        """Mean of the posteriors of the trees that have not seen a row, the row itself taken out of their counts.

        Parameters
        ----------
        codes, y, removed : coded rows, their classes, and the weight of each that is taken out
        is_seen : (n_trees, n_rows), whether the splits of the tree were learned from the row

        Returns
        -------
        posterior : (n_rows, n_classes), equal shares where all trees have seen the row
        n_trees : (n_rows,), how many have not
        """
        trees, use_loop = self.trees, _worth_compiling(self.trees, codes)
        n_classes = self.counts.n_classes
        if len(y) and y.max() >= n_classes:
            raise StatisticsError(f"row {int(y.argmax())} was never counted, nor any other of its class")
        total = np.zeros((len(codes), n_classes))
        for portion in self._portions:
            count, weight = node_counts(trees.splits, self.counts, portion)
            place = y - portion.classes.start
            place[place >= count.shape[1]] = -1

            def add(
                rows: slice,
                portion: Portion = portion,
                count: Array = count,
                weight: Array = weight,
                place: Array = place,
            ) -> None:
                splits, own = trees.splits[portion.nodes], np.zeros((rows.stop - rows.start, count.shape[1]))
                for tree in portion.trees:
                    short = add_paths_without(
                        codes[rows],
                        splits,
                        int(trees.roots[tree]) - portion.nodes.start,
                        int(trees.order[tree]),
                        *trees.places,
                        np.flatnonzero(~is_seen[tree, rows]),
                        place[rows],
                        removed[rows],
                        self.concentration,
                        1 / n_classes,
                        count,
                        weight,
                        own,
                        use_loop=use_loop,
                    )
                    if short >= 0:
                        raise StatisticsError(
                            f"row {rows.start + short} was never counted: its leaf in tree {tree} has too few of its "
                            "class. Give rows that were counted, with the classes and weights they had then"
                        )
                total[rows, portion.classes] += own

            _for_stretches(add, len(codes))
        n_trees = np.count_nonzero(~is_seen, axis=0)
        total /= np.maximum(n_trees, 1)[:, None]
        total[n_trees == 0] = 1 / n_classes
        return total, n_trees

    @cached_property
    def _portions(self) -> list[Portion]:
        return list(portions(self.trees.start, self.counts.n_classes))

    def _posteriors(self, portion: Portion) -> Array:
        return self._only if len(self._portions) == 1 else self._read(portion)

    @cached_property
    def _only(self) -> Array:
        """Posteriors at all nodes, if one portion holds them: they are kept for the rows that are to come."""
        return self._read(self._portions[0])

    def _read(self, portion: Portion) -> Array:
        return node_posteriors(self.trees.splits, self.counts, portion, self.concentration)


def _worth_compiling(trees: TreeSplits, codes: Array) -> bool:
    return worth_compiling(PATH_CELLS * len(codes) * trees.n_trees)


def _for_stretches(work: Callable[[slice], None], n_rows: int) -> None:
    for _ in ordered_map(work, row_blocks(n_rows, STRETCH_ROWS)):
        pass
