"""Buckets of floats keep their order, have edges of their own, and do not depend on the data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.kernels.key_cells import LOWEST, N_BUCKETS, bucket_edges, buckets_of, key_cells

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, np.finfo(float).max, -np.finfo(float).max, 0.1, -1 / 3, 1e-300]


@given(FLOATS, FLOATS)
def test_buckets_have_the_order_of_the_numbers(a, b):
    bucket_a, bucket_b = buckets_of(np.array([min(a, b), max(a, b)]))
    assert bucket_a <= bucket_b


@given(FLOATS)
def test_a_number_lies_between_the_edge_of_its_bucket_and_the_next(x):
    bucket = buckets_of(np.array([x]))
    assert bucket_edges(bucket)[0] <= x < bucket_edges(bucket + 1)[0]
    assert LOWEST <= bucket[0] < LOWEST + N_BUCKETS


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_a_bucket_is_narrower_than_a_thousandth_of_its_numbers(x):
    bucket = buckets_of(np.array([x, -x]))
    assert (bucket_edges(bucket + 1) - bucket_edges(bucket) < x / 1000).all()


def test_whole_numbers_up_to_2048_begin_buckets_of_their_own():
    numbers = np.arange(-2048.0, 2049.0)
    buckets = buckets_of(numbers)
    assert len(np.unique(buckets)) == len(numbers)
    np.testing.assert_array_equal(bucket_edges(buckets), numbers)


def test_both_zeros_are_one_number():
    assert buckets_of(np.array([0.0, -0.0])).tolist() == [0, 0]


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32])
def test_a_cell_names_bucket_and_class_and_nan_has_none(kind, use_loop):
    rng = np.random.default_rng(0)
    values = np.array([*EXTREMES, np.nan, -np.nan, *rng.normal(size=20)])
    wide = np.repeat(values, 3)[::3]  # a column of a matrix that is stored by row
    y = rng.integers(0, 7, size=len(values)).astype(kind)
    cells = key_cells(wide, y, 7, use_loop=use_loop)
    there = ~np.isnan(values)
    assert (cells[~there] == -1).all()
    np.testing.assert_array_equal(cells[there] // 7 + LOWEST, buckets_of(values)[there])
    np.testing.assert_array_equal(cells[there] % 7, y[there])
