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
    joint -= _largest(joint, fallback)
    joint -= np.log(np.exp(joint).sum(axis=1, keepdims=True))
    return joint


def posterior(joint: Array, fallback: Array) -> Array:
    """Probabilities of the classes from log-joints (n_rows, n_classes), which are overwritten; each row sums to one."""
    joint -= _largest(joint, fallback)
    np.exp(joint, out=joint)
    joint /= joint.sum(axis=1, keepdims=True)
    return joint


def best_class(joint: Array, fallback: Array) -> Array:
    """Code of the class of largest posterior (n_rows,); the first one among equals."""
    top = _largest(joint, fallback)
    best: Array = (joint >= top - TIE * np.abs(top)).argmax(axis=1)
    return best


def _largest(joint: Array, fallback: Array) -> Array:
    """Largest log-joint of each row (n_rows, 1), always finite: impossible rows are overwritten by `fallback` first."""
    top: Array = joint.max(axis=1, keepdims=True)
    impossible = np.isneginf(top[:, 0])
    if impossible.any():
        joint[impossible] = fallback if fallback.ndim == 1 else fallback[impossible]
        top = joint.max(axis=1, keepdims=True)
    return top
