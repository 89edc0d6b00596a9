"""Probabilities of the pairs that a few rows have, read off the counts one by one.

    P(x_j | y, x_i) = (N(y, x_i, x_j) + a) / (N(y, x_i) - N(y, x_i; j is missing) + v_j a)

A table of all pairs of states has n_slots^2 entries for each class, and a row has n_columns^2 pairs. Where columns are
many and rows few, most of the table would be worked out for nobody; where a column has very many states, the table has
no room, though the counts have: they hold no column beside itself.
"""

from collections.abc import Iterator

import numpy as np

from bayeswater.estimate.pairs import PairEstimate
from bayeswater.estimate.pseudo_counts import log_share
from bayeswater.inference.log_space import log_ratio
from bayeswater.kernels.threads import row_blocks
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import Array

READ_TERMS = 2**18
"""Probabilities that are held at a time, about."""


def spodes_of_few_rows(estimate: PairEstimate, slots: Array, is_child: Array) -> Array:
    """Log-joints with each column as the parent: (n_columns, n_rows, n_classes)."""
    spodes = estimate.log_joint[slots.T]
    for rows, terms in _conditionals(estimate, slots, is_child):
        spodes[:, rows] += terms.sum(axis=2).swapaxes(0, 1)
    return spodes


def ratios_of_few_rows(estimate: PairEstimate, slots: Array, is_child: Array, chosen: Array, against: Array) -> Array:
    """Log-ratio of P(x_j | y, x_i) in two classes of each row: (n_rows, parent, child), 0 where nothing is told."""
    ratios = np.zeros((*slots.shape, slots.shape[1]))
    for rows, terms in _conditionals(estimate, slots, is_child):
        a, b = (np.take_along_axis(terms, y[rows, None, None, None], 3)[..., 0] for y in (chosen, against))
        ratios[rows] = log_ratio(a, b)
    return ratios


def _conditionals(estimate: PairEstimate, slots: Array, is_child: Array) -> Iterator[tuple[slice, Array]]:
    """Give log P(x_j | y, x_i) of some rows at a time: (n_rows, parent, child, n_classes), 0 where nothing is told."""
    for rows, count, observed in _pairs(estimate, slots, None):
        terms = log_share(count, observed, estimate.cell[:, None], estimate.n_states[:, None])
        yield rows, np.where(_are_told(estimate, slots[rows], is_child)[..., None], terms, 0.0)


def own_class_of_few_rows(estimate: PairEstimate, slots: Array, codes: Array, removed: Array, is_child: Array) -> Array:
    """Sum, for each row and parent, the terms of its own class, the row taken out: (n_columns, n_rows)."""
    total = np.zeros(slots.T.shape)
    for rows, count, observed in _pairs(estimate, slots, codes):
        terms = log_share(count, observed, estimate.cell, estimate.n_states, removed[rows, None, None])
        there = _are_told(estimate, slots[rows], is_child)
        total[:, rows] = np.where(there, terms, 0.0).sum(axis=2).T
    return total


def _are_told(estimate: PairEstimate, slots: Array, is_child: Array) -> Array:
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
