"""Poisson columns: terms that add up to the scores, rates of zero, and rows taken out one by one."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import poisson

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.families.poisson import JEFFREYS, PoissonBlock, poisson_rates
from bayeswater.statistics.count_totals import CountTotals

Y = ["a", "a", "a", "b", "b", "c"]
X = np.array(
    [
        [1, 0, np.nan, np.nan],
        [2, 0, np.nan, 3],
        [4, 0, np.nan, np.nan],
        [0, 7, np.nan, 1],
        [9, 9, np.nan, 2],
        [3, np.nan, np.nan, np.nan],
    ]
)


def columns_of(X: Any, y: Any, alpha: Any = JEFFREYS, weight: Any = None) -> PoissonBlock:
    sums = CountTotals.of(DenseMatrix(X, tuple("pqrs")[: X.shape[1]]), encode_labels(y), weight)
    return PoissonBlock(sums, np.full(X.shape[1], float(alpha)))


def test_rates_are_smoothed_means_borrowed_where_a_class_has_no_value() -> None:
    rate = columns_of(X, Y).rate
    assert_allclose(rate[:, 0], [7.5 / 3, 9.5 / 2, 3.5 / 1])
    assert_allclose(rate[:, 1], [0.5 / 3, 16.5 / 2, 16.5 / 5])  # class c has none: of all classes
    assert np.isnan(rate[:, 2]).all()  # a column without a value
    assert_allclose(rate[:, 3], [3.5, 3.5 / 2, 6.5 / 3])
    assert_array_equal(poisson_rates(columns_of(X, Y).sums, np.zeros(4))[:, 1], [0, 8, 16 / 5])


def test_scores_are_those_of_poissons_law() -> None:
    columns = columns_of(X, Y)
    terms = columns.terms(X)
    assert terms.shape == (6, 4, 3)
    for i, j in np.ndindex(X.shape):
        absent = np.isnan(X[i, j]) or j == 2
        expected = 0.0 if absent else poisson.logpmf(X[i, j], columns.rate[:, j])
        assert_allclose(terms[i, j], expected, rtol=1e-12, atol=1e-14)
    assert_allclose(columns.likelihood(X, False), terms.sum(axis=1), rtol=1e-12)


def test_what_never_happened_is_impossible_without_smoothing() -> None:
    columns = columns_of(X[:, :2], Y, alpha=0)
    new = np.array([[1.0, 0.0], [1.0, 5.0], [np.nan, np.nan]])
    scores = columns.likelihood(new, False)
    assert_array_equal(np.isneginf(scores), [[False] * 3, [True, False, False], [False] * 3])
    assert_allclose(scores[0, 0], poisson.logpmf(1, 7 / 3))  # no event at a rate of zero is certain
    assert_array_equal(scores[2], [0, 0, 0])
    assert_array_equal(np.isneginf(columns.terms(new).sum(axis=1)), np.isneginf(scores))


@pytest.mark.parametrize("alpha", [JEFFREYS, 0.0, 3.0])
@pytest.mark.parametrize("weight", [None, [2, 1, 3, 1, 1, 1], [0.5, 1.0, 2.5, 0.25, 1.0, 1.0]])
def test_a_row_taken_out_leaves_the_likelihood_of_the_others(alpha: float, weight: Any) -> None:
    w = None if weight is None else np.array(weight)
    labels = encode_labels(Y)
    removed = np.ones(6) if w is None else np.minimum(w, 1.0)
    found = columns_of(X, Y, alpha, w).without(DenseMatrix(X), labels, removed)(slice(0, 6), False)
    assert not np.isnan(found).any()
    for i in range(6):
        left = np.ones(6) if w is None else w.astype(float)
        left[i] -= removed[i]
        # A row of weight zero is no row, but its class stays.
        sums = CountTotals.of(DenseMatrix(X, tuple("pqrs")), labels, left)
        expected = PoissonBlock(sums, np.full(4, alpha)).likelihood(X[i : i + 1], False)[0]
        assert_allclose(found[i], expected, rtol=1e-12, atol=1e-12)


def test_large_counts_keep_their_digits() -> None:
    counts = np.array([[10.0**9], [10.0**9 + 5], [3.0], [4.0]])
    columns = columns_of(counts, ["a", "a", "b", "b"])
    expected = poisson.logpmf(10**9, (2 * 10**9 + 5.5) / 2)
    # x log x - x - log x! cancels ten of the sixteen digits.
    assert_allclose(columns.likelihood(counts[:1], False)[0, 0], expected, atol=1e-5)
