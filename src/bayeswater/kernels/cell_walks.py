"""Walks through all cells of a scope, the last variable running fastest, that tell where they lie in an array.

The array has a stride for each of its variables, and does not move with the others:

    place(cell) = origin + sum over v of stride[v] state[v]

What lies there is multiplied into the cells, or the places are written down as a map. Both are one loop, since each
loop takes time to compile.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled_plainly
from bayeswater.kernels.runs import Runs
from bayeswater.typing import Array

VARIABLE, STRIDE = range(2)
"""Columns of `Walks.members`."""

ORIGIN, SCOPE, SCOPE_END, ARRAY, ARRAY_END, PRODUCT, KEPT, KEPT_END = range(8)
"""Columns of `Walks.lines`. A walk that writes a map has no `PRODUCT`."""


class Walks(NamedTuple):
    """Where each walk begins, and the runs of members that are the variables of its scope and those of its array."""

    lines: Array  # (n_walks, 8)
    members: Array  # (n_members, 2)
    cards: Array  # (n_variables,)
    longest: int  # cells of the largest scope

    @classmethod
    def of(cls, members: Array, cards: Array, longest: int, scope: Runs, array: Runs, origin: Array | int) -> "Walks":
        """Take walks through scopes, in arrays, that are these runs of the members."""
        lines = np.full((len(scope.begin), 8), -1, dtype=np.int64)
        columns = (ORIGIN, SCOPE, SCOPE_END, ARRAY, ARRAY_END)
        for column, values in zip(columns, (origin, *scope, *array), strict=True):
            lines[:, column] = values
        return cls(lines, members, cards, longest)

    def multiply(self, table: Array, product: Array, first: Array, *, use_loop: bool) -> None:
        """Multiply cells of `product`, from `first` of each walk on, by what lies at their places in the table."""
        self.lines[:, PRODUCT] = first
        nothing = np.zeros(0, dtype=np.int64)
        self._go(table, product, nothing, nothing.astype(np.uint32), use_loop)

    def maps(self, kept: Array, run: Runs, *, use_loop: bool) -> Array:
        """Places, as uint32, of the cells in a run of `kept`, for one walk after the other."""
        self.lines[:, PRODUCT] = -1
        self.lines[:, KEPT], self.lines[:, KEPT_END] = run
        maps, nothing = np.empty(int((run.end - run.begin).sum()), dtype=np.uint32), np.zeros(0)
        self._go(nothing, nothing, kept, maps, use_loop)
        return maps

    def _go(self, table: Array, product: Array, kept: Array, maps: Array, use_loop: bool) -> None:
        if use_loop:
            places, stride = np.empty(self.longest, dtype=np.int64), np.zeros_like(self.cards)
            _walk_loop(self.lines, self.members, self.cards, table, product, kept, maps, places, stride)
            return
        written = 0
        for origin, scope, scope_end, array, array_end, cell, first, end in self.lines.tolist():
            strides = dict(self.members[array:array_end].tolist())
            places = cells_of(self.members[scope:scope_end, VARIABLE].tolist(), self.cards, strides, origin)
            if cell >= 0:
                product[cell : cell + len(places)] *= table[places]
            else:
                maps[written : written + end - first] = places[kept[first:end]]
                written += end - first


def cells_of(scope: Sequence[int], cards: Array, stride: Mapping[int, int], origin: int = 0) -> Array:
    """Where every cell of a scope, the last variable running fastest, is in an array with these strides.

    >>> cells_of([0, 1], np.array([2, 3]), {1: 1}).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    index = np.full(1, origin, dtype=np.int64)
    for v in scope:
        index = (index[:, None] + stride.get(v, 0) * np.arange(cards[v])).ravel()
    return index


def packed_strides(scope: Sequence[int], cards: Array) -> dict[int, int]:
    """Strides of an array of just this scope, the last variable running fastest."""
    stride, size = {}, 1
    for v in reversed(scope):
        stride[v] = size
        size *= int(cards[v])
    return stride


@compiled_plainly
def _walk_loop(lines, members, cards, table, product, kept, maps, places, stride):  # type: ignore[no-untyped-def]
    written = 0
    for w in range(lines.shape[0]):
        for k in range(lines[w, ARRAY], lines[w, ARRAY_END]):
            stride[members[k, VARIABLE]] = members[k, STRIDE]
        places[0] = lines[w, ORIGIN]
        done = 1
        k = lines[w, SCOPE_END]
        while k > lines[w, SCOPE]:
            k -= 1
            v = members[k, VARIABLE]
            end = done * cards[v]
            for i in range(done, end):  # what is done once more, moved on by a stride
                places[i] = places[i - done] + stride[v]
            done = end
        for k in range(lines[w, ARRAY], lines[w, ARRAY_END]):
            stride[members[k, VARIABLE]] = 0
        cell = lines[w, PRODUCT]
        if cell >= 0:
            for i in range(done):
                product[cell + i] *= table[places[i]]
        else:
            for i in range(lines[w, KEPT], lines[w, KEPT_END]):
                maps[written] = places[kept[i]]
                written += 1
