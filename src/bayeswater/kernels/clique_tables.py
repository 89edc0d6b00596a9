"""The tables of a tree of cliques, and the index maps along which messages are read and written.

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

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayeswater.kernels.clique_places import (
    BOTH,
    CHILD,
    CONSTANT,
    FAMILY_LEAF,
    MARGINAL,
    N_KINDS,
    Families,
    Places,
    Roles,
    place,
)
from bayeswater.kernels.clique_tree import CliqueTree
from bayeswater.kernels.compiling import compiled_plainly
from bayeswater.typing import Array

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


def fill_tables(tree: CliqueTree, cards: Array, families: Families, roles: Roles, *, use_loop: bool) -> CliqueTables:
    """Place the families in the cliques, multiply the constant ones and write the maps."""
    n_cliques, cells = len(tree.parent), tree.n_states.astype(np.int64)
    own = np.zeros(n_cliques + 1, dtype=np.int64)
    np.cumsum(tree.n_own.astype(np.int64), out=own[1:])
    places = place(tree, cards, families, roles)
    n_items = np.diff(places.first_job).reshape(n_cliques, N_KINDS)[:, FAMILY_LEAF:].sum(axis=1)
    tables = CliqueTables(
        tree.parent,
        own,
        np.zeros(int(own[-1]) + 1, dtype=np.int64),
        np.ones(int(cells.sum())),
        np.zeros((n_cliques, 4), dtype=np.int64),
        np.empty(int(n_items.sum()), dtype=np.int64),
        np.empty(int(n_items @ cells), dtype=np.uint32),
        places.variable_leaf,
        places.leaf,
        places.part,
        np.empty(int(places.leaf[-1, 1]), dtype=np.int64),
        places.lonely,
        places.n_messages,
        places.hosted,
    )
    if not use_loop:
        return _fill(tables, tree, cards, families, roles, places)
    sizes = np.zeros(2, dtype=np.int64)
    _fill_loop(
        tree.start, tree.variable, tree.n_shared, cells, cards, *families, roles.fixed, places.leaf_of, places.job,
        places.first_job, *tables[:7], *tables[8:11], places.variable_leaf, np.zeros(len(cards), dtype=np.int64),
        np.empty((2, int(cells.max(initial=1))), dtype=np.int64), sizes,
    )  # fmt: skip
    return tables._replace(base=tables.base[: sizes[0]], maps=tables.maps[: sizes[1]])


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


def _fill(
    tables: CliqueTables,
    tree: CliqueTree,
    cards: Array,
    families: Families,
    roles: Roles,
    places: Places,
) -> CliqueTables:
    # The reference of the loop below: the same numbers in the same places.
    leaf_of, job, first_job = places.leaf_of, places.job, places.first_job
    n_leaves = len(tables.leaf) - 1
    for message, at, part in tables.leaf[:n_leaves].tolist():
        v = int(tables.part[part, 0])
        if tables.variable_leaf[v] == message:
            tables.gather[at : at + cards[v]] = families.indicator[v] + np.arange(cards[v])
    for f in np.flatnonzero(leaf_of >= 0).tolist():
        k = int(np.searchsorted(tables.leaf[:n_leaves, 0], leaf_of[f]))
        free, stride = _free_strides(families, roles, f)
        tables.gather[tables.leaf[k, 1] : tables.leaf[k + 1, 1]] = cells_of(
            free, cards, stride, int(families.table_start[f])
        )
    bases, maps = [np.zeros(0)], [np.zeros(0, dtype=np.uint32)]
    n_base, n_maps, n_items = 0, 0, 0
    for c in range(len(tree.parent)):
        scope = tree.scope(c)
        jobs = [job[first_job[k] : first_job[k + 1]].tolist() for k in range(N_KINDS * c, N_KINDS * (c + 1))]
        base = np.ones(int(tree.n_states[c]))
        for f in jobs[CONSTANT]:
            origin = int(families.table_start[f])
            base *= families.table[cells_of(scope, cards, _free_strides(families, roles, f)[1], origin)]
        n_own = int(tables.own[c + 1] - tables.own[c])
        limits = np.arange(n_own) * (len(base) // n_own)
        kept = np.flatnonzero(base > 0)
        if len(kept) > DENSE_SHARE * len(base):
            kept = np.arange(len(base))
        tables.block[tables.own[c] : tables.own[c + 1]] = n_base + np.searchsorted(kept, limits)
        bases.append(base[kept])
        n_base += len(kept)
        for kind in range(FAMILY_LEAF, N_KINDS):
            if kind in (FAMILY_LEAF, BOTH, MARGINAL):
                tables.run[c, (FAMILY_LEAF, BOTH, MARGINAL).index(kind)] = n_items
            for what in jobs[kind]:
                if kind == FAMILY_LEAF:
                    origin, stride = leaf_of[what], packed_strides(_free_strides(families, roles, what)[0], cards)
                elif kind == CHILD:
                    origin, stride = tables.own[what], packed_strides(tree.scope(what)[: tree.n_shared[what]], cards)
                else:
                    origin, stride = tables.variable_leaf[what], {what: 1}
                maps.append(cells_of(scope, cards, stride, int(origin))[kept].astype(np.uint32))
                tables.item_map[n_items] = n_maps
                n_maps += len(kept)
                n_items += 1
        tables.run[c, 3] = n_items
    tables.block[tables.own[-1]] = n_base
    return tables._replace(base=np.concatenate(bases), maps=np.concatenate(maps))


def _free_strides(families: Families, roles: Roles, f: int) -> tuple[list[int], dict[int, int]]:
    # Variables of a family that are not fixed, and their strides in its table.
    line = slice(families.start[f], families.start[f + 1])
    pairs = zip(families.variable[line].tolist(), families.stride[line].tolist(), strict=True)
    stride = {v: step for v, step in pairs if not roles.fixed[v]}
    return list(stride), stride


@compiled_plainly
def _fill_loop(  # type: ignore[no-untyped-def]
    start, variable, n_shared, cells, cards,
    family_start, family_variable, family_stride, table_start, indicator, table, fixed, leaf_of, job,
    first_job, parent, own, block, base, run, item_map, maps, leaf, part, gather, variable_leaf, stride, scratch, sizes,
):  # fmt: skip
    index, kept = scratch[0], scratch[1]
    n_base = 0
    n_maps = 0
    n_items = 0
    n_gather = 0
    for k in range(leaf.shape[0] - 1):
        # The cells of a leaf in its table: of the free variables of a family, or of the states of one variable.
        message = leaf[k, 0]
        first_part = leaf[k, 2]
        v = part[first_part, 0]
        if variable_leaf[v] == message:
            for i in range(cards[v]):
                gather[leaf[k, 1] + i] = indicator[v] + i
    for f in range(leaf_of.shape[0]):
        if leaf_of[f] >= 0:
            low = 0
            high = leaf.shape[0] - 1
            while high - low > 1:  # leaves stand in the order of their messages
                middle = (low + high) // 2
                if leaf[middle, 0] <= leaf_of[f]:
                    low = middle
                else:
                    high = middle
            n_gather = leaf[low, 1]
            gather[n_gather] = table_start[f]
            width = 1
            for back in range(family_start[f + 1] - family_start[f]):
                k = family_start[f + 1] - 1 - back
                v = family_variable[k]
                if not fixed[v]:
                    for i in range(width, width * cards[v]):
                        gather[n_gather + i] = gather[n_gather + i - width] + family_stride[k]
                    width *= cards[v]
    for c in range(parent.shape[0]):
        n_cells = cells[c]
        n_kept = n_cells
        for kind in range(N_KINDS):
            if kind == FAMILY_LEAF:
                # The base is complete: see which cells are over zero, and where each state of the separator begins.
                n_kept = 0
                for i in range(n_cells):
                    kept[n_kept] = i
                    if base[n_base + i] > 0:
                        n_kept += 1
                if n_kept > DENSE_SHARE * n_cells:
                    n_kept = n_cells
                n_own = own[c + 1] - own[c]
                each = n_cells // n_own
                at = 0
                for state in range(n_own):
                    block[own[c] + state] = n_base + state * each
                    if n_kept < n_cells:
                        while at < n_kept and kept[at] < state * each:
                            at += 1
                        block[own[c] + state] = n_base + at
                if n_kept < n_cells:
                    for i in range(n_kept):
                        base[n_base + i] = base[n_base + kept[i]]
                    for i in range(n_kept, n_cells):
                        base[n_base + i] = 1.0
                run[c, 0] = n_items
            elif kind == BOTH:
                run[c, 1] = n_items
            elif kind == MARGINAL:
                run[c, 2] = n_items
            for j in range(first_job[N_KINDS * c + kind], first_job[N_KINDS * c + kind + 1]):
                # Strides of the table or message over the variables of the clique.
                what = job[j]
                size = 1
                if kind == CONSTANT:
                    index[0] = table_start[what]
                    for k in range(family_start[what], family_start[what + 1]):
                        if not fixed[family_variable[k]]:
                            stride[family_variable[k]] = family_stride[k]
                elif kind == FAMILY_LEAF:
                    index[0] = leaf_of[what]
                    for back in range(family_start[what + 1] - family_start[what]):
                        k = family_start[what + 1] - 1 - back
                        if not fixed[family_variable[k]]:
                            stride[family_variable[k]] = size
                            size *= cards[family_variable[k]]
                elif kind == CHILD:
                    index[0] = own[what]
                    for back in range(n_shared[what]):
                        k = start[what] + n_shared[what] - 1 - back
                        stride[variable[k]] = size
                        size *= cards[variable[k]]
                else:
                    index[0] = variable_leaf[what]
                    stride[what] = 1
                # Cells of the clique, the last variable running fastest: what is done once more, moved on by a stride.
                done = 1
                for back in range(start[c + 1] - start[c]):
                    v = variable[start[c + 1] - 1 - back]
                    for i in range(done, done * cards[v]):
                        index[i] = index[i - done] + stride[v]
                    done *= cards[v]
                    stride[v] = 0
                if kind == CONSTANT:
                    for i in range(n_cells):
                        base[n_base + i] *= table[index[i]]
                else:
                    item_map[n_items] = n_maps
                    n_items += 1
                    if n_kept < n_cells:
                        for i in range(n_kept):
                            maps[n_maps + i] = index[kept[i]]
                    else:
                        for i in range(n_cells):
                            maps[n_maps + i] = index[i]
                    n_maps += n_kept
        run[c, 3] = n_items
        n_base += n_kept
    block[own[parent.shape[0]]] = n_base
    sizes[0] = n_base
    sizes[1] = n_maps
