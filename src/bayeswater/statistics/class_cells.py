"""Counts of a column with its parents and the class, only where rows were: a `Family` whose last column is the class.

Deep configurations have few rows, and of many classes but one or two: a column for each class would be nearly empty.
Cells stand in the order of the parents' slots, the first parent leading, then of the column's own state, then of the
class; so those of the first parents alone, for any number of them, are stretches of neighbours (`kernels.cell_terms`).
"""

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.statistics.family import Family, joined
from bayeswater.statistics.statistic import ROUNDING
from bayeswater.typing import Array


def class_cells(slots: Array, n_slots: Array, weight: Array | None) -> Family:
    """Count rows by slots (n_parents + 2, n_rows) of the parents, the column itself and the class.

    Rows in which the column itself is missing, in its last slot, are left out.

    >>> cells = class_cells(np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0]]), np.array([3, 3, 2]), None)
    >>> cells.cell.tolist(), cells.count[:, 0]
    ([[0, 0, 1], [1, 1, 0]], array([1., 2.]))
    """
    there = slots[-2] < n_slots[-2] - 1
    if not there.all():
        slots, weight = slots[:, there], None if weight is None else weight[there]
    found = Family.of(slots, n_slots, np.zeros(slots.shape[1], dtype=np.int64), weight, 1)
    return Family(n_slots, found.cell, found.count.astype(np.float64))


def of_first_parents(cells: Family, n_parents: int) -> Family:
    """Give the counts with the first parents alone."""
    n_columns = len(cells.n_slots)
    if n_parents >= n_columns - 2:
        return cells
    kept = [*range(n_parents), n_columns - 2, n_columns - 1]
    return joined([Family(cells.n_slots[kept], cells.cell[:, kept], cells.count)])


def taken_away(whole: Family, part: Family) -> Family:
    """Take counts away; refuse those that were never counted."""
    both = joined([whole, part])
    mine, theirs = (np.zeros(len(both.cell)) for _ in range(2))
    for counts, cells in ((mine, whole), (theirs, part)):
        counts[both.find(cells.cell.T)] = cells.count[:, 0]
    rest = remaining(mine, theirs)
    kept = rest > 0
    return Family(both.n_slots, both.cell[kept], rest[kept, None])


def remaining(count: Array, part: Array) -> Array:
    """Take counts away from others; refuse more than there are, and clear what is but rounding.

    >>> remaining(np.array([3.0, 0.3]), np.array([1.0, 0.1 + 0.2]))
    array([2., 0.])
    """
    rest = count - part
    rest[np.abs(rest) <= ROUNDING * count] = 0.0
    if (rest < 0).any():
        raise StatisticsError(
            f"cannot take away rows that were never counted: a count of {count[rest < 0][0]:g} would become "
            f"{rest.min():g}"
        )
    return rest
