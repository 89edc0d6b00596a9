"""Codes of numbers and states: intervals that no class had a say in, and a code for all that is not there."""

import numpy as np
import pytest

from bayeswater.data.reading.codebook import Codebook
from bayeswater.errors import StatisticsError

NO_STATES = np.zeros(0, dtype=np.int64)


def test_intervals_have_about_equal_weight_and_no_more_codes_than_asked_for():
    x = np.random.default_rng(0).normal(size=(5000, 1))
    book = Codebook.of(x, NO_STATES, None, most_codes=100)
    count = np.bincount(book.codes(x, np.zeros((5000, 0), dtype=np.int32))[:, 0])
    assert len(count) == 100
    assert 45 <= count.min() <= count.max() <= 55


def test_a_row_of_weight_3_moves_cuts_as_three_rows_do():
    rng = np.random.default_rng(1)
    x, weight = rng.integers(0, 300, (400, 2)).astype(float), rng.integers(1, 4, 400)
    by_weight = Codebook.of(x, NO_STATES, weight.astype(float), most_codes=20)
    by_rows = Codebook.of(np.repeat(x, weight, axis=0), NO_STATES, None, most_codes=20)
    np.testing.assert_array_equal(by_weight.cuts, by_rows.cuts)


def test_numbers_beyond_all_cuts_have_the_outer_codes_and_missing_ones_their_own():
    book = Codebook.of(np.array([[1.0], [2.0], [3.0]]), np.array([2]), None, most_codes=100)
    numbers = np.array([[-np.inf], [np.inf], [np.nan], [2.0]])
    codes = book.codes(numbers, np.array([[0], [1], [-1], [2]]))
    assert codes.tolist() == [[0, 0], [2, 1], [3, 2], [1, 2]]
    assert book.n_codes.tolist() == [4, 3]


def test_a_column_without_a_number_has_no_cut():
    book = Codebook.of(np.full((4, 1), np.nan), NO_STATES, None, most_codes=100)
    assert book.codes(np.array([[np.nan], [5.0]]), np.zeros((2, 0), dtype=np.int32)).tolist() == [[1], [0]]


@pytest.mark.parametrize(("n_states", "kind"), [(255, np.uint8), (256, np.uint16), (2**16, np.uint32)])
def test_codes_are_as_narrow_as_the_states_allow(n_states, kind):
    book = Codebook(np.zeros(0), np.zeros(1, dtype=np.int64), np.array([n_states]))
    codes = book.codes(np.zeros((2, 0)), np.array([[n_states - 1], [-1]]))
    assert codes.dtype == kind
    assert codes.tolist() == [[n_states - 1], [n_states]]


def test_cuts_read_back_are_the_same_and_others_are_refused():
    book = Codebook.of(np.random.default_rng(2).normal(size=(50, 2)), np.array([3]), None, most_codes=10)
    arrays = book.to_arrays()
    np.testing.assert_array_equal(Codebook.from_arrays(arrays, 2, np.array([3])).cuts, book.cuts)
    with pytest.raises(StatisticsError, match="not those of 3 columns"):
        Codebook.from_arrays(arrays, 3, np.array([3]))
    with pytest.raises(StatisticsError, match="do not rise"):
        Codebook.from_arrays(arrays | {"cuts": book.cuts[::-1].copy()}, 2, np.array([3]))
