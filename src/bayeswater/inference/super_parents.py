"""Log-joint of averaged one-dependence estimators (AODE): every column in turn is the parent of all the others.

    P(y, x) = sum_i w_i P(y, x_i) prod_{j != i} P(x_j | y, x_i) / sum_i w_i

The sum goes over the parents that a row can have: columns whose value is there and was counted at least `min_support`
times. A cell that is missing, or a state that was never counted, is neither parent nor child. Where no column can be
the parent, and where there is but one column, the row is scored by naive Bayes with the same smoothing.

Joints are averaged in log space: with a thousand columns each of them is far below the least float there is.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater import limits
from bayeswater.data.labels import Labels
from bayeswater.estimate.dirichlet import Prior, log_share
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.inference.drawing import draw_states
from bayeswater.inference.log_space import log_ratio
from bayeswater.inference.parent_weights import (
    NaiveScores,
    information_without,
    one_sided,
    own_class_of_few_rows,
    parent_shares,
    ratios_of_few_rows,
    rest_of_prior,
    spodes_of_few_rows,
    without_implied,
)
from bayeswater.inference.scoring import JointWithout
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.super_parents import sum_under_own_class, sum_under_parents
from bayeswater.records import record
from bayeswater.statistics.pair_counts import largest_domains
from bayeswater.statistics.some_pairs import SomePairs
from bayeswater.structure.mutual_information import mutual_information
from bayeswater.typing import Array

CHUNK_TERMS = 2**19
"""Joints of all parents that are held at a time, about: with fewer, all tables are fetched again for too few rows."""


@record
class SuperParents:
    """Probabilities of pairs, and which columns may be parents and children: both (n_columns,).

    With `implying`, cells that others of so many rows imply are left out (`inference.parent_weights`). Parents that are
    `weighted` count as much as they tell about the class. With `by_pairs` no table of all pairs of states is made: for
    a few rows of many columns their own pairs are fewer (`inference.parent_weights`). Nor is one where it has no
    room. Where some pairs alone are counted, joints are made of their `heads` alone.
    """

    prior: Prior
    estimate: PairEstimate
    min_support: float
    is_parent: Array
    is_child: Array
    implying: float | None = None
    weighted: bool = False
    by_pairs: bool = False

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.prior.log

    @cached_property
    def naive(self) -> NaiveScores:
        """What rows without a parent are scored by, with the prior as counted: a given one moves all rows alike."""
        return NaiveScores(self.prior.as_counted, self.estimate, self.is_child)

    @cached_property
    def heads(self) -> Array:
        """Columns that there are joints of, each as the parent of all others: (n_heads,)."""
        counts = self.estimate.counts
        return np.array(counts.centers) if isinstance(counts, SomePairs) else np.arange(self.estimate.n_columns)

    @cached_property
    def head_slots(self) -> Array:
        """The slots of the heads, one after the other."""
        return np.flatnonzero(np.isin(self.estimate.column, self.heads))

    @cached_property
    def _place(self) -> Array:
        """Place of each slot among those of the heads: (n_slots,)."""
        place = np.zeros(self.estimate.n_slots, dtype=np.int64)
        place[self.head_slots] = np.arange(len(self.head_slots))
        return place

    @cached_property
    def has_table(self) -> bool:
        """Whether rows are scored by a table of pairs of states: there must be room for it."""
        if isinstance(self.estimate.counts, SomePairs):
            return True  # or it is refused: without it, all pairs of a row are read
        return not self.by_pairs and self._table_bytes <= limits.TABLE_BYTES

    @property
    def n_parameters(self) -> int:
        """Free parameters of all estimators; where no column can be a parent, of naive Bayes."""
        k, v = self.estimate.n_classes, self.estimate.n_states
        children = np.maximum(v - 1, 0) * self.is_child
        if len(v) == 1 or not self.is_parent.any():
            return int(k - 1 + k * children.sum())
        each = k * v - 1 + k * v * (children.sum() - children)
        return int(each[self.is_parent].sum())

    @property
    def _table_bytes(self) -> int:
        return 8 * len(self.head_slots) * self.estimate.n_slots * self.estimate.n_classes

    def require_room(self) -> None:
        """Refuse a table of all pairs of states that would be too large."""
        estimate = self.estimate
        limits.require_table_bytes(
            self._table_bytes,
            f"the probabilities of all pairs of {estimate.n_columns} columns in {estimate.n_classes} classes "
            f"({largest_domains(estimate.counts.schema)})",
            "bin these columns, or leave out those that are identifiers; NaiveBayes keeps no pairs of columns",
        )

    @cached_property
    def log_conditional(self) -> Array:
        """Logarithm of P(x_j | y, x_i): (n_head_slots, n_slots, n_classes), 0 where one is not there."""
        estimate = self.estimate
        self.require_room()
        table = np.zeros((len(self.head_slots), estimate.n_slots, estimate.n_classes))
        is_child = self.is_child[estimate.column]
        for i in np.flatnonzero(self.is_parent).tolist():
            table[self._rows_of(i)] = np.where(is_child[:, None], estimate.log_given_state(i), 0.0)
        return table

    def _rows_of(self, i: int) -> slice:
        """Rows of the slots of a head in tables."""
        first = int(self._place[self.estimate.start[i]])
        return slice(first, first + int(self.estimate.n_states[i]) + 1)

    # ------------------------------------------------------------------ scores of rows

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of codes: (n_rows, n_classes)."""
        joint = np.empty((len(block), self.estimate.n_classes))
        for rows in self.chunks(len(block)):
            slots = self.slots(block[rows], np.zeros(1))
            weight = self.weight(slots)
            joint[rows] = log_average(self.spodes(slots, use_loop), weight)
            alone = ~weight.any(axis=1)
            if alone.any():
                joint[rows][alone] = self.naive.of(slots[alone])
        if self.prior.shift is not None:
            joint += self.prior.shift
        return joint

    def spodes(self, slots: Array, use_loop: bool) -> Array:
        """Log-joints with each head as the parent: (n_heads, n_rows, n_classes)."""
        if not self.has_table:
            return spodes_of_few_rows(self.estimate, slots, self.is_child)
        root = self.estimate.log_joint[self.head_slots]
        return sum_under_parents(slots, self._parents(slots), root, self.log_conditional, use_loop=use_loop)

    def _parents(self, slots: Array) -> Array:
        """Places of the heads of rows in tables: (n_rows, n_heads)."""
        return self._place[slots[:, self.heads]]

    def without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        """Give a function of some rows: their log-joints, each row taken out, and the prior without it."""
        n_pairs = table.n_cells * self.estimate.n_columns
        one_weight = self.has_table and bool((removed == removed[0]).all()) and worth_compiling(n_pairs)
        own_table = self._own_conditional(float(removed[0])) if one_weight else None  # rows of one weight share it

        def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
            block, codes, weight = table.block(rows), labels.codes[rows], removed[rows]
            joint = np.empty((len(block), self.estimate.n_classes))
            for part in self.chunks(len(block)):
                joint[part] = self._average_without(block[part], codes[part], weight[part], own_table, use_loop)
            shift = self.prior.shift_without(codes, weight)
            return joint if shift is None else joint + shift, self.prior.without(codes, weight)

        return log_joint

    def _average_without(
        self, block: Array, codes: Array, removed: Array, own_table: Array | None, use_loop: bool
    ) -> Array:
        slots = self.slots(block, removed)
        spodes = self._spodes_without(slots, codes, removed, own_table, use_loop)
        weight = self.weight_without(slots, codes, removed)
        joint = log_average(spodes, weight)
        alone = ~weight.any(axis=1)
        if alone.any():
            joint[alone] = self.naive.without(slots[alone], codes[alone], removed[alone])
        return joint

    def _spodes_without(
        self, slots: Array, codes: Array, removed: Array, own_table: Array | None, use_loop: bool
    ) -> Array:
        """Log-joints with each head as the parent, each row taken out: (n_heads, n_rows, n_classes)."""
        row = np.arange(len(slots))
        spodes = self.spodes(slots, use_loop)
        spodes += self._root_shift(removed).T[self.heads, :, None]
        if own_table is not None:
            own = sum_under_own_class(slots, self._parents(slots), codes, own_table, use_loop=use_loop)
        elif not self.has_table:
            own = own_class_of_few_rows(self.estimate, slots, codes, removed, self.is_child)
        else:
            own = np.zeros((len(self.heads), len(slots)))
            for place in np.flatnonzero(self.is_parent[self.heads]).tolist():
                own[place] = self.own_without(int(self.heads[place]), slots, codes, removed).sum(axis=1)
        spodes[:, row, codes] = self._own_root(slots, codes, removed).T[self.heads] + own
        return spodes

    def members(self, block: Array, use_loop: bool) -> tuple[Array, Array]:
        """Log-likelihoods of rows by each column as the parent, and how many can be: (n_rows, n_columns, n_classes).

        0 where a column cannot be the parent.
        """
        slots = self.slots(block, np.zeros(1))
        return self._as_terms(self.spodes(slots, use_loop), self.weight(slots), self.prior.counted)

    def members_without(self, block: Array, codes: Array, removed: Array) -> tuple[Array, Array]:
        """`members`, each row taken out of the counts."""
        slots = self.slots(block, removed)
        spodes = self._spodes_without(slots, codes, removed, None, use_loop=False)
        counted = self.prior.as_counted.without(codes, removed)
        return self._as_terms(spodes, self.weight_without(slots, codes, removed), counted)

    def _as_terms(self, spodes: Array, weight: Array, log_prior: Array) -> tuple[Array, Array]:
        """Take the class prior out of the joints of members."""
        can_be = weight > 0
        possible = np.isfinite(log_prior)
        terms = np.moveaxis(spodes - np.where(possible, log_prior, 0.0), 0, 1)
        terms[~can_be] = 0.0
        return np.ascontiguousarray(terms), can_be.sum(axis=1)

    def member_ratios(self, block: Array, chosen: Array, against: Array) -> Array:
        """What every cell given a parent says of two classes: (n_rows, parent, column), own ones on the diagonal."""
        slots = self.slots(block, np.zeros(1))
        return self._pair_ratios(slots, chosen, against)[0]

    def own_without(self, i: int, slots: Array, codes: Array, removed: Array) -> Array:
        """Log-probabilities of x_j given y and x_i, for all j, in the class of each row: (n_rows, n_columns).

        The row is taken out, which moves the counts of its own class alone.
        """
        estimate = self.estimate
        cells = estimate.pairs_with(i)
        observed = estimate.observed_pairs(cells)
        parent, y = slots[:, i, None] - estimate.start[i], codes[:, None]
        order = np.arange(estimate.n_columns)
        own = log_share(
            cells[parent, slots, y], observed[parent, order, y], estimate.cell, estimate.n_states, removed[:, None]
        )
        there = estimate.is_state[slots] & estimate.is_state[slots[:, i, None]] & self.is_child & (order != i)
        return np.where(there, own, 0.0)

    def _own_conditional(self, removed: float) -> Array:
        """The same for a row that is taken out with this weight: (n_classes, n_head_slots, n_slots)."""
        estimate = self.estimate
        table = np.zeros((estimate.n_classes, len(self.head_slots), estimate.n_slots))
        is_child = self.is_child[estimate.column]
        for i in np.flatnonzero(self.is_parent).tolist():
            terms = np.where(is_child[:, None], estimate.log_given_state(i, removed), 0.0)
            table[:, self._rows_of(i)] = np.moveaxis(terms, 2, 0)
        return table

    def log_joint_without(self, slots: Array, codes: Array, removed: Array) -> Array:
        """Log P(y, x_i) of each column, each row taken out: (n_rows, n_columns, n_classes)."""
        joint = self.estimate.log_joint[slots] + self._root_shift(removed)[:, :, None]
        joint[np.arange(len(slots)), :, codes] = self._own_root(slots, codes, removed)
        return joint

    def _own_root(self, slots: Array, codes: Array, removed: Array) -> Array:
        """Log P(y, x_i) of each column in the class of each row, which is taken out: (n_rows, n_columns)."""
        estimate = self.estimate
        count, total = estimate.single[slots, codes[:, None]], estimate.observed.sum(axis=1)
        n_cells = estimate.n_classes * estimate.n_states
        return log_share(count, total, estimate.joint_cell, n_cells, removed[:, None])

    def _root_shift(self, removed: Array) -> Array:
        """How log P(y, x_i) of the other classes moves with a row taken out, since N_i does: (n_rows, n_columns)."""
        estimate = self.estimate
        total, pseudo = estimate.observed.sum(axis=1), estimate.n_classes * estimate.n_states * estimate.joint_cell
        whole = remainder(total, removed[:, None]) + pseudo
        return np.log(np.where(whole > 0, (total + pseudo) / np.where(whole > 0, whole, 1.0), 1.0))

    def pair_terms(self, block: Array, chosen: Array, against: Array) -> tuple[Array, Array]:
        """What the prior, and every cell given a parent, add to the log-odds of two classes in each row.

        Gives the intercept (n_rows,) and (n_rows, parent, column), which add up to the log-odds: each parent has its
        share of them (`inference.parent_weights`). What a parent says itself stands on the diagonal, beside the prior.
        """
        slots = self.slots(block, np.zeros(1))
        weight = self.weight(slots)
        spodes = self.spodes(slots, use_loop=False)
        with np.errstate(divide="ignore"):
            log_weight = np.log(weight)
        logs = np.full((2, *slots.shape), -np.inf)
        for log, side in zip(logs, (chosen, against), strict=True):
            log[:, self.heads] = spodes[:, np.arange(len(block)), side].T + log_weight
        log_a, log_b = logs
        shares = parent_shares(log_a, log_b)
        pairs, prior = self._pair_ratios(slots, chosen, against)
        own = np.arange(slots.shape[1])
        with np.errstate(invalid="ignore"):  # of an infinite ratio there is no share
            pairs = np.where(shares[:, :, None] > 0, shares[:, :, None] * pairs, 0.0)
        pairs[:, own, own] += one_sided(log_a, log_b) + rest_of_prior(
            shares, np.isfinite(np.maximum(log_a, log_b)), prior
        )
        alone = ~weight.any(axis=1)
        terms = self.naive.terms(slots[alone])
        at = np.arange(len(terms))
        naive = np.zeros((len(terms), len(own), len(own)))
        naive[:, own, own] = log_ratio(terms[at, :, chosen[alone]], terms[at, :, against[alone]])
        pairs[alone] = naive
        intercept = prior
        if self.prior.shift is not None:
            intercept = intercept + log_ratio(self.prior.shift[chosen], self.prior.shift[against])
        return intercept, pairs

    def _pair_ratios(self, slots: Array, chosen: Array, against: Array) -> tuple[Array, Array]:
        """What cells say of two classes given each parent (n_rows, parent, column), and the prior (n_rows,)."""
        a, b = chosen[:, None], against[:, None]
        if self.has_table:
            between = self._parents(slots)[:, :, None], slots[:, None]
            pairs = np.zeros((*slots.shape, slots.shape[1]))
            of_two = (self.log_conditional[*between, side[:, None]] for side in (a, b))
            pairs[:, self.heads] = log_ratio(*of_two)
        else:
            pairs = ratios_of_few_rows(self.estimate, slots, self.is_child, chosen, against)
        prior = log_ratio(self.prior.counted[chosen], self.prior.counted[against])
        own = np.arange(slots.shape[1])
        root = log_ratio(self.estimate.log_joint[slots, a], self.estimate.log_joint[slots, b])
        pairs[:, own, own] = root - prior[:, None]
        return pairs, prior

    def draw(self, codes: Array, rng: np.random.Generator) -> Array:
        """Draw the states (n_rows, n_columns) of rows of the given classes: a parent, its state, and all others by it.

        Every value can be a parent here, however rare, and every column depends on it, also if it is no child.
        """
        estimate = self.estimate
        states = np.empty((len(codes), estimate.n_columns), dtype=np.int64)
        if estimate.n_columns == 1 or not self.is_parent.any():
            share = np.exp(estimate.log_marginal) * estimate.can_be_drawn[:, None]
            for j in range(estimate.n_columns):
                states[:, j] = draw_states(share[estimate.start[j] : estimate.start[j + 1] - 1].T[codes], rng)
            return states
        information = mutual_information(estimate.states) if self.weighted else np.ones(estimate.n_columns)
        weight = self.is_parent * (information if (information * self.is_parent).any() else 1.0)
        share = np.exp(estimate.log_joint) * estimate.can_be_drawn[:, None]  # P(y, x_i)
        of_class = np.add.reduceat(share, estimate.start[:-1])  # P(y) by each parent: (n_columns, n_classes)
        parent = draw_states((weight[:, None] * of_class).T[codes], rng)
        for i in np.unique(parent).tolist():
            rows = np.flatnonzero(parent == i)
            y = codes[rows]
            states[rows, i] = draw_states(share[estimate.start[i] : estimate.start[i + 1] - 1].T[y], rng)
            for j in [j for j in range(estimate.n_columns) if j != i]:
                can_be = estimate.can_be_drawn[estimate.start[j] : estimate.start[j + 1] - 1]
                given = np.exp(estimate.log_given(j, i)) * can_be[:, None]
                states[rows, j] = draw_states(given[states[rows, i], :, y], rng)
        return states

    # ------------------------------------------------------------------ parents

    def slots(self, block: Array, removed: Array) -> Array:
        """Slots of the cells that are looked at, in rows (n_rows, n_columns) that are not counted themselves."""
        slots = self.estimate.slots(block)
        return slots if self.implying is None else without_implied(self.estimate, slots, self.implying, removed)

    def weight(self, slots: Array) -> Array:
        """Weight of each head as a parent: (n_rows, n_heads)."""
        weight = self._weight_of_slot[slots[:, self.heads]]
        return _by_information(weight, self._information[self.heads]) if self.weighted else weight

    def weight_without(self, slots: Array, codes: Array, removed: Array) -> Array:
        """The same, each row taken out of the counts."""
        weight = self._can_be_parent(slots[:, self.heads], removed[:, None]).astype(np.float64)
        if not self.weighted:
            return weight
        return _by_information(weight, information_without(self.estimate, slots, codes, removed)[:, self.heads])

    @cached_property
    def _weight_of_slot(self) -> Array:
        return self._can_be_parent(np.arange(self.estimate.n_slots), 0.0).astype(np.float64)

    @cached_property
    def _information(self) -> Array:
        return mutual_information(self.estimate.states)

    def _can_be_parent(self, slots: Array, removed: Any) -> Array:
        """Which slots are values that can be a parent, once a weight is taken out of their counts."""
        estimate = self.estimate
        enough = remainder(estimate.support[slots], removed) >= self.min_support
        can_be = estimate.is_state[slots] & self.is_parent[estimate.column[slots]] & enough
        return can_be & (estimate.n_columns > 1)

    def chunks(self, n_rows: int) -> Iterator[slice]:
        """Cut rows into pieces in which the joints of all parents can be held."""
        size = max(1, CHUNK_TERMS // (len(self.heads) * self.estimate.n_classes))
        return (slice(first, first + size) for first in range(0, n_rows, size))


def _by_information(weight: Array, information: Array) -> Array:
    """Weigh parents by what they tell; in a row where none tells anything, all are equal."""
    informed = weight * information
    return np.where(informed.any(axis=1, keepdims=True), informed, weight)


def log_average(log_joint: Array, weight: Array) -> Array:
    """Logarithm of the weighted mean of joints along axis 0: (n_rows, n_classes).

    `log_joint` is (n_parts, n_rows, n_classes) and is overwritten, `weight` (n_rows, n_parts). Where all weights are
    zero the result is -inf.

    >>> np.exp(log_average(np.log([[[0.25]], [[0.75]]]), np.ones((1, 2))))
    array([[0.5]])
    """
    is_even = bool((weight == 1).all())
    if not is_even:
        log_joint[(weight == 0).T] = -np.inf
    top = log_joint.max(axis=0)
    top[np.isneginf(top)] = 0.0
    log_joint -= top
    np.exp(log_joint, out=log_joint)
    total = weight.sum(axis=1)
    with np.errstate(divide="ignore"):
        mean = np.log(log_joint.sum(axis=0) if is_even else np.einsum("ink,ni->nk", log_joint, weight))
    return mean + top - np.log(np.where(total > 0, total, 1.0))[:, None]
