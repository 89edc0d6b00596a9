"""What super-parents weigh in an average of joints, which of them say anything, and the pairs of a few rows.

**Shares.** How the log-odds of an average split into those of its parts, exactly. With A = sum of A_i and B = sum of
B_i, and the logarithmic mean L(a, b) = (a - b) / (log a - log b),

    log(A / B) = sum_i omega_i log(A_i / B_i),    omega_i = L(A_i, B_i) / L(A, B),

since L(A_i, B_i) log(A_i / B_i) = A_i - B_i. Every log(A_i / B_i) is a sum over the columns of a row, so the whole is.
A part that is possible on one side alone has no finite ratio; it still adds (A_i - B_i) / L(A, B).

**Subsumption.** Of two cells one of which is implied by the other, only the implying one says anything. If every
counted row with x_i also has x_j (pregnant, and so female), P(x_j | y, x_i) is 1 whatever the class, and as a parent
x_j repeats what x_i says. So x_j is left out, as parent and as child. Of two cells that imply one another the first
column is kept. That rows have x_i is believed from `least` of them on.

**Information.** What each column alone tells about the class, MI(X; Y), for each row with that row not counted. Written
as sums of n log n, mutual information is moved by taking a row out in four places only:

    N MI = sum of N(x, y) log N(x, y) - sum of N(x) log N(x) - sum of N(y) log N(y) + N log N

over the rows that have a value in X. `structure.mutual_information` is the same with all rows counted.

**A few rows.** Their pairs are read off the counts one by one.

    P(x_j | y, x_i) = (N(y, x_i, x_j) + a) / (N(y, x_i) - N(y, x_i; j is missing) + v_j a)

A table of all pairs of states has n_slots^2 entries for each class, and a row has n_columns^2 pairs. Where columns are
many and rows few, most of the table would be worked out for nobody; where a column has very many states, the table has
no room, though the counts have: they hold no column beside itself.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import xlogy

from bayeswater.estimate.dirichlet import Prior, log_share
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.inference.log_space import log_ratio
from bayeswater.kernels.remainders import ROUNDING, remainder
from bayeswater.kernels.threads import row_blocks
from bayeswater.records import record
from bayeswater.typing import Array


def parent_shares(log_a: Array, log_b: Array) -> Array:
    """Shares omega of the parts (n_rows, n_parts) of two sums, from their logarithms.

    A part that is impossible in one of the two sums has the share 0: see `one_sided`.

    >>> log_a, log_b = np.log([[0.2, 0.4]]), np.log([[0.1, 0.5]])
    >>> shares = parent_shares(log_a, log_b)
    >>> bool(np.isclose((shares * (log_a - log_b)).sum(), np.log(0.6 / 0.6)))
    True
    """
    with np.errstate(invalid="ignore"):
        shares = np.exp(_log_mean(log_a, log_b) - _log_mean_of_sums(log_a, log_b))
    return np.where(np.isfinite(log_a) & np.isfinite(log_b), shares, 0.0)


def rest_of_prior(shares: Array, is_part: Array, prior: Array) -> Array:
    """What parts (n_rows, n_parts) add so that the log-odds of the class prior (n_rows,) count once in all.

    Every part brings its share of the prior, but shares do not add up to one. What they lack is taken from the parts
    that are there, in proportion to their shares.

    >>> rest_of_prior(np.array([[0.6, 0.2]]), np.ones((1, 2), dtype=bool), np.array([2.0])).sum().round(12)
    np.float64(-0.4)
    """
    parts = np.where(shares.any(axis=1, keepdims=True), shares, is_part)
    whole = parts.sum(axis=1, keepdims=True)
    found: Array = shares - parts / np.where(whole > 0, whole, 1.0)
    return found * np.where(np.isfinite(prior), prior, 0.0)[:, None]  # beside an infinite one nothing else counts


def one_sided(log_a: Array, log_b: Array) -> Array:
    """What parts that are possible in one of two sums alone add to log(A / B): (n_rows, n_parts).

    Where one of the sums is zero that is infinite, and where both are it is nothing.

    >>> log_a, log_b = np.log([[0.2, 0.4]]), np.array([[-np.inf, np.log(0.3)]])
    >>> added = one_sided(log_a, log_b) + parent_shares(log_a, log_b) * np.array([[0.0, np.log(4 / 3)]])
    >>> bool(np.isclose(added.sum(), np.log(2)))
    True
    """
    whole = _log_mean_of_sums(log_a, log_b)
    in_a, in_b = np.isfinite(log_a), np.isfinite(log_b)
    with np.errstate(invalid="ignore"):
        size = np.exp(np.where(in_a, log_a, log_b) - whole)
    return np.where(in_a & ~in_b, size, np.where(in_b & ~in_a, -size, 0.0))


def _log_mean_of_sums(log_a: Array, log_b: Array) -> Array:
    """Logarithm of L(A, B): (n_rows, 1)."""
    with np.errstate(invalid="ignore"):
        return _log_mean(np.logaddexp.reduce(log_a, axis=1), np.logaddexp.reduce(log_b, axis=1))[:, None]


def _log_mean(log_a: Array, log_b: Array) -> Array:
    """Logarithm of the logarithmic mean of two numbers, from their logarithms."""
    gap = np.abs(log_a - log_b)
    small = gap < 1e-5  # the series 1 - g/2 + g^2/6 is exact to the last digit there
    with np.errstate(divide="ignore", invalid="ignore"):
        shrunk = np.where(small, 1 - gap / 2 + gap**2 / 6, -np.expm1(-gap) / np.where(small, 1.0, gap))
        return np.maximum(log_a, log_b) + np.log(shrunk)


def without_implied(estimate: PairEstimate, slots: Array, least: float, removed: Array) -> Array:
    """Slots (n_rows, n_columns) in which the cells that others imply are not there; each row is not counted itself."""
    implied = np.zeros(slots.shape, dtype=bool)
    is_there, count = estimate.is_state[slots], estimate.support[slots]
    order = np.arange(estimate.n_columns)
    for i in range(estimate.n_columns):
        rows = np.flatnonzero(is_there[:, i] & (remainder(count[:, i], removed) >= least))
        together = estimate.pairs_with(i).sum(axis=2)  # N(x_i, x_j): (v_i + 1, n_slots)
        both = together[slots[rows, i, None] - estimate.start[i], slots[rows]]
        follows = is_there[rows] & _equal(both, count[rows, i, None]) & (order != i)
        mutual = follows & _equal(both, count[rows])
        implied[rows] |= follows & ~(mutual & (order < i))
    return np.where(implied, estimate.start[1:] - 1, slots)


def implied_states(estimate: PairEstimate, least: float) -> Array:
    """Which states (first axis) imply which others, for rows that were not counted: (n_slots, n_slots)."""
    implied = np.zeros((estimate.n_slots, estimate.n_slots), dtype=bool)
    count, column = estimate.support, estimate.column
    for i in range(estimate.n_columns):
        rows = slice(estimate.start[i], estimate.start[i + 1])
        both, own = estimate.pairs_with(i).sum(axis=2), count[rows, None]  # N(x_i, x_j): (v_i + 1, n_slots)
        is_there = estimate.is_state[rows, None] & estimate.is_state & (own >= least)
        follows = is_there & _equal(both, own) & (column != i)
        implied[rows] = follows & ~(_equal(both, count) & (column < i))
    return implied


def _equal(a: Array, b: Array) -> Array:
    return np.abs(a - b) <= ROUNDING * b


def information_without(estimate: PairEstimate, slots: Array, codes: Array, removed: Array) -> Array:
    """Mutual information of each column with the class, never negative: (n_rows, n_columns)."""
    start = estimate.start[:-1]
    of_class = estimate.observed  # (n_columns, n_classes)
    total = of_class.sum(axis=1)
    part = (
        np.add.reduceat(_nlogn(estimate.single).sum(axis=1), start)
        - np.add.reduceat(_nlogn(estimate.support), start)
        - _nlogn(of_class).sum(axis=1)
        + _nlogn(total)
    )
    r = np.where(estimate.is_state[slots], removed[:, None], 0.0)
    whole = remainder(total, r)
    moved = (
        _step(estimate.single[slots, codes[:, None]], r)
        - _step(estimate.support[slots], r)
        - _step(of_class.T[codes], r)
        + _step(total, r)
    )
    return np.maximum(part + moved, 0.0) / np.where(whole > 0, whole, 1.0)


def _nlogn(n: Array) -> Array:
    found: Array = xlogy(n, n)
    return found


def _step(n: Array, removed: Array) -> Array:
    """How n log n moves."""
    return _nlogn(remainder(n, removed)) - _nlogn(n)


@record
class NaiveScores:
    """log P(y) + sum of log P(x_j | y) over the columns that are marked as `used` (n_columns,)."""

    prior: Prior
    estimate: PairEstimate
    used: Array

    def terms(self, slots: Array) -> Array:
        """Log P(x_j | y) of each cell: (n_rows, n_columns, n_classes)."""
        return np.where(self.used[:, None], self.estimate.log_marginal[slots], 0.0)

    def terms_without(self, slots: Array, codes: Array, removed: Array) -> Array:
        """The same, each row taken out of the counts."""
        estimate = self.estimate
        own = log_share(
            estimate.single[slots, codes[:, None]],
            estimate.observed.T[codes],
            estimate.cell,
            estimate.n_states,
            removed[:, None],
        )
        terms = self.terms(slots)
        terms[np.arange(len(slots)), :, codes] = np.where(estimate.is_state[slots] & self.used, own, 0.0)
        return terms

    def of(self, slots: Array) -> Array:
        """Log-joints of some rows: (n_rows, n_classes)."""
        return self.prior.log + self.terms(slots).sum(axis=1)

    def without(self, slots: Array, codes: Array, removed: Array) -> Array:
        """Log-joints, each row taken out of the counts: (n_rows, n_classes)."""
        return self.prior.without(codes, removed) + self.terms_without(slots, codes, removed).sum(axis=1)


READ_TERMS = 2**18
"""Probabilities that are held at a time, about."""


def spodes_of_few_rows(estimate: PairEstimate, slots: Array, is_child: Array) -> Array:
    """Log-joints with each column as the parent: (n_columns, n_rows, n_classes)."""
    spodes = estimate.log_joint[slots.T]
    for rows, terms in _conditionals(estimate, slots, is_child):
        spodes[:, rows] += terms.sum(axis=2).swapaxes(0, 1)
    return spodes


def ratios_of_few_rows(estimate: PairEstimate, slots: Array, is_child: Array, chosen: Array, against: Array) -> Array:
    """Log-ratio of P(x_j | y, x_i) in two classes of each row: (n_rows, parent, child), 0 where nothing is known."""
    ratios = np.zeros((*slots.shape, slots.shape[1]))
    for rows, terms in _conditionals(estimate, slots, is_child):
        a, b = (np.take_along_axis(terms, y[rows, None, None, None], 3)[..., 0] for y in (chosen, against))
        ratios[rows] = log_ratio(a, b)
    return ratios


def _conditionals(estimate: PairEstimate, slots: Array, is_child: Array) -> Iterator[tuple[slice, Array]]:
    """Give log P(x_j | y, x_i) of some rows at a time: (n_rows, parent, child, n_classes), 0 where nothing is known."""
    for rows, count, observed in _pairs(estimate, slots, None):
        terms = log_share(count, observed, estimate.cell[:, None], estimate.n_states[:, None])
        yield rows, np.where(_are_known(estimate, slots[rows], is_child)[..., None], terms, 0.0)


def own_class_of_few_rows(estimate: PairEstimate, slots: Array, codes: Array, removed: Array, is_child: Array) -> Array:
    """Sum, for each row and parent, the terms of its own class, the row taken out: (n_columns, n_rows)."""
    total = np.zeros(slots.T.shape)
    for rows, count, observed in _pairs(estimate, slots, codes):
        terms = log_share(count, observed, estimate.cell, estimate.n_states, removed[rows, None, None])
        there = _are_known(estimate, slots[rows], is_child)
        total[:, rows] = np.where(there, terms, 0.0).sum(axis=2).T
    return total


def _are_known(estimate: PairEstimate, slots: Array, is_child: Array) -> Array:
    """Which pairs of a parent and a child say something: (n_rows, n_columns, n_columns)."""
    is_state = estimate.is_state[slots]
    return is_state[:, :, None] & (is_state & is_child)[:, None] & ~np.eye(slots.shape[1], dtype=bool)


def _pairs(estimate: PairEstimate, slots: Array, codes: Array | None) -> Iterator[tuple[slice, Array, Array]]:
    """Give N(y, x_i, x_j) and N(y, x_i; j is there) of some rows at a time: (n_rows, n_columns, n_columns, n_classes).

    With `codes` (n_rows,) those of the class of each row alone. What is not there, and a column beside itself, has
    counts that mean nothing.
    """
    counts = estimate.counts
    width, order = counts.n_states + 1, np.arange(estimate.n_columns)
    high, low = np.maximum.outer(order, order), np.minimum.outer(order, order)
    first, across = counts.pair_start[high, low], width[low]
    step = np.where(order[:, None] > order, 1, width[:, None])  # from one state of the child to the next
    lacks = ~estimate.empty_is_state & counts.table[counts.start[1:] - 1].any(axis=1)
    n_at_once = max(1, READ_TERMS // (estimate.n_columns**2 * (estimate.n_classes if codes is None else 1)))
    for rows in row_blocks(len(slots) if estimate.n_columns > 1 else 0, n_at_once):
        y = slice(None) if codes is None else codes[rows, None, None]
        place = np.minimum(slots[rows] - estimate.start[:-1], width - 1)
        pair = first + place[:, high] * across + place[:, low]
        pair[:, order, order] = 0
        observed = estimate.single[slots[rows, :, None], y]
        if lacks.any():
            missing = pair + (width - 1 - place)[:, None] * step
            missing[:, order, order] = 0
            cells = counts.pairs[missing, y]
            observed = remainder(observed, np.where(lacks.reshape(-1, *[1] * (cells.ndim - 3)), cells, 0))
        yield rows, counts.pairs[pair, y], observed
