"""Probabilities of categories within each class, laid out like the counts they come from."""

from collections.abc import Mapping

import numpy as np

from bayeswater.estimate.dirichlet import Dirichlet
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.typing import Array


def concentration_table(counts: CategoryCounts, alpha: Array, priors: Mapping[int, Dirichlet]) -> Array:
    """Pseudo-count of every row of the flat table: alpha of its column, or what the column's own prior says.

    Returns (n_table_rows, 1). The slot of missing cells gets the column's alpha, for models that take it as a state.
    """
    table = np.repeat(alpha, counts.n_states + 1)
    for j, prior in priors.items():
        table[counts.start[j] : counts.start[j + 1] - 1] = prior.concentration(counts.columns[j])
    return table[:, None]


def category_log_likelihood(
    table: Array, start: Array, concentration: Array, *, missing_is_state: bool, removed: float = 0.0
) -> Array:
    """Logarithm of P(state | class) for every row of the flat table (n_table_rows, n_classes).

    The slot of missing cells is a state of its own or else has log-likelihood 0: its factor is left out. With
    `removed`, each entry is the probability of that state for a row of that class and state which has itself
    been taken out with that weight.
    """
    smoothed = table + concentration
    counted = smoothed.astype(np.float64)
    slots = start[1:] - 1
    if not missing_is_state:
        counted[slots] = 0.0
    total = np.add.reduceat(counted, start[:-1], axis=0) - removed  # (n_columns, n_classes)
    n_states = np.diff(start) - (0 if missing_is_state else 1)
    empty = np.abs(total) <= 1e-12 * removed
    total = np.where(empty, n_states[:, None], total)
    smoothed = np.where(np.repeat(empty, np.diff(start), axis=0), 1.0, smoothed - removed)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_likelihood = np.log(np.maximum(smoothed, 0.0)) - np.log(np.repeat(total, np.diff(start), axis=0))
    if not missing_is_state:
        log_likelihood[slots] = 0.0
    return log_likelihood
