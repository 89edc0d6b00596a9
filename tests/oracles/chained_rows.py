"""Rows of states in which each column depends on the one before it, for searches and their kernels."""

import numpy as np


def chained_rows(n_rows, n_states, seed):
    """Codes (n_columns, n_rows) of rows in which neighbours depend on one another and some states are rare; cards."""
    rng = np.random.default_rng(seed)
    codes = np.empty((len(n_states), n_rows), dtype=np.uint8)
    for j, r in enumerate(n_states):
        fresh = np.minimum(rng.geometric(0.5, n_rows) - 1, r - 1)
        kept = np.minimum(codes[j - 1], r - 1) if j else fresh
        codes[j] = np.where(rng.random(n_rows) < 0.6, kept, fresh)
    return codes, np.array(n_states)
