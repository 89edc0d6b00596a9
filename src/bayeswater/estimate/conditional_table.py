"""P(variable | parents) from counts of the family, by a Dirichlet prior of every row of the table.

    P(v | parents) = (n_v + a_v) / sum over u of (n_u + a_u)

A row that neither a count nor a pseudo-count tells anything about is even: 1 / n_states.
"""

import numpy as np

from bayeswater.typing import Array


def conditional_table(count: Array, pseudo_count: Array) -> Array:
    """Posterior mean along the last axis; `pseudo_count` is one number for every state, or of the shape of `count`.

    >>> conditional_table(np.array([[3, 0, 1], [0, 0, 0]]), np.array([0.0, 0.0, 0.0]))
    array([[0.75      , 0.        , 0.25      ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    smoothed = count + pseudo_count
    total = smoothed.sum(axis=-1, keepdims=True)
    return np.where(total > 0, smoothed, 1.0) / np.where(total > 0, total, count.shape[-1])
