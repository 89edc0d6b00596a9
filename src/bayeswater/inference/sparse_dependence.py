"""Columns that depend on the class and on several other columns each, in members of an ensemble.

Counts are laid out by cells that occur, the class among them (`kernels.cell_terms`): those of many classes take no more
room than those of two, and each column has concentrations of its own without the class. Missing is a state, so nothing
is summed over, as it is in `inference.dependence`. A parent that is not there, since no row lacked it when the member
learned, ends the way down.
"""

from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from bayeswater.estimate.back_off import Concentrations, level_concentrations
from bayeswater.estimate.count_trees import cell_tree
from bayeswater.estimate.dirichlet import Prior
from bayeswater.inference.dependence import ParentColumns, Removed
from bayeswater.kernels.cell_terms import CellTree, LevelRule, cell_terms, find_nodes, own_counts
from bayeswater.kernels.prefix_losses import log_losses, log_products
from bayeswater.kernels.threads import row_blocks
from bayeswater.records import record
from bayeswater.statistics.parent_counts import ParentCells, of_first_parents
from bayeswater.typing import Array

BLOCK_TERMS = 2**16
"""Products of all levels, rows and classes that members hold at a time: they stay in the second-level cache."""


@record
class CountedColumn:
    """A column and its parents, the strongest first, by index, and how often they met each other and the class."""

    index: int
    parents: tuple[int, ...]
    cells: ParentCells

    @cached_property
    def tree(self) -> CellTree:
        """Cells laid out for scoring."""
        return cell_tree(self.cells)

    def with_parents(self, n_parents: int) -> "CountedColumn":
        """Keep the first parents alone."""
        if n_parents >= len(self.parents):
            return self
        return CountedColumn(self.index, self.parents[:n_parents], of_first_parents(self.cells, n_parents))


@record
class SparseDependence(ParentColumns):
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

    def counts(self, codes: Array, taken: Removed) -> Array:
        """What rows find in the nodes of every column, each taken out: (n_columns, 4, n_levels, n_rows)."""
        found = np.zeros((len(self.columns), 4, self.n_levels, codes.shape[1]))
        for place, column in enumerate(self.columns):
            nodes = self.nodes(place, codes)
            own = own_counts(nodes, codes[column.index], taken.codes, taken.weight, column.tree)
            found[place, :, : own.shape[1]] = own
        return found

    def fitted(self, codes: Array, weight: Array, taken: Removed) -> Concentrations:
        """Learn the concentrations by some rows, each taken out."""
        counts, n_states = self.counts(codes, taken), self.n_states[[column.index for column in self.columns]]
        return level_concentrations(counts, weight, n_states, self.class_free, use_loop=True)

    def log_joint(self, codes: Array, removed: Removed | None = None) -> Array:
        """Log-joints of rows, each taken out where they were counted: (n_rows, n_classes)."""
        n_rows, n_classes = codes.shape[1], len(self.prior.count)
        joint = np.empty((n_rows, n_classes))
        for rows in row_blocks(n_rows, max(1, BLOCK_TERMS // n_classes)):
            own = None if removed is None else removed.take(rows)
            prior = np.broadcast_to(self.prior.log, joint[rows].shape) if own is None else self._prior_without(own)
            *_, (mantissa, exponent) = self.growing_joints(self._order, codes[:, rows], own, prior, 1, True)
            joint[rows] = log_products(mantissa[0], exponent[0])
        return joint

    def log_losses(self, codes: Array, weight: Array, removed: Removed) -> Array:
        """Sum of log-losses over rows, each taken out, of the first columns with the first parents alone.

        Gives (n_levels, 1 + n_columns), for every number of parents and of columns.
        """
        losses = np.zeros((self.n_levels, 1 + len(self.columns)))
        size = max(1, BLOCK_TERMS // (len(self.prior.count) * self.n_levels))
        for rows in row_blocks(codes.shape[1], size):
            own = removed.take(rows)
            loss = partial(log_losses, codes=own.codes, weight=weight[rows], use_loop=True)
            losses += self.prefix_losses(self._order, codes[:, rows], own, self._prior_without(own), loss, True)
        return losses

    @property
    def _order(self) -> range:
        return range(len(self.columns))

    def _prior_without(self, removed: Removed) -> Array:
        return self.prior.without(removed.codes, removed.weight)

    def terms(
        self, j: int, states: Array, removed: Removed | None = None, *, every_level: bool = False, use_loop: bool = True
    ) -> Array:
        """P(x_j | y, parents) of some rows, given by their codes (n_columns, n_rows); j is a place in the order."""
        column, nodes = self.columns[j], self.nodes(j, states)
        out = Removed.nobody(states.shape[1]) if removed is None else removed
        state, rule = states[column.index], self.rule(j)
        return cell_terms(nodes, state, column.tree, rule, out.codes, out.weight, every_level=every_level)


def starting_concentrations(n_levels: int, n_columns: int) -> Concentrations:
    """Concentrations before any were learned: one row each."""
    return Concentrations(np.ones(n_levels), np.ones((n_columns, n_levels)))
