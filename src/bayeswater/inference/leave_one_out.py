"""Exact leave-one-out scores: every row against the sums without it, at about the price of one prediction.

A row of weight w stands for w equal rows, so leaving one out takes away r = min(w, 1). Only the terms that the
row itself had a part in are read again: those of its own class, and for complement counts those of all other
classes.
"""

from collections.abc import Callable

import numpy as np

from bayeswater.kernels.category_joint import sum_of_own_states
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import Array


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


def own_states_without(
    codes: Array,
    y: Array,
    removed: Array,
    n_states: Array,
    start: Array,
    table_without: Callable[[float], Array],
    use_loop: bool,
) -> Array:
    """Sum of the log-likelihoods of each row's states in its own class, the row itself taken out: (n_rows,).

    `table_without(r)` is the table of log-likelihoods for rows taken out with weight r; rows of one weight share it.
    """
    own = np.empty(len(codes))
    for r in np.unique(removed):
        rows = removed == r
        rows = slice(None) if rows.all() else np.flatnonzero(rows)
        own[rows] = sum_of_own_states(codes[rows], n_states, start, y[rows], table_without(float(r)), use_loop=use_loop)
    return own
