"""States and counts drawn from distributions of their own."""

import numpy as np

from bayeswater.typing import Array

LARGEST_COUNT = 2.0**53
"""Rate beyond which every float is whole, and Poisson's law a normal density to all of its digits."""


def draw_poisson(rate: Array, rng: np.random.Generator) -> Array:
    """Draw a count by Poisson's law for each rate, of any shape; NaN where it is NaN.

    >>> draw_poisson(np.array([0.0, np.nan, 1e300]), np.random.default_rng(0)).round(-299)
    array([0.e+000,     nan, 1.e+300])
    """
    drawn = rng.poisson(np.where(rate <= LARGEST_COUNT, rate, 0.0)).astype(np.float64)
    large = rate > LARGEST_COUNT
    drawn[large] = rng.normal(rate[large], np.sqrt(rate[large]))
    return np.where(np.isnan(rate), np.nan, drawn)


def draw_states(share: Array, rng: np.random.Generator) -> Array:
    """Draw a state for each row of shares (n_rows, n_states), which need not sum to one: (n_rows,).

    >>> draw_states(np.array([[0.0, 2.0, 0.0]]), np.random.default_rng(0))
    array([1])
    """
    if not share.shape[1]:
        return np.zeros(len(share), dtype=np.int64)
    cumulated = share.cumsum(axis=1)
    found: Array = (rng.random((len(share), 1)) * cumulated[:, -1:] >= cumulated).sum(axis=1)
    return np.minimum(found, share.shape[1] - 1)
