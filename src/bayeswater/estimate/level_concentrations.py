"""Concentrations of a back-off for a member of an ensemble, from rows that its structure has not seen.

Each row is taken out of the counts that it predicts. From the root down, f_l of each column is the one under which the
counts without the class predict best, and c_l, one for all columns, the one under which those with it do:

    sum of log [(N(x, y, p) - 1 + c B) / (N(y, p) - 1 + c)],    B = (1 - lambda) P_{l-1} + lambda F_l

times 0.3. What is best for one member is too smooth for many: their mean smooths again what each says too boldly. One
c for each level is all that some hundred rows can tell; one for each column and level fits their noise.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.parent_cells import log_likelihoods
from bayeswater.typing import Array

GRID = np.array([0.05, 0.15, 0.4, 1, 2, 4, 8, 16, 32, 64, 128, 300, 1e3, 1e5])
"""Concentrations, in rows, that are tried."""

BOLDNESS = 0.3
"""Share of the best concentration of one member that each of many has."""

NOTHING_LEARNED = 1.0
"""Concentration of a level that no row says anything about."""


class Concentrations(NamedTuple):
    """c_l (n_levels,), and f_l of each column (n_columns, n_levels)."""

    with_class: Array
    without_class: Array


def level_concentrations(
    counts: Array, weight: Array, n_states: Array, class_free: float, *, use_loop: bool
) -> Concentrations:
    """Learn the concentrations of all levels.

    Parameters
    ----------
    counts : (n_columns, 4, n_levels, n_rows), what `kernels.cell_terms.own_counts` gives of rows that are taken out
    weight : (n_rows,), weight with which each row has a say
    n_states : (n_columns,)
    class_free : lambda
    """
    n_columns, _, n_levels, n_rows = counts.shape
    own, of_class, of_state, whole = np.moveaxis(counts, 1, 0)
    with_class, without_class = np.empty(n_levels), np.ones((n_columns, n_levels))
    free, share = np.repeat(1.0 / n_states, n_rows).reshape(n_columns, n_rows), np.ones((n_columns, n_rows))
    times = np.broadcast_to(weight, free.shape)

    def best(some: Array, times: Array, count: Array, total: Array, base: Array) -> float:
        if not some.any():
            return NOTHING_LEARNED
        found = log_likelihoods(times[some], count[some], total[some], base[some], GRID, use_loop=use_loop)
        return float(GRID[np.argmax(found)])

    for level in range(n_levels):
        said = whole[:, level] > 0  # (n_columns, n_rows)
        if level:
            for j in range(n_columns):
                without_class[j, level] = best(said[j], weight, of_state[j, level], whole[j, level], free[j])
        f = without_class[:, level, None]
        free = np.where(said, (of_state[:, level] + f * free) / (whole[:, level] + f), free)
        base = free if level == 0 else (1 - class_free) * share + class_free * free
        c = BOLDNESS * best(said & (of_class[:, level] > 0), times, own[:, level], of_class[:, level], base)
        with_class[level] = c
        share = np.where(said, (own[:, level] + c * base) / (of_class[:, level] + c), base if level == 0 else share)
    return Concentrations(with_class, without_class)
