"""Columns that have too many states for their rows to be the parent of another one.

What a column of v_i states tells of another one is more than nothing by chance alone: CMI(X_i; X_j | Y) is about
K (v_i - 1)(v_j - 1) / 2N nats where the two are independent, and all that there is to tell where nearly every row has a
state of its own. So the number of a ticket would be the best parent of every column, and of the next passenger tell
nothing. A column of a few states is never meant: in a small table, too, they are what there is to learn from.
"""

import numpy as np

from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.typing import Array

FEW_STATES = 12
"""States that a column may have in any table: months, grades, tenths."""

ROWS_A_STATE = 10
"""Rows that more states than these have at least, on the average."""


def sparse_columns(counts: PairCounts) -> Array:
    """Mark the columns (n_columns,) that have more states than a few, and too few rows for them.

    >>> from bayeswater.data.schema import Schema
    >>> from bayeswater.data.variable import Variable
    >>> from bayeswater.kernels.pair_counts import n_pair_cells
    >>> schema = Schema((Variable("month", range(12)), Variable("ticket", range(13))))
    >>> table = np.repeat([[9], [0], [9], [0]], [12, 1, 13, 1], axis=0)
    >>> pairs = np.zeros((n_pair_cells(schema.n_states), 1), dtype=int)
    >>> sparse_columns(PairCounts(Variable("class", ("yes",)), schema, table, pairs))
    array([False,  True])
    """
    n_rows = np.array([counts.of_column(j).sum() for j in range(len(counts.schema))])
    return (counts.n_states > FEW_STATES) & (n_rows < ROWS_A_STATE * counts.n_states)
