"""Probabilities of categories within each class, laid out like the counts they come from."""

from collections.abc import Mapping

import numpy as np

from bayeswater.estimate.dirichlet import Dirichlet
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import Array


def concentration_table(counts: CategoryCounts, alpha: Array, priors: Mapping[int, Dirichlet]) -> Array:
    """Pseudo-count of every row of the flat table: alpha of its column, or what the column's own prior says.

    Returns (n_table_rows, 1). The slot of missing cells gets the column's alpha, for models that take it as a state.
    """
    table = np.repeat(alpha, counts.n_states + 1)
    for j, prior in priors.items():
        table[counts.start[j] : counts.start[j + 1] - 1] = prior.concentration(counts.schema[j])
    return table[:, None]


def category_log_likelihood(
    table: Array, start: Array, concentration: Array, *, missing_is_state: bool | Array, removed: float = 0.0
) -> Array:
    """Logarithm of P(state | class) for every row of the flat table (n_table_rows, n_classes).

    The slot of missing cells is a state of its own or else has log-likelihood 0: its factor is left out. With
    `removed`, each entry is the probability of that state for a row of that class and state which has itself
    been taken out with that weight.
    """
    width, slots = np.diff(start), start[1:] - 1
    n_states, pseudo_count, count = column_totals(table, start, concentration, missing_is_state=missing_is_state)
    total = remainder(count, removed) + pseudo_count
    smoothed = remainder(table, removed) + concentration
    empty = total == 0
    with np.errstate(divide="ignore"):
        log_likelihood = np.log(np.where(np.repeat(empty, width, axis=0), 1.0, smoothed))
        log_likelihood -= np.repeat(np.log(np.where(empty, n_states, total)), width, axis=0)
    log_likelihood[slots[~np.broadcast_to(missing_is_state, slots.shape)]] = 0.0
    return log_likelihood


def column_totals(
    table: Array, start: Array, concentration: Array, *, missing_is_state: bool | Array
) -> tuple[Array, Array, Array]:
    """Number of states, sum of pseudo-counts (n_columns, 1), and sum of counts (n_columns, n_classes), of each column.

    The slot of missing cells belongs to them only where missing is a state: of all columns, or of some (n_columns,).
    """
    in_domain = np.ones((len(table), 1))
    in_domain[start[1:] - 1, 0] = missing_is_state
    n_states, pseudo_count, count = (
        np.add.reduceat(part * in_domain, start[:-1]) for part in (np.ones((len(table), 1)), concentration, table)
    )
    return n_states, pseudo_count, count
