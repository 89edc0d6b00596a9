"""Sums of probabilities and the action of least risk: the loops equal the NumPy references."""

import numpy as np
import pytest

from bayeswater.kernels.class_scores import log_shares
from bayeswater.kernels.least_risk import TILE_ROWS, first_of_least, first_of_least_product, row_totals

both_roads = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])


@both_roads
@pytest.mark.parametrize("n_classes", [1, 2, 7])
def test_rows_are_summed(n_classes, use_loop):
    proba = np.random.default_rng(0).integers(0, 50, size=(40, n_classes)).astype(float)
    np.testing.assert_array_equal(row_totals(proba, use_loop=use_loop), [sum(row) for row in proba.tolist()])


@both_roads
def test_the_sum_of_a_row_with_a_negative_or_missing_probability_is_nan(use_loop):
    proba = np.array([[0.5, 0.5], [1.5, -0.5], [np.nan, 1.0], [1.0, np.nan], [-0.0, 1.0]])
    np.testing.assert_array_equal(row_totals(proba, use_loop=use_loop), [1.0, np.nan, np.nan, np.nan, 1.0])


@both_roads
def test_among_risks_equal_within_the_tie_of_their_row_the_first_one_is_found(use_loop):
    risk = np.array([[1.01, 1.0, 2.0], [1.01, 1.0, 2.0], [0.0, 0.0, 1.0], [1e-300, 2.0, 0.0], [3.0, 2.0, 1.0]])
    tie = np.array([0.02, 0.005, 0.0, 0.1, 0.1])
    assert first_of_least(np.ascontiguousarray(risk.T), tie, use_loop=use_loop).tolist() == [0, 1, 0, 2, 2]


@both_roads
@pytest.mark.parametrize("n_rows", [1, TILE_ROWS - 1, TILE_ROWS, 2 * TILE_ROWS + 3])
@pytest.mark.parametrize(("n_actions", "n_classes"), [(1, 1), (2, 3), (5, 2)])
def test_product_and_choice_at_once_are_those_of_the_risks(n_rows, n_actions, n_classes, use_loop):
    rng = np.random.default_rng(n_rows)
    proba = rng.multinomial(4, np.ones(n_classes) / n_classes, size=n_rows) / 4  # many ties, all sums exact
    cost = rng.integers(0, 4, (n_actions, n_classes)).astype(float)
    best, wrong = first_of_least_product(proba, cost, 1e-15, 1e-6, use_loop=use_loop)
    np.testing.assert_array_equal(best, (proba @ cost.T).argmin(axis=1))
    assert wrong == -1


@both_roads
@pytest.mark.parametrize("row", [(1.5, -0.5), (np.nan, 1.0), (1.0, np.nan), (0.5, 0.6), (0.2, 0.2)])
@pytest.mark.parametrize("place", [0, TILE_ROWS + 5])
def test_product_and_choice_at_once_find_the_first_row_that_is_no_probabilities(row, place, use_loop):
    proba = np.tile([-0.0, 1.0], (2 * TILE_ROWS, 1))
    proba[[place, 2 * TILE_ROWS - 1]] = row
    _, wrong = first_of_least_product(proba, np.array([[0.0, 1.0], [1.0, 0.0]]), 1e-15, 0.05, use_loop=use_loop)
    assert wrong == place


@both_roads
def test_logarithms_are_normalised_in_place(use_loop):
    scores = np.log(np.array([[1.0, 3.0], [5.0, 5.0]])) - 5000.0
    assert log_shares(scores, use_loop=use_loop) is scores
    # A logarithm of size 5000 is right to 1e-12.
    np.testing.assert_allclose(np.exp(scores), [[0.25, 0.75], [0.5, 0.5]], rtol=1e-12)
    impossible = np.array([[-np.inf, 0.0]])
    assert log_shares(impossible, use_loop=use_loop).tolist() == [[-np.inf, 0.0]]
