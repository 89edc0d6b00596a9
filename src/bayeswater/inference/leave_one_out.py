"""Exact leave-one-out scores: every row against the sums without it, at about the price of one prediction.

A row of weight w stands for w equal rows, so leaving one out takes away r = min(w, 1). Only the terms that the
row itself had a part in are read again: those of its own class, and for complement counts those of all other
classes.
"""

from collections.abc import Callable

import numpy as np

from bayeswater.data.matrix import SparseMatrix
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
    without = np.tile(count + class_alpha, (len(codes), 1)).astype(np.float64)
    rows = np.arange(len(codes))
    without[rows, codes] = remainder(count[codes], removed) + class_alpha
    total = without.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.where(total > 0, np.log(without) - np.log(np.where(total > 0, total, 1.0)), -np.log(len(count)))


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


def nonzero_cells(block: Array | SparseMatrix) -> tuple[Array, Array, Array]:
    """Row, column and value of the cells of a block that are not zero."""
    if isinstance(block, SparseMatrix):
        stored = slice(block.indptr[0], block.indptr[-1])
        row = np.repeat(np.arange(len(block.indptr) - 1), np.diff(block.indptr))
        return row, block.indices[stored], block.data[stored].astype(np.float64)
    row, column = np.nonzero(block)
    return row, column, block[row, column].astype(np.float64)


def multinomial_own_without(
    block: Array | SparseMatrix,
    y: Array,
    removed: Array,
    feature_sum: Array,
    feature_total: Array,
    alpha: Array,
) -> Array:
    """Sum of x_j log P(feature j | own class) with the row's own counts taken out: (n_rows,)."""
    n_rows, n_features = len(y), feature_sum.shape[1]
    row, column, x = nonzero_cells(block)
    k = y[row]
    without = remainder(feature_sum[k, column], removed[row] * x) + alpha[column]
    length = np.bincount(row, weights=x, minlength=n_rows)
    total = remainder(feature_total[y], removed * length) + alpha.sum()
    with np.errstate(divide="ignore"):
        # Where neither rows nor smoothing remain, every feature is as likely as the others.
        empty = total[row] == 0
        term = np.where(
            empty,
            -np.log(n_features),
            np.log(np.where(empty, 1.0, without)) - np.log(np.where(empty, 1.0, total[row])),
        )
    return np.bincount(row[x != 0], weights=(x * term)[x != 0], minlength=n_rows)


def complement_without(
    block: Array | SparseMatrix, y: Array, removed: Array, complement: Array, alpha: Array, *, norm: bool
) -> tuple[Array, Array]:
    """Scores of each row under complement counts (n_classes, n_features) from which it is taken out.

    The row is part of the complement of every class but its own. Returns the finite scores (n_rows, n_classes)
    and, beside them, the weight of the terms that are infinite.
    """
    n_rows, n_classes, n_features = len(y), *complement.shape
    row, column, x = nonzero_cells(block)
    length = np.bincount(row, weights=x, minlength=n_rows)
    total = complement.sum(axis=1)
    scores = np.empty((n_rows, n_classes))
    infinite = np.zeros((n_rows, n_classes))
    with np.errstate(divide="ignore"):
        log_smoothed = np.log(complement + alpha) if norm else complement
    for k in range(n_classes):
        took = np.where(y == k, 0.0, removed)
        without = remainder(complement[k, column], took[row] * x) + alpha[column]
        total_without = remainder(total[k], took * length) + alpha.sum()
        empty = total_without == 0
        log_total = np.log(np.where(empty, n_features, total_without))
        zero = (without == 0) & ~empty[row]
        log_without = np.log(np.where(zero | empty[row], 1.0, without))
        weight = np.where(zero, 0.0, log_total[row] - log_without)
        if not norm:
            scores[:, k] = np.bincount(row, weights=x * weight, minlength=n_rows)
            infinite[:, k] = np.bincount(row, weights=x * zero, minlength=n_rows)
            continue
        # The weights are divided by their sum over all features, of which the row moves only those it has.
        never = np.isneginf(log_smoothed[k])
        n_zero = never.sum() + np.bincount(row, weights=zero & ~never[column], minlength=n_rows)
        logs = np.where(never, 0.0, log_smoothed[k])
        change = np.where(zero, -logs[column], log_without - logs[column])
        log_sum = logs.sum() + np.bincount(row, weights=np.where(empty[row], 0.0, change), minlength=n_rows)
        weight_sum = np.where(empty, n_features * np.log(n_features), n_features * log_total - log_sum)
        finite_score = np.bincount(row, weights=x * weight, minlength=n_rows) / np.where(
            weight_sum == 0, 1.0, weight_sum
        )
        limit_score = np.bincount(row, weights=x * zero, minlength=n_rows) / np.maximum(n_zero, 1)
        scores[:, k] = np.where((n_zero > 0) & ~empty, limit_score, finite_score)
    return scores, infinite
