"""Poisson columns: terms that add up to the scores, rates of zero, and rows taken out one by one."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import poisson

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.reading.column_plan import Column
from bayeswater.decision.facts import NOTHING
from bayeswater.errors import StatisticsError
from bayeswater.families.poisson import JEFFREYS, CountFact, Poisson, PoissonBlock, poisson_rates
from bayeswater.inference.drawing import draw_counts
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


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_the_outcomes_of_a_count_leave_hardly_any_mass_out(strength: float) -> None:
    fact = CountFact(np.array([0.4, 30.0])).weakened(strength)
    belief, regret = np.array([0.75, 0.25]), np.array([[0.0, 3.0], [2.0, 0.0], [1.0, 1.0]])
    found = fact.outcomes(belief, regret)
    assert found.error == pytest.approx(1e-12 * (0.75 * 2 + 0.25 * 3), rel=1e-12)
    counts, all_counts = fact.counts(), np.arange(2000)
    power = np.exp(strength * poisson.logpmf(all_counts[:, None], fact.rate))
    left_out = ~np.isin(all_counts, counts)
    assert (power[left_out].sum(axis=0) < 1e-12 * power.sum(axis=0)).all()
    assert_allclose(found.likelihood, power[counts] / power[counts].sum(axis=0), rtol=1e-9, atol=1e-300)
    assert len(counts) < 450 / strength  # and not many more than it takes


@pytest.mark.parametrize("rate", [1e3, 1e5, 1e7])
def test_the_outcomes_of_a_large_count_leave_hardly_any_mass_out(rate: float) -> None:
    counts = CountFact(np.array([rate])).counts()
    assert poisson.cdf(counts[0] - 1, rate) + poisson.sf(counts[-1], rate) < 1e-12


def test_a_fact_that_is_weakened_twice_is_weakened_by_both() -> None:
    assert CountFact(np.array([2.0])).weakened(0.5).weakened(0.5).strength == 0.25


def test_counts_are_gone_through_up_to_a_rate_and_no_value_tells_nothing() -> None:
    rates = np.array([[3.0, 1e8 - 0.5, 1e8 + 0.5, np.nan], [4.0, 5.0, 5.0, np.nan]])
    columns = columns_of(rates, ["a", "b"], alpha=0.5)
    assert [columns.fact(j, is_unknown=True) for j in (2, 3)] == [
        "its counts, 1e+08, are too many to go through",
        NOTHING,
    ]
    for j in (0, 1):
        assert_array_equal(columns.fact(j, is_unknown=True).rate, rates[:, j] + 0.5)


@pytest.mark.parametrize(("low", "high"), [(0.0, 2.0**53 - 1), (None, 5.0), (3.0, None), (None, None)])
def test_a_range_of_counts_is_believed(low: Any, high: Any) -> None:
    Poisson.require_range(Column("x", "x", "poisson"), low, high)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 5.0), (None, 2.0**53), (-0.5, None)])
def test_a_range_that_is_none_of_counts_is_refused(low: Any, high: Any) -> None:
    with pytest.raises(StatisticsError, match="the range of column 'x' is none of counts"):
        Poisson.require_range(Column("x", "x", "poisson"), low, high)


def test_counts_of_a_rate_beyond_all_fractions_are_drawn_as_a_normal_number() -> None:
    large = 2.0**60
    drawn = draw_counts(np.full(4000, large), np.random.default_rng(0))
    assert abs(drawn.mean() - large) < 5 * np.sqrt(large / 4000)
    assert_allclose(drawn.std(), np.sqrt(large), rtol=0.1)
