"""Log-joints of columns that depend on the class and on several others each, from cells that occur alone.

    P(y, x) = P(y) prod_j P(x_j | y, parents of j)

It is what `inference.dependence` is, for members of an ensemble: missing is a state, so nothing is summed over; each
column has concentrations of its own without the class; and counts of many classes take no more room than those of two
(`kernels.cell_terms`). A parent that is not there, since no row lacked it when the member learned, ends the way down.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayeswater.estimate.cell_tree import cell_tree
from bayeswater.estimate.level_concentrations import Concentrations, level_concentrations
from bayeswater.inference.prior import Prior
from bayeswater.kernels.cell_terms import CellTree, LevelRule, cell_terms, find_nodes, own_counts
from bayeswater.kernels.prefix_losses import log_losses, log_products, multiply
from bayeswater.kernels.threads import row_blocks
from bayeswater.statistics.class_cells import of_first_parents
from bayeswater.statistics.family import Family
from bayeswater.typing import Array

BLOCK_TERMS = 2**16
"""Products of all levels, rows and classes that are held at a time: they stay in the second-level cache."""


@dataclass(frozen=True)
class Taken:
    """Rows that are taken out: their classes and weights, (n_rows,) each."""

    codes: Array
    removed: Array

    @classmethod
    def nobody(cls, n_rows: int) -> "Taken":
        """Rows that were not counted."""
        return cls(np.full(n_rows, -1), np.zeros(n_rows))

    def take(self, rows: slice) -> "Taken":
        """Some of the rows."""
        return Taken(self.codes[rows], self.removed[rows])


@dataclass(frozen=True)
class CountedColumn:
    """A column and its parents, the strongest first, by index, and how often they met each other and the class."""

    index: int
    parents: tuple[int, ...]
    cells: Family

    @cached_property
    def tree(self) -> CellTree:
        """Cells laid out for scoring."""
        return cell_tree(self.cells)

    def with_parents(self, n_parents: int) -> "CountedColumn":
        """Keep the first parents alone."""
        if n_parents >= len(self.parents):
            return self
        return CountedColumn(self.index, self.parents[:n_parents], of_first_parents(self.cells, n_parents))


@dataclass(frozen=True)
class SparseDependence:
    """Columns in their order, parents before their children, and how they are smoothed.

    `n_states` (n_columns,) is of all columns of a table. Rows are given by their codes (n_columns, n_rows); one past
    the last state is of a cell that is not there.
    """

    prior: Prior
    n_states: Array
    columns: tuple[CountedColumn, ...]
    class_free: float
    concentrations: Concentrations

    @property
    def n_levels(self) -> int:
        """Levels of the column with the most parents."""
        return 1 + max((len(column.parents) for column in self.columns), default=0)

    def shortened(self, n_parents: int, n_columns: int) -> "SparseDependence":
        """Keep the first columns, with at most so many parents each."""
        c, f = self.concentrations
        kept = Concentrations(c[: n_parents + 1], np.ascontiguousarray(f[:n_columns, : n_parents + 1]))
        columns = tuple(column.with_parents(n_parents) for column in self.columns[:n_columns])
        return replace(self, columns=columns, concentrations=kept)

    def rule(self, place: int) -> LevelRule:
        """How the levels of a column are smoothed, by its place in the order."""
        c, f = self.concentrations
        return LevelRule(c, f[place], self.class_free)

    def nodes(self, place: int, codes: Array) -> Array:
        """Nodes of rows in the tree of a column, by its place in the order."""
        column = self.columns[place]
        own = list(column.parents)
        return find_nodes(np.ascontiguousarray(codes[own].T), column.tree, self.n_states[own])

    def counts(self, codes: Array, taken: Taken) -> Array:
        """What rows find in the nodes of every column, each taken out: (n_columns, 4, n_levels, n_rows)."""
        found = np.zeros((len(self.columns), 4, self.n_levels, codes.shape[1]))
        for place, column in enumerate(self.columns):
            nodes = self.nodes(place, codes)
            own = own_counts(nodes, codes[column.index], taken.codes, taken.removed, column.tree)
            found[place, :, : own.shape[1]] = own
        return found

    def fitted(self, codes: Array, weight: Array, taken: Taken) -> Concentrations:
        """Learn the concentrations by some rows, each taken out."""
        counts, n_states = self.counts(codes, taken), self.n_states[[column.index for column in self.columns]]
        return level_concentrations(counts, weight, n_states, self.class_free, use_loop=True)

    def log_joint(self, codes: Array, taken: Taken | None = None) -> Array:
        """Log-joints of rows, each taken out where they were counted: (n_rows, n_classes)."""
        n_rows, n_classes = codes.shape[1], len(self.prior.count)
        joint = np.empty((n_rows, n_classes))
        for rows in row_blocks(n_rows, max(1, BLOCK_TERMS // n_classes)):
            own = self._own(rows, taken)
            mantissa, exponent = self._prior_products(own, taken is not None, 1)
            for place in range(len(self.columns)):
                multiply(self._terms(place, codes[:, rows], own), mantissa, exponent, use_loop=True)
            joint[rows] = log_products(mantissa[0], exponent[0])
        return joint

    def prefix_losses(self, codes: Array, weight: Array, taken: Taken) -> Array:
        """Sum of log-losses over rows, each taken out, of the first columns with the first parents alone.

        Gives (n_levels, 1 + n_columns), for every number of parents and of columns.
        """
        losses = np.zeros((self.n_levels, 1 + len(self.columns)))
        size = max(1, BLOCK_TERMS // (len(self.prior.count) * self.n_levels))
        for rows in row_blocks(codes.shape[1], size):
            own = taken.take(rows)
            mantissa, exponent = self._prior_products(own, True, self.n_levels)
            losses[:, 0] += log_losses(mantissa, exponent, own.codes, weight[rows], use_loop=True)
            for place in range(len(self.columns)):
                terms = self._terms(place, codes[:, rows], own, every_level=True)
                multiply(terms, mantissa, exponent, use_loop=True)
                losses[:, 1 + place] += log_losses(mantissa, exponent, own.codes, weight[rows], use_loop=True)
        return losses

    def _own(self, rows: slice, taken: Taken | None) -> Taken:
        return Taken.nobody(rows.stop - rows.start) if taken is None else taken.take(rows)

    def _prior_products(self, taken: Taken, are_taken: bool, n_levels: int) -> tuple[Array, Array]:
        """Products that have only the prior in them, and their exponents: (n_levels, n_rows, n_classes) each."""
        n_rows, n_classes = len(taken.codes), len(self.prior.count)
        prior = self.prior.without(taken.codes, taken.removed) if are_taken else self.prior.log
        shape = n_levels, n_rows, n_classes
        return np.broadcast_to(np.exp(prior), shape).copy(), np.zeros(shape, dtype=np.int32)

    def _terms(self, place: int, codes: Array, taken: Taken, *, every_level: bool = False) -> Array:
        column, nodes = self.columns[place], self.nodes(place, codes)
        return cell_terms(
            nodes,
            codes[column.index],
            column.tree,
            self.rule(place),
            taken.codes,
            taken.removed,
            every_level=every_level,
        )


def starting_concentrations(n_levels: int, n_columns: int) -> Concentrations:
    """Concentrations before any were learned: one row each."""
    return Concentrations(np.ones(n_levels), np.ones((n_columns, n_levels)))
