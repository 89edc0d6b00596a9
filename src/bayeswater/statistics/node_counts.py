"""`NodeCounts`: how often every class met every leaf of some trees, and so every node above.

Rows of one class fall into few leaves: only what occurs is kept, cells in the order of leaf and class. The counts of
a node above are sums over its leaves, taken where they are needed (`inference.class_trees`). Nodes are numbered through
all trees; trees of other splits have other nodes, and their counts cannot be combined.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Self

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.threads import ordered_map
from bayeswater.records import record
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array

DENSE_CELLS = 8
"""Cells of a tree, for each row, up to which all of them are counted at once; of more, those that occur are sorted."""

MANY_ROUNDINGS = 1e-9
"""Share by which sums of the same weights may differ, in another order and after rows have come and gone."""


@record(eq=False)
class NodeCounts(Statistic):
    """Weight of the rows of a class in a leaf, for every class and leaf that met: float64.

    >>> leaves = np.array([[1, 2, 2], [3, 3, 3]])  # of three rows, in two trees: nodes 0 to 2, and node 3
    >>> counts = NodeCounts.of(np.array([0, 0, 1]), 2, None, np.array([0, 3, 4]), lambda tree: leaves[tree])
    >>> counts.node, counts.code, counts.count
    (array([1, 2, 2, 3, 3]), array([0, 0, 1, 0, 1]), array([1., 1., 1., 2., 1.]))
    """

    n_nodes: int
    node: Array  # (n_cells,)
    code: Array  # (n_cells,), of the class
    count: Array  # (n_cells,)

    @classmethod
    def of(cls, y: Array, n_classes: int, weight: Array | None, start: Array, leaves: Callable[[int], Array]) -> Self:
        """Count rows of classes y in the `leaves` (n_rows,) of every tree; its nodes begin at `start`."""

        def cells_of(tree: int) -> tuple[Array, Array]:
            first, last = start[tree : tree + 2].tolist()
            cell = (leaves(tree) - first) * np.int64(n_classes) + y
            n_cells = (last - first) * n_classes
            if n_cells <= DENSE_CELLS * len(y):
                dense = np.bincount(cell, weights=weight, minlength=n_cells)
                found = np.flatnonzero(dense)
                count = dense[found]
            else:
                found, place = np.unique(cell, return_inverse=True)
                count = np.bincount(place, weights=weight, minlength=len(found))
            return found + first * n_classes, count.astype(np.float64)

        cells = list(ordered_map(cells_of, range(len(start) - 1)))
        node, code = np.divmod(np.concatenate([np.zeros(0, np.int64), *(cell for cell, _ in cells)]), n_classes)
        count = np.concatenate([np.zeros(0), *(count for _, count in cells)])
        return cls(Variable.of_codes("class", n_classes), int(start[-1]), node, code, count)

    @classmethod
    def of_cells(cls, arrays: Mapping[str, Array], n_classes: int, start: Array, is_leaf: Array) -> Self:
        """Read the counts in the leaves of trees back; refuse those that no rows can have."""
        node, code, count = (arrays[name] for name in ("node", "code", "count"))
        if not node.ndim == 1 or not node.shape == code.shape == count.shape:
            raise StatisticsError("nodes, classes and counts are not as many as each other")
        if node.dtype.kind != "i" or code.dtype.kind != "i" or count.dtype != np.float64:
            raise StatisticsError("nodes, classes and counts are numbers of other kinds")
        if ((code < 0) | (code >= n_classes) | (node < 0) | (node >= len(is_leaf))).any() or not is_leaf[node].all():
            raise StatisticsError("a count is of no leaf, or of no class")
        if (np.diff(node * n_classes + code) <= 0).any() or not (np.isfinite(count) & (count > 0)).all():
            raise StatisticsError("counts are not in order, or not over 0")
        tree = np.searchsorted(start, node, side="right") - 1
        n_trees = len(start) - 1
        of_trees = np.bincount(tree * n_classes + code, weights=count, minlength=n_trees * n_classes)
        of_trees = of_trees.reshape(n_trees, n_classes)
        if (np.ptp(of_trees, axis=0) > MANY_ROUNDINGS * of_trees.max(axis=0, initial=0)).any():
            raise StatisticsError("trees have counted different rows")
        return cls(Variable.of_codes("class", n_classes), len(is_leaf), node, code, count)

    def within(self, nodes: slice, classes: slice) -> Array:
        """Lay out the counts of some nodes and classes: (n_nodes, n_classes)."""
        own = slice(*np.searchsorted(self.node, [nodes.start, nodes.stop]).tolist())
        node, code = self.node[own] - nodes.start, self.code[own] - classes.start
        n_classes = classes.stop - classes.start
        table = np.zeros((nodes.stop - nodes.start, n_classes))
        here = slice(None) if n_classes == self.n_classes else (code >= 0) & (code < n_classes)
        table[node[here], code[here]] = self.count[own][here]
        return table

    def totals(self, nodes: slice) -> Array:
        """Weight of all classes in each of some nodes: (n_nodes,)."""
        own = slice(*np.searchsorted(self.node, [nodes.start, nodes.stop]).tolist())
        n_nodes = nodes.stop - nodes.start
        return np.bincount(self.node[own] - nodes.start, weights=self.count[own], minlength=n_nodes)

    def onto(self, classes: Variable) -> Self:
        """Lay the counts out for other classes."""
        if classes.states == self.classes.states:  # the usual case, and the arrays may be large
            return replace(self, classes=classes)
        mine, theirs = self.classes.shared_codes(classes)
        code_of = np.full(self.n_classes, -1)
        code_of[mine] = theirs
        code = code_of[self.code]
        kept = code >= 0
        return replace(self, classes=classes, node=self.node[kept], code=code[kept], count=self.count[kept])

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        if self.n_nodes != other.n_nodes:
            raise StatisticsError(
                f"{self.n_nodes} nodes here, {other.n_nodes} there: counts of different trees cannot be combined"
            )
        classes = self.classes.union(other.classes)
        return self.onto(classes), other.onto(classes)

    def _plus(self, other: Self) -> Self:
        place, is_here = self._places(other)
        count, new = self.count.copy(), ~is_here
        count[place[is_here]] += other.count[is_here]
        arrays = {"node": self.node, "code": self.code, "count": count}
        if new.any():
            theirs = other.to_arrays()
            arrays = {name: np.insert(array, place[new], theirs[name][new]) for name, array in arrays.items()}
        return self.with_arrays(arrays)

    def _minus(self, other: Self, rest: Self | None) -> Self:
        place, is_here = self._places(other)
        mine = np.zeros(len(place))
        mine[is_here] = self.count[place[is_here]]
        left = other.taken_away("count", mine, other.count)[is_here]
        place, count = place[is_here], self.count.copy()
        count[place] = left
        arrays = {"node": self.node, "code": self.code, "count": count}
        if not left.all():
            arrays = {name: np.delete(array, place[left == 0]) for name, array in arrays.items()}
        return self.with_arrays(arrays)

    def _places(self, other: Self) -> tuple[Array, Array]:
        """Where each cell of the other stands among these, or would, and whether it is here: both (n_cells,).

        Found by halving, first for the node and then for the class in it: a row costs no look at all the other cells.
        """
        low, last = (np.searchsorted(self.node, other.node, side=side) for side in ("left", "right"))
        high = last
        while (is_open := low < high).any():
            middle = np.minimum((low + high) // 2, len(self.code) - 1)
            is_behind = self.code[middle] < other.code
            low = np.where(is_open & is_behind, middle + 1, low)
            high = np.where(is_open & ~is_behind, middle, high)
        is_here = low < last
        is_here[is_here] = self.code[low[is_here]] == other.code[is_here]
        return low, is_here

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        return f"the count of class {self.classes.states[int(self.code[place])]!r} in node {int(self.node[place])}"
