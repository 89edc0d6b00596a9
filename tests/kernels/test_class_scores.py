"""What is made of the scores of a row: the loops equal the NumPy references."""

import numpy as np
import pytest

from bayeswater.kernels.class_scores import first_of_largest, row_sums, subtract_largest

both_roads = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])


def whole_scores(n_classes):
    """Whole numbers, of which every difference and sum is exact."""
    return np.random.default_rng(0).integers(-50, 50, size=(40, n_classes)).astype(float)


@both_roads
@pytest.mark.parametrize("n_classes", [1, 2, 7])
def test_the_largest_score_of_each_row_becomes_zero_in_place(n_classes, use_loop):
    scores = whole_scores(n_classes)
    expected = scores - scores.max(axis=1, keepdims=True)
    assert subtract_largest(scores, use_loop=use_loop) is None
    np.testing.assert_array_equal(scores, expected)


@both_roads
def test_minus_infinity_stays_minus_infinity_below_a_finite_score(use_loop):
    scores = np.array([[-np.inf, 3.0, 1.0], [2.0, -np.inf, -np.inf]])
    subtract_largest(scores, use_loop=use_loop)
    assert scores.tolist() == [[-np.inf, 0.0, -2.0], [0.0, -np.inf, -np.inf]]


@both_roads
@pytest.mark.parametrize("n_classes", [1, 2, 7])
def test_rows_are_summed(n_classes, use_loop):
    scores = whole_scores(n_classes)
    np.testing.assert_array_equal(row_sums(scores, use_loop=use_loop)[:, 0], [sum(row) for row in scores.tolist()])


@both_roads
def test_among_scores_equal_within_the_tie_the_first_one_is_found(use_loop):
    scores = np.array(
        [
            [1.0, 2.0, 3.0],
            [100.0, 101.0, 100.5],
            [99.0, 98.0, 100.0],  # 99 is within one per cent of 100
            [-np.inf, -np.inf, -5.0],
            [0.0, 0.0, 0.0],
            [-101.0, -100.0, -100.0],  # and so is -101 of -100
        ]
    )
    assert first_of_largest(scores, 0.01, use_loop=use_loop).tolist() == [2, 0, 0, 2, 0, 0]


@both_roads
def test_without_a_tie_the_largest_is_found(use_loop):
    scores = whole_scores(5)
    np.testing.assert_array_equal(first_of_largest(scores, 0.0, use_loop=use_loop), scores.argmax(axis=1))
