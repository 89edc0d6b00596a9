"""Bins of about equal weight: no more than asked for, a bin for each value where they are few, and spikes alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.estimate.quantile_bins import quantile_cuts
from bayeswater.statistics.key_counts import Occupied


def occupied(values, *, is_whole=False):
    value, weight = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    return Occupied(value, value, weight, is_whole=is_whole)


def sizes(values, cuts):
    return np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1)


@pytest.mark.parametrize("n_bins", [2, 4, 7, 16, 64])
def test_bins_of_a_continuous_column_are_about_equally_heavy(n_bins):
    values = np.random.default_rng(0).normal(size=20_000)
    size = sizes(values, quantile_cuts(occupied(values), n_bins))
    assert len(size) == n_bins
    assert np.abs(size - 20_000 / n_bins).max() <= 1


def test_few_different_values_have_a_bin_for_each():
    assert quantile_cuts(occupied([1, 2, 2, 9], is_whole=True), 4) == (1.5, 5.5)
    assert quantile_cuts(occupied([3, 3], is_whole=True), 4) == ()


def test_a_value_that_outweighs_a_bin_is_alone_in_its_own_and_the_rest_share_the_others():
    rng = np.random.default_rng(1)
    tail = rng.normal(size=900)
    values = np.concatenate([np.zeros(9_100), tail])
    cuts = quantile_cuts(occupied(values), 16)
    size = sizes(values, cuts)
    assert size.max() == 9_100
    others = np.delete(size, size.argmax())
    assert len(others) == 15
    # 900 / 15 = 60 each, but beside the spike, where a bin is cut in two and the smaller part joined to its neighbour.
    assert ((others >= 59) & (others <= 61)).sum() == 13
    assert (others >= 30).all()
    assert (others <= 90).all()


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(2, 20))
def test_there_are_never_more_bins_than_asked_for_and_none_is_empty(weight, n_bins):
    values = np.repeat(np.arange(len(weight)), weight)
    cuts = quantile_cuts(occupied(values, is_whole=True), n_bins)
    assert len(cuts) + 1 == min(n_bins, len(weight)) or len(cuts) + 1 < n_bins
    assert (sizes(values, cuts) > 0).all()
    assert list(cuts) == sorted(set(cuts))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(2, 20))
def test_cuts_depend_on_shares_alone(weight, n_bins):
    values = np.arange(len(weight), dtype=np.float64)
    cuts = [
        quantile_cuts(Occupied(values, values, np.array(weight) * scale, is_whole=True), n_bins)
        for scale in (1, 0.1, 7)
    ]
    assert cuts[0] == cuts[1] == cuts[2]
