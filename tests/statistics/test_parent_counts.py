"""Counts of a column, its parents and the class, where rows were: added, taken away, and with fewer parents."""

import numpy as np
import pytest

from bayeswater.errors import StatisticsError
from bayeswater.statistics.parent_counts import class_cells, joined, of_first_parents, remaining, taken_away

N_SLOTS = np.array([3, 4, 3, 2])
"""Two parents, the column itself and the class."""


def rows(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, n, n_rows) for n in N_SLOTS]).astype(np.uint8)


def assert_same(one, other):
    np.testing.assert_array_equal(one.cell, other.cell)
    np.testing.assert_array_equal(one.count, other.count)


def test_cells_stand_in_the_order_of_their_slots_and_count_the_rows_that_have_the_column():
    slots = rows(200)
    cells = class_cells(slots, N_SLOTS, None)
    listed = [tuple(row) for row in slots.T.tolist() if row[2] < 2]
    assert [tuple(cell) for cell in cells.cell.tolist()] == sorted(set(listed))
    assert cells.count[:, 0].tolist() == [listed.count(tuple(cell)) for cell in cells.cell.tolist()]


@pytest.mark.parametrize("n_parents", [0, 1, 2])
def test_fewer_parents_are_counted_as_if_there_had_been_no_others(n_parents):
    slots = rows(200)
    kept = [*range(n_parents), 2, 3]
    assert_same(
        of_first_parents(class_cells(slots, N_SLOTS, None), n_parents), class_cells(slots[kept], N_SLOTS[kept], None)
    )


@pytest.mark.parametrize("weights", [False, True])
def test_taking_rows_away_equals_never_having_counted_them(weights):
    slots = rows(200)
    weight = np.random.default_rng(1).integers(1, 5, 200).astype(float) if weights else None
    first, later = slice(0, 120), slice(120, 200)
    parts = [class_cells(slots[:, some], N_SLOTS, None if weight is None else weight[some]) for some in (first, later)]
    whole = class_cells(slots, N_SLOTS, weight)
    assert_same(joined(parts), whole)
    assert_same(taken_away(whole, parts[1]), parts[0])
    assert len(taken_away(whole, whole).cell) == 0


def test_what_was_never_counted_cannot_be_taken_away():
    part = class_cells(rows(50), N_SLOTS, None)
    with pytest.raises(StatisticsError, match="never counted"):
        taken_away(part, class_cells(rows(50, seed=1), N_SLOTS, None))
    with pytest.raises(StatisticsError, match="never counted"):
        remaining(np.array([1.0]), np.array([1.1]))


def test_fractions_that_leave_but_rounding_leave_nothing():
    slots = rows(3)[:, [0, 0, 0]]
    slots[2] = 0
    whole = class_cells(slots, N_SLOTS, np.array([0.1, 0.2, 0.7]))
    part = class_cells(slots[:, :1], N_SLOTS, np.array([0.7 + 0.1 + 0.2]))
    assert len(taken_away(whole, part).cell) == 0
