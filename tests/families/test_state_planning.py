"""Columns of states: which numbers are categories, how the others are cut, and what may be said of a column."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayeswater import AODE, BayesWarning, Dirichlet, ParameterError
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.families.family import ColumnSettings, Settings
from bayeswater.families.state_planning import (
    NumbersInMemory,
    cut_by_labels,
    method_of,
    require_states,
    settled,
)


def numbers(values):
    values = np.asarray(values)
    return NumbersInMemory(values, np.arange(len(values)) % 2, 2, None)


@pytest.mark.parametrize(
    ("values", "n_few"),
    [
        (np.arange(12), 12),
        (np.arange(13), None),
        (np.arange(12.0), 12),
        ([1.0, np.nan, 3.0, 3.0], 2),
        ([0.5, 1.5], None),
        ([0.0, 0.5], None),
        (np.array([-100, 100, 100], dtype=np.int8), 2),
        (np.array([0, 2**64 - 1], dtype=np.uint64), 2),
        ([0, 4095], 2),
        ([0, 4096], 2),
        ([0.0, 4095.0], 2),
        ([0.0, 1e300], 2),
        ([0.5, 1e6], None),
        (np.arange(12) * 1000, 12),
        (np.arange(13) * 1000, None),
        ([0] * 768 + [10_000 * i for i in range(1, 12)], 12),  # the first rows show one of them
        ([0] * 768 + [10_000 * i for i in range(1, 13)], None),
    ],
)
def test_up_to_twelve_whole_numbers_are_categories(values, n_few):
    assert numbers(values).n_few_whole == n_few


NUMBER = Column("x", "x", "auto", "numbers")


def test_few_whole_numbers_are_categories_unless_bins_are_told_or_they_are_days():
    few = numbers([1, 2, 3, 1, 2, 3, 1, 2])
    plain = settled(NUMBER, few, ColumnSettings(), "mdl")
    assert (plain.family, plain.why) == ("categorical", "numbers; 3 different")
    assert settled(NUMBER, few, ColumnSettings(family="auto"), "mdl").family == "categorical"
    for column, said in (
        (NUMBER, ColumnSettings(bins=2)),
        (NUMBER, ColumnSettings(family="binned")),
        (replace(NUMBER, part="days"), ColumnSettings()),
    ):
        assert settled(column, few, said, "equal_frequency").family == "binned"


def test_cut_numbers_know_the_least_and_the_largest_value_of_each_bin():
    cut = settled(NUMBER, numbers([1.5, 2.5, 7.5, 8.5]), ColumnSettings(bins=2), "mdl")
    assert (cut.cuts, cut.spans) == ((5.0,), ((1.5, 2.5), (7.5, 8.5)))
    equal = settled(NUMBER, numbers([1.0, 2.5, 2.5, 3.0]), ColumnSettings(), "equal_width")
    assert len(equal.cuts) == 4 and equal.spans is None  # a bin has no value


@pytest.mark.parametrize(("bins", "method"), [(None, "mdl"), (7, "equal_frequency"), ("mdl", "mdl")])
def test_a_column_is_cut_as_is_said_of_it(bins, method):
    assert method_of(ColumnSettings(bins=bins), "mdl").method == method
    assert method_of(ColumnSettings(bins=bins), "pkid").method == (method if bins else "pkid")
    assert bins != 7 or method_of(ColumnSettings(bins=bins), "mdl").n_bins == 7


def test_cuts_depend_on_labels_where_neither_they_nor_a_number_of_bins_are_told():
    plan = ColumnPlan((*(Column(name, name, "binned", cuts=(1.0,)) for name in "abc"), Column("d", "d", "categorical")))
    said = {"a": ColumnSettings(cuts=(1.0,)), "b": ColumnSettings(bins=3)}
    settings = Settings("AODE", given=said)
    assert [column.name for column in cut_by_labels(plan, settings, "mdl")] == ["c"]
    assert cut_by_labels(plan, settings, "equal_width") == ()


@pytest.mark.parametrize("family", [None, "auto", "ignored", "categorical", "bernoulli", "binned"])
def test_what_has_states_may_be_said(family):
    require_states({"x": ColumnSettings(family=family)}, "AODE")


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (ColumnSettings(family="gaussian"), "'x' is gaussian, but every column of AODE has states"),
        (ColumnSettings(family="text"), "'x' is text, but every column of AODE has states"),
        (ColumnSettings(alpha=1.0), "AODE smooths all tables alike"),
        (ColumnSettings(prior=Dirichlet({"u": 1.0})), "AODE smooths all tables alike"),
    ],
)
def test_what_has_no_states_and_a_smoothing_of_its_own_are_refused(said, problem):
    with pytest.raises(ParameterError, match=problem):
        require_states({"x": said}, "AODE")


@pytest.mark.parametrize(("n_rows", "is_told"), [(19, False), (20, True)])
def test_categories_that_name_the_rows_are_warned_of(n_rows, is_told):
    names = pd.Categorical([f"row {i}" for i in range(n_rows)])
    rows = pd.DataFrame({"name": names, "other": np.arange(n_rows) % 3 == 0})
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", BayesWarning)
        AODE(columns={"name": "categorical"}).fit(rows, np.arange(n_rows) % 2)
    assert any("has as many values as rows" in str(one.message) for one in warned) == is_told
