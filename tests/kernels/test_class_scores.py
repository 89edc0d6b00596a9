"""What is made of the scores of a row: the loops equal the NumPy references."""

import numpy as np
import pytest

from bayeswater.kernels.class_scores import first_of_largest, shares

both_roads = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])


def whole_scores(n_classes):
    """Whole numbers, of which every difference and sum is exact."""
    return np.random.default_rng(0).integers(-50, 50, size=(40, n_classes)).astype(float)


@both_roads
@pytest.mark.parametrize("n_classes", [1, 2, 7])
def test_shares_are_exponentials_by_their_sum_in_place(n_classes, use_loop):
    scores = whole_scores(n_classes)
    exact = [[np.exp(s - max(row)) for s in row] for row in scores.tolist()]
    expected = [[share / sum(row) for share in row] for row in exact]
    assert shares(scores, use_loop=use_loop) is scores
    np.testing.assert_allclose(scores, expected, rtol=1e-15)


@both_roads
def test_a_class_of_minus_infinity_has_no_share(use_loop):
    scores = np.array([[-np.inf, 3.0, 3.0], [2.0, -np.inf, -np.inf]])
    assert shares(scores, use_loop=use_loop).tolist() == [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]


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
