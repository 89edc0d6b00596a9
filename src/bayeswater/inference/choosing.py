"""Choices of a structure by leave-one-out: the prefixes of SKDB and of AODE, and the rows that validate them.

All are compared by the squared error (1 - P(y | x))^2 of the true class, each row taken out of the counts. Equal rows
say the same, so one validates with the weight of all. Kinds of rows stand in the order of a hash of their cells: the
first of them are a fair sample, which neither the order of the rows nor their repetition changes. So a row of weight 2
chooses what two equal rows do. Rows of equal hash are taken for equal; among a million rows, two that are not meet once
in thirty million tables.

**SKDB.** Columns stand in the order of what they tell about the class. A model (k, a) has the first a columns, each
with its first k parents. With a row taken out, its joints grow column by column, for every k at once, so that all
models are scored at about the price of one. A row with missing parents is filled in with all that they can be
(`inference.missing_parents`). Of these there may be many for each row: rows with too many validate nothing, and of the
others, where they are many, the first do in the place of all.

**AODE.** A model (p, c) takes the first p columns as parents and the first c as children. With a row taken out, the
products over children grow along the order, and the sums over parents too: so all d x d models are scored at the price
of one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayeswater.data.reading.coded_table import DiscreteTable
from bayeswater.data.reading.row_hashes import hashed
from bayeswater.inference.dependence import Dependence, Removed
from bayeswater.inference.missing_parents import Filled, filled
from bayeswater.inference.scoring import SCORING_ROWS
from bayeswater.inference.super_parents import SuperParents
from bayeswater.kernels.prefix_losses import squared_errors
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.typing import Array

LAST_DIGITS = 1e-12
"""Share of a loss that is rounding."""


def squared_error(scores: Array, prior: Array, codes: Array) -> Array:
    """(1 - P(y | x))^2 from log-joints (n_rows, ..., n_classes) of several models: (n_rows, ...).

    Where no class is possible, the posterior is the prior, which is given by its logarithm (n_rows, n_classes).

    >>> squared_error(np.log([[0.3, 0.1]]), np.log([[0.5, 0.5]]), np.array([0]))
    array([0.0625])
    """
    between = tuple(range(1, scores.ndim - 1))
    top = scores.max(axis=-1, keepdims=True)
    if np.isneginf(top).any():
        scores = np.where(np.isneginf(top), np.expand_dims(prior, between), scores)
        top = scores.max(axis=-1, keepdims=True)
    share = np.exp(scores - top)
    own = share[np.arange(len(codes)), ..., codes]
    squared: Array = (1.0 - own / share.sum(axis=-1)) ** 2
    return squared


def first_of_least(losses: Array) -> tuple[int, ...]:
    """Place of the least loss; of equal ones, but for rounding, the first: the simplest model."""
    enough = losses <= losses.min() * (1 + LAST_DIGITS)
    return tuple(np.argwhere(enough)[0].tolist())


class ValidationRows(NamedTuple):
    """One row of each kind, by its place, and the weight of the kind: both (n_kinds,)."""

    rows: Array
    weight: Array


def validation_rows(table: DiscreteTable, codes: Array, removed: Array, weight: Array, most: int) -> ValidationRows:
    """Give up to `most` kinds of rows: of equal cells, class and removed weight. Rows of weight 0 do not validate."""
    can = np.flatnonzero(weight > 0)

    def hashes(rows: slice) -> Array:
        return row_hash(table.block(rows), codes[rows], removed[rows])

    found = np.concatenate(list(ordered_map(hashes, row_blocks(len(codes), SCORING_ROWS))))
    _, first, kind = np.unique(found[can], return_index=True, return_inverse=True)
    return ValidationRows(can[first[:most]], np.bincount(kind, weights=weight[can])[:most])


def row_hash(block: Array, codes: Array, removed: Array) -> Array:
    """Hash the cells, the class and the removed weight of each row: (n_rows,)."""
    found = hashed(np.asarray(removed, dtype=np.float64).view(np.uint64))
    for column in (codes, *block.T):
        found = hashed(found ^ column.astype(np.uint64))
    return found


MOST_JUDGING = 2**10
"""Combinations up to which a row with missing parents is looked at."""

FILLED_JUDGING = 2**16
"""Filled rows that are looked at, at most."""


def prefix_losses(
    joint: Dependence,
    order: Sequence[int],
    block: Array,
    codes: Array,
    removed: Array,
    weight: Array,
    *,
    use_loop: bool,
) -> Array:
    """Sum of squared errors of all models over some rows, each taken out: (n_levels, 1 + n_columns).

    `order` are the columns, `weight` (n_rows,) says how often each row counts; one of weight 0 is not looked at.
    """
    block, codes, removed, weight = (each[weight > 0] for each in (block, codes, removed, weight))
    states = joint.states(block)
    gaps = joint.gaps(states)
    whole = np.asarray(~gaps.any(axis=1))
    out = Removed(codes, removed, joint.is_there(states))
    prior = joint.prior.without(codes, removed)
    losses = np.zeros((joint.n_levels, len(order) + 1))
    if whole.any():
        losses += _losses(joint, order, states[whole], out.take(whole), prior[whole], weight[whole], use_loop)
    rows = np.flatnonzero(~whole)
    for part in filled(states[rows], gaps[rows], joint.n_states):
        own = rows[part.rows]
        inner = out.take(rows[part.row])
        losses += _losses_of_filled(joint, order, part, gaps[own], inner, prior[own], weight[own], use_loop)
    return losses


def validation_weight(n_combinations: Array, weight: Array) -> Array:
    """Weight with which each row validates: those whose combinations are too many have none, and others stand for them.

    >>> validation_weight(np.array([1.0, 2.0**20, 3.0]), np.array([5.0, 1.0, 2.0]))
    array([5., 0., 3.])
    """
    is_filled = n_combinations > 1
    within = is_filled & (n_combinations <= MOST_JUDGING)
    within &= np.cumsum(np.where(within, n_combinations, 0.0)) <= FILLED_JUDGING
    times = np.where(is_filled, 0.0, weight)
    if within.any():
        times[within] = weight[within] * (weight[is_filled].sum() / weight[within].sum())
    return times


def _losses(
    joint: Dependence,
    order: Sequence[int],
    states: Array,
    removed: Removed,
    prior: Array,
    weight: Array,
    use_loop: bool,
) -> Array:
    """Losses of rows without gaps."""
    chance = np.exp(prior)

    def errors(mantissa: Array, exponent: Array) -> Array:
        return squared_errors(mantissa, exponent, chance, removed.codes, weight, use_loop=use_loop)

    return joint.prefix_losses(order, states, removed, prior, errors, use_loop)


def _losses_of_filled(
    joint: Dependence,
    order: Sequence[int],
    part: Filled,
    gaps: Array,
    removed: Removed,
    prior: Array,
    weight: Array,
    use_loop: bool,
) -> Array:
    """Losses of rows whose gaps (n_rows, n_columns) were filled in."""
    codes = removed.codes[part.first]
    total = np.zeros((joint.n_levels, len(part.states), joint.estimate.n_classes))
    # While a missing column has not come yet, each of its states stands for the same row.
    repeated = np.log(np.where(gaps, joint.n_states, 1)).sum(axis=1)
    losses = np.empty((joint.n_levels, len(order) + 1))
    losses[:, 0] = weight @ squared_error(prior, prior, codes)
    for place, j in enumerate(order, start=1):
        with np.errstate(divide="ignore"):
            terms = np.log(joint.terms(j, part.states, removed, every_level=True, use_loop=use_loop))
        repeated -= np.log(np.where(gaps[:, j], joint.n_states[j], 1))
        for level in range(joint.n_levels):
            total[level] += terms[min(level, len(terms) - 1)]
            scores = part.log_sum(total[level]) - repeated[:, None]
            losses[level, place] = weight @ squared_error(scores + prior, prior, codes)
    return losses


def nested_losses(
    joint: SuperParents, order: Array, block: Array, codes: Array, removed: Array, weight: Array
) -> Array:
    """Sum of squared errors of every model (p, c) over some rows, each taken out: (n_columns, n_columns).

    `order` (n_columns,) are the columns, `weight` (n_rows,) says how often each row counts.
    """
    estimate = joint.estimate
    losses = np.zeros((estimate.n_columns, estimate.n_columns))
    size = max(1, 2**20 // (estimate.n_columns * estimate.n_classes))
    for first in range(0, len(block), size):
        rows = slice(first, first + size)
        losses += _nested_losses(joint, order, block[rows], codes[rows], removed[rows], weight[rows])
    return losses


def _nested_losses(
    joint: SuperParents, order: Array, block: Array, codes: Array, removed: Array, weight: Array
) -> Array:
    slots = joint.slots(block, removed)
    root = joint.log_joint_without(slots, codes, removed)
    of_parent = joint.weight_without(slots, codes, removed)
    naive = joint.naive.prior.without(codes, removed)[:, None] + np.cumsum(
        joint.naive.terms_without(slots, codes, removed)[:, order], axis=1
    )
    shift, prior = joint.prior.shift_without(codes, removed), joint.prior.without(codes, removed)
    total = np.full_like(naive, -np.inf)  # joints of all parents so far: (n_rows, n_children, n_classes)
    losses = np.empty((len(order), len(order)))
    for p, i in enumerate(order.tolist()):
        terms = joint.log_conditional[slots[:, i, None], slots]
        terms[np.arange(len(codes)), :, codes] = joint.own_without(i, slots, codes, removed)
        terms = terms[:, order]
        spode = root[:, i, None] + np.cumsum(terms, axis=1)
        with np.errstate(divide="ignore"):
            total = np.logaddexp(total, spode + np.log(of_parent[:, i])[:, None, None])
        alone = np.asarray(~of_parent[:, order[: p + 1]].any(axis=1))
        scores = np.where(alone[:, None, None], naive, total)
        losses[p] = weight @ squared_error(scores if shift is None else scores + shift[:, None], prior, codes)
    return losses
