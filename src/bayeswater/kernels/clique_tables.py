"""The tables of a tree of cliques, and the index maps along which messages are read and written.

Tables and maps are made by walks through all cells of a scope, the last variable running fastest. An array has a stride
for each of its variables, and does not move with the others:

    place(cell) = origin + sum over v of stride[v] state[v]

What lies there is multiplied into the cells, or the places are written down as a map. Both are one loop, since each
loop takes time to compile.

A message cell is a state of a separator, or a cell of a leaf. Leaves bring what differs from row to row into the
tree and carry marginals out of it:

- a variable leaf has one cell for each state of a variable. Evidence enters as its message (0 and 1, or likelihoods),
  and the marginal is what comes down to it;
- a family leaf is a conditional table with the observed variables fixed, which is another slice of it for each row.
  If nothing is left but a number, it belongs to no clique and multiplies P(evidence).

Both are read from one array: cell `gather[i]` moved on by the sum of stride x code over the parts of the leaf. For a
variable leaf that is a small table of zeros and ones by code and state, with ones in the line of the missing code.

All other conditional tables are constant: their product is the base of the clique that holds them. Cells where the
base is zero are left out, as nothing ever passes through them.

An item is one message seen from one clique: a map from the cells of the clique to message cells. The items of a clique
stand in three runs: up only (family leaves, evidence), up and down (children, leaves that do both), down only.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayeswater.kernels.clique_tree import (
    BOTH,
    CHILD,
    CONSTANT,
    FAMILY_LEAF,
    MARGINAL,
    N_KINDS,
    CliquePlaces,
    CliqueTree,
    FlatTables,
    Roles,
    place,
)
from bayeswater.kernels.compiling import compiled_plainly
from bayeswater.kernels.runs import Runs, starts_of
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


DENSE_SHARE = 0.9
"""Zeros are left out of a clique when at most this share is over zero: with fewer of them the copying does not pay."""


class CliqueTables(NamedTuple):
    """Everything that passing messages needs, in flat arrays."""

    parent: Array  # (n_cliques,)
    own: Array  # (n_cliques + 1,) first message cell of each clique's separator
    block: Array  # (n_own + 1,) first cell of each state of a separator
    base: Array  # (n_cells,)
    run: Array  # (n_cliques, 4) limits of the runs of items: up is 0 to 2, down 1 to 3
    item_map: Array  # (n_items,) where the map of each item begins
    maps: Array  # uint32
    variable_leaf: Array  # (n_variables,) first message cell, -1 for none
    leaf: Array  # (n_leaves + 1, 3): first message cell, first cell of gather, first part
    part: Array  # (n_parts, 2): variable and stride
    gather: Array
    lonely: int  # message cells from here on belong to no clique
    n_messages: int
    hosted: Array  # (n_variables,) clique of each family, -1 for none


def fill_tables(tree: CliqueTree, cards: Array, families: FlatTables, roles: Roles, *, use_loop: bool) -> CliqueTables:
    """Place the families in the cliques, multiply the constant ones and write the maps."""
    places = place(tree, cards, families, roles)
    n_cells, n_own = tree.n_states.astype(np.int64), tree.n_own.astype(np.int64)
    first_cell, own = starts_of(n_cells), starts_of(n_own)
    arrays = _Arrays.of(tree, cards, families, roles)
    n_jobs = np.diff(places.first_job).reshape(-1, N_KINDS)
    clique, kind = np.divmod(np.repeat(np.arange(n_jobs.size), n_jobs.ravel()), N_KINDS)
    array, scope = arrays.of_kind[kind] + places.job, Runs.between(tree.start).of(clique)
    constant, item = np.flatnonzero(kind == CONSTANT), np.flatnonzero(kind != CONSTANT)

    base, longest = np.ones(int(first_cell[-1])), int(n_cells.max(initial=1))
    walks = arrays.walks(array[constant], scope.of(constant), families.table_start[places.job[constant]], longest)
    walks.multiply(families.table, base, first_cell[clique[constant]], use_loop=use_loop)

    is_kept, n_kept = _kept(base, first_cell)
    of_state = np.repeat(np.arange(len(n_own)), n_own)
    first_of_state = first_cell[of_state] + (np.arange(own[-1]) - own[of_state]) * (n_cells // n_own)[of_state]
    block = starts_of(is_kept)[np.append(first_of_state, first_cell[-1])]
    kept = np.flatnonzero(is_kept)
    kept -= np.repeat(first_cell[:-1], n_kept)

    no_message = np.full(len(cards), -1)  # tables are multiplied, and send none
    message = np.concatenate([own[:-1], no_message, places.leaf_of, places.variable_leaf])
    walks = arrays.walks(array[item], scope.of(item), message[array[item]], longest)
    maps = walks.maps(kept, Runs.between(starts_of(n_kept)).of(clique[item]), use_loop=use_loop)
    first_item = starts_of(n_jobs[:, FAMILY_LEAF:].ravel())
    of_run = np.array([FAMILY_LEAF, BOTH, MARGINAL, N_KINDS]) - FAMILY_LEAF
    run = first_item[(N_KINDS - FAMILY_LEAF) * np.arange(len(n_own))[:, None] + of_run]

    return CliqueTables(
        tree.parent,
        own,
        block,
        base[is_kept],
        run,
        starts_of(n_kept[clique[item]])[:-1],
        maps,
        places.variable_leaf,
        places.leaf,
        places.part,
        _gather(arrays, families, places, use_loop=use_loop),
        places.lonely,
        places.n_messages,
        places.hosted,
    )


def _kept(base: Array, first_cell: Array) -> tuple[Array, Array]:
    """Say which cells are over zero, or in a clique where nearly all are, and how many of each clique."""
    is_kept, n_cells = base > 0, np.diff(first_cell)
    n_kept = np.add.reduceat(is_kept, first_cell[:-1], dtype=np.int64)
    is_dense = n_kept > DENSE_SHARE * n_cells
    return is_kept | np.repeat(is_dense, n_cells), np.where(is_dense, n_cells, n_kept)


class _Arrays(NamedTuple):
    """What cells are looked up in, as runs of members: separators, families, slices of families, single variables."""

    run: Runs
    members: Array  # (n_members, 2): variable and stride
    of_kind: Array  # (N_KINDS,) first array for jobs of each kind
    cards: Array  # (n_variables,) 1 where a variable is fixed

    @classmethod
    def of(cls, tree: CliqueTree, cards: Array, families: FlatTables, roles: Roles) -> "_Arrays":
        """Lay out the arrays of a tree."""
        n_cliques, n = len(tree.parent), len(cards)
        free = np.where(roles.fixed, 1, cards)
        separator = Runs(tree.start[:-1], tree.start[:-1] + tree.n_shared)
        family = Runs.between(families.start).moved(len(tree.variable))
        slices = family.moved(len(families.variable))
        single = Runs.between(np.arange(n + 1)).moved(int(slices.end[-1]))
        variable = np.concatenate([tree.variable, families.variable, families.variable, np.arange(n)])
        members = np.empty((len(variable), 2), dtype=np.int64)
        members[:, VARIABLE] = variable
        members[:, STRIDE] = _packed_strides((separator, slices), free[variable])
        members[family.begin[0] : family.end[-1], STRIDE] = families.stride
        of_kind = np.full(N_KINDS, n_cliques + 2 * n)
        of_kind[[CHILD, CONSTANT, FAMILY_LEAF]] = 0, n_cliques, n_cliques + n
        run = Runs(*(np.concatenate(ends) for ends in zip(separator, family, slices, single, strict=True)))
        return cls(run, members, of_kind, free)

    def walks(self, array: Array, scope: Runs, origin: Array | int, longest: int) -> Walks:
        """Take walks through scopes, which are runs of members."""
        return Walks.of(self.members, self.cards, longest, scope, self.run.of(array), origin)


def _gather(arrays: _Arrays, families: FlatTables, places: CliquePlaces, *, use_loop: bool) -> Array:
    """Where the cells of the leaves lie in the tables, at state 0 of what rows bring along."""
    first = np.concatenate([families.table_start, families.indicator])[places.bearer]
    width = np.diff(places.leaf[:, 1])
    n = len(families.table_start)
    is_family = places.bearer < n
    array = np.where(is_family, arrays.of_kind[CONSTANT] + places.bearer, arrays.of_kind[MARGINAL] + places.bearer - n)
    walks = arrays.walks(array, arrays.run.of(array), 0, int(width.max(initial=1)))
    everything = Runs(np.zeros_like(width), width)
    return walks.maps(np.arange(walks.longest), everything, use_loop=use_loop) + np.repeat(first, width)


def _packed_strides(several: Iterable[Runs], cards: Array) -> list[int]:
    """Strides of arrays of just the members of each run, the last one running fastest; 1 outside of all runs."""
    stride, card = [1] * len(cards), cards.tolist()
    for runs in several:
        for begin, end in zip(runs.begin.tolist(), runs.end.tolist(), strict=True):
            for k in range(end - 2, begin - 1, -1):
                stride[k] = stride[k + 1] * card[k + 1]
    return stride
