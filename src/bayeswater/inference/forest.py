"""Log-joint of a forest of columns under the class: every column depends on the class and on one other column at most.

    P(y, x) = P(y) prod_j P(x_j | y, x_parent(j))

The columns, each with its parent, own consecutive rows of one flat table, so that scoring a row is one look-up for
each column. A cell that is missing has no factor. Where it is the parent of one that is there, it is summed over,
exactly: messages go from the leaves to the roots, log sum_b P(b | y, a) prod of the messages of the children of b.

`inference.dependence` has this as its case of one parent, and is slower there: by a fifth in scoring rows, three times
where each is taken out of the counts, and fifteen times if cells of these are missing (20 columns of 4 states).
"""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.estimate.dirichlet import Prior, log_share
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.inference.drawing import draw_states
from bayeswater.inference.log_space import log_ratio
from bayeswater.inference.scoring import JointWithout
from bayeswater.kernels.category_tables import sum_of_own_states, sum_of_states
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import row_blocks
from bayeswater.records import record
from bayeswater.typing import Array

CHUNK_TERMS = 2**20
"""Terms that are held at a time where cells are summed over."""


@record
class Forest:
    """Probabilities of pairs, and the parent of each column: (n_columns,), -1 where it has none but the class.

    With `counted_by`, the class prior counts only the rows that have a value in that column, whose own table is
    smoothed together with the prior: P(y, x) in one piece.
    """

    prior: Prior
    estimate: PairEstimate
    parents: tuple[int, ...]
    counted_by: int | None = None

    @classmethod
    def of_tree(cls, prior: Prior, estimate: PairEstimate, parents: tuple[int, ...]) -> "Forest":
        """Every column with its parent; one that never had a value is nobody's parent."""
        return cls(prior, estimate, tuple(p if p >= 0 and estimate.n_states[p] else -1 for p in parents))

    @classmethod
    def of_star(cls, prior: Prior, estimate: PairEstimate, center: int) -> "Forest":
        """One column as the parent of all the others, counted in one piece with the class: a SPODE."""
        alpha = float(estimate.joint_cell[center] * estimate.n_states[center])
        prior = replace(prior, count=estimate.observed[center], alpha=alpha)
        parents = tuple(-1 if j == center else center for j in range(estimate.n_columns))
        return cls(prior, estimate, parents, counted_by=center)

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.prior.log

    # ------------------------------------------------------------------ the flat table of all columns

    @cached_property
    def _width(self) -> Array:
        """Rows of each column: (n_columns,)."""
        own = self.estimate.n_states + 1
        return np.array([own[j] * (own[p] if p >= 0 else 1) for j, p in enumerate(self.parents)])

    @cached_property
    def start(self) -> Array:
        """First row of each column, and last the length of the table."""
        return np.concatenate([[0], np.cumsum(self._width)])

    @cached_property
    def cell(self) -> Array:
        """Pseudo-count of a state of each column: (n_columns,)."""
        cell = self.estimate.cell.copy()
        if self.counted_by is not None:
            cell[self.counted_by] = self.estimate.joint_cell[self.counted_by]
        return cell

    @cached_property
    def counts(self) -> tuple[Array, Array, Array]:
        """Counts and the totals they are shares of, both (n_table_rows, n_classes), and which rows are states."""
        estimate, shape = self.estimate, (int(self.start[-1]), self.estimate.n_classes)
        count, total = np.zeros(shape), np.zeros(shape)
        is_state = np.zeros(shape[0], dtype=bool)
        for j, p in enumerate(self.parents):
            v = estimate.n_states[j]
            cells = (
                estimate.pair(p, j) if p >= 0 else estimate.single[estimate.start[j] : estimate.start[j + 1] - 1][None]
            )
            rows = self.start[j] + np.arange(len(cells))[:, None] * (v + 1) + np.arange(v)
            count[rows], is_state[rows] = cells, True
            total[rows] = cells.sum(axis=1, keepdims=True)
        return count, total, is_state

    def log_table(self, removed: float = 0.0) -> Array:
        """Logarithm of P(x_j | y, x_parent): (n_table_rows, n_classes), 0 where a cell is not there.

        With `removed`, each entry is that of a row which has itself been taken out with this weight.
        """
        count, total, is_state = self.counts
        cell, n_states = (np.repeat(a, self._width)[:, None] for a in (self.cell, self.estimate.n_states))
        return np.where(is_state[:, None], log_share(count, total, cell, n_states, removed), 0.0)

    @cached_property
    def log_likelihood(self) -> Array:
        """`log_table` of the counts as they are."""
        return self.log_table()

    def log_conditional(self, j: int) -> Array:
        """Logarithm of P(x_j | y, x_parent): (v_parent or 1, v_j, n_classes)."""
        v, p = self.estimate.n_states[j], self.parents[j]
        table = self.log_likelihood[self.start[j] : self.start[j + 1]].reshape(-1, v + 1, self.estimate.n_classes)
        return table[: self.estimate.n_states[p] if p >= 0 else 1, :v]

    def places(self, states: Array) -> Array:
        """Row of each column in its own part of the table, for states (n_rows, n_columns)."""
        above = states[:, [p if p >= 0 else 0 for p in self.parents]]
        above = np.where(np.array(self.parents) >= 0, above, 0)
        return (above * (self.estimate.n_states + 1) + states).astype(np.int32)

    # ------------------------------------------------------------------ scores of rows

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of codes: (n_rows, n_classes)."""
        states = self._states(block)
        joint = self._sum(self.places(states), use_loop)
        hard = self._has_gap(states)
        if hard.any():
            joint[hard] = self.summed(states[hard])
        joint += self.prior.log
        return joint

    def without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        """Give a function of some rows: their log-joints, each row taken out, and the prior without it."""
        one_weight = bool((removed == removed[0]).all())
        shared = self.log_table(float(removed[0])) if one_weight and worth_compiling(table.n_cells) else None

        def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
            states, y, r = self._states(table.block(rows)), labels.codes[rows], removed[rows]
            places, row = self.places(states), np.arange(len(states))
            joint = self._sum(places, use_loop)
            hard = self._has_gap(states)
            if shared is not None:
                joint[row, y] = sum_of_own_states(places, self._width - 1, self.start, y, shared, use_loop=use_loop)
            else:
                joint[row, y] = self.own_without(places, y, r).sum(axis=1)
            if hard.any():
                own = self.own_without(places[hard], y[hard], r[hard])
                joint[hard] = self.summed(states[hard], y[hard], own)
            prior = self.prior.without(y, r * self._is_counted(states))
            return joint + prior, prior

        return log_joint

    def own_without(self, places: Array, codes: Array, removed: Array) -> Array:
        """Terms of each row in its own class, the row taken out: (n_rows, n_columns), 0 where a cell is not there."""
        count, total, is_state = self.counts
        entry, y = self.start[:-1] + places, codes[:, None]
        terms = log_share(count[entry, y], total[entry, y], self.cell, self.estimate.n_states, removed[:, None])
        return np.where(is_state[entry], terms, 0.0)

    def terms(self, block: Array) -> Array:
        """Log-likelihood of each cell given those before it: (n_rows, n_columns, n_classes).

        They add up to the log-likelihood of the row. Where a parent is summed over, a cell is given all cells that
        stand before it from the roots down.
        """
        states = self._states(block)
        terms = self.log_likelihood[self.start[:-1] + self.places(states)]
        hard = np.flatnonzero(self._has_gap(states))
        for i in hard.tolist():
            order = self._from_leaves[::-1]
            revealed = np.tile(self.estimate.n_states, (len(order) + 1, 1))
            for place, j in enumerate(order, start=1):
                revealed[place:, j] = states[i, j]
            terms[i, order] = np.diff(self.summed(revealed), axis=0)
        return terms

    def pair_terms(self, block: Array, chosen: Array, against: Array) -> tuple[Array, Array]:
        """What the prior, and every cell given its parent, add to the log-odds of two classes in each row.

        Gives the intercept (n_rows,) and (n_rows, parent, column); a cell without a parent stands on the diagonal.
        """
        terms, row = self.terms(block), np.arange(len(block))
        pairs = np.zeros((len(block), terms.shape[1], terms.shape[1]))
        above = [p if p >= 0 else j for j, p in enumerate(self.parents)]
        pairs[:, above, np.arange(len(above))] = log_ratio(terms[row, :, chosen], terms[row, :, against])
        return log_ratio(self.log_prior[chosen], self.log_prior[against]), pairs

    def draw(self, codes: Array, rng: np.random.Generator) -> Array:
        """Draw the states (n_rows, n_columns) of rows of the given classes, from the roots down."""
        estimate = self.estimate
        states = np.empty((len(codes), estimate.n_columns), dtype=np.int64)
        for j in self._from_leaves[::-1]:
            above = states[:, self.parents[j]] if self.parents[j] >= 0 else np.zeros(len(codes), dtype=np.int64)
            can_be = estimate.can_be_drawn[estimate.start[j] : estimate.start[j + 1] - 1]
            share = np.exp(self.log_conditional(j)) * can_be[:, None]
            states[:, j] = draw_states(share[above, :, codes], rng)
        return states

    def _sum(self, places: Array, use_loop: bool) -> Array:
        return sum_of_states(places, self._width - 1, self.start, self.log_likelihood, use_loop=use_loop)

    def _states(self, block: Array) -> Array:
        """States (n_rows, n_columns); v_j where a cell is not there."""
        return np.minimum(block, self.estimate.n_states).astype(np.int64, copy=False)

    def _is_counted(self, states: Array) -> Array:
        """Which rows count for the class prior: (n_rows,)."""
        if self.counted_by is None:
            return np.ones(len(states))
        return (states[:, self.counted_by] < self.estimate.n_states[self.counted_by]).astype(np.float64)

    # ------------------------------------------------------------------ cells that are summed over

    def _has_gap(self, states: Array) -> Array:
        """Which rows have a cell whose parent is not there: (n_rows,)."""
        is_there = states < self.estimate.n_states
        children = np.flatnonzero(np.array(self.parents) >= 0)
        above = np.array(self.parents)[children]
        return np.asarray((is_there[:, children] & ~is_there[:, above]).any(axis=1))

    @cached_property
    def _from_leaves(self) -> list[int]:
        """Columns in an order in which children stand before their parents."""

        def depth(j: int) -> int:
            steps = 0
            while (j := self.parents[j]) >= 0:
                steps += 1
            return steps

        return sorted(range(len(self.parents)), key=lambda j: -depth(j))

    def summed(self, states: Array, codes: Array | None = None, own: Array | None = None) -> Array:
        """Log-likelihoods of rows, missing parents summed over: (n_rows, n_classes).

        With `codes` and `own` (n_rows, n_columns), terms of cells that are there together with their parent are
        replaced in the class of each row.
        """
        v, k = self.estimate.n_states, self.estimate.n_classes
        largest = max((int(v[j] * v[p]) for j, p in enumerate(self.parents) if p >= 0), default=1)
        result = np.empty((len(states), k))
        for rows in row_blocks(len(states), max(1, CHUNK_TERMS // (max(largest, int(v.sum())) * k))):
            given = (None, None) if codes is None or own is None else (codes[rows], own[rows])
            result[rows] = self._summed(states[rows], *given)
        return result

    def _summed(self, states: Array, codes: Array | None, own: Array | None) -> Array:
        v, k = self.estimate.n_states, self.estimate.n_classes
        total = np.zeros((len(states), k))
        below: dict[int, Array] = {}  # messages of the children of a column, added up: (n_rows, v_j, n_classes)
        for j in self._from_leaves:
            p, log_conditional, inner = self.parents[j], self.log_conditional(j), below.pop(j, None)
            there, gone = np.flatnonzero(states[:, j] < v[j]), np.flatnonzero(states[:, j] == v[j])
            x = states[there, j]
            message = np.zeros((len(states), log_conditional.shape[0], k))
            message[there] = log_conditional[:, x].swapaxes(0, 1)
            if codes is not None and own is not None:
                a = states[there, p] if p >= 0 else np.zeros(len(there), dtype=np.int64)
                known = a < log_conditional.shape[0]  # the parent is there too
                message[there[known], a[known], codes[there[known]]] = own[there[known], j]
            if inner is not None:
                message[there] += inner[there, x][:, None]
                message[gone] = _log_sum(log_conditional + inner[gone, None], axis=2)
            if p >= 0:
                below[p] = message if p not in below else below[p] + message
            else:
                total += message[:, 0]
        return total


def _log_sum(log_values: Array, axis: int) -> Array:
    """Logarithm of a sum along an axis; of nothing but -inf it is -inf."""
    top = log_values.max(axis=axis, keepdims=True, initial=-np.inf)
    top[np.isneginf(top)] = 0.0
    with np.errstate(divide="ignore"):
        return np.log(np.exp(log_values - top).sum(axis=axis)) + np.squeeze(top, axis)
