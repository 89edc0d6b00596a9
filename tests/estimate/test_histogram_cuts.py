"""Bins that tell the classes apart, cut from a histogram: as from the rows, and never through a bucket."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.reading.discretising.one_column import find_cuts

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.discretising.cuts import closed_left
from bayeswater.data.reading.discretising.value_cells import ValueCells
from bayeswater.estimate.histogram_cuts import between_buckets, class_cuts, quantile_cuts, value_cells
from bayeswater.families.open_numbers import NumberProfile
from bayeswater.families.registry import CANDIDATES
from bayeswater.statistics import key_counts
from bayeswater.statistics.key_counts import Occupied


def profile(x, y, weight=None):
    return NumberProfile.of(ColumnMatrix((x,), ("x",)), encode_labels(y), weight, CANDIDATES)


def histogram(x, y, weight=None):
    return profile(x, y, weight).keys.of_column(0)


VALUES = st.integers(-20, 20) | st.integers(0, 3).map(lambda steps: 1.0 + steps * np.finfo(np.float64).eps)


@given(st.lists(st.tuples(VALUES | st.none(), st.integers(0, 2), st.integers(1, 40)), min_size=1, max_size=40))
def test_the_cells_and_cuts_of_a_histogram_are_those_of_its_rows(rows):
    x = np.array([np.nan if value is None else float(value) for value, _, _ in rows])
    y, weight = np.array([k for _, k, _ in rows]), np.array([times for _, _, times in rows])
    labels = encode_labels(y)
    found, expected = value_cells(histogram(x, y, weight)), ValueCells.of(x, labels.codes, labels.n_classes, weight)
    for name in ("first", "last", "start", "code", "weight"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    cuts = find_cuts(x, labels.codes, labels.n_classes, weight)
    assert class_cuts(histogram(x, y, weight)) == tuple(closed_left(cuts, x).tolist())


def test_without_a_fallback_a_column_that_tells_nothing_has_no_cut():
    x, y = np.arange(40.0), np.arange(40) % 2
    assert class_cuts(histogram(x, y), fallback=None) == ()
    assert class_cuts(histogram(x, y)) == (7.5, 15.5, 23.5, 31.5)


def test_cuts_of_a_coarse_histogram_part_no_bucket(monkeypatch):
    monkeypatch.setattr(key_counts, "MOST_BUCKETS", 64)
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 2_000)
    sums = profile(rng.normal(2.0 * y), y)
    cuts = class_cuts(sums.keys.of_column(0))
    assert len(cuts) >= 2
    assert sums.binned(0, cuts).sum() == 2_000  # which refuses cuts through a bucket


def test_cuts_of_other_rows_are_moved_to_where_no_bucket_is_parted(monkeypatch):
    monkeypatch.setattr(key_counts, "MOST_BUCKETS", 8)
    x = np.arange(1.0, 129.0)
    sums = profile(x, np.arange(128) % 2)
    buckets = sums.keys.of_column(0)
    assert (buckets.first < buckets.last).any()
    cuts = between_buckets((-5.0, 1.0, 20.5, 21.5, 100.25, 128.0, 500.0), buckets)
    assert set(cuts) <= set(buckets.first[1:].tolist())
    assert list(cuts) == sorted(set(cuts))
    assert (sums.binned(0, cuts).sum(axis=1) > 0).all()
    assert between_buckets(tuple(buckets.first[1:].tolist()), buckets) == tuple(buckets.first[1:].tolist())


@pytest.mark.parametrize("cuts", [(), (1.0, 2.0)])
def test_a_column_without_values_has_no_cuts(cuts):
    empty = histogram(np.full(3, np.nan), np.array([0, 1, 1]))
    assert class_cuts(empty) == ()
    assert between_buckets(cuts, empty) == ()


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
