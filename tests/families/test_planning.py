"""Columns whose pieces tell different things, and how many of those that are left out are named."""

import warnings

import pytest

from bayeswater import BayesWarning
from bayeswater.data.reading.column_plan import AUTO, BITS, IGNORED, Column
from bayeswater.families.planning import NOT_AGREED, agreed, warn_of_left_out

NUMBER = (Column("x", "x", AUTO, "numbers", None, "int64"),)
FLAG = (Column("x", "x", BITS, "only 0 and 1", None, "int64"),)
STATE = (Column("x", "x", "categorical", "strings", None, "string"),)
DATE = (
    Column("x", "x", AUTO, "a date: its days", "days", "date32"),
    Column("x (month)", "x", "categorical", "", "month"),
)


def test_pieces_that_agree_or_say_nothing_leave_a_column_as_it_is():
    assert agreed(NUMBER, None) == agreed(None, NUMBER) == agreed(NUMBER, NUMBER) == NUMBER
    assert agreed(DATE, DATE) == DATE


def test_numbers_beside_zeros_and_ones_are_numbers():
    assert agreed(NUMBER, FLAG) == agreed(FLAG, NUMBER) == NUMBER


@pytest.mark.parametrize(("mine", "theirs"), [(NUMBER, STATE), (STATE, FLAG), (DATE, NUMBER), (DATE, STATE)])
def test_pieces_that_tell_different_kinds_leave_the_column_out(mine, theirs):
    assert agreed(mine, theirs) == (Column("x", "x", IGNORED, NOT_AGREED, None, mine[0].dtype),)


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1, "column 'c0' is left out: empty; say how"),
        (5, "5 columns ('c0', 'c1', 'c2', 'c3', 'c4') are left out: empty; say how"),
        (6, "6 columns ('c0', 'c1', 'c2', 'c3', 'c4', ...) are left out: empty; say how"),
    ],
)
def test_five_columns_at_most_are_named_in_one_line_for_each_reason(n, said):
    columns = [Column(f"c{j}", f"c{j}", IGNORED, "empty") for j in range(n)]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_left_out([*columns, Column("id", "id", IGNORED, "unique")], "say how")
    assert [str(one.message) for one in found] == [said, "column 'id' is left out: unique; say how"]
    assert all(one.category is BayesWarning for one in found)
