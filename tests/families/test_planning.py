"""Columns whose pieces tell different things, and how many of those that are left out are named."""

import warnings

import numpy as np
import pandas as pd
import pytest

from bayeswater import BayesWarning, NaiveBayes
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


def test_a_column_that_names_the_rows_is_left_out_and_the_warning_says_how_to_keep_it():
    rows, y = pd.DataFrame({"key": [f"id{i}" for i in range(60)], "x": np.arange(60) / 7}), np.arange(60) % 2
    with pytest.warns(
        BayesWarning, match="column 'key' is left out: .* names the rows.*{'key': 'categorical'}"
    ) as told:
        assert NaiveBayes().fit(rows, y).columns_["key"].family == IGNORED
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = NaiveBayes(columns={"key": "categorical"}).fit(rows, y)
        NaiveBayes(columns={"key": "ignored"}).fit(rows, y)
    assert kept.columns_["key"].family == "categorical"
