"""Bins of equal width, and values that round to the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.preprocessing import KBinsDiscretizer
from tests.data.reading.discretising.one_column import find_cuts

from bayeswater.data.reading.discretising.cuts import apply_cuts
from bayeswater.errors import ParameterError, ResourceLimitError


def cuts_of(values, method, weights=None, **options):
    return find_cuts(np.asarray(values, dtype=float), None, 1, weights, method, **options)


def test_bins_of_equal_width_are_those_of_scikit_learn():
    X, _ = load_iris(return_X_y=True)
    theirs = KBinsDiscretizer(7, strategy="uniform", encode="ordinal").fit(X).bin_edges_
    for j in range(4):
        # The same formula in another order: a few of the last digits differ.
        np.testing.assert_allclose(cuts_of(X[:, j], "equal_width", n_bins=7), theirs[j][1:-1], rtol=1e-14)


def test_rows_of_no_weight_and_missing_values_widen_nothing():
    values, weight = [0.0, 8.0, np.nan, 100.0], [1, 2, 1, 0]
    assert cuts_of(values, "equal_width", weight, n_bins=4).tolist() == [2, 4, 6]
    assert cuts_of(values, "rounding", weight).tolist() == [4.5]  # 4 is half way from 0 to 8, and goes to the lower


def test_widths_at_the_ends_of_float64():
    assert cuts_of([-1.5e308, 1.5e308], "equal_width", n_bins=3).tolist() == pytest.approx([-0.5e308, 0.5e308])
    assert cuts_of([1.0, 1.0 + 2**-52], "equal_width", n_bins=5).tolist() == [1.0]  # no float is between them


def test_more_bins_than_memory_holds_are_refused_with_the_number():
    with pytest.raises(ResourceLimitError, match=r"1000000000000 bins of equal width would take 7451 GiB.*n_bins"):
        cuts_of([0.0, 1.0], "equal_width", n_bins=10**12)


@pytest.mark.parametrize("method", ["equal_width", "rounding"])
def test_a_column_of_one_value_or_none_is_not_cut(method):
    for values in ([], [np.nan], [3.5, 3.5, 3.5]):
        assert len(cuts_of(values, method)) == 0


@given(st.lists(st.integers(-400, 400), min_size=1, max_size=40), st.sampled_from([-1, 0, 1]))
def test_values_are_together_that_numpy_rounds_to_the_same(eighths, decimals):
    values = np.array(eighths) / 8  # halves among them, which go to the even neighbour
    rounded = np.round(values, decimals)
    codes = apply_cuts(values, cuts_of(values, "rounding", decimals=decimals))
    np.testing.assert_array_equal(codes, np.unique(rounded, return_inverse=True)[1])


@given(st.floats(-1e6, 1e6), st.integers(-2, 3))
def test_a_value_that_rounds_to_what_was_seen_is_in_its_interval(value, decimals):
    seen = np.round(value, decimals) + np.arange(-2, 3) * 10.0**-decimals
    cuts = cuts_of(seen, "rounding", decimals=decimals)
    kinds = np.unique(np.round(seen, decimals))
    assert kinds[apply_cuts(np.array([value]), cuts)[0]] == np.round(value, decimals)


def test_what_was_never_seen_goes_to_the_nearest_that_was():
    cuts = cuts_of([1, 2, 6], "rounding")
    assert apply_cuts(np.array([-7.0, 3.4, 4.4, 4.6, 9.0]), cuts).tolist() == [0, 1, 1, 2, 2]


def test_iris_rounded_to_whole_numbers_as_in_the_seed():
    X, _ = load_iris(return_X_y=True)
    for column in X.T:
        codes = apply_cuts(column, cuts_of(column, "rounding"))
        expected = np.unique(np.round(column), return_counts=True)[1]
        np.testing.assert_array_equal(np.bincount(codes), expected)


def test_numbers_too_large_to_have_such_digits_stay_as_they_are():
    assert cuts_of([1e10, 2e10, 4e10], "rounding", decimals=300).tolist() == [1.5e10, 3e10]
    assert cuts_of([1e300, 3e300], "rounding", decimals=20).tolist() == [2e300]
    assert cuts_of([-3.0, 4.0, 1e10], "rounding", decimals=-300).tolist() == []
    least = -np.finfo(float).max
    assert cuts_of([least, np.nextafter(least, 0)], "rounding").tolist() == [least]


@given(st.floats(-1e25, 1e25), st.integers(-2, 20))
def test_neighbouring_floats_are_together_that_numpy_rounds_to_the_same(first, decimals):
    values = first + np.arange(6) * np.spacing(first)
    codes = apply_cuts(values, cuts_of(values, "rounding", decimals=decimals))
    assert codes.tolist() == np.unique(np.round(values, decimals), return_inverse=True)[1].tolist()


def test_whole_numbers_that_have_no_digits_left_stay_apart():
    values = 2.0**53 + np.arange(0, 12, 2)
    assert apply_cuts(values, cuts_of(values, "rounding")).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("decimals", [-400, 301, 10**30])
def test_digits_that_no_float_has_are_refused(decimals):
    with pytest.raises(ParameterError, match=r"decimals is -?\d+; give a whole number, -300 to 300"):
        cuts_of([0.0, 1.0], "rounding", decimals=decimals)


def test_bins_of_equal_width_are_as_many_as_asked_though_some_hold_nothing():
    assert len(cuts_of([0.0, 0.0, 1.0], "equal_width", n_bins=5)) == 4
    assert len(cuts_of([0.0, 0.0, 1.0], "equal_frequency", n_bins=5)) == 1
