"""Tests of independence against SciPy, R's bnlearn and laws."""

from itertools import permutations

import mpmath
import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import chi2, chi2_contingency, pearsonr, random_table
from tests.oracles.chained_rows import chained_rows
from tests.oracles.tests_of_bnlearn import answers, numbers, states

from bayeswater.errors import DataError, ParameterError
from bayeswater.structure.independence import (
    TESTS_OF_NUMBERS,
    IndependenceTest,
    chi_squared_tail,
    correlation_departure,
    departure_of_correlation,
    named_test,
)


@pytest.mark.parametrize(("kind", "lambda_"), [("g2", "log-likelihood"), ("chi2", "pearson")])
def test_the_tests_are_those_of_scipy(kind, lambda_):
    codes, n_states = chained_rows(300, [3, 4, 2], seed=1)
    counts = np.zeros((3, 4))
    np.add.at(counts, (codes[0], codes[1]), 1)
    expected = chi2_contingency(counts, correction=False, lambda_=lambda_).pvalue
    assert IndependenceTest(codes, n_states, kind).p_value(0, 1) == pytest.approx(expected, rel=1e-9)


def test_given_a_third_variable_the_statistics_of_its_states_are_added():
    codes, n_states = chained_rows(400, [2, 3, 2], seed=2)
    total = 0.0
    for state in range(2):
        counts = np.zeros((2, 3))
        rows = codes[2] == state
        np.add.at(counts, (codes[0, rows], codes[1, rows]), 1)
        total += chi2_contingency(counts, correction=False, lambda_="log-likelihood").statistic
    assert IndependenceTest(codes, n_states).p_value(0, 1, [2]) == pytest.approx(chi2.sf(total, 4), rel=1e-9)


def test_a_weight_is_as_many_rows_and_a_constant_column_depends_on_nothing():
    codes, n_states = chained_rows(50, [2, 3, 1], seed=3)
    weight = np.arange(50) % 3
    repeated = IndependenceTest(np.repeat(codes, weight, axis=1), n_states)
    weighted = IndependenceTest(codes, n_states, weight=weight.astype(float))
    assert weighted.p_value(0, 1) == pytest.approx(repeated.p_value(0, 1), rel=1e-12)
    assert weighted.p_value(0, 2) == 1.0
    with pytest.raises(ParameterError, match="test is 't'; it can be one of g2, chi2"):
        IndependenceTest(codes, n_states, "t")


@pytest.mark.parametrize("kind", sorted({case.kind for case in answers()}))
def test_statistic_degrees_of_freedom_and_p_value_are_those_of_bnlearn(kind):
    for case in answers():
        if case.kind != kind:
            continue
        x, y, *given = case.columns
        if kind in TESTS_OF_NUMBERS:
            table = numbers(case.table)
            found = correlation_departure(kind, table[x], table[y], table[given].T)
        else:
            found = IndependenceTest(*states(case.table), kind).departure(x, y, given)
        assert found.statistic == pytest.approx(case.statistic, rel=1e-9, abs=1e-9), case
        assert found.degrees_of_freedom == case.degrees_of_freedom
        # What is left of a small p-value is as exact as exp(-statistic).
        assert found.p_value == pytest.approx(case.p_value, rel=1e-7, abs=1e-300), case


def test_permutations_tell_what_the_chi_squared_distribution_does_where_rows_are_many():
    codes, n_states = chained_rows(2000, [2, 3, 2], seed=5)
    codes[1] = np.random.default_rng(0).permutation(codes[1])
    expected = IndependenceTest(codes, n_states).p_value(0, 1, [2])
    found = IndependenceTest(codes, n_states, "permutation", n_permutations=4000).departure(0, 1, [2])
    assert found.degrees_of_freedom is None
    # Four standard errors of a share of 4000 draws.
    assert found.p_value == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4000))


def test_permutations_of_few_rows_are_the_exact_test():
    """Of the tables with margins (3, 3) and (3, 3), those of 3 and 0 depart most: 2 of 20 orders of the rows."""
    codes = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]])
    test = IndependenceTest(codes, np.array([2, 2]), "permutation", n_permutations=4000)
    assert test.p_value(0, 1) == pytest.approx(0.1, abs=0.02)  # four standard errors
    assert test.p_value(0, 1) == test.p_value(0, 1)


def test_a_correlation_is_that_of_scipy_at_any_scale():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40))
    none = np.empty((40, 0))
    for scale in (1.0, 1e-200, 1e200):
        found = correlation_departure("cor", scale * x, y - x, none)
        assert found.statistic == pytest.approx(pearsonr(x, y - x).statistic, rel=1e-12)
        assert found.p_value == pytest.approx(pearsonr(x, y - x).pvalue, rel=1e-9)


@pytest.mark.parametrize("kind", ["cor", "zf", "mi-g"])
def test_what_is_told_exactly_depends_wholly_or_not_at_all(kind):
    x = np.arange(9.0) % 4
    assert correlation_departure(kind, x, 2 * x + 0.1, np.empty((9, 0))).p_value == pytest.approx(0, abs=1e-30)
    assert correlation_departure(kind, x, np.arange(9.0), 3 * x[:, None] - 0.3).p_value == 1.0  # nothing is left of x
    assert correlation_departure(kind, x, np.full(9, 0.1), np.empty((9, 0))).p_value == 1.0
    with pytest.raises(DataError, match="needs more than"):
        correlation_departure(kind, x[:3], x[:3], np.zeros((3, 1)))


@pytest.mark.parametrize(("degrees", "statistic"), [(6, 1464.866), (1, 1430.0), (7, 1480.0), (30, 1600.0)])
def test_p_values_go_on_to_the_least_number_that_a_float_holds(degrees, statistic):
    exact = mpmath.gammainc(mpmath.mpf(degrees) / 2, mpmath.mpf(statistic) / 2, regularized=True)
    assert chi_squared_tail(degrees, statistic) == pytest.approx(float(exact), rel=1e-6, abs=5e-324)
    degrees, t = 3000.0, 42.9
    share = mpmath.mpf(degrees) / (degrees + mpmath.mpf(t) ** 2)
    exact = mpmath.betainc(degrees / 2, 0.5, 0, share, regularized=True)
    found = departure_of_correlation("cor", t / np.sqrt(degrees + t * t), degrees + 2, degrees).p_value
    assert found == pytest.approx(float(exact), rel=1e-6)


@pytest.mark.parametrize("n_rows", [10**6, 10**7, 10**9])
def test_what_depends_beyond_doubt_in_millions_of_rows_has_a_small_p_value(n_rows):
    for t in (30.0, 38.0, 60.0, 1000.0):
        degrees = n_rows - 2
        found = departure_of_correlation("cor", t / np.sqrt(degrees + t * t), n_rows, degrees)
        assert 0.0 <= found.p_value < 1e-190
    assert 0.0 <= chi_squared_tail(n_rows / 10, n_rows / 5) < 1e-300


def test_no_p_value_is_more_than_one_of_a_lesser_statistic():
    for degrees in (1.0, 40.0, 3e3, 4e4, 5e5):
        found = [chi_squared_tail(degrees, degrees * (1 + share)) for share in np.geomspace(1e-3, 2e3, 300)]
        assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("kind", ["mi-adf", "x2-adf"])
def test_what_is_told_by_the_others_leaves_no_degree_of_freedom_and_is_independent(kind):
    codes = np.repeat([[0, 0, 1], [0, 1, 0], [0, 1, 1]], 30, axis=1)  # given z, x or y has one state
    found = IndependenceTest(codes[[0, 1, 2]] * [[0], [1], [1]], np.array([2, 2, 2]), kind).departure(0, 1, [2])
    assert found == (0.0, 0.0, 1.0)


def test_permutations_of_chi_squared_and_their_mean_for_degrees_of_freedom():
    codes, n_states = chained_rows(40, [3, 4, 2], seed=5)
    counts = np.zeros((3, 4))
    np.add.at(counts, (codes[0], codes[1]), 1)
    of_x, of_y = counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(of_x, of_y) / counts.sum()
    drawn = random_table(of_x, of_y).rvs(20_000, random_state=1)
    of_drawn = {
        "pearson": ((drawn - expected) ** 2 / expected).sum(axis=(1, 2)),
        "log-likelihood": 2 * xlogy(drawn, drawn / expected).sum(axis=(1, 2)),
    }
    for kind, lambda_ in (("permutation-chi2", "pearson"), ("permutation", "log-likelihood")):
        seen, first = (
            chi2_contingency(table, correction=False, lambda_=lambda_).statistic for table in (counts, drawn[0])
        )
        others = of_drawn[lambda_]
        assert others[0] == pytest.approx(first)
        found = IndependenceTest(codes, n_states, kind, n_permutations=4000).departure(0, 1)
        assert found.statistic == pytest.approx(seen) and found.degrees_of_freedom is None
        assert found.p_value == pytest.approx(np.mean(others >= seen - 1e-9), abs=0.04)
        semi = IndependenceTest(codes, n_states, {"pearson": "sp-x2"}.get(lambda_, "sp-mi"), n_permutations=4000)
        assert semi.departure(0, 1).degrees_of_freedom == pytest.approx(np.mean(others), rel=0.05)
        assert semi.p_value(0, 1) == chi_squared_tail(semi.departure(0, 1).degrees_of_freedom, found.statistic)
    assert [named_test(name) for name in ("mc-x2", "smc-x2", "smc-mi", "sp-mi")] == [
        *["permutation-chi2"] * 2,
        "permutation",
        "sp-mi",
    ]


@pytest.mark.parametrize("n_given", [0, 1])
def test_permuted_correlations_of_few_rows_are_the_exact_test(n_given):
    rng = np.random.default_rng(3)
    z = rng.normal(size=(7, n_given))
    x, y = z.sum(axis=1) + rng.normal(size=7), z.sum(axis=1) + rng.normal(size=7)
    design = np.column_stack([np.ones(7), z])

    def beyond(column):
        return column - design @ np.linalg.lstsq(design, column, rcond=None)[0]

    orders = [beyond(beyond(x)[list(order)]) for order in permutations(range(7))]
    rs = np.array([np.corrcoef(order, beyond(y))[0, 1] for order in orders])
    exact = (np.abs(rs) >= abs(rs[0]) - 1e-9).mean()
    found = correlation_departure("permutation-cor", x, y, z, 20_000, (1,))
    assert found.statistic == pytest.approx(rs[0], abs=1e-12) and found.degrees_of_freedom is None
    assert found.p_value == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 20_000))


def test_permuted_correlations_of_many_rows_are_those_of_student():
    rng = np.random.default_rng(4)
    z = rng.normal(size=(500, 2))
    x, y = z.sum(axis=1) + rng.normal(size=500), z.sum(axis=1) + 0.08 * rng.normal(size=500) + rng.normal(size=500)
    student = correlation_departure("cor", x, y, z)
    found = correlation_departure("permutation-cor", x, y, z, 20_000)
    assert found.p_value == pytest.approx(student.p_value, abs=0.02)
    assert correlation_departure("permutation-cor", x, np.ones(500), z).p_value == 1.0
    assert correlation_departure("permutation-cor", x, x, z).p_value == 1 / 1001
