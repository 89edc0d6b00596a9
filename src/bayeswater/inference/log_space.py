"""Bayes' rule in log space: one log-normaliser for all models.

    log P(class | row) = log P(class, row) - log sum over classes of P(class, row)

-inf is a legal log-probability and NaN never a result: a row to which every class gives probability zero keeps
`fallback`, the prior.
"""

import numpy as np

from bayeswater.typing import Array

TIE = 8 * np.finfo(np.float64).eps
"""Scores that differ by no more than this share of their size are equal: the first class wins."""


def log_evidence(joint: Array) -> Array:
    """Logarithm of P(row), the sum over classes: (n_rows,)."""
    top = joint.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.exp(joint - top[:, None]).sum(axis=1)
        return np.where(np.isneginf(top), -np.inf, top + np.log(total))


def log_posterior(joint: Array, fallback: Array) -> Array:
    """Normalise log-joints (n_rows, n_classes), which are overwritten."""
    top = joint.max(axis=1, keepdims=True)
    impossible = is_impossible(top)
    joint -= top
    joint -= np.log(np.exp(joint).sum(axis=1, keepdims=True))
    return _with_fallback(joint, impossible, fallback)


def posterior(joint: Array, fallback: Array) -> Array:
    """Probabilities of the classes from log-joints (n_rows, n_classes), which are overwritten; each row sums to one."""
    top = joint.max(axis=1, keepdims=True)
    impossible = is_impossible(top)
    joint -= top
    np.exp(joint, out=joint)
    joint /= joint.sum(axis=1, keepdims=True)
    return _with_fallback(joint, impossible, np.exp(fallback))


def best_class(joint: Array, fallback: Array) -> Array:
    """Code of the class of largest posterior (n_rows,); the first one among equals."""
    top = joint.max(axis=1, keepdims=True)
    impossible = is_impossible(top)
    best: Array = (joint >= top - TIE * np.abs(top)).argmax(axis=1)
    if impossible is not None:
        best[impossible] = fallback[np.flatnonzero(impossible) if fallback.ndim == 2 else ...].argmax(axis=-1)
    return best


def is_impossible(top: Array) -> Array | None:
    """Mark the rows whose best log-joint is -inf, and set that to 0 so that nothing becomes NaN; None without any."""
    marked = np.isneginf(top)
    if not marked.any():
        return None
    top[marked] = 0.0
    return marked[:, 0]


def _with_fallback(result: Array, impossible: Array | None, fallback: Array) -> Array:
    if impossible is not None:
        result[impossible] = fallback if fallback.ndim == 1 else fallback[impossible]
    return result
