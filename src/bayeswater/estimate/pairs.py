"""`PairEstimate`: probabilities read off counts of pairs of columns, laid out for looking them up.

    P(y, x_i)       = (N(y, x_i) + a) / (N_i + K v_i a)                  in one piece, over K v_i cells
    P(x_j | y, x_i) = (N(y, x_i, x_j) + a) / (N(y, x_i; j is there) + v_j a)

v_j is the number of states of column j, K that of the classes, N_i counts the rows that have a value in column i, and a
is the pseudo-count of one cell (`PseudoCounts`). A cell that is missing is left out of every count it would be part of,
unless missing is a state of its own.

In the layout column j owns v_j + 1 slots, from ``start[j]`` on. The last slot is for whatever is not there: a cell that
is missing, or a state that was never counted.
"""

from functools import cached_property

import numpy as np

from bayeswater.data.variable import Schema, Variable
from bayeswater.estimate.dirichlet import PseudoCounts, log_share
from bayeswater.kernels.category_tables import offsets
from bayeswater.kernels.pair_counts import n_pair_cells, rows_of_column
from bayeswater.kernels.remainders import remainder
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.some_pairs import SomePairs
from bayeswater.typing import Array


@record
class PairEstimate:
    """Counts of pairs, and how they are smoothed."""

    counts: PairCounts
    smoothing: PseudoCounts
    missing_is_state: bool | Array = False  # of all columns, or of each (n_columns,)
    is_sparse: bool | Array = False  # columns of which every state is imagined as often, and that are no parents

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.counts.schema)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.counts.n_classes

    @cached_property
    def empty_is_state(self) -> Array:
        """Which columns have missing as a state: (n_columns,)."""
        return np.broadcast_to(self.missing_is_state, self.n_columns)

    @cached_property
    def is_usual(self) -> Array:
        """Which columns do not have too many states to be a parent: (n_columns,)."""
        return ~np.broadcast_to(self.is_sparse, self.n_columns)

    @cached_property
    def n_states(self) -> Array:
        """Number of states v_j of each column, missing among them where it is one."""
        return self.counts.n_states + self.empty_is_state

    @cached_property
    def start(self) -> Array:
        """First slot of each column, and last the number of all slots."""
        return offsets(self.n_states)

    @property
    def n_slots(self) -> int:
        """Number of all slots."""
        return int(self.start[-1])

    @cached_property
    def column(self) -> Array:
        """Column of each slot: (n_slots,)."""
        return np.repeat(np.arange(self.n_columns), self.n_states + 1)

    @cached_property
    def is_state(self) -> Array:
        """Which slots are states: (n_slots,)."""
        found = np.ones(self.n_slots, dtype=bool)
        found[self.start[1:] - 1] = False
        return found

    @cached_property
    def _row(self) -> Array:
        """Row of the table of counts of each slot that is a state: (n_slots,), elsewhere 0."""
        place = np.arange(self.n_slots) - self.start[self.column]
        return np.where(self.is_state, self.counts.start[self.column] + place, 0)

    def slots(self, codes: Array) -> Array:
        """Slot of each cell of some rows: (n_rows, n_columns)."""
        kind = np.int32 if self.n_slots < 2**31 else np.int64
        found: Array = np.minimum(codes, self.n_states.astype(kind))
        found += self.start[:-1].astype(kind)
        return found

    # ------------------------------------------------------------------ counts, laid out

    @cached_property
    def states(self) -> PairCounts | CategoryCounts:
        """The counts, with missing cells as a state where they are one: what structure is read from.

        Where some pairs are counted alone, the structure is known, and these are the counts of single columns.
        """
        counts = self.counts
        if not self.empty_is_state.any():
            return counts
        schema = Schema(tuple(map(_with_empty, counts.schema, self.empty_is_state.tolist())))
        counted = np.ones(self.n_slots, dtype=bool)
        counted[self.start[1:][self.empty_is_state] - 1] = False  # what is not there has no slot of counts there
        table = np.zeros((self.n_slots, self.n_classes), dtype=counts.table.dtype)
        table[counted] = counts.table
        if isinstance(counts, SomePairs):
            return CategoryCounts(counts.classes, schema, table)
        pairs = np.zeros((n_pair_cells(schema.n_states), self.n_classes), dtype=counts.pairs.dtype)
        for i in range(1, self.n_columns):
            new = rows_of_column(i, schema.n_states)[: counts.n_states[i] + 1, counted[: self.start[i]]]
            pairs[new] = counts.pairs[rows_of_column(i, counts.n_states)]
        return PairCounts(counts.classes, schema, table, pairs)

    @cached_property
    def single(self) -> Array:
        """N(y, x_j): (n_slots, n_classes), 0 in the slots that are no states."""
        return np.where(self.is_state[:, None], self.counts.table[self._row], 0)

    @cached_property
    def observed(self) -> Array:
        """N(y; j is there): (n_columns, n_classes)."""
        found: Array = np.add.reduceat(self.single, self.start[:-1])
        return found

    @cached_property
    def support(self) -> Array:
        """N(x_j), of all classes together: (n_slots,)."""
        found: Array = self.single.sum(axis=1)
        return found

    def pairs_with(self, i: int) -> Array:
        """N(y, x_i, x_j) for all j: (v_i + 1, n_slots, n_classes), 0 where a slot is no state, and in column i."""
        counts, column = self.counts, self.column
        first, mine, theirs = counts.rows_with(i)
        there = self.is_state & (first >= 0)[column]
        place = (first[column] + (self._row - counts.start[column]) * theirs[column])[there]
        cells = np.zeros((self.n_states[i] + 1, self.n_slots, self.n_classes), dtype=counts.pairs.dtype)
        cells[:-1, there] = counts.pairs[place + np.arange(self.n_states[i])[:, None] * mine[column][there]]
        return cells

    def observed_pairs(self, cells: Array) -> Array:
        """N(y, x_i; j is there) of what `pairs_with` gives: (v_i + 1, n_columns, n_classes)."""
        found: Array = np.add.reduceat(cells, self.start[:-1], axis=1)
        return found

    def pair(self, i: int, j: int) -> Array:
        """N(y, x_i, x_j): (v_i, v_j, n_classes)."""
        return self.counts.of_pair(i, j)[: self.n_states[i], : self.n_states[j]]

    # ------------------------------------------------------------------ probabilities

    @cached_property
    def can_be_drawn(self) -> Array:
        """Which slots a drawn row may have: states, but missing only where a row was: (n_slots,)."""
        never_missing = self.empty_is_state & (self.support[self.start[1:] - 2] == 0)
        found = self.is_state.copy()
        found[self.start[1:][never_missing] - 2] = False
        return found

    @cached_property
    def cell(self) -> Array:
        """Pseudo-count of a state of each column: (n_columns,)."""
        return np.where(self.is_usual, self.smoothing.of(self.n_states), self.smoothing.alpha).astype(np.float64)

    @cached_property
    def joint_cell(self) -> Array:
        """Pseudo-count of a class and a state of each column: (n_columns,)."""
        return np.asarray(self.smoothing.of(self.n_classes * self.n_states), dtype=np.float64)

    @cached_property
    def log_joint(self) -> Array:
        """Logarithm of P(y, x_i): (n_slots, n_classes), 0 in the slots that are no states."""
        total = self.observed.sum(axis=1)[self.column, None]
        n_cells = (self.n_classes * self.n_states)[self.column, None]
        found = log_share(self.single, total, self.joint_cell[self.column, None], n_cells)
        return np.where(self.is_state[:, None], found, 0.0)

    @cached_property
    def log_marginal(self) -> Array:
        """Logarithm of P(x_j | y): (n_slots, n_classes), 0 in the slots that are no states."""
        total, n_states = self.observed[self.column], self.n_states[self.column, None]
        found = log_share(self.single, total, self.cell[self.column, None], n_states)
        return np.where(self.is_state[:, None], found, 0.0)

    def log_given_state(self, i: int, removed: float = 0.0) -> Array:
        """Logarithm of P(x_j | y, x_i) for all j: (v_i + 1, n_slots, n_classes).

        It is 0 where a slot is no state, and in column i itself. With `removed`, each entry is that of a row which has
        itself been taken out with this weight.
        """
        cells = self.pairs_with(i)
        whole = remainder(self.observed_pairs(cells), removed) + (self.n_states * self.cell)[:, None]
        empty = whole <= 0  # neither a row nor a pseudo-count says anything: all states are equal
        log_whole = np.log(np.where(empty, np.maximum(self.n_states, 1)[:, None], whole))
        with np.errstate(divide="ignore"):
            found = np.log(remainder(cells, removed) + self.cell[self.column, None])
        if empty.any():
            found[empty[:, self.column]] = 0.0
        found -= log_whole[:, self.column]  # (v_i + 1, n_columns, n_classes), laid out by slots
        found[:, ~self.is_state | (self.column == i)] = 0.0
        found[-1] = 0.0
        return found

    def log_given(self, j: int, i: int) -> Array:
        """Logarithm of P(x_j | y, x_i): (v_i, v_j, n_classes)."""
        cells = self.pair(i, j)
        return log_share(cells, cells.sum(axis=1, keepdims=True), self.cell[j], self.n_states[j])


def _with_empty(variable: Variable, empty_is_state: bool) -> Variable:
    """Give a column whose empty cells may be a state, the last, as one of codes."""
    return Variable.of_codes(variable.name, variable.n_states + 1) if empty_is_state else variable
