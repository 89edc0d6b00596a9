"""The choice of SKDB: how many columns, and how many parents of each, judged in one leave-one-out pass.

Columns stand in the order of what they tell about the class. A model (k, a) has the first a columns, each with its
first k parents. With a row taken out, its joints grow column by column, for every k at once, so that all models are
scored at about the price of one. They are judged by the squared error (1 - P(y | x))^2 of the true class.

A row with missing parents is filled in with all that they can be (`inference.filled_rows`). Of these there may be many
for each row: rows with too many judge nothing, and of the others, where they are many, the first do in the place of
all. Rows stand in the order of a hash (`inference.judging_rows`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayeswater.inference.dependence import Dependence, Removed
from bayeswater.inference.filled_rows import Filled, filled
from bayeswater.inference.squared_error import first_of_least, squared_error
from bayeswater.kernels.prefix_losses import multiply, squared_errors
from bayeswater.typing import Array

MOST_JUDGING = 2**10
"""Combinations up to which a row with missing parents is looked at."""

FILLED_JUDGING = 2**16
"""Filled rows that are looked at, at most."""


class Choice(NamedTuple):
    """The best number of parents, and of columns."""

    n_parents: int
    n_columns: int


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


def weight_of_judges(n_combinations: Array, weight: Array) -> Array:
    """Weight with which each row judges: those whose combinations are too many have none, and others stand for them.

    >>> weight_of_judges(np.array([1.0, 2.0**20, 3.0]), np.array([5.0, 1.0, 2.0]))
    array([5., 0., 3.])
    """
    is_filled = n_combinations > 1
    within = is_filled & (n_combinations <= MOST_JUDGING)
    within &= np.cumsum(np.where(within, n_combinations, 0.0)) <= FILLED_JUDGING
    times = np.where(is_filled, 0.0, weight)
    if within.any():
        times[within] = weight[within] * (weight[is_filled].sum() / weight[within].sum())
    return times


def best_of_prefixes(losses: Array) -> Choice:
    """Give the model of least loss; of equal ones the one of fewest parents, then of fewest columns."""
    return Choice(*first_of_least(losses))


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
    shape = joint.n_levels, *prior.shape
    mantissa, exponent = np.broadcast_to(np.exp(prior), shape).copy(), np.zeros(shape, dtype=np.int32)
    chance = np.exp(prior)

    def errors() -> Array:
        return squared_errors(mantissa, exponent, chance, removed.codes, weight, use_loop=use_loop)

    losses = [errors()]
    for j in order:
        terms = joint.terms(j, states, removed, every_level=True, use_loop=use_loop)
        multiply(terms, mantissa, exponent, use_loop=use_loop)
        losses.append(errors())
    return np.stack(losses, axis=1)


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
