"""`ClassTrees`: P(class | row) as the mean over trees, each a table with a row for every leaf and back-off on its path.

    p_y(node) = (n_y + c p_y(node above)) / (N + c)

The splits of a tree are chosen on the rows that the hash of their cells gives it (`structure.tree_splits`); the counts
in its nodes are of all rows, so they can be moved, and a row can be left out of them exactly.

Very many rows do not make larger trees without end: a tree learns its splits from `MOST_ROWS` different rows at most.

`Codebook` has numbers and states side by side as narrow codes, by cuts that depend on no class. A number becomes the
interval of about equal weight it falls into; a missing one has a code of its own above all others. A state keeps its
code; one that is missing or was never seen has the code one past the last.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from bayeswater.data.reading.discretising.cuts import apply_cuts
from bayeswater.data.reading.discretising.value_cells import ValueCells, equal_frequency_cuts
from bayeswater.errors import ParameterError, StatisticsError
from bayeswater.inference.class_trees import TreePosterior, count_leaves
from bayeswater.kernels.threads import ordered_map
from bayeswater.learning.members.committee import Committee, in_structure
from bayeswater.learning.members.member_table import EnsembleTable
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.node_counts import NodeCounts
from bayeswater.structure.tree_splits import Growth, SortedRows, TreeSplits
from bayeswater.typing import Array


@record
class Codebook:
    """Cuts of columns of numbers, and the number of states of those behind them.

    The cuts of number column j are ``cuts[start[j] : start[j + 1]]``, in rising order.

    >>> book = Codebook.of(np.array([[1.0], [2.0], [2.0], [np.nan]]), np.array([3]), None, most_codes=100)
    >>> book.codes(np.array([[1.0], [7.0], [np.nan]]), np.array([[0], [2], [-1]]))
    array([[0, 0],
           [1, 2],
           [2, 3]], dtype=uint8)
    """

    cuts: Array  # float64
    start: Array  # (n_numbers + 1,)
    n_states: Array  # (n_nominal,)

    @classmethod
    def of(cls, numbers: Array, n_states: Array, weight: Array | None, most_codes: int) -> Self:
        """Cut columns of numbers (n_rows, n_numbers) into at most `most_codes` intervals."""

        def cuts_of(j: int) -> Array:
            return equal_frequency_cuts(ValueCells.of(numbers[:, j], None, 1, weight), most_codes)

        cuts = list(ordered_map(cuts_of, range(numbers.shape[1])))
        start = np.cumsum([0, *map(len, cuts)])
        return cls(np.concatenate([np.zeros(0), *cuts]), start, np.asarray(n_states, dtype=np.int64))

    @property
    def n_numbers(self) -> int:
        """Number of columns of numbers."""
        return len(self.start) - 1

    @property
    def n_columns(self) -> int:
        """Number of all columns."""
        return self.n_numbers + len(self.n_states)

    @property
    def n_codes(self) -> Array:
        """Codes of every column, with that of a missing cell: (n_columns,)."""
        return np.concatenate([np.diff(self.start) + 2, self.n_states + 1])

    def cuts_of(self, j: int) -> Array:
        """Cuts of a column of numbers."""
        return self.cuts[self.start[j] : self.start[j + 1]]

    def codes(self, numbers: Array, states: Array) -> Array:
        """Code rows: (n_rows, n_columns), row after row, in the narrowest unsigned numbers."""
        highest = int(self.n_codes.max(initial=1)) - 1
        kind = np.uint8 if highest < 2**8 else np.uint16 if highest < 2**16 else np.uint32
        codes = np.empty((len(numbers), self.n_columns), dtype=kind)
        for j in range(self.n_numbers):
            codes[:, j] = apply_cuts(numbers[:, j], self.cuts_of(j))
        is_known = (states >= 0) & (states < self.n_states)
        codes[:, self.n_numbers :] = np.where(is_known, states, self.n_states)
        return codes

    def to_arrays(self) -> dict[str, Array]:
        """Give the cuts as arrays."""
        return {"cuts": self.cuts, "cut_start": self.start}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array) -> Self:
        """Read the cuts back; refuse what cannot be cuts of so many columns."""
        cuts, start = arrays["cuts"], arrays["cut_start"]
        is_shaped = cuts.ndim == 1 and cuts.dtype == np.float64 and start.shape == (n_numbers + 1,)
        if not is_shaped or start.dtype.kind != "i" or start[0] != 0 or start[-1] != len(cuts) or np.isnan(cuts).any():
            raise StatisticsError(f"the cuts are not those of {n_numbers} columns of numbers")
        for first, last in pairwise(start.tolist()):
            if first > last or (np.diff(cuts[first:last]) <= 0).any():
                raise StatisticsError("the cuts of a column do not rise")
        return cls(cuts, start, np.asarray(n_states, dtype=np.int64))


MOST_CODES = 100
"""Intervals of a column of numbers: finer ones tell trees nothing, and codes of a byte are read fastest."""

MOST_ROWS = 2**18
"""Different rows that a tree learns its splits from, about: it has at most twice as many nodes."""

NODE_BYTES, CELL_BYTES = 16, 24
"""Bytes of the split at a node, and of the count of a class in a leaf."""


@record
class ClassTrees(Committee):
    """Class trees.

    Parameters
    ----------
    n_members : number of trees
    n_columns : columns looked at in a node: "sqrt" of all, "half" of them, or a number, at most
    n_thresholds : splits of each of these that are tried
    phi : share of the rows that the splits of a tree are learned from
    nominal : how states are asked for: "one" against the rest, or by several orders in turn, "cycle"
    concentration : c
    """

    kind: ClassVar[str] = "trees"

    n_members: int = 100
    n_columns: int | str = "sqrt"
    n_thresholds: int = 1
    phi: float = 0.8
    nominal: str = "one"
    concentration: float = 0.3
    seed: int = 0
    codebook: Codebook | None = field(default=None, repr=False)
    trees: TreeSplits | None = field(default=None, repr=False)
    counts: NodeCounts | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.n_members < 1:
            raise ParameterError(f"n_members is {self.n_members}; give 1 or more")
        if not 0 < self.phi <= 1:
            raise ParameterError(f"phi is {self.phi}; give a share of the rows, over 0 and up to 1")
        if not 0 < self.concentration < np.inf:
            raise ParameterError(f"concentration is {self.concentration}; give a number over 0")

    def learn(self, table: EnsembleTable, seed: int) -> Self:
        """Grow trees, each from its part of the rows, and count all rows."""
        growth = Growth(self.n_columns, self.n_thresholds, self.nominal)
        book = Codebook.of(table.numbers, table.n_states, table.weight, MOST_CODES)
        codes = book.codes(table.numbers, table.states)
        rows = SortedRows.of(
            codes, book.n_codes, book.n_numbers, table.labels, table.n_classes, table.weights, table.hashes
        )
        phi = min(self.phi, MOST_ROWS / max(1, len(rows)))
        self._require_room(phi * len(rows), len(rows), table.n_classes)
        parts = [in_structure(rows.hashes, seed, tree, phi) for tree in range(self.n_members)]
        trees = TreeSplits.grown(rows, parts, growth, seed)
        counts = count_leaves(trees, codes, table.labels, table.n_classes, table.weight)
        return replace(self, phi=phi, seed=seed, codebook=book, trees=trees, counts=counts)

    def _require_room(self, n_seen: float, n_rows: int, n_classes: int) -> None:
        """Refuse trees that might take too much: a leaf for every row that a tree sees, and a cell for every row."""
        of_tree = 2 * NODE_BYTES * n_seen + CELL_BYTES * min(n_rows, n_seen * n_classes)
        require_table_bytes(
            int(self.n_members * of_tree),
            f"{self.n_members} class trees of {n_rows} different rows in {n_classes} classes",
            "take fewer trees, or learn from part of the rows",
        )

    def plus(self, table: EnsembleTable) -> Self:
        """Count further rows; the trees stay."""
        return replace(self, counts=self._learned.counts + self._count(table))

    def minus(self, table: EnsembleTable) -> Self:
        """Take rows out of the counts; the trees stay."""
        return replace(self, counts=self._learned.counts - self._count(table))

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Logarithm of the mean of the trees' posteriors: (n_rows, n_classes)."""
        with np.errstate(divide="ignore"):  # beside very heavy rows, a probability may be less than a float64 can hold
            return np.log(self._learned.mean(self._codes(table)))

    def honest_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Score rows that were counted by the trees that have not seen them, without the rows themselves."""
        is_seen = np.stack([in_structure(table.hashes, self.seed, t, self.phi) for t in range(self.n_members)])
        posterior, n_members = self._learned.honest(self._codes(table), table.labels, table.removed, is_seen)
        with np.errstate(divide="ignore"):
            return np.log(posterior), n_members

    def to_arrays(self) -> dict[str, Array]:
        """Give everything that was learned, and the settings that predicting needs, as arrays."""
        trees, counts = self._learned.trees, self._learned.counts
        return {
            **self._book.to_arrays(),
            **trees.to_arrays(),
            **counts.to_arrays(),
            "phi": np.array([self.phi]),
            "concentration": np.array([self.concentration]),
            "seed": np.array([self.seed % 2**64], dtype=np.uint64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> Self:
        """Make trees of arrays, perhaps from a file of unknown origin."""
        try:
            book = Codebook.from_arrays(arrays, n_numbers, n_states)
            trees = TreeSplits.from_arrays(arrays, book.n_codes, n_numbers)
            counts = NodeCounts.of_cells(arrays, n_classes, trees.start, trees.splits[:, 0] == 0)
            phi, concentration, seed = (arrays[name].item() for name in ("phi", "concentration", "seed"))
            return cls(
                trees.n_trees,
                phi=float(phi),
                concentration=float(concentration),
                seed=int(seed),
                codebook=book,
                trees=trees,
                counts=counts,
            )
        except (KeyError, ValueError, TypeError) as error:
            raise StatisticsError(f"the arrays are not those of class trees that have learned: {error}") from None

    def _count(self, table: EnsembleTable) -> NodeCounts:
        return count_leaves(self._learned.trees, self._codes(table), table.labels, table.n_classes, table.weight)

    def _codes(self, table: EnsembleTable) -> Array:
        return self._book.codes(table.numbers, table.states)

    @property
    def _book(self) -> Codebook:
        assert self.codebook is not None
        return self.codebook

    @cached_property
    def _learned(self) -> TreePosterior:
        assert self.trees is not None
        assert self.counts is not None
        return TreePosterior(self.trees, self.counts, self.concentration)
