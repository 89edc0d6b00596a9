"""What leave-one-out choices are judged by: the squared error (1 - P(y | x))^2 of the true class, and its least."""

import numpy as np

from bayeswater.typing import Array

LAST_DIGITS = 1e-12
"""Share of a loss that is rounding."""


def squared_error(scores: Array, prior: Array, codes: Array) -> Array:
    """(1 - P(y | x))^2 from log-joints (n_rows, ..., n_classes) of several models: (n_rows, ...).

    Where no class is possible, the posterior is the prior, which is given by its logarithm (n_rows, n_classes).

    >>> squared_error(np.log([[0.3, 0.1]]), np.log([[0.5, 0.5]]), np.array([0]))
    array([0.0625])
    """
    between = tuple(range(1, scores.ndim - 1))
    top = scores.max(axis=-1, keepdims=True)
    if np.isneginf(top).any():
        scores = np.where(np.isneginf(top), np.expand_dims(prior, between), scores)
        top = scores.max(axis=-1, keepdims=True)
    share = np.exp(scores - top)
    own = share[np.arange(len(codes)), ..., codes]
    squared: Array = (1.0 - own / share.sum(axis=-1)) ** 2
    return squared


def first_of_least(losses: Array) -> tuple[int, ...]:
    """Place of the least loss; of equal ones, but for rounding, the first."""
    enough = losses <= losses.min() * (1 + LAST_DIGITS)
    return tuple(np.argwhere(enough)[0].tolist())
