"""Columns in which an empty cell is a state of its own.

That is so in all columns where ``missing="state"`` asks for it. Without being asked it is so in a column of one value
and holes, such as "t" for what somebody bought: the value alone tells nothing, so what the column says, it says by
being empty. This is read off the counts as everything is. So it is the same for any order and parts of the rows, a
second value that comes later is a state, and with it an empty cell is a missing one again.
"""

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.typing import Array


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
