"""`TreeSplits`: the splits of trees that tell classes apart, in flat arrays, and how they are grown.

P(class | row) is a table whose rows are the leaves of a tree. Every inner node asks whether the code of a column lies
between two limits (`kernels.class_trees`). Columns of numbers are cut at a limit. Of columns of states one state is
asked for against the rest (`nominal` is "one"), or trees differ in turn ("cycle"): they cut the order of the codes,
they cut an order by classes (`structure.state_orders`), and they ask for one against the rest.

A missing cell has a code of its own, above all others, which a state that was never seen shares. Where one state is
asked for, all others go the way of the rest, those among them that no row of the structure had.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Self

import numpy as np

from bayeswater.data.mixing import mixed, word
from bayeswater.errors import ParameterError
from bayeswater.kernels.class_trees import BEYOND_CODES, grow_tree
from bayeswater.kernels.threads import ordered_map
from bayeswater.structure.sorted_rows import SortedRows
from bayeswater.structure.state_orders import class_ranks, first_slots, ranked
from bayeswater.structure.tree_consistency import require, require_orders, require_trees
from bayeswater.typing import Array

MOST_DEPTH = 30
"""Nodes above a leaf, at most."""

ORDERS = ("natural", "by class", "one")
"""How the trees of a cycle ask for states, one after the other."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
        streams = mixed(mixed(word(seed) + np.uint64(1)) + np.arange(len(members), dtype=np.uint64))

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
        rank = class_ranks(rows, own, mixed(stream)[0])
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
