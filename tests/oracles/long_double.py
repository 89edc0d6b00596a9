"""The five drop-ins in long double: whole arrays at once, by the formulas, with three digits more than they have.

For tables and weights too large for fractions (`exact.py`). Every function gives log P(class, row) of the queries and,
beside it, the size of its terms: what one rounding of every term may cost is eps times that size.
"""

from typing import Any

import numpy as np

LONG = np.longdouble


def long(values: Any) -> Any:
    return np.asarray(values).astype(LONG)


def log(share: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(share)


def log_shares(count: Any, alpha: Any) -> Any:
    """Logarithm of (n_v + a_v) / sum_u (n_u + a_u) along the last axis; equal shares of nothing."""
    smoothed = count + alpha
    total = smoothed.sum(axis=-1, keepdims=True)
    equal = np.full(smoothed.shape, LONG(1) / max(smoothed.shape[-1], 1))
    return log(np.divide(smoothed, total, out=equal, where=total > 0))


def times(count: Any, log_share: Any) -> Any:
    """Product in which 0 times -inf is 0: (n_rows, n_classes)."""
    zero = np.isneginf(log_share)
    finite = count @ np.where(zero, LONG(0), log_share).T
    return np.where(count @ zero.T.astype(LONG) > 0, -np.inf, finite)


def size_of(count: Any, log_share: Any) -> Any:
    """Sum of the sizes of the terms; a logarithm near 0 is a difference, and rounds as a number of size 1."""
    return count @ (1 + np.abs(np.where(np.isneginf(log_share), LONG(0), log_share))).T


def indicator(y: Any, n_classes: int, weight: Any) -> Any:
    """Weight of each row in its class: (n_classes, n_rows)."""
    return (np.arange(n_classes)[:, None] == y) * long(weight)


def multinomial(X: Any, membership: Any, queries: Any, log_prior: Any, alpha: Any) -> tuple[Any, Any]:
    share = log_shares(membership @ long(X), long(alpha))
    return log_prior + times(long(queries), share), 1 + np.abs(log_prior) + size_of(long(queries), share)


def complement(X: Any, membership: Any, queries: Any, log_prior: Any, alpha: Any, norm: bool) -> tuple[Any, Any]:
    """Score of each class by the features of all others, whose sums are added, not subtracted."""
    sums = membership @ long(X)
    others = np.array([np.delete(sums, k, axis=0).sum(axis=0) for k in range(len(sums))])
    weight = -log_shares(others, long(alpha))
    if norm:
        total = weight.sum(axis=1, keepdims=True)
        weight = np.divide(weight, total, out=weight.copy(), where=total != 0)
    score = long(queries) @ weight.T + (log_prior if len(sums) == 1 else 0)
    return score, 1 + size_of(long(queries), weight)


def bernoulli(X: Any, membership: Any, queries: Any, log_prior: Any, alpha: Any, threshold: float) -> tuple[Any, Any]:
    """Marks: a cell over the threshold is present, NaN has no factor."""
    present, absent = ((membership @ long(marks)) for marks in (threshold < X, threshold >= X))
    share = log_shares(np.stack([absent, present], axis=-1), long(alpha)[:, None])
    marks = [long(queries <= threshold), long(queries > threshold)]
    joint = log_prior + sum(times(mark, share[:, :, v]) for v, mark in enumerate(marks))
    return joint, 1 + np.abs(log_prior) + sum(size_of(mark, share[:, :, v]) for v, mark in enumerate(marks))


def categorical(X: Any, membership: Any, queries: Any, log_prior: Any, alpha: Any, n_states: Any) -> tuple[Any, Any]:
    """Codes: NaN, and a code past the last state, have no factor."""
    joint, size = log_prior + np.zeros((len(queries), 1)), 1 + np.abs(log_prior) + np.zeros((len(queries), 1))
    for j, n in enumerate(n_states):
        share = log_shares(membership @ long(X[:, j, None] == np.arange(n)), LONG(alpha[j]))
        marks = long(queries[:, j, None] == np.arange(n))
        joint, size = joint + times(marks, share), size + size_of(marks, share)
    return joint, size


def gaussian(X: Any, membership: Any, queries: Any, log_prior: Any, var_smoothing: float) -> tuple[Any, Any]:
    """Normal densities of columns that vary; NaN has no factor. A class without a value takes the moments of all.

    A mean is kept to eps times the size M of its cells, so a density loses (1 + z^2) M / deviation beside its terms.
    """
    everything = membership.sum(axis=0, keepdims=True)
    pooled = _moments(X, everything)
    added = LONG(var_smoothing) * pooled[2].max()
    weight, mean, variance = _moments(X, membership)
    mean, variance = (
        np.where(weight > 0, own, of_all) for own, of_all in zip((mean, variance), pooled[1:], strict=True)
    )
    variance = variance + added
    used = (pooled[0] > 0) & (pooled[2] + added > 0)
    joint = log_prior + np.zeros((len(queries), 1))
    size = 1 + np.abs(log_prior) + np.zeros((len(queries), 1))
    magnitude = np.nanmax(np.abs(long(X)), axis=0, initial=0)
    for j in np.flatnonzero(used[0]):
        there = ~np.isnan(queries[:, j, None])
        z = (np.where(there, long(queries[:, j, None]), 0) - mean[:, j]) ** 2 / variance[:, j]
        logs = log(2 * LONG(np.pi) * variance[:, j])
        joint = joint - np.where(there, (logs + z) / 2, 0)
        far = 1 + (magnitude[j] + np.abs(np.where(there, queries[:, j, None], 0))) / np.sqrt(variance[:, j])
        size = size + np.where(there, np.abs(logs) + (1 + z) * far, 0)
    return joint, size


def _moments(X: Any, membership: Any) -> tuple[Any, Any, Any]:
    """Weight, mean and variance of every class and column, by definition."""
    there, cells = ~np.isnan(X), np.where(np.isnan(X), 0, long(X))
    weight = membership @ long(there)
    safe = np.where(weight > 0, weight, 1)
    mean = membership @ cells / safe
    square = [
        (row[:, None] * there * (cells - of_class) ** 2).sum(axis=0)
        for row, of_class in zip(membership, mean, strict=True)
    ]
    return weight, mean, np.array(square) / safe


def posterior(joint: Any, log_prior: Any) -> Any:
    """Shares of the classes; of a row that no class can have, the prior."""
    joint = np.where(np.isneginf(joint).all(axis=1, keepdims=True), log_prior, joint)
    shares = np.exp(joint - joint.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)
