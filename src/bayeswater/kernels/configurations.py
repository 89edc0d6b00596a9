"""Configurations of several columns: the combinations of slots that occur, numbered in the order of their slots.

A combination is read as the digits of one number, the first column the leading one. Where the product of the domains
passes what an integer holds, the combinations of the columns so far are first replaced by their own numbers: there are
no more of them than rows, so columns of any number and size can follow.
"""

import numpy as np

from bayeswater.typing import Array

LARGEST_KEY = 2**62
"""Keys stay below this, and so within int64."""

SPARSE_FROM = 2**14
"""A list of all possible combinations is made up to this length, or that of the rows; of more, only those that occur
are sorted."""


def number_configurations(slots: Array, n_slots: Array) -> tuple[Array, Array]:
    """Give the number of every row's combination (n_rows,), and for each number one row that has it.

    Parameters
    ----------
    slots : array of shape (n_columns, n_rows)
    n_slots : array of shape (n_columns,)
        Slots of each column.

    Examples
    --------
    >>> number, row = number_configurations(np.array([[1, 0, 1], [2, 5, 2]]), np.array([2, 6]))
    >>> number, row
    (array([1, 0, 1]), array([1, 2]))
    """
    n_rows = slots.shape[1]
    key, size = np.zeros(n_rows, dtype=np.int64), 1
    for column, n in zip(slots, n_slots.tolist(), strict=True):
        if size * n > LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key = key * n + column
        size *= n
    if size > max(n_rows, SPARSE_FROM):
        _, row, number = np.unique(key, return_index=True, return_inverse=True)
        return number, row
    row_of = np.full(size, -1)
    row_of[key] = np.arange(n_rows)
    occurring = np.flatnonzero(row_of >= 0)
    number_of = np.empty(size, dtype=np.int64)
    number_of[occurring] = np.arange(len(occurring))
    return number_of[key], row_of[occurring]
