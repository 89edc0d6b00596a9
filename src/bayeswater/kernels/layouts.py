"""How the cells of a table lie in memory: one loop reads rows, columns and every other row alike.

A loop over a table is compiled anew for each layout, and of one that is neither row by row nor column by column, such
as some rows of a table that lies by column, it cannot know that cells are neighbours. So it is given the memory itself,
as one line of cells, and how many cells there are from one row to the next, and from one column to the next.
"""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from bayeswater.typing import Array


def in_one_line(X: Array) -> tuple[Array, int, int]:
    """Give the memory of a table from its first cell to its last, and the steps to the next row and to the next column.

    A table that goes backwards, or whose steps are no whole cells, is copied.

    >>> cells, row_step, column_step = in_one_line(np.arange(12).reshape(3, 4)[::2])
    >>> len(cells), row_step, column_step
    (12, 8, 1)
    """
    n_rows, n_columns = X.shape
    if X.flags.c_contiguous:
        return X.reshape(-1), n_columns, 1
    if X.flags.f_contiguous:
        return X.T.reshape(-1), 1, n_rows
    (row_step, row_rest), (column_step, column_rest) = (divmod(step, X.itemsize) for step in X.strides)
    if row_step < 0 or column_step < 0 or row_rest or column_rest:
        return np.ascontiguousarray(X).reshape(-1), n_columns, 1
    length = 1 + (n_rows - 1) * row_step + (n_columns - 1) * column_step
    return as_strided(X, (length,), (X.itemsize,)), row_step, column_step
