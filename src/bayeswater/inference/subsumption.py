"""Subsumption resolution: of two cells one of which is implied by the other, only the implying one says anything.

If every counted row with x_i also has x_j (pregnant, and so female), P(x_j | y, x_i) is 1 whatever the class, and as a
parent x_j repeats what x_i says. So x_j is left out, as parent and as child. Of two cells that imply one another the
first column is kept. That rows have x_i is believed from `least` of them on.
"""

import numpy as np

from bayeswater.estimate.pairs import PairEstimate
from bayeswater.statistics.statistic import ROUNDING, remainder
from bayeswater.typing import Array


def without_implied(estimate: PairEstimate, slots: Array, least: float, removed: Array) -> Array:
    """Slots (n_rows, n_columns) in which the cells that others imply are not there; each row is not counted itself."""
    implied = np.zeros(slots.shape, dtype=bool)
    is_there, count = estimate.is_state[slots], estimate.support[slots]
    order = np.arange(estimate.n_columns)
    for i in range(estimate.n_columns):
        rows = np.flatnonzero(is_there[:, i] & (remainder(count[:, i], removed) >= least))
        together = estimate.beside(i).sum(axis=2)  # N(x_i, x_j): (v_i + 1, n_slots)
        both = together[slots[rows, i, None] - estimate.start[i], slots[rows]]
        follows = is_there[rows] & _equal(both, count[rows, i, None]) & (order != i)
        mutual = follows & _equal(both, count[rows])
        implied[rows] |= follows & ~(mutual & (order < i))
    return np.where(implied, estimate.start[1:] - 1, slots)


def _equal(a: Array, b: Array) -> Array:
    return np.abs(a - b) <= ROUNDING * b
