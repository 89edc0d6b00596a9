"""Exact leave-one-out scores: every row against the sums without it, at the price of a few predictions.

A row of weight w stands for w equal rows, so leaving one out takes away r = min(w, 1). Only the terms that the row
itself had a part in are read again: those of its own class, and for complement counts those of all other classes.

Of feature sums, a row moves the sums of the features it has, and the total, of its own class (multinomial) or of the
complements of all others (complement). Where neither rows nor smoothing remain, every feature is as likely as the
others.
"""

import numpy as np
from scipy.sparse import csr_array

from bayeswater.data.matrix import SparseMatrix
from bayeswater.estimate.smoothing import column_totals
from bayeswater.kernels.feature_sums import SmoothedSums, other_logs_without, own_logs_without
from bayeswater.kernels.remainders import remainder
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.feature_sums import BinaryCounts
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


def multinomial_own_without(
    block: Array | SparseMatrix, y: Array, removed: Array, tables: SmoothedSums, totals: Array, use_loop: bool
) -> Array:
    """Sum of x_j log P(feature j | own class) with the row's own counts taken out: (n_rows,).

    `totals` are the sums of each class over all features, unsmoothed: (n_classes,).
    """
    logs = own_logs_without(*_stored(block), y, removed, tables, use_loop=use_loop)
    total = remainder(totals[y], removed * logs.length) + tables.alpha.sum()
    empty = total == 0
    own = logs.total[:, 0] - logs.length * np.log(np.where(empty, 1.0, total))
    own[logs.infinite[:, 0] > 0] = -np.inf
    return np.where(empty, -logs.length * np.log(_n_features(tables)), own)


def complement_without(
    block: Array | SparseMatrix, y: Array, removed: Array, tables: SmoothedSums, totals: Array, use_loop: bool
) -> Array:
    """Scores of each row under complement counts from which it is taken out: (n_rows, n_classes).

    The row is part of the complement of every class but its own. A feature that no other class has makes its class
    certain: the class of most such features wins.
    """
    n_classes = len(totals)
    logs = other_logs_without(*_stored(block), y, removed, tables, use_loop=use_loop)
    part = np.where(y[:, None] == np.arange(n_classes), 0.0, (removed * logs.length)[:, None])
    total = remainder(totals, part) + tables.alpha.sum()
    empty = total == 0
    infinite = np.where(empty, 0.0, logs.infinite)
    log_total = np.log(np.where(empty, _n_features(tables), total))
    scores = (logs.length[:, None] - infinite) * log_total - np.where(empty, 0.0, logs.total)
    scores[infinite < infinite.max(axis=1, keepdims=True)] = -np.inf
    return scores


def _n_features(tables: SmoothedSums) -> int:
    """Number of features; where there are none at all, none is looked up and any number will do."""
    return max(len(tables.alpha), 1)


def _stored(block: Array | SparseMatrix) -> tuple[Array, Array, Array]:
    """Rows of a block as CSR: indptr from 0 on, indices, and values in float64."""
    sparse = block if isinstance(block, SparseMatrix) else csr_array(block)
    cells = slice(sparse.indptr[0], sparse.indptr[-1])
    values = sparse.data[cells].astype(np.float64, copy=False)
    return sparse.indptr - sparse.indptr[0], sparse.indices[cells], values


def normalised_complement_without(
    block: Array | SparseMatrix, y: Array, removed: Array, tables: SmoothedSums, totals: Array
) -> Array:
    """Score rows as `complement_without` does, with the weights of each class divided by their sum.

    The sum is over all features, of which the row moves only those it has; in the limit of vanishing smoothing the
    infinite weights share it equally.
    """
    complement, alpha = tables.sums, tables.alpha
    n_rows, n_features, n_classes = len(y), *complement.shape
    indptr, column, x = _stored(block)
    row = np.repeat(np.arange(n_rows), np.diff(indptr))
    length = np.bincount(row, weights=x, minlength=n_rows)
    scores = np.empty((n_rows, n_classes))
    for k in range(n_classes):
        took = np.where(y == k, 0.0, removed)
        without = remainder(complement[column, k], took[row] * x) + alpha[column]
        total_without = remainder(totals[k], took * length) + alpha.sum()
        empty = total_without == 0
        log_total = np.log(np.where(empty, n_features, total_without))
        zero = (without == 0) & ~empty[row]
        log_without = np.log(np.where(zero | empty[row], 1.0, without))
        weight = np.where(zero, 0.0, log_total[row] - log_without)
        never = np.isneginf(tables.logs[:, k])
        n_zero = never.sum() + np.bincount(row, weights=zero & ~never[column], minlength=n_rows)
        logs = np.where(never, 0.0, tables.logs[:, k])
        change = np.where(zero, -logs[column], log_without - logs[column])
        log_sum = logs.sum() + np.bincount(row, weights=np.where(empty[row], 0.0, change), minlength=n_rows)
        weight_sum = np.where(empty, n_features * np.log(n_features), n_features * log_total - log_sum)
        finite_score = np.bincount(row, weights=x * weight, minlength=n_rows) / np.where(
            weight_sum == 0, 1.0, weight_sum
        )
        limit_score = np.bincount(row, weights=x * zero, minlength=n_rows) / np.maximum(n_zero, 1)
        scores[:, k] = np.where((n_zero > 0) & ~empty, limit_score, finite_score)
    return scores
