"""Keys of floats keep their order; a histogram has the finest buckets that are few enough, however it was counted."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.tables import weights

from bayeswater.kernels import key_cells
from bayeswater.kernels.key_cells import Cells, count_keys, joined, keys_of, least_shift, numbers_of

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, np.finfo(float).max, -np.finfo(float).max, 0.1, -1 / 3, 1e-300]
both = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])


@given(FLOATS, FLOATS)
def test_keys_have_the_order_of_the_numbers(a, b):
    key_a, key_b = keys_of(np.array([a, b])).tolist()
    assert (key_a < key_b, key_a == key_b) == (a < b, a == b)


@given(FLOATS)
def test_a_key_is_a_number_again(x):
    assert numbers_of(keys_of(np.array([x])))[0] == x


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=60), st.integers(2, 12))
def test_the_least_shift_leaves_few_enough_buckets_and_no_smaller_one_does(keys, most):
    key = np.array(sorted(keys))
    shift = least_shift(key, most)
    assert len(np.unique(key >> shift)) <= most
    assert shift == 0 or len(np.unique(key >> (shift - 1))) > most


def counted_by_hand(x, y, weight, shift):
    total, keys = Counter(), {}
    for value, k, w in zip(x, y, np.ones(len(x), dtype=int) if weight is None else weight, strict=True):
        if value == value:
            key = int(keys_of(np.array([value]))[0])
            total[key >> shift, int(k)] += w.item()
            keys.setdefault((key >> shift, int(k)), []).append(key)
    return [(min(keys[cell]), max(keys[cell]), cell[1], total[cell]) for cell in sorted(total)]


def rows_of(cells):
    return list(zip(*(array.tolist() for array in cells[1:]), strict=True))


@both
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32])
@pytest.mark.parametrize("weighted", [None, "int", "float"])
@pytest.mark.parametrize("most", [5, 40, 1000])
def test_numbers_are_counted_in_their_bucket_and_class_and_nan_in_none(most, weighted, kind, use_loop, monkeypatch):
    monkeypatch.setattr(key_cells, "ROWS_AT_ONCE", 16)  # so that the table is emptied and grows several times
    rng = np.random.default_rng(0)
    x = np.array([*EXTREMES, np.nan, -np.nan, *rng.normal(size=150), *rng.integers(-9, 9, size=150)])
    x = np.repeat(x, 3)[::3]  # a column of a matrix that is stored by row
    y = rng.integers(0, 7, size=len(x)).astype(kind)
    weight = weights(rng, len(x), weighted)
    shift = least_shift(np.sort(keys_of(x[x == x])), most)
    blocks = [
        (x[s], y[s], None if weight is None else weight[s]) for s in (slice(0, 100), slice(100, 101), slice(101, None))
    ]
    dtype = np.float64 if weighted == "float" else np.int64
    cells = count_keys(blocks, dtype, 7, most=most, use_loop=use_loop)
    assert cells.shift == shift
    expected = counted_by_hand(x, y, weight, shift)
    assert [row[:3] for row in rows_of(cells)] == [row[:3] for row in expected]
    # Fractions are added in another order.
    np.testing.assert_allclose(cells.weight, [row[3] for row in expected], rtol=1e-13 if weighted == "float" else 0)
    assert cells.weight.dtype == dtype


@both
def test_keys_whose_last_bits_are_equal_are_kept_apart(use_loop):
    x = np.arange(64.0)  # the last 31 bits of their keys are zero
    cells = count_keys(
        [(np.repeat(x, 2), np.zeros(128, dtype=np.uint8), None)], np.int64, 1, most=100, use_loop=use_loop
    )
    assert numbers_of(cells.low).tolist() == x.tolist()
    assert cells.weight.tolist() == [2] * 64


@both
def test_blocks_of_nothing_but_missing_cells_have_no_cell(use_loop):
    y = np.zeros(2, dtype=np.uint8)
    blocks = [(np.full(2, np.nan), y, None), (np.zeros(0), y[:0], None)]
    assert len(count_keys(blocks, np.int64, 1, most=5, use_loop=use_loop).low) == 0


@given(st.lists(st.lists(st.integers(-300, 300), max_size=30), min_size=2, max_size=5), st.integers(2, 10))
def test_histograms_joined_in_any_order_are_that_of_all_numbers(parts, most):
    def cells(keys):
        key = np.array(keys, dtype=np.int64)
        return joined([Cells(0, key, key, key & 1, np.ones(len(key), dtype=np.int64))], 2, most)

    whole = cells([key for part in parts for key in part])
    histograms = [cells(part) for part in parts]
    one_by_one = histograms[0]
    for histogram in histograms[1:]:
        one_by_one = joined([one_by_one, histogram], 2, most)
    for found in (one_by_one, joined(histograms[::-1], 2, most)):
        assert (found.shift, rows_of(found)) == (whole.shift, rows_of(whole))
