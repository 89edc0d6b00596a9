"""Bins of about equal frequency, by their number, by the root of the rows, and by the rows of each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.reading.discretising.one_column import find_cuts

from bayeswater.data.reading.discretising.cuts import apply_cuts
from bayeswater.data.reading.discretising.value_cells import ValueCells, equal_frequency_cuts

METHODS = [("equal_frequency", {"n_bins": 4}), ("pkid", {}), ("fixed_frequency", {"min_rows": 3})]
COLUMNS = st.lists(st.integers(0, 12), min_size=1, max_size=60)


def cuts_of(values, method, weights=None, **options):
    return find_cuts(np.asarray(values, dtype=float), None, 1, weights, method, **options)


def sizes(values, cuts):
    return np.bincount(apply_cuts(np.asarray(values, dtype=float), cuts), minlength=len(cuts) + 1)


@pytest.mark.parametrize("n_bins", [1, 2, 5, 64])
def test_bins_of_a_continuous_column_are_about_equally_heavy(n_bins):
    values = np.random.default_rng(0).normal(size=10_000)
    size = sizes(values, cuts_of(values, "equal_frequency", n_bins=n_bins))
    assert len(size) == n_bins
    assert np.abs(size - 10_000 / n_bins).max() <= 1


@given(COLUMNS, st.integers(1, 9))
def test_there_are_no_more_bins_than_asked_for_and_none_is_empty(values, n_bins):
    size = sizes(values, cuts_of(values, "equal_frequency", n_bins=n_bins))
    assert size.all()
    assert len(size) <= n_bins
    if len(set(values)) <= n_bins:
        assert len(size) == len(set(values))


@pytest.mark.parametrize(("n_rows", "n_bins"), [(1, 1), (3, 1), (4, 2), (99, 9), (100, 10), (10_000, 100)])
def test_pkid_makes_the_root_of_the_rows_bins(n_rows, n_bins):
    values = np.random.default_rng(1).permutation(n_rows)
    size = sizes(values, cuts_of(values, "pkid"))
    assert len(size) == n_bins
    assert size.max() - size.min() <= 1


@given(COLUMNS, st.integers(1, 9))
def test_every_bin_of_fixed_frequency_has_enough_rows(values, min_rows):
    size = sizes(values, cuts_of(values, "fixed_frequency", min_rows=min_rows))
    assert len(size) == 1 or size.min() >= min_rows


@given(st.integers(1, 60), st.integers(1, 9))
def test_fixed_frequency_makes_as_many_bins_as_the_rows_allow(n_rows, min_rows):
    assert len(cuts_of(range(n_rows), "fixed_frequency", min_rows=min_rows)) + 1 == max(1, n_rows // min_rows)


@pytest.mark.parametrize(("method", "options"), METHODS)
@given(values=COLUMNS, data=st.data())
def test_a_whole_weight_is_that_many_rows(values, data, method, options):
    weight = data.draw(st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)).filter(any))
    repeated = cuts_of(np.repeat(values, weight), method, **options)
    np.testing.assert_array_equal(cuts_of(values, method, weight, **options), repeated)


def test_weights_that_are_no_whole_numbers_count_as_rows():
    assert cuts_of(range(10), "fixed_frequency", np.full(10, 0.1), min_rows=0.3).tolist() == [2.5, 5.5]
    assert cuts_of(range(10), "equal_frequency", np.full(10, 0.1), n_bins=2).tolist() == [4.5]
    assert cuts_of(range(10), "pkid", np.full(10, 0.5)).tolist() == [4.5]  # of five rows


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_missing_values_have_no_influence(method, options):
    values = np.random.default_rng(2).normal(size=50)
    np.testing.assert_array_equal(
        cuts_of(np.insert(values, [0, 7, 50], np.nan), method, **options), cuts_of(values, method, **options)
    )
    assert len(cuts_of(values, method, **options)) > 2
    for nothing in ([], [np.nan, np.nan], [3.0, 3.0]):
        assert len(cuts_of(nothing, method, **options)) == 0


@pytest.mark.parametrize("phase", [0.25, 0.5, 0.9])
def test_a_phase_moves_all_cuts_down_by_a_share_of_a_bin(phase):
    values = np.random.default_rng(0).normal(size=10_000)
    size = sizes(values, equal_frequency_cuts(ValueCells.of(values, None, 1, None), 4, phase))
    expected = np.array([1 - phase, 1, 1, 1, phase]) * 2500
    assert np.abs(size - expected).max() <= 1


@given(COLUMNS, st.floats(0.01, 0.99), st.integers(2, 6))
def test_with_a_phase_there_is_at_most_one_bin_more_and_none_is_empty(values, phase, n_bins):
    values = np.asarray(values, dtype=float)
    size = sizes(values, equal_frequency_cuts(ValueCells.of(values, None, 1, None), n_bins, phase))
    assert len(size) <= n_bins + 1
    assert size.all()
