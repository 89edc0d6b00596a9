"""Keys of floats keep their order; a histogram has the finest buckets that are few enough, however it was counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.kernels import key_cells
from bayeswater.kernels.key_cells import KeyCells, joined, keys_of, least_shift, n_buckets, numbers_of

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


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


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-500, 500)), max_size=60), st.integers(0, 9))
def test_cells_tell_the_number_of_their_buckets_and_of_those_half_as_wide(numbers, shift):
    cell = {}
    for code, key in sorted(numbers):
        cell.setdefault((code, key >> shift), []).append(key)
    ends = [(key[0], key[-1], code, len(key)) for (code, _), key in cell.items()]
    cells = KeyCells(shift, *np.array(ends, dtype=np.int64).reshape(-1, 4).T)
    expected = [len({key >> width for _, key in numbers}) for width in (shift, max(shift - 1, 0))]
    assert list(n_buckets(cells)) == expected


def rows_of(cells):
    return list(zip(*(array.tolist() for array in cells[1:]), strict=True))


@given(
    st.lists(st.lists(st.integers(-300, 300), max_size=30), min_size=2, max_size=5),
    st.integers(2, 10),
    st.sampled_from([1, 2**3, 2**50]),
    st.sampled_from([1, 2, 200]),
    st.sampled_from([0, 10**9]),
)
def test_histograms_joined_in_any_order_are_that_of_all_numbers(parts, most, spacing, n_classes, many):
    # Where keys are far apart, bits are dropped of them, and a class and a bucket may have room in one number.
    def cells(keys):
        key = np.array(keys, dtype=np.int64) * spacing
        return joined([KeyCells(0, key, key, np.abs(key) % n_classes, np.ones(len(key), dtype=np.int64))], most)

    whole = cells([key for part in parts for key in part])
    histograms = [cells(part) for part in parts]
    one_by_one = histograms[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_cells, "MANY", many)  # by a loop, or by NumPy
        for histogram in histograms[1:]:
            one_by_one = joined([one_by_one, histogram], most)
    for found in (one_by_one, joined(histograms[::-1], most)):
        assert (found.shift, rows_of(found)) == (whole.shift, rows_of(whole))
