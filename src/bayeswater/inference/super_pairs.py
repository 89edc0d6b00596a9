"""Log-joint of averaged two-dependence estimators: every two columns in turn are the parents of all the others.

    P(y, x) = mean over pairs i, j of P(y, x_i, x_j) prod_{c != i, j} P(x_c | y, x_i, x_j)

A pair is a parent of a row if both cells are there and were counted together often enough. A row without such a pair is
scored by AODE (`inference.super_parents`), and by naive Bayes where that has no parent either.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.estimate.dirichlet import Prior, log_share
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.inference.drawing import draw_states
from bayeswater.inference.log_space import log_ratio
from bayeswater.inference.parent_weights import one_sided, parent_shares, rest_of_prior
from bayeswater.inference.scoring import JointWithout
from bayeswater.inference.super_parents import SuperParents
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.super_parents import Slots, TriplePlaces, add_in_log_space, add_joints, pair_table
from bayeswater.records import record
from bayeswater.statistics.pair_counts import TripleCounts
from bayeswater.typing import Array

MOST_TABLE_CELLS = 2**22
"""Cells of the table of one pair up to which it is laid out; of larger ones only what the rows have is looked up."""

CHUNK_TERMS = 2**20
"""Terms that are held at a time where rows are explained."""

Pair = tuple[int, int]
"""Two columns, the later one first, as triples are counted."""


@record
class SuperPairs:
    """Counts of triples as probabilities, and how often a pair must have been counted to be a parent."""

    prior: Prior
    estimate: PairEstimate
    counts: TripleCounts
    min_support: float

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.prior.log

    @cached_property
    def fallback(self) -> SuperParents:
        """AODE, by which rows without a pair are scored."""
        every = np.ones(self.estimate.n_columns, dtype=bool)
        return SuperParents(self.prior, self.estimate, self.min_support, self.estimate.is_usual, every)

    @property
    def pairs(self) -> Iterator[Pair]:
        """All pairs of columns that can be parents."""
        return ((i, j) for j, i in combinations(np.flatnonzero(self.estimate.is_usual).tolist(), 2))

    @property
    def n_parameters(self) -> int:
        """Free parameters of all pairs; where there is none, of the AODE in their place."""
        k, v = self.estimate.n_classes, self.estimate.n_states.tolist()
        free = [max(n - 1, 0) for n in v]
        each = [k * v[i] * v[j] * (1 + sum(free) - free[i] - free[j]) - 1 for i, j in self.pairs]
        return sum(each) if each else self.fallback.n_parameters

    # ------------------------------------------------------------------ probabilities of one pair

    def places(self, pair: Pair) -> TriplePlaces:
        """Where the triples of a pair with each third column stand."""
        (i, j), width, counts = pair, self.counts.n_states + 1, self.counts
        columns = np.arange(len(width))
        first, step_i, step_j, step_c = np.zeros((4, len(width)), dtype=np.int64)
        over, under = columns > i, columns < j
        between = ~over & ~under & (columns != i) & (columns != j)
        first[over] = counts.triple_base[:-1][over] + width[over] * counts.pair_start[i, j]
        step_i[over], step_j[over], step_c[over] = width[j], 1, width[i] * width[j]
        first[between] = counts.triple_base[i] + width[i] * counts.pair_start[between, j]
        step_i[between], step_j[between], step_c[between] = width[between] * width[j], 1, width[j]
        first[under] = counts.triple_base[i] + width[i] * counts.pair_start[j, under]
        step_i[under], step_j[under], step_c[under] = width[j] * width[under], width[under], 1
        return TriplePlaces(first, step_i, step_j, step_c, (columns != i) & (columns != j))

    @cached_property
    def _slots(self) -> Slots:
        estimate = self.estimate
        missing = np.where(estimate.missing_is_state, -1, self.counts.n_states)
        return Slots(estimate.start.astype(np.int64), missing, estimate.cell)

    def _n_joint(self, pair: Pair) -> int:
        """Cells of the joint distribution of the class and a pair."""
        v = self.estimate.n_states
        return int(self.estimate.n_classes * v[pair[0]] * v[pair[1]])

    def log_root(self, pair: Pair, of_others: float = 0.0, of_own: float = 0.0) -> Array:
        """Logarithm of P(y, x_i, x_j): (v_i, v_j, n_classes).

        With `of_others` a row is taken out with this weight that has both cells; with `of_own`, one that has the very
        states and the class of the entry.
        """
        together, n_cells = self.estimate.pair(*pair), self._n_joint(pair)
        cell = float(self.estimate.smoothing.of(n_cells))
        smoothed = remainder(together, of_own) + cell
        whole = float(remainder(together.sum(), max(of_others, of_own))) + n_cells * cell
        with np.errstate(divide="ignore"):
            return np.log(smoothed / whole) if whole > 0 else np.full(together.shape, -np.log(max(n_cells, 1)))

    def log_given(self, c: int, pair: Pair) -> Array:
        """Logarithm of P(x_c | y, x_i, x_j): (v_i, v_j, v_c, n_classes)."""
        v = self.estimate.n_states
        cells = self.counts.of_triple(*pair, c)[: v[pair[0]], : v[pair[1]], : v[c]]
        return log_share(cells, cells.sum(axis=2, keepdims=True), self.estimate.cell[c], v[c])

    def _can_be_parents(self, pair: Pair, removed: Any) -> Array:
        """Which states of a pair were counted together often enough: (v_i, v_j)."""
        enough: Array = remainder(self.estimate.pair(*pair).sum(axis=2), removed) >= self.min_support
        return enough

    # ------------------------------------------------------------------ scores of rows

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of codes: (n_rows, n_classes)."""
        slots = self.estimate.slots(block)
        joint, n_pairs = self._summed(slots, None, None, use_loop)
        if self.prior.shift is not None:
            joint += self.prior.shift
        alone = n_pairs == 0
        if alone.any():
            joint[alone] = self.fallback.of(block[alone], use_loop)
        return joint

    def without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        """Give a function of some rows: their log-joints, each row taken out, and the prior without it."""
        fallback = self.fallback.without(table, labels, removed)

        def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
            slots, y, weight = self.estimate.slots(table.block(rows)), labels.codes[rows], removed[rows]
            joint, n_pairs = self._summed(slots, y, weight, use_loop)
            shift = self.prior.shift_without(y, weight)
            if shift is not None:
                joint += shift
            alone = n_pairs == 0
            if alone.any():
                joint[alone] = fallback(rows, use_loop)[0][alone]
            return joint, self.prior.without(y, weight)

        return log_joint

    def _summed(self, slots: Array, codes: Array | None, removed: Array | None, use_loop: bool) -> tuple[Array, Array]:
        """Mean of the joints of all pairs (n_rows, n_classes), and how many there are in each row."""
        top = np.full((len(slots), self.estimate.n_classes), -np.inf)
        total, n_pairs = np.zeros_like(top), np.zeros(len(slots))
        one_weight = removed is None or bool((removed == removed[0]).all())
        use_loop = use_loop or worth_compiling(slots.size * self.estimate.n_columns**2 // 2)  # a pair for each cell
        slots = slots.astype(np.int64, copy=False)  # the kind that the loop takes, for all pairs at once
        for pair in self.pairs:
            states = self._states_of(pair, slots)
            n_cells = int(np.prod(self.estimate.n_states[list(pair)])) * self.estimate.n_slots * self.estimate.n_classes
            if use_loop and one_weight and n_cells <= MOST_TABLE_CELLS:
                r = 0.0 if removed is None else float(removed[0])
                v_j = int(self.estimate.n_states[pair[1]])
                can_be = np.append(self._can_be_parents(pair, r).reshape(-1), False)  # the last: not there
                number = np.where(states[0] < 0, -1, states[0] * v_j + states[1])
                number = np.where(can_be[number], number, -1)
                root, table = self._laid_out(pair, 0.0, r)
                own = None if codes is None else (codes, *self._laid_out(pair, r, r))
                add_joints(number, slots, root, table, own, top, total, use_loop=True)
                n_pairs += number >= 0
            else:
                joint, rows = self._looked_up(pair, states, slots, codes, removed)
                add_in_log_space(joint, rows, top, total)
                n_pairs[rows] += 1
        with np.errstate(divide="ignore"):
            top += np.log(total)
            top -= np.log(np.maximum(n_pairs, 1))[:, None]
        return top, n_pairs

    def _states_of(self, pair: Pair, slots: Array) -> Array:
        """States of a pair in each row (2, n_rows); -1 where one of them is not there."""
        estimate = self.estimate
        states = slots[:, list(pair)].T - estimate.start[list(pair), None]
        there = (states < estimate.n_states[list(pair), None]).all(axis=0)
        return np.where(there, states, -1)

    def _laid_out(self, pair: Pair, of_own: float, of_others: float) -> tuple[Array, Array]:
        """Logarithms of P(y, x_i, x_j) and of P(x_c | y, x_i, x_j), for all states of a pair."""
        root = self.log_root(pair, of_others, of_own).reshape(-1, self.estimate.n_classes)
        together = self.estimate.pair(*pair)
        table = pair_table(self.counts.triples, together, self.places(pair), self._slots, of_own, use_loop=True)
        return root, table

    def _looked_up(
        self, pair: Pair, states: Array, slots: Array, codes: Array | None, removed: Array | None
    ) -> tuple[Array, Array]:
        """Joints (n, n_classes) of the rows (n,) in which a pair is a parent."""
        estimate = self.estimate
        taken = np.zeros(len(slots)) if removed is None else removed
        together = estimate.pair(*pair)
        rows = np.flatnonzero(states[0] >= 0)
        support = together.sum(axis=2)[states[0, rows], states[1, rows]]
        rows = rows[remainder(support, taken[rows]) >= self.min_support]
        a, b = states[:, rows]
        terms = self._terms(pair, a, b, slots[rows], None if codes is None else codes[rows], taken[rows])
        n_cells, r = self._n_joint(pair), taken[rows, None]
        own = np.zeros((len(rows), estimate.n_classes))
        if codes is not None:
            own[np.arange(len(rows)), codes[rows]] = taken[rows]
        cell = float(estimate.smoothing.of(n_cells))
        whole = remainder(together.sum(), r) + n_cells * cell
        known = whole > 0
        with np.errstate(divide="ignore"):
            root = np.log(np.where(known, remainder(together[a, b], own) + cell, 1.0))
        return root - np.log(np.where(known, whole, max(n_cells, 1))) + terms.sum(axis=1), rows

    def _terms(self, pair: Pair, a: Array, b: Array, slots: Array, codes: Array | None, removed: Array) -> Array:
        """Logarithm of P(x_c | y, x_i, x_j) of rows with these states: (n_rows, n_columns, n_classes)."""
        estimate, places = self.estimate, self.places(pair)
        state = slots - estimate.start[:-1]
        there = (state < estimate.n_states) & places.is_other
        row = places.first + a[:, None] * places.step_a + b[:, None] * places.step_b
        triples = self.counts.triples if len(self.counts.triples) else np.zeros((1, estimate.n_classes))
        count = triples[np.where(there, row + state * places.step_c, 0)]
        whole = np.repeat(estimate.pair(*pair)[a, b][:, None], len(places.first), axis=1)
        lacks = there & ~estimate.empty_is_state
        missing = triples[np.where(lacks, row + self.counts.n_states * places.step_c, 0)]
        whole = whole - np.where(lacks[:, :, None], missing, 0)
        own = np.zeros((len(slots), 1, estimate.n_classes))
        if codes is not None:
            own[np.arange(len(slots)), 0, codes] = removed
        found = log_share(count, whole, estimate.cell[:, None], estimate.n_states[:, None], own)
        return np.where(there[:, :, None], found, 0.0)

    # ------------------------------------------------------------------ reasons and drawn rows

    def pair_terms(self, block: Array, chosen: Array, against: Array) -> tuple[Array, Array]:
        """What the prior, and every cell given its parents, add to the log-odds of two classes in each row.

        Gives the intercept (n_rows,) and (n_rows, parent, column), which add up to the log-odds: each pair of parents
        has its share of them (`inference.parent_weights`), of which either parent is given a half. What parents say
        themselves stands on the diagonal.
        """
        size = max(1, CHUNK_TERMS // (self.estimate.n_columns**3))
        parts = [
            self._pair_terms(block[first : first + size], chosen[first : first + size], against[first : first + size])
            for first in range(0, len(block), size)
        ]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _pair_terms(self, block: Array, chosen: Array, against: Array) -> tuple[Array, Array]:
        estimate = self.estimate
        slots, n_rows, every = self.estimate.slots(block), len(block), list(self.pairs)
        joints, alone = np.full((2, n_rows, max(len(every), 1)), -np.inf), np.ones(n_rows, dtype=bool)
        ratios = np.zeros((n_rows, len(every), estimate.n_columns))
        prior = log_ratio(self.prior.counted[chosen], self.prior.counted[against])
        for number, pair in enumerate(every):
            states = self._states_of(pair, slots)
            joint, rows = self._looked_up(pair, states, slots, None, None)
            at, alone[rows] = np.arange(len(rows)), False
            joints[0, rows, number], joints[1, rows, number] = joint[at, chosen[rows]], joint[at, against[rows]]
            terms = self._terms(pair, states[0, rows], states[1, rows], slots[rows], None, np.zeros(len(rows)))
            ratios[rows, number] = log_ratio(terms[at, :, chosen[rows]], terms[at, :, against[rows]])
            root = self.log_root(pair)[states[0, rows], states[1, rows]]
            own = log_ratio(root[at, chosen[rows]], root[at, against[rows]]) - prior[rows]
            ratios[rows[:, None], number, list(pair)] = own[:, None] / 2
        shares, beside = parent_shares(joints[0], joints[1]), one_sided(joints[0], joints[1])
        beside = beside + rest_of_prior(shares, np.isfinite(joints.max(axis=0)), prior)
        pairs = np.zeros((n_rows, estimate.n_columns, estimate.n_columns))
        for number, (i, j) in enumerate(every):
            with np.errstate(invalid="ignore"):
                said = np.where(shares[:, number, None] > 0, shares[:, number, None] * ratios[:, number], 0.0)
            for parent, other in ((i, j), (j, i)):
                half = said / 2
                half[:, other], half[:, parent] = 0.0, said[:, parent] + beside[:, number] / 2
                pairs[:, parent] += half
        intercept = prior
        if self.prior.shift is not None:
            intercept = intercept + log_ratio(self.prior.shift[chosen], self.prior.shift[against])
        if alone.any():
            intercept[alone], pairs[alone] = self.fallback.pair_terms(block[alone], chosen[alone], against[alone])
        return intercept, pairs

    def draw(self, codes: Array, rng: np.random.Generator) -> Array:
        """Draw the states (n_rows, n_columns) of rows of the given classes: a pair, its states, and all others by them.

        Every pair of values can be a parent here, however rare.
        """
        estimate = self.estimate
        every = [pair for pair in self.pairs if estimate.n_states[list(pair)].all()]
        if not every:
            return self.fallback.draw(codes, rng)
        can_be = [
            estimate.can_be_drawn[estimate.start[j] : estimate.start[j + 1] - 1] for j in range(estimate.n_columns)
        ]
        shares = [np.exp(self.log_root(pair)) * np.outer(can_be[pair[0]], can_be[pair[1]])[..., None] for pair in every]
        of_class = np.stack([share.sum(axis=(0, 1)) for share in shares], axis=1)  # P(y) by each pair
        parent = draw_states(of_class[codes], rng)
        states = np.empty((len(codes), estimate.n_columns), dtype=np.int64)
        for number in np.unique(parent).tolist():
            rows, pair = np.flatnonzero(parent == number), every[number]
            y, (v_i, v_j) = codes[rows], estimate.n_states[list(pair)].tolist()
            both = draw_states(shares[number].reshape(v_i * v_j, -1).T[y], rng)
            a, b = np.divmod(both, v_j)
            states[rows, pair[0]], states[rows, pair[1]] = a, b
            for c in [c for c in range(estimate.n_columns) if c not in pair]:
                given = np.exp(self.log_given(c, pair)) * can_be[c][:, None]
                states[rows, c] = draw_states(given[a, b, :, y], rng)
        return states
