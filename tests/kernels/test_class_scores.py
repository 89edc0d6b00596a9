"""What is made of the scores of a row: the loops equal the NumPy references."""

import numpy as np
import pytest

from bayeswater.kernels.class_scores import first_of_largest, row_sums, subtract_largest

both = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])


@both
def test_the_largest_score_of_each_row_becomes_zero(use_loop):
    scores = np.array([[3.0, 5.0, -np.inf], [-2.0, -8.0, -2.0]])
    subtract_largest(scores, use_loop=use_loop)
    assert scores.tolist() == [[-2.0, 0.0, -np.inf], [0.0, -6.0, 0.0]]


@both
def test_every_row_is_summed(use_loop):
    assert row_sums(np.array([[1.0, 2.0, 0.5], [0.0, 4.0, 8.0]]), use_loop=use_loop).tolist() == [[3.5], [12.0]]


@both
def test_the_first_of_equal_scores_wins_and_rounding_makes_no_difference(use_loop):
    scores = np.array([[1.0, 3.0, 3.0], [-4.0, -4.0 * (1 - 1e-15), -9.0], [-4.0, -3.9, -np.inf]])
    assert first_of_largest(scores, 2e-15, use_loop=use_loop).tolist() == [1, 0, 1]


@both
@pytest.mark.parametrize("n_classes", [1, 2, 20])
def test_any_number_of_classes_is_taken(n_classes, use_loop):
    scores = np.random.default_rng(0).integers(0, 50, size=(30, n_classes)).astype(float)
    assert first_of_largest(scores, 0.0, use_loop=use_loop).tolist() == scores.argmax(axis=1).tolist()
    assert row_sums(scores, use_loop=use_loop)[:, 0].tolist() == scores.sum(axis=1).tolist()  # whole numbers: exact
    top = scores.max(axis=1, keepdims=True)
    expected = scores - top
    subtract_largest(scores, use_loop=use_loop)
    np.testing.assert_array_equal(scores, expected)
