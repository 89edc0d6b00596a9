"""Exact leave-one-out scores of feature sums: multinomial and complement.

A row moves the sums of the features it has, and the total, of its own class (multinomial) or of the complements of all
others (complement). Where neither rows nor smoothing remain, every feature is as likely as the others.
"""

import numpy as np
from scipy.sparse import csr_array

from bayeswater.data.matrix import SparseMatrix
from bayeswater.kernels.feature_sums import SmoothedSums, other_logs_without, own_logs_without
from bayeswater.statistics.statistic import ROUNDING, remainder
from bayeswater.typing import Array


def multinomial_own_without(
    block: Array | SparseMatrix, y: Array, removed: Array, tables: SmoothedSums, totals: Array, use_loop: bool
) -> Array:
    """Sum of x_j log P(feature j | own class) with the row's own counts taken out: (n_rows,).

    `totals` are the sums of each class over all features, unsmoothed: (n_classes,).
    """
    logs = own_logs_without(*_stored(block), y, removed, tables, ROUNDING, use_loop=use_loop)
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
    logs = other_logs_without(*_stored(block), y, removed, tables, ROUNDING, use_loop=use_loop)
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
