"""Columns that members look at where there are many: chosen by what they tell of rows that are left out."""

from dataclasses import replace

import numpy as np
import pytest
from tests.learning.members.member_rows import mixed_rows, table_of

from bayeswater.errors import StatisticsError
from bayeswater.learning.members.aode_members import AodeMembers
from bayeswater.learning.members.kdb_members import KdbMembers
from bayeswater.learning.members.presets import committees_of
from bayeswater.learning.members.screening import information_of_class, screened, slots_of


def wide_rows(n_rows=150, n_numbers=40):
    """Three columns tell the classes: a number, a category and, almost, the name of the row."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, n_rows)
    numbers = rng.normal(size=(n_rows, n_numbers))
    numbers[:, 7] += 2 * codes
    states = np.stack([(codes + (rng.random(n_rows) < 0.2)) % 2, np.arange(n_rows) % 140], axis=1)
    return table_of(numbers, states, [2, 140], codes, 2)


def test_what_a_column_tells_is_the_gain_of_rows_that_are_left_out():
    table = mixed_rows(60, missing=0.2)
    codes = np.where(table.states[:, 0] < 0, 5, table.states[:, 0])
    share, told = np.bincount(table.labels) / 60, 0.0
    for i, y in enumerate(table.labels):
        alike = (codes == codes[i]) & (np.arange(60) != i)
        told += np.log((np.sum(alike & (table.labels == y)) + share[y]) / (alike.sum() + 1)) - np.log(share[y])
    assert information_of_class(table)[3] == pytest.approx(told)


def test_columns_that_tell_classes_are_kept_and_names_of_rows_are_not():
    table = wide_rows()
    kept = screened(table, 40)
    assert {7, 40} <= set(kept.tolist())
    assert 41 not in kept
    assert slots_of(table)[kept].sum() <= 40
    assert (np.diff(kept) > 0).all()
    assert len(screened(table, 2)) == 1


@pytest.mark.parametrize("committee", [AodeMembers(2, n_slots=40), KdbMembers(2, n_slots=40)])
def test_members_of_some_columns_leave_rows_out_forget_and_come_back(committee):
    table = wide_rows()
    found = committee.learn(table, 0)
    assert len({tuple(member.kept) for member in found.members}) == 2  # each by the rows that it has seen
    silent = [j for j in range(40) if all(j not in member.kept for member in found.members)]
    np.testing.assert_array_equal(
        found.log_posterior(replace(table, numbers=np.where(np.isin(np.arange(40), silent), 9.0, table.numbers))),
        found.log_posterior(table),
    )
    moved = found.plus(table.take(slice(0, 20))).minus(table.take(slice(0, 20)))
    np.testing.assert_array_equal(moved.log_posterior(table), found.log_posterior(table))
    arrays = found.to_arrays()
    again = type(committee).from_arrays(arrays, 40, np.array([2, 140]), 2)
    np.testing.assert_array_equal(again.honest_log_posterior(table)[0], found.honest_log_posterior(table)[0])
    for wrong in (arrays["0.kept"] + 40, arrays["0.kept"][::-1], arrays["0.kept"][:0]):
        with pytest.raises(StatisticsError):
            type(committee).from_arrays({**arrays, "0.kept": wrong}, 40, np.array([2, 140]), 2)


def test_wide_tables_of_few_rows_are_screened_and_others_are_not():
    wide = table_of(np.zeros((200, 400)), np.zeros((200, 0)), [], np.arange(200) % 2, 2)
    assert committees_of("best", None, wide)["aode"].n_slots == committees_of("best", None, wide)["kdb"].n_slots > 0
    assert committees_of("best", None, mixed_rows(200))["aode"].n_slots == 0
