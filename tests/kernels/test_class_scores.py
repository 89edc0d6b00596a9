"""What is made of the scores of a row: the loops equal the NumPy references."""

import mpmath
import numpy as np
import pytest

from bayeswater.kernels import class_scores
from bayeswater.kernels.class_scores import first_of_largest, log_shares, shares

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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_loop_and_reference_give_shares_of_the_same_bits(n_classes, monkeypatch):
    monkeypatch.setattr(class_scores._shares_loop, "serves", lambda *_, use_loop: use_loop)  # small inputs, too
    scores = np.random.default_rng(0).normal(size=(1500, n_classes)) * np.logspace(-3, 3, 1500)[:, None]
    scores[:3, 0] = -np.inf, scores[1, 1], 0.0
    by_loop = shares(scores.copy(), use_loop=True)
    assert by_loop.tobytes() == shares(scores.copy(), use_loop=False).tobytes()


@both_roads
@pytest.mark.parametrize("n_classes", [2, 3, 20, 70])
def test_scores_that_lie_class_by_class_give_the_same_bits_row_by_row(n_classes, use_loop):
    scores = np.random.default_rng(0).normal(size=(1500, n_classes)).round(1) * 9
    scores[:3, 0] = -np.inf, scores[1, 1], 0.0
    by_class = np.asfortranarray(scores)
    share = shares(scores.copy(), use_loop=use_loop)
    for out in (None, np.empty(scores.shape)):
        found = shares(by_class, use_loop=use_loop, out=out)
        assert found.flags.c_contiguous and found.tobytes() == share.tobytes() and (out is None or found is out)
    log_share = log_shares(by_class.copy(order="F"), use_loop=use_loop)
    assert log_share.tobytes() == log_shares(scores.copy(), use_loop=use_loop).tobytes()
    for tie in (1e-12, 0.1):
        best = first_of_largest(scores, tie, use_loop=use_loop)
        assert first_of_largest(by_class, tie, use_loop=use_loop).tolist() == best.tolist()


@both_roads
def test_exponentials_are_right_to_the_last_digit_down_to_where_numbers_end(use_loop):
    rng = np.random.default_rng(0)
    x = -np.concatenate([rng.random(400), rng.random(400) * 760, np.linspace(700, 750, 224)])
    scores = np.stack([np.zeros_like(x), x], axis=1)
    share = shares(scores, use_loop=use_loop)[:, 1]
    exact = np.array([float(1 / (1 + mpmath.exp(-mpmath.mpf(float(one))))) for one in x])
    # An exponential, a sum, a quotient and a product are rounded, and the last two once more where digits run out.
    assert (np.abs(share - exact) <= 3 * np.spacing(exact)).all()
    assert (share[x < -745.14] == 0).all() and (share[x > -745.13] > 0).all()


@both_roads
@pytest.mark.parametrize("n_classes", [1, 3, 1023, 1024, 1025])
def test_rows_wider_than_what_is_worked_on_at_once_have_shares_that_sum_to_one(n_classes, use_loop):
    scores = np.random.default_rng(0).normal(size=(9, n_classes)) * 5
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares(scores, use_loop=use_loop), expected, rtol=1e-13)


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
def test_of_many_classes_too_the_first_among_equals_is_found(use_loop):
    scores = np.tile(np.arange(-90.0, 0.0), (5, 1))
    scores[1, 3] = -1.009  # within one per cent of -1
    scores[2, [7, 9]] = 0.0
    scores[3] = -np.inf
    scores[4, 40] = np.nextafter(-1.01, -2.0)
    assert first_of_largest(scores, 0.01, use_loop=use_loop).tolist() == [89, 3, 7, 0, 89]


@both_roads
@pytest.mark.parametrize("n_classes", [5, 90])
def test_without_a_tie_the_largest_is_found(use_loop, n_classes):
    scores = whole_scores(n_classes)
    np.testing.assert_array_equal(first_of_largest(scores, 0.0, use_loop=use_loop), scores.argmax(axis=1))
