"""Scores of normal columns: the loop equals the NumPy reference, missing cells add nothing."""

import numpy as np
import pytest
from tests.kernels.tables import NUMBER_KINDS, laid_out, numbers

from bayeswater.kernels import gaussian_joint
from bayeswater.kernels.gaussian_joint import STRETCH_ROWS, gaussian_scores

CASES = [*[(kind, "C") for kind in NUMBER_KINDS], ("float64", "F"), ("float64", "strided")]
# Halves and quarters: every distance, square and sum is exact. An inverse scale of 0 says that there is no density.
MEAN = np.array([[0.5, 2.0, 4.0], [1.5, 8.0, 3.0]])
INVERSE_SCALE = np.array([[0.5, 1.0, 0.0], [2.0, 0.25, 1.0]])
INTERCEPT = np.array([-3.0, 7.25])


@pytest.fixture(autouse=True)
def several_stretches(monkeypatch):
    monkeypatch.setattr(gaussian_joint, "STRETCH_CELLS", 600)


def by_hand(X):
    z = (X.astype(float)[:, None, :] - MEAN) * INVERSE_SCALE  # (n_rows, n_classes, n_columns)
    return INTERCEPT - 0.5 * np.where(np.isnan(z), 0.0, z**2).sum(axis=2)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), CASES)
def test_every_class_loses_half_the_squared_distances(kind, layout, use_loop):
    X = numbers(np.random.default_rng(0), 2 * STRETCH_ROWS + 7, 3, kind, layout)
    scores, any_missing = gaussian_scores(X, MEAN.T, INVERSE_SCALE.T, INTERCEPT, use_loop=use_loop)
    np.testing.assert_array_equal(scores, by_hand(X))
    assert not any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), [("float32", "C"), ("float64", "C"), ("float64", "F")])
def test_a_missing_cell_adds_nothing_and_is_reported(kind, layout, use_loop):
    rng = np.random.default_rng(0)
    X = numbers(rng, STRETCH_ROWS + 20, 3, kind)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[3] = np.nan
    scores, any_missing = gaussian_scores(laid_out(X, layout), MEAN.T, INVERSE_SCALE.T, INTERCEPT, use_loop=use_loop)
    np.testing.assert_array_equal(scores, by_hand(X))
    assert scores[3].tolist() == INTERCEPT.tolist()
    assert any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_distance_beyond_all_numbers_is_minus_infinity_and_no_missing_cell(use_loop):
    X = np.array([[1e300, 0.0], [0.0, 2.0]])
    with np.errstate(over="ignore"):  # a loop run as plain Python warns, which compiled code does not
        scores, any_missing = gaussian_scores(X, np.zeros((2, 1)), np.ones((2, 1)), np.zeros(1), use_loop=use_loop)
    assert scores.tolist() == [[-np.inf], [-2.0]]
    assert not any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_distance_that_overflows_where_there_is_no_density_does_not_count(use_loop):
    X = np.array([[1.7e308, 1.0]])
    mean, inverse_scale = np.array([[-1.7e308], [0.0]]), np.array([[0.0], [2.0]])
    scores, any_missing = gaussian_scores(X, mean, inverse_scale, np.zeros(1), use_loop=use_loop)
    assert scores.tolist() == [[-2.0]]
    assert not any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_class_without_a_density_stays_impossible(use_loop):
    nothing = np.zeros((1, 1))
    scores, _ = gaussian_scores(np.ones((1, 1)), nothing, nothing, np.array([-np.inf]), use_loop=use_loop)
    assert scores.tolist() == [[-np.inf]]
