"""Exact leave-one-out scores: every row against the sums without it, at the price of a few predictions.

A row of weight w stands for w equal rows, so leaving one out takes away r = min(w, 1). Only the terms that the
row itself had a part in are read again: those of its own class, and for complement counts those of all other
classes.
"""

import numpy as np

from bayeswater.data.matrix import SparseMatrix
from bayeswater.estimate.categories import column_totals
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.feature_sums import BinaryCounts
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import Array

STRETCH_CELLS = 2**17
"""Cells of rows that are worked on together where every row has parameters of its own."""


def removed_weight(weight: Array | None, n_rows: int) -> Array:
    """Weight that leaving each row out takes away: (n_rows,)."""
    return np.ones(n_rows) if weight is None else np.minimum(weight, 1.0)


def leave_out_own_class(likelihood: Array, own: Array, codes: Array) -> Array:
    """Put each row's own-class log-likelihood without itself (n_rows,) in its place (overwritten)."""
    likelihood[np.arange(len(own)), codes] = own
    return likelihood


def log_prior_without(count: Array, class_alpha: float, codes: Array, removed: Array) -> Array:
    """Log class prior for each row with that row taken out of the class counts: (n_rows, n_classes)."""
    smoothed = count + class_alpha
    own = remainder(count[codes], removed) + class_alpha
    total = smoothed.sum() - smoothed[codes] + own  # (n_rows,)
    with np.errstate(divide="ignore"):
        log_total = np.log(np.where(total > 0, total, 1.0))
        prior = np.log(smoothed) - log_total[:, None]
        leave_out_own_class(prior, np.log(own) - log_total, codes)
    prior[total <= 0] = -np.log(len(count))
    return prior


def states_own_without(
    codes: Array,
    y: Array,
    removed: Array,
    counts: CategoryCounts,
    concentration: Array,
    *,
    missing_is_state: bool | Array,
) -> Array:
    """Log-likelihood of each row in its own class, the row itself taken out with a weight of its own: (n_rows,)."""
    totals = column_totals(counts.table, counts.start, concentration, missing_is_state=missing_is_state)
    n_domain, pseudo_count, count = (part.T for part in totals)  # (1 or n_classes, n_columns)
    own = np.empty(len(y))
    stretch = max(1, STRETCH_CELLS // codes.shape[1])
    for first in range(0, len(y), stretch):
        rows = slice(first, first + stretch)
        state, k, r = codes[rows], y[rows], removed[rows, None]
        entry = counts.start[:-1] + np.minimum(state, counts.n_states)  # (n_rows, n_columns)
        total = remainder(count[k], r) + pseudo_count
        empty = total == 0
        smoothed = remainder(counts.table[entry, k[:, None]], r) + concentration[entry, 0]
        with np.errstate(divide="ignore"):
            terms = np.log(np.where(empty, 1.0, smoothed)) - np.log(np.where(empty, n_domain, total))
        counted = state < counts.n_states + np.asarray(missing_is_state)
        own[rows] = np.where(counted, terms, 0.0).sum(axis=1)
    return own


def bernoulli_own_without(
    block: Array | SparseMatrix,
    y: Array,
    removed: Array,
    counts: BinaryCounts,
    present_alpha: Array,
    absent_alpha: Array,
    threshold: float,
) -> Array:
    """Log-likelihood of each row in its own class, the row itself taken out with a weight of its own: (n_rows,)."""
    own = np.empty(len(y))
    stretch = max(1, STRETCH_CELLS // max(1, counts.n_columns))
    for start in range(0, len(y), stretch):
        rows = slice(start, min(start + stretch, len(y)))
        x = block.block(rows).to_dense() if isinstance(block, SparseMatrix) else block[rows]
        k, r = y[rows], removed[rows, None]
        is_present = x > threshold
        observed = counts.observed[k]
        count = np.where(is_present, counts.present[k], counts.absent[k])
        smoothed = remainder(count, r) + np.where(is_present, present_alpha, absent_alpha)
        total = remainder(observed, r) + present_alpha + absent_alpha
        empty = total == 0
        with np.errstate(divide="ignore"):
            terms = np.log(np.where(empty, 0.5, smoothed)) - np.log(np.where(empty, 1.0, total))
        own[rows] = np.where(np.isnan(x), 0.0, terms).sum(axis=1)
    return own
