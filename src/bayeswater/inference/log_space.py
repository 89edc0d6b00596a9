"""Bayes' rule in log space: one log-normaliser for all models.

    log P(class | row) = log P(class, row) - log sum over classes of P(class, row)

-inf is a legal log-probability and NaN never a result: a row to which every class gives probability zero first
falls back to the prior.
"""

import numpy as np

from bayeswater.kernels.class_scores import first_of_largest, log_shares, shares
from bayeswater.typing import Array

TIE = 8 * np.finfo(np.float64).eps
"""Scores that differ by no more than this share of their size are equal: the first class wins."""


def log_evidence(joint: Array) -> Array:
    """Logarithm of P(row), the sum over classes: (n_rows,)."""
    top = joint.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.exp(joint - top[:, None]).sum(axis=1)
        return np.where(np.isneginf(top), -np.inf, top + np.log(total))


def fall_back(joint: Array, fallback: Array) -> int:
    """Overwrite the rows of probability zero in every class by `fallback`, (n_classes,) or one row each; count them."""
    impossible = joint[:, 0] == -np.inf  # the first class tells that almost always there are none
    if not impossible.any():
        return 0
    impossible = np.isneginf(joint).all(axis=1)
    joint[impossible] = fallback if fallback.ndim == 1 else fallback[impossible]
    return int(impossible.sum())


def log_posterior(joint: Array, use_loop: bool = False) -> Array:
    """Normalise log-joints (n_rows, n_classes), which are overwritten; each row has a finite one."""
    return log_shares(joint, use_loop=use_loop)


def posterior(joint: Array, use_loop: bool = False, out: Array | None = None) -> Array:
    """Probabilities of the classes from log-joints (n_rows, n_classes); each row sums to one.

    The log-joints may be overwritten, and the probabilities written into `out`.
    """
    return shares(joint, use_loop=use_loop, out=out)


def best_class(joint: Array, use_loop: bool = False) -> Array:
    """Code of the class of largest posterior (n_rows,); the first one among equals."""
    return first_of_largest(joint, TIE, use_loop=use_loop)


def log_ratio(a: Array, b: Array) -> Array:
    """Difference of log-likelihoods, 0 where both are impossible.

    >>> log_ratio(np.array([0.0, -np.inf, 1.0]), np.array([1.0, -np.inf, -np.inf]))
    array([-1.,  0., inf])
    """
    with np.errstate(invalid="ignore"):
        difference = a - b
    return np.where(np.isneginf(a) & np.isneginf(b), 0.0, difference)
