"""Hashes of rows: by what is in their cells, whatever codes and order they have."""

import numpy as np

from bayeswater.data.reading.row_hashes import hash_word, hashed, number_words, row_words, state_words
from bayeswater.data.variable import Variable


def splitmix64(state):
    """Give the next number of the generator, in Python's integers."""
    state = (state + 0x9E3779B97F4A7C15) % 2**64
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
    return z ^ (z >> 31)


def test_words_are_mixed_as_the_generator_does_it():
    words = np.array([0, 1, 2**63, 2**64 - 1, 1234567890123456789], dtype=np.uint64)
    assert hashed(words).tolist() == [splitmix64(value) for value in words.tolist()]
    assert splitmix64(0) == 0xE220A8397B1DCDAF  # the first number of the published generator with seed 0


def test_equal_labels_have_equal_words_whatever_their_code():
    few, many = Variable("c", ("b", "d")), Variable("c", ("a", "b", "c", "d"))
    np.testing.assert_array_equal(state_words(few), state_words(many)[[1, 3, 4]])


def test_all_that_is_missing_is_alike_and_zero_has_no_sign():
    other_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)
    assert len(set(number_words(np.array([np.nan, -np.nan, other_nan[0]])).tolist())) == 1
    assert len(set(number_words(np.array([0.0, -0.0])).tolist())) == 1


def test_rows_that_swap_two_cells_differ():
    a, b = np.array([1, 2], dtype=np.uint64), np.array([2, 1], dtype=np.uint64)
    first, second = row_words([a, b], 2).tolist()
    assert first != second
    assert row_words([], 3).tolist() == [0, 0, 0]


def test_an_integer_of_any_size_is_a_word():
    assert hash_word(-1).tolist() == [2**64 - 1]
    assert hash_word(2**64 + 5).tolist() == [5]
