"""`TreeSplits`: the splits of trees that tell classes apart, in flat arrays, and how they are grown.

P(class | row) is a table whose rows are the leaves of a tree. Every inner node asks whether the code of a column lies
between two limits (`kernels.tree_growing`). Columns of numbers are cut at a limit. Of columns of states one state is
asked for against the rest (`nominal` is "one"), or trees differ in turn ("cycle"): they cut the order of the codes,
they cut an order by classes, and they ask for one against the rest.

A missing cell has a code of its own, above all others, which a state that was never seen shares. Where one state is
asked for, all others go the way of the rest, those among them that no row of the structure had.

`SortedRows` are what trees are grown from: rows in the order of class and content, however they came. Equal rows become
one of their weight together or, where that is hardly ever more than 1, as many rows as it says: those are counted
faster than weights are added. Either way a tree that is grown from them is the same for rows in any order, and for rows
of weight w and w equal rows.

An order of states by their classes gives places that replace codes, so that a tree can cut a column of states in two.
Of two classes, the best cut of the states in two is one between neighbours in the order of their rate of one class
(Breiman and others, 1984). Of more classes, a random half takes the place of the one. Rates are smoothed,

    (n_half + share) / (n + 1),    share: that of the half among all rows

so a state that no row has stands in the middle.

Arrays from a file are checked before they are believed to be the splits of trees.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import ceil, sqrt
from typing import Self

import numpy as np

from bayeswater.data.reading.row_hashes import hash_word, hashed
from bayeswater.errors import ParameterError, StatisticsError
from bayeswater.kernels.threads import ordered_map
from bayeswater.kernels.tree_growing import BEYOND_CODES, grow_tree, n_log_n_table
from bayeswater.records import record
from bayeswater.typing import Array

MOST_REPEATED = 1.5
"""Mean weight of different rows up to which whole weights are written out as equal rows."""


@record
class SortedRows:
    """Rows with their weights, in the order of class and content.

    Attributes
    ----------
    codes : (n_rows, n_columns)
    n_codes : (n_columns,), of which the first `n_numbers` are numbers
    y : (n_rows,) int32
    weight : (n_rows,), or (0,) where all are 1
    hashes : (n_rows,) uint64, of the content
    """

    codes: Array
    n_codes: Array
    n_numbers: int
    y: Array
    n_classes: int
    weight: Array
    hashes: Array

    @classmethod
    def of(
        cls, codes: Array, n_codes: Array, n_numbers: int, y: Array, n_classes: int, weight: Array, hashes: Array
    ) -> Self:
        """Sort rows, and bring those of equal class and content together."""
        order = np.lexsort((weight, hashes, y))  # by weight, too: a sum of fractions is always taken in one order
        sorted_y, sorted_hashes = y[order], hashes[order]
        is_first = np.ones(len(y), dtype=bool)
        is_first[1:] = (sorted_hashes[1:] != sorted_hashes[:-1]) | (sorted_y[1:] != sorted_y[:-1])
        first = np.flatnonzero(is_first)
        joined = np.add.reduceat(weight[order], first) if len(y) else weight
        kept = order[first]
        if joined.sum() <= MOST_REPEATED * len(kept) and (joined == np.floor(joined)).all():
            kept, joined = np.repeat(kept, joined.astype(np.int64)), np.zeros(0)
        return cls(codes[kept], n_codes, n_numbers, y[kept].astype(np.int32), n_classes, joined, hashes[kept])

    def __len__(self) -> int:
        return len(self.y)

    @property
    def weights(self) -> Array:
        """Weights, 1 where all are: (n_rows,)."""
        return self.weight if len(self.weight) else np.ones(len(self))

    @cached_property
    def n_log_n(self) -> Array:
        """Table of n log n for the weights of nodes."""
        weights = self.weights
        return n_log_n_table(float(weights.sum()), is_whole=bool((weights == np.floor(weights)).all()))


def class_ranks(rows: SortedRows, own: Array, choice: Array) -> Array:
    """Places of all states in the order of their smoothed rate of a random half of the classes: (n_slots,) uint32.

    `own` are the rows whose classes are looked at, `choice` the random word that chooses the half.
    """
    shuffled = np.argsort(hashed(choice + np.arange(rows.n_classes, dtype=np.uint64)))
    in_half = np.zeros(rows.n_classes)
    in_half[shuffled[: max(1, rows.n_classes // 2)]] = 1
    weight = rows.weights[own]
    of_half = weight * in_half[rows.y[own]]
    share = of_half.sum() / weight.sum() if len(own) else 0.0
    places = []
    for j, n in enumerate(rows.n_codes[rows.n_numbers :].tolist(), start=rows.n_numbers):
        state = rows.codes[own, j]
        met = np.bincount(state, weights=weight, minlength=n)
        rate = (np.bincount(state, weights=of_half, minlength=n) + share) / (met + 1)
        place = np.empty(n, dtype=np.uint32)
        place[np.argsort(rate, kind="stable")] = np.arange(n)
        places.append(place)
    return np.concatenate(places)


def first_slots(n_codes: Array, n_numbers: int) -> Array:
    """Where the codes of every column of states begin, one column after the other; -1 for numbers: (n_columns,).

    >>> first_slots(np.array([101, 3, 5]), 1)
    array([-1,  0,  3])
    """
    of_states = n_codes[n_numbers:]
    return np.concatenate([np.full(n_numbers, -1), np.cumsum(of_states) - of_states])


def ranked(codes: Array, rank: Array, slot: Array) -> Array:
    """Replace the codes of states by their places in an order."""
    replaced = codes.copy()
    is_state = slot >= 0
    replaced[:, is_state] = rank[codes[:, is_state] + slot[is_state]]
    return replaced


def require_trees(start: Array, splits: Array, n_columns: int) -> None:
    """Refuse splits of which some node has not one parent, before it and in its own tree, or asks for no column.

    >>> require_trees(np.array([0, 3]), np.array([[1, 0, 0, 5], [0, 0, 0, 0], [0, 0, 0, 0]]), 1)
    >>> require_trees(np.array([0, 3]), np.array([[2, 0, 0, 5], [0, 0, 0, 0], [0, 0, 0, 0]]), 1)
    Traceback (most recent call last):
    bayeswater.errors.StatisticsError: the splits of class trees have children in another tree
    """
    require(start.ndim == 1 and len(start) > 1 and splits.shape == (start[-1], 4), "other shapes")
    require(start[0] == 0 and (np.diff(start) > 0).all(), "trees without a node")
    jump, column, low, high = splits.T.astype(np.int64)
    require((jump >= 0).all(), "children in front of their parent")
    inner = np.flatnonzero(jump)
    child, end = inner + jump[inner], np.repeat(start[1:], np.diff(start))
    require((child + 1 < end[inner]).all(), "children in another tree")
    n_parents = np.bincount(np.concatenate([child, child + 1]), minlength=len(splits))
    n_parents[start[:-1]] += 1  # a root has none
    require((n_parents == 1).all(), "nodes with no parent or several")
    column, low, high = column[inner], low[inner], high[inner]
    require(((column >= 0) & (column < n_columns)).all(), "columns that are not there")
    require(((low >= 0) & (low <= high)).all(), "no code between their limits")


def require_orders(order: Array, ranks: Array, slot: Array, n_codes: Array, n_trees: int) -> None:
    """Refuse orders of states that do not give each state of a column a place of its own."""
    is_state = slot >= 0
    is_shaped = order.shape == (n_trees,) and ranks.ndim == 2 and ranks.shape[1] == n_codes[is_state].sum()
    require(is_shaped, "orders of other shapes")
    require(((order >= -1) & (order < len(ranks))).all(), "orders that are not there")
    for first, n in zip(slot[is_state].tolist(), n_codes[is_state].tolist(), strict=True):
        own = np.sort(ranks[:, first : first + n], axis=1)
        require((own == np.arange(n)).all(), "orders without a place for each state")


def require(condition: bool | np.bool_, what: str) -> None:
    """Refuse splits that do not fulfil a condition."""
    if not condition:
        raise StatisticsError(f"the splits of class trees have {what}")


MOST_DEPTH = 30
"""Nodes above a leaf, at most."""

ORDERS = ("natural", "by class", "one")
"""How the trees of a cycle ask for states, one after the other."""


@record
class Growth:
    """How trees are grown.

    Parameters
    ----------
    n_columns : columns looked at in a node: "sqrt" of all, "half" of them, or a number, at most
    n_thresholds : splits of each of these that are tried
    nominal : how states are asked for, "one" or "cycle"
    """

    n_columns: int | str
    n_thresholds: int
    nominal: str

    def __post_init__(self) -> None:
        if self.n_columns not in ("sqrt", "half") and not (isinstance(self.n_columns, int) and self.n_columns > 0):
            raise ParameterError(f"n_columns is {self.n_columns!r}; give 'sqrt', 'half' or a whole number over 0")
        if self.n_thresholds < 1:
            raise ParameterError(f"n_thresholds is {self.n_thresholds}; give 1 or more")
        if self.nominal not in ("one", "cycle"):
            raise ParameterError(f"nominal is {self.nominal!r}; give 'one' or 'cycle'")

    def looked_at(self, n_columns: int) -> int:
        """Of so many columns, those that are looked at in a node.

        >>> [Growth(n, 1, "one").looked_at(15) for n in ("sqrt", "half", 24)]
        [4, 8, 15]
        """
        if isinstance(self.n_columns, int):
            return min(self.n_columns, n_columns)
        return ceil(sqrt(n_columns) if self.n_columns == "sqrt" else n_columns / 2)

    def order_of(self, tree: int) -> str:
        """How a tree asks for states."""
        return "one" if self.nominal == "one" else ORDERS[tree % len(ORDERS)]


@record
class TreeSplits:
    """Nodes of all trees, tree after tree.

    Attributes
    ----------
    start : (n_trees + 1,), first node of each tree, and the end
    splits : (n_nodes, 4) int32: jump to the first of two children (0: a leaf), column, lowest and highest code of it
    order : (n_trees,) int32, which row of `ranks` replaces the codes of states by places in an order; -1 for none
    ranks : (n_orders, n_slots) uint32, place of every code of all columns of states, column after column
    slot : (n_columns,), where the codes of a column begin in a row of `ranks`; -1 for a column of numbers
    """

    start: Array
    splits: Array
    order: Array
    ranks: Array
    slot: Array

    @classmethod
    def grown(cls, rows: SortedRows, members: Sequence[Array], growth: Growth, seed: int) -> Self:
        """Grow a tree from each of some parts of the rows, which are marked: (n_rows,)."""
        streams = hashed(hashed(hash_word(seed) + np.uint64(1)) + np.arange(len(members), dtype=np.uint64))

        def grow(tree: int) -> tuple[Array, Array | None]:
            own = np.flatnonzero(members[tree]).astype(np.int32)
            return _grown(rows, own, growth, growth.order_of(tree), streams[tree : tree + 1])

        splits, ranks = zip(*ordered_map(grow, range(len(members))), strict=True)
        has_rank = np.array([rank is not None for rank in ranks])
        slot = first_slots(rows.n_codes, rows.n_numbers)
        no_rank = np.zeros((0, int(rows.n_codes[rows.n_numbers :].sum())), dtype=np.uint32)
        return cls(
            np.cumsum([0, *map(len, splits)]),
            np.concatenate(splits),
            np.where(has_rank, np.cumsum(has_rank) - 1, -1).astype(np.int32),
            np.vstack([no_rank, *(rank for rank in ranks if rank is not None)]),
            slot,
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.start) - 1

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees."""
        return len(self.splits)

    @property
    def roots(self) -> Array:
        """Root of every tree: (n_trees,)."""
        return self.start[:-1]

    @property
    def places(self) -> tuple[Array, Array]:
        """Orders of states, and where the columns begin in them."""
        return self.ranks, self.slot

    def to_arrays(self) -> dict[str, Array]:
        """Give the splits as arrays."""
        return {"tree_start": self.start, "splits": self.splits, "order": self.order, "ranks": self.ranks}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_codes: Array, n_numbers: int) -> Self:
        """Read the splits back; refuse what are no trees on columns of so many codes."""
        start, splits, order, ranks = (arrays[name] for name in ("tree_start", "splits", "order", "ranks"))
        slot = first_slots(n_codes, n_numbers)
        kinds = (start.dtype, splits.dtype, order.dtype, ranks.dtype)
        require([kind.name for kind in kinds] == ["int64", "int32", "int32", "uint32"], "numbers of other kinds")
        require_trees(start, splits, len(n_codes))
        require_orders(order, ranks, slot, n_codes, len(start) - 1)
        return cls(start, splits, order, ranks, slot)


def _grown(rows: SortedRows, own: Array, growth: Growth, kind: str, stream: Array) -> tuple[Array, Array | None]:
    """Grow a tree from its `own` rows: its splits, and the order of states that it cuts, if it is one by classes."""
    n_numbers, codes, rank = rows.n_numbers, rows.codes, None
    missing = rows.n_codes - 1
    if kind == "one":
        missing[n_numbers:] = -1
    elif kind == "by class" and len(missing) > n_numbers:
        rank = class_ranks(rows, own, hashed(stream)[0])
        codes = ranked(codes, rank, first_slots(rows.n_codes, n_numbers))
        missing[n_numbers:] = BEYOND_CODES
    splits = np.zeros((max(1, 2 * len(own)), 4), dtype=np.int32)
    n_nodes = grow_tree(
        codes,
        rows.y,
        rows.n_classes,
        rows.weight,
        own,
        missing,
        growth.looked_at(len(missing)),
        growth.n_thresholds,
        MOST_DEPTH,
        rows.n_log_n,
        stream | np.uint64(1),
        splits,
    )
    return splits[:n_nodes].copy(), rank
