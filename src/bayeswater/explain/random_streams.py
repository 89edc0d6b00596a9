"""Streams of random numbers, one for each column and cell: what is drawn for one never depends on another.

So the answer for a row is the same whichever rows are asked about together with it.
"""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.typing import Array

CLASSES = 0
"""Stream of what concerns the classes; that of column j is j + 1."""


def stream(seed: int, *place: int) -> np.random.Generator:
    """Give the stream of a place: a column, and perhaps a cell of it."""
    return np.random.default_rng([seed, *place])


def checked_seed(random_state: Any) -> int:
    """Refuse what is no seed: one generator for all cells would make every answer depend on the order of asking."""
    is_whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not is_whole or random_state < 0:
        raise ParameterError(f"random_state is {random_state!r}; give a whole number, 0 or more")
    return int(random_state)


def checked_draws(n_draws: Any) -> int:
    """Refuse what is no number of draws."""
    if not isinstance(n_draws, int | np.integer) or isinstance(n_draws, bool) or n_draws < 1:
        raise ParameterError(f"n_draws is {n_draws!r}; give a whole number, 1 or more")
    return int(n_draws)


def log_gamma(rng: np.random.Generator, shape: Array, n_draws: int) -> Array:
    """Draw logarithms of gamma variates of the given shapes: (n_draws, *shape).

    G(a) is distributed as G(a + 1) U^(1/a) with U uniform, so a small shape, whose variates are smaller than any
    float64, does no harm. A shape of 0 gives -inf: the limit.
    """
    size = (n_draws, *shape.shape)
    with np.errstate(divide="ignore"):
        return np.log(rng.standard_gamma(shape + 1, size)) - rng.standard_exponential(size) / shape
