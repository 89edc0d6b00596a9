"""States drawn from distributions of their own."""

import numpy as np

from bayeswater.typing import Array


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
