"""Scores and tests of states and numbers: by rows and least squares, by bnlearn's numbers, and by what must hold."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.special import multigammaln
from scipy.stats import norm

from bayeswater.errors import ParameterError
from bayeswater.structure.moment_scores import MomentScore, MomentScores, as_moment_score
from bayeswater.structure.number_tests import MixedTest
from bayeswater.structure.scores import as_score


def table(seed=0, n=60, cards=(3, 2), n_numbers=3, weight=None, score="bic"):
    rng = np.random.default_rng(seed)
    codes = np.array([*(rng.integers(card, size=n) for card in cards), *np.zeros((n_numbers, n), dtype=int)])
    values = np.array([*np.zeros((len(cards), n)), *rng.normal(size=(n_numbers, n))])
    values[-1] += values[-2] + (codes[0] == 1)
    is_number = np.array([False] * len(cards) + [True] * n_numbers)
    return MomentScores(codes, values, is_number, np.array([*cards, *[1] * n_numbers]), MomentScore(score), weight)


def by_rows(scores, y, parents):
    """Log-likelihood of a number by least squares over rows, configuration by configuration."""
    discrete = [p for p in parents if not scores.is_number[p]]
    numeric = [p for p in parents if scores.is_number[p]]
    total = 0.0
    for code in np.unique(scores.codes[discrete], axis=1).T if discrete else [None]:
        rows = (
            (scores.codes[discrete] == code[:, None]).all(axis=0) if discrete else np.full(scores.codes.shape[1], True)
        )
        design = np.column_stack([np.ones(rows.sum()), *scores.values[numeric][:, rows]])
        target = scores.values[y][rows]
        left = target - design @ np.linalg.lstsq(design, target)[0]
        sd = np.sqrt((left**2).sum() / (rows.sum() - design.shape[1]))
        total += norm(0, sd).logpdf(left).sum()
    return total


def test_likelihoods_are_those_of_least_squares_and_parameters_cost():
    for name, price in (("loglik", 0.0), ("aic", 1.0), ("bic", np.log(60) / 2)):
        scores = table(score=name)
        for parents in ((), (0,), (3,), (0, 3), (0, 1, 2, 3)):
            q = np.prod(scores.n_states[list(parents)])
            k = sum(scores.is_number[p] for p in parents)
            expected = by_rows(scores, 4, parents) - price * q * (k + 2)
            assert scores.of(4, parents) == pytest.approx(expected, rel=1e-11)


def exact_left(columns):
    """Sum of squared residuals of the last column on an intercept and the others, in fractions."""
    rows = [[Fraction(1), *map(Fraction, row)] for row in columns.T.tolist()]
    columns = list(zip(*rows, strict=True))
    square = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in columns] for x in columns]
    for j in range(len(square) - 1):
        for i in range(j + 1, len(square)):
            factor = square[i][j] / square[j][j]
            square[i] = [a - factor * b for a, b in zip(square[i], square[j], strict=True)]
    return float(square[-1][-1])


@pytest.mark.parametrize("weight", [None, np.full(40, 2.0)])
def test_a_number_that_others_nearly_tell_keeps_its_digits(weight):
    rng = np.random.default_rng(0)
    x, z = 1e3 + rng.normal(size=(2, 40))
    values = np.array([x, z, x + 1e-5 * rng.normal(size=40), x + z + 1e-6 * rng.normal(size=40)])
    scores = MomentScores(
        np.zeros((4, 40), dtype=int), values, np.full(4, True), np.ones(4, dtype=int), MomentScore("loglik"), weight
    )
    times = 1 if weight is None else 2
    for y, parents in ((2, (0,)), (0, (1, 2)), (3, (0, 1)), (3, (1, 2)), (1, (0, 3))):
        variance = times * exact_left(values[[*parents, y]]) / (40 * times - len(parents) - 1)
        expected = -20 * times * np.log(2 * np.pi * variance) - (40 * times - len(parents) - 1) / 2
        assert scores.of(y, parents) == pytest.approx(expected, rel=1e-10)
        assert scores.log_likelihood(y, parents) == scores.of(y, parents)


def test_columns_are_the_scores_of_each_change():
    scores, fresh = table(), table()
    column = scores.column(4, frozenset({0, 3}))
    for x in range(5):
        own = {0, 3} if x == 4 else {0, 3} ^ {x}
        assert column[x] == fresh.of(4, own)
    assert scores.leaving(4, frozenset({0, 3}))[3] == fresh.of(4, {0})


def test_a_number_is_no_parent_of_states():
    assert table().of(0, {3}) == -np.inf


def test_rows_count_as_often_as_they_weigh():
    weight = np.random.default_rng(1).integers(1, 4, size=60)
    weighed, plain = table(weight=weight), table()
    repeated = MomentScores(
        plain.codes.repeat(weight, axis=1),
        plain.values.repeat(weight, axis=1),
        plain.is_number,
        plain.n_states,
        MomentScore("bic"),
    )
    for parents in ((), (0, 3), (1,)):
        assert weighed.of(4, parents) == pytest.approx(repeated.of(4, parents), rel=1e-11)


def _log_marginal(values, weight, degrees):
    """Log-density of numbers under a normal-Wishart prior whose mean is theirs (Kuipers et al. 2014, all variables)."""
    p, n = values.shape
    scale = weight * (degrees - p - 1) / (weight + 1)
    scatter = np.cov(values) * (n - 1)
    posterior = scale * np.eye(p) + scatter
    return (
        -n * p / 2 * np.log(np.pi)
        + p / 2 * np.log(weight / (n + weight))
        + multigammaln((n + degrees) / 2, p)
        - multigammaln(degrees / 2, p)
        + degrees / 2 * p * np.log(scale)
        - (n + degrees) / 2 * np.linalg.slogdet(posterior)[1]
    )


@pytest.mark.parametrize("settings", [(), (3.0,), (0.5, 9.5)])
def test_bge_of_every_full_graph_is_the_marginal_likelihood_of_all_numbers(settings):
    values = np.random.default_rng(0).normal(size=(4, 30))
    values[3] += values[0]
    scores = MomentScores(
        np.zeros((4, 30), dtype=int),
        values,
        np.full(4, True),
        np.ones(4, dtype=int),
        as_moment_score(("bge", *settings)),
    )
    expected = _log_marginal(values, *(*settings, *(1.0, 6.0)[len(settings) :]))
    for order in ((0, 1, 2, 3), (3, 1, 0, 2)):
        parents = [order[: order.index(y)] for y in range(4)]
        assert scores.total(parents) == pytest.approx(expected, rel=1e-11)


def test_rows_that_leave_no_variance_score_minus_infinity():
    scores = table(n=8, cards=(6, 2))
    assert scores.of(4, {0, 2, 3}) == -np.inf
    assert np.isfinite(scores.of(4, {2, 3}))


def test_names_of_bnlearn_are_understood():
    assert as_moment_score("bic-g") == as_moment_score("bic-cg") == as_moment_score("mdl") == MomentScore("bic")
    assert as_moment_score(("aic", 2.0)).price(10) == 2.0
    assert as_moment_score(MomentScore("bge"), "vsp") == as_moment_score("bge", "vsp") != MomentScore("bge")
    with pytest.raises(ParameterError, match="choose one of"):
        as_moment_score("k2")
    with pytest.raises(ParameterError, match="give a name"):
        as_moment_score(("bge", 1, 9, 2))
    with pytest.raises(ParameterError, match="numbers alone"):
        table(score="bge")


@pytest.mark.parametrize("prior", ["vsp", ("variable_selection", 0.1), "marginal", ("marginal", 0.3)])
def test_a_graph_prior_adds_to_bge_what_it_adds_to_a_score_of_states(prior):
    values = np.random.default_rng(0).normal(size=(4, 30))
    rows = np.zeros((4, 30), dtype=int), values, np.full(4, True), np.ones(4, dtype=int)
    plain, with_prior = (MomentScores(*rows, as_moment_score("bge", own)) for own in ("uniform", prior))
    per_parent, per_variable = as_score("bdeu", prior).per_parent(4)
    parents = [[], [0], [0, 1], []]
    assert with_prior.total(parents) == pytest.approx(
        plain.total(parents) + 3 * per_parent + 4 * per_variable, abs=1e-9
    )


@pytest.mark.parametrize(
    ("score", "prior", "message"),
    [
        ("bic-g", "marginal", "'bic' is no marginal likelihood"),
        (("bge", -1), "uniform", "setting of score 'bge' is -1"),
        (("bic", 1, 9), "uniform", "bge alone takes one"),
        (("bge", 1, 5), "uniform", "give more than 5"),
    ],
)
def test_priors_and_settings_of_scores_of_numbers_that_mean_nothing_are_refused(score, prior, message):
    values = np.random.default_rng(0).normal(size=(4, 30))
    with pytest.raises(ParameterError, match=message):
        MomentScores(np.zeros((4, 30), dtype=int), values, np.full(4, True), np.ones(4), as_moment_score(score, prior))


@pytest.mark.parametrize("given", [(), (0,), (3,), (0, 3)])
def test_mixed_tests_compare_likelihoods(given):
    scores = table()
    test = MixedTest(scores, "mi-cg")
    x, y = 2, 4
    found = test.departure(x, y, given)
    if given:
        expected = 2 * (by_rows(scores, x, (*given, y)) - by_rows(scores, x, given))
    else:
        expected = -60 * np.log(1 - np.corrcoef(scores.values[x], scores.values[y])[0, 1] ** 2)
    assert found.statistic == pytest.approx(expected, rel=1e-9)
    assert found == pytest.approx(test.departure(y, x, given), rel=1e-9)
    state = test.departure(4, 1, given)
    expected = 2 * (by_rows(scores, 4, (*given, 1)) - by_rows(scores, 4, given))
    assert state.statistic == pytest.approx(expected, rel=1e-9)


def test_a_statistic_below_zero_is_told_as_it_is_and_says_independent():
    scores = table(44)
    found = MixedTest(scores, "mi-cg").departure(2, 4, (0, 3))
    assert found.statistic == pytest.approx(2 * (by_rows(scores, 2, (0, 3, 4)) - by_rows(scores, 2, (0, 3))), rel=1e-9)
    assert found.statistic < 0
    assert found.p_value == 1.0


def test_states_given_numbers_depend_as_much_either_way():
    test = MixedTest(table(3, n=400), "lr-cg")
    assert test.departure(0, 1, [2, 3]) == pytest.approx(test.departure(1, 0, [2, 3]), rel=1e-9)
    assert test.departure(0, 1, [2, 3]).degrees_of_freedom == 2 * (1 + 5)


def test_independent_states_are_found_so_though_one_tells_of_a_number():
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(2, 3000))
    values = np.array([np.zeros(3000), np.zeros(3000), y + rng.normal(size=3000)])
    scores = MomentScores(
        np.array([x, y, np.zeros(3000, dtype=int)]), values, np.array([False, False, True]), np.array([2, 2, 1]),
        MomentScore("bic"),
    )  # fmt: skip
    assert MixedTest(scores, "lr-cg").p_value(0, 1, [2]) > 0.05


@pytest.mark.parametrize(("given", "degrees"), [((2,), 2), ((3, 4, 2), 2)])
def test_bnlearns_test_of_states_adds_what_the_second_tells_of_numbers(given, degrees):
    scores = table(3, n=400)
    test = MixedTest(scores, "mi-cg")
    found, told = test.departure(0, 1, given), MixedTest(scores, "lr-cg").departure(0, 1, ()).statistic
    for at, number in enumerate(given):
        told += 2 * (by_rows(scores, number, (*given[at + 1 :], 1)) - by_rows(scores, number, given[at + 1 :]))
    assert found.statistic == pytest.approx(told, rel=1e-9)
    assert found.degrees_of_freedom == degrees
    assert not test.is_symmetric


def test_partial_correlations_are_those_of_the_inverse_covariance():
    scores = table(2, cards=(), n_numbers=5)
    inverse = np.linalg.inv(np.cov(scores.values))
    test = MixedTest(scores, "cor")
    for x, y in combinations(range(5), 2):
        rest = [v for v in range(5) if v not in (x, y)]
        expected = -inverse[x, y] / np.sqrt(inverse[x, x] * inverse[y, y])
        assert test.departure(x, y, rest).statistic == pytest.approx(expected, rel=1e-9)
