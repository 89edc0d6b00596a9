"""How numbers are read and written: seconds, days and counts in words, what a law cannot have, laws to choose from."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from bayeswater import NaiveBayes
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.number_table import clock, day
from bayeswater.errors import DataError, ParameterError, UnseenCategoryWarning
from bayeswater.families.family import ABSENT, ColumnSettings, Settings
from bayeswater.families.numbers import NumberView, all_digits
from bayeswater.families.open_numbers import NumberProfile, OpenColumn
from bayeswater.families.poisson import PoissonBlock
from bayeswater.families.registry import CANDIDATES, families_of, require_options
from bayeswater.statistics.count_totals import CountTotals


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "00:00"),
        (59.9, "00:00"),
        (60, "00:01"),
        (3599, "00:59"),
        (3600, "01:00"),
        (86_399, "23:59"),
        (86_400, "00:00"),
    ],
)
def test_seconds_are_told_as_a_time_of_day(seconds, said):
    assert clock(seconds) == said


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (0, "1970-01-01"),
        (0.99, "1970-01-01"),
        (-0.01, "1969-12-31"),
        (31, "1970-02-01"),
        (1e12, str(np.datetime64(10**12, "D"))),
        (1.1e12, "1.1e+12 days after 1970-01-01"),
        (-1.1e12, "-1.1e+12 days after 1970-01-01"),
    ],
)
def test_days_are_told_as_a_date_as_far_as_the_calendar_reaches(days, said):
    assert day(days) == said


def test_a_number_is_told_with_all_its_digits():
    assert [all_digits(x) for x in (3.0, 0.5, 1 / 3, 1234567.25)] == ["3", "0.5", "0.3333333333333333", "1234567.25"]


@pytest.mark.parametrize(
    ("dtype", "part", "x", "said"),
    [
        ("float64", None, 1.5, "over 1.5"),
        (None, None, 1.5, "over 1.5"),
        ("time32[s]", None, 90.0, "over 00:01:30"),
        ("duration[us]", None, 90.0, "over 90 seconds"),
        ("timestamp[us]", None, 90.0, "over 90"),
        ("date32", "days", 31.0, "over 1970-02-01"),
        ("time32[s]", "time", 3660.0, "over 01:01"),
    ],
)
def test_a_limit_is_told_with_its_side_and_unit(dtype, part, x, said):
    view = NumberView.__new__(type("View", (NumberView,), {"options": None}))
    object.__setattr__(view, "column", Column("x", "x", "gaussian", part=part, dtype=dtype))
    assert view.in_words(x, "over") == said


def blocks_of(x):
    sums = CountTotals.of(DenseMatrix(x), encode_labels(list("aab")), None)
    return PoissonBlock(sums, np.full(x.shape[1], 0.5))


X = np.array([[1.0, 2.0], [3.0, np.nan], [np.nan, 4.0]])


def test_the_support_of_a_row_is_that_of_its_rarest_cell():
    block = blocks_of(X)
    assert block.support(X, np.array([0, 0, 0])).tolist() == [1, 2, 1]
    assert block.support(X, np.array([1, 1, 1])).tolist() == [0, 0, 1]
    assert block.support(np.full((1, 2), np.nan), np.array([0])).tolist() == [np.inf]


def test_missing_cells_are_absent_from_the_pattern_of_a_row():
    assert blocks_of(X).patterns(X).tolist() == [[0, 0], [0, ABSENT], [ABSENT, 0]]


def test_drawn_terms_are_those_of_cells_drawn_from_the_stream_of_each_column():
    block, codes = blocks_of(X), np.array([0, 1, 1, 0])
    first, second = block.draw_terms(codes, [4, 7], 3, np.zeros(0))
    for terms, j, place in ((first, 0, 4), (second, 1, 7)):
        drawn = block.draw_column(codes, j, np.random.default_rng([3, place]))
        assert set(terms) == {0}
        assert_allclose(terms[0], block.column_terms(drawn, j), rtol=1e-12)


# ---------------------------------------------------------------------- what a law cannot have

FRAME = pd.DataFrame({"x": [1.0, 2.0, 4.0, 8.0]})
BAD = {"lognormal": [0.0, -1.0], "poisson": [-1.0, 0.5, 2.0**53], "negative_binomial": [-1.0, 0.5], "beta": [0.0, 1.0]}


@pytest.mark.parametrize(("family", "bad"), [(family, bad) for family, cells in BAD.items() for bad in cells])
def test_a_cell_that_the_law_cannot_have_is_refused_in_learning_and_left_out_in_predicting(family, bad):
    good = FRAME / 10 if family == "beta" else FRAME
    y = [0, 1, 0, 1]
    with pytest.raises(DataError, match=f"is {family}, for .*, but row 2 has {bad}"):
        NaiveBayes(columns={"x": family}).fit(good.assign(x=[*good["x"][:2], bad, good["x"][3]]), y)
    model = NaiveBayes(columns={"x": family}).fit(good, y)
    rows = good.assign(x=[good["x"][0], bad, bad, np.nan])
    with pytest.warns(UnseenCategoryWarning, match=r"row 1 has .*: such cells are left out \(2 of 4 rows\)"):
        found = model.predict_log_proba(rows)
    assert_allclose(found[1:], found[[3, 3, 3]], rtol=1e-12)
    with pytest.raises(DataError, match="use unseen='ignore' to leave it out"):
        model.set_params(unseen="error").predict(rows)


@pytest.mark.parametrize("family", ["lognormal", "poisson", "beta"])
def test_the_outermost_cells_that_a_law_can_have_are_read(family):
    cells = {
        "lognormal": [5e-324, 1.0, 1e308, 2.0],
        "poisson": [0.0, 1.0, 2.0**53 - 1, 2.0],
        "beta": [5e-324, 0.5, 1 - 2.0**-53, 0.25],
    }[family]
    model = NaiveBayes(columns={"x": family}).fit(pd.DataFrame({"x": cells}), [0, 1, 0, 1])
    assert np.isfinite(model.predict_log_proba(pd.DataFrame({"x": cells}))).all()


@pytest.mark.parametrize(("alpha", "found"), [("auto", 0.25), (0, 0.0), (3.5, 3.5)])
def test_the_pseudo_count_of_a_column_is_its_own_that_of_all_or_the_usual_one(alpha, found):
    (family,) = families_of(ColumnPlan((Column("p", "p", "poisson"), Column("q", "q", "poisson")))).values()
    settings = Settings("NaiveBayes", alpha=alpha, given={"q": ColumnSettings(alpha=7)})
    assert family.pseudo_counts(settings, 0.25, "what").tolist() == [found, 7.0]


@pytest.mark.parametrize("period", [None, 0, -1, float("inf"), float("nan"), "24"])
def test_an_option_is_a_finite_number_over_zero(period):
    with pytest.raises(ParameterError, match="a number over 0"):
        require_options("hour", "von_mises", (("period", period),))
    require_options("hour", "von_mises", (("period", 1e-9),))
    with pytest.raises(ParameterError, match="which has no 'period'"):
        require_options("hour", "gaussian", (("period", 24),))


# ---------------------------------------------------------------------- columns left open


def open_column(x):
    return OpenColumn(
        NumberProfile.of(DenseMatrix(np.asarray(x)[:, None]), encode_labels(np.zeros(len(x))), None, CANDIDATES), 0
    )


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ([np.nan, np.nan], "no values"),
        ([2.5, 2.5, np.nan], "one value only, 2.5"),
        ([2.5, np.nextafter(2.5, 3)], None),
        ([0.0, 0.0], "one value only, 0"),
    ],
)
def test_a_column_without_two_values_says_so(x, said):
    assert open_column(x).nothing_to_learn == said


def test_columns_without_names_are_called_by_their_place():
    profile = NumberProfile.of(DenseMatrix(np.eye(3)), encode_labels([0, 0, 1]), None, CANDIDATES)
    assert [OpenColumn(profile, j).name for j in range(3)] == ["x0", "x1", "x2"]
