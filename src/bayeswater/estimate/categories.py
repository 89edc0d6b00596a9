"""Probabilities of categories within each class, laid out like the counts they come from, and where empty is a state.

In some columns an empty cell is a state of its own. That is so in all columns where ``missing="state"`` asks for it.
Without being asked it is so in a column of one value and holes, such as "t" for what somebody bought: the value alone
tells nothing, so what the column says, it says by being empty. This is read off the counts as everything is. So it is
the same for any order and parts of the rows, a second value that comes later is a state, and with it an empty cell is a
missing one again.
"""

from collections.abc import Mapping

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.estimate.dirichlet import Dirichlet
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.pair_counts import PairCounts
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


def empty_is_state(counts: CategoryCounts | PairCounts, missing: str) -> Array:
    """Mark the columns (n_columns,) whose empty cells are a state, where a model is told to take `missing` so."""
    return np.full(len(counts.schema), True) if missing == "state" else columns_of_one_value(counts)


def columns_of_one_value(counts: CategoryCounts | PairCounts) -> Array:
    """Mark the columns (n_columns,) that have one value, and holes.

    States that somebody declared count as values. Those of a flag are its type's, so of these only what occurred does.

    >>> from bayeswater.data.variable import Schema
    >>> schema = Schema((Variable("beer", ("t",)), Variable("wine", ("t",)), Variable("colour", ("blue", "red"))))
    >>> table = np.array([[4, 1], [0, 3], [4, 4], [0, 0], [4, 1], [0, 0], [0, 3]])
    >>> columns_of_one_value(CategoryCounts(Variable("class", ("no", "yes")), schema, table))
    array([ True, False, False])
    """
    has_holes = counts.table[counts.start[1:] - 1].any(axis=1)
    found = np.zeros(len(counts.schema), dtype=bool)
    for j in np.flatnonzero(has_holes).tolist():
        variable = counts.schema[j]
        if variable.n_states == 1 or _is_flag(variable):
            found[j] = np.count_nonzero(counts.of_column(j).any(axis=1)) == 1
    return found


def _is_flag(variable: Variable) -> bool:
    return not variable.is_coded and tuple(variable.states) == (False, True)
