"""Scores of normal columns: the loop equals the NumPy reference, missing cells add nothing."""

import numpy as np
import pytest

from bayeswater.kernels.gaussian_joint import STRETCH_ROWS, gaussian_scores
from tests.kernels.tables import NUMBER_KINDS, laid_out, numbers

CASES = [*[(kind, "C") for kind in NUMBER_KINDS], ("float64", "F"), ("float64", "strided")]
# Halves and quarters: every distance, square and sum is exact.
MEAN = np.array([[0.5, 2.0, 4.0], [1.5, 8.0, 3.0]])
INVERSE_SCALE = np.array([[0.5, 1.0, 0.0], [2.0, 0.25, 1.0]])
INTERCEPT = np.array([-1.0, 3.0])


def by_hand(X):
    z = (X.astype(float)[:, None, :] - MEAN) * INVERSE_SCALE  # (n_rows, n_classes, n_columns)
    return INTERCEPT - 0.5 * np.where(np.isnan(z), 0.0, z**2).sum(axis=2)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), CASES)
def test_distances_to_every_class_are_summed_over_columns(kind, layout, use_loop):
    X = numbers(np.random.default_rng(0), 2 * STRETCH_ROWS + 7, 3, kind, layout)
    scores, any_missing = gaussian_scores(X, MEAN, INVERSE_SCALE, INTERCEPT, use_loop=use_loop)
    np.testing.assert_array_equal(scores, by_hand(X))
    assert not any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), [("float32", "C"), ("float64", "C"), ("float64", "F")])
def test_a_missing_cell_adds_nothing(kind, layout, use_loop):
    rng = np.random.default_rng(0)
    X = numbers(rng, STRETCH_ROWS + 20, 3, kind)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[3] = np.nan
    scores, any_missing = gaussian_scores(laid_out(X, layout), MEAN, INVERSE_SCALE, INTERCEPT, use_loop=use_loop)
    np.testing.assert_array_equal(scores, by_hand(X))
    assert scores[3].tolist() == INTERCEPT.tolist()
    assert any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_distance_beyond_all_numbers_is_infinite_and_no_nan(use_loop):
    X = np.array([[1e300, 0.0], [0.0, np.nan]])
    scores, _ = gaussian_scores(X, np.zeros((1, 2)), np.ones((1, 2)), np.zeros(1), use_loop=use_loop)
    assert scores.tolist() == [[-np.inf], [0.0]]


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_column_without_a_density_adds_nothing_though_its_distance_overflows(use_loop):
    X = np.array([[1.5e308, 1.0]])
    mean, inverse_scale = np.array([[-1.5e308, 0.0]]), np.array([[0.0, 2.0]])
    scores, any_missing = gaussian_scores(X, mean, inverse_scale, np.zeros(1), use_loop=use_loop)
    assert scores.tolist() == [[-2.0]]
    assert not any_missing
