"""Outcomes of facts: states, counts and numbers, against closed forms and quadrature in 20 digits."""

from itertools import combinations

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from scipy.stats import norm, poisson, t

from bayeswater import Loss
from bayeswater.decision.facts import GRID, MOST_POINTS, DensityFact, StateFact, joint_outcomes
from bayeswater.decision.next_best import rank_facts
from bayeswater.families.poisson import CountFact

NORMAL = np.inf
THREE = Loss([[0, 7, 1], [2, 0, 5], [1, 2, 0], [1, 1, 1]])


def remaining_risk(outcomes, belief, loss):
    """Regret that is left once the outcome is known."""
    return float((loss.table.regret @ (outcomes.likelihood * belief).T).min(axis=0).sum())


def density_fact(*classes):
    return DensityFact(*(np.array(values, dtype=float) for values in zip(*classes, strict=True)))


def risk_by_quadrature(fact, belief, loss):
    """Integrate the least risk over x in 20 digits, between all points where the risks of two actions are equal."""
    regret, classes = loss.table.regret, [k for k in range(len(belief)) if belief[k] > 0]

    def density(k, x):
        mean, variance, degrees = (mpmath.mpf(float(part[k])) for part in (fact.mean, fact.variance, fact.degrees))
        z2 = (x - mean) ** 2 / variance
        if mpmath.isinf(degrees):
            return mpmath.exp(-z2 / 2) / mpmath.sqrt(2 * mpmath.pi * variance)
        half = (degrees + 1) / 2
        constant = mpmath.gamma(half) / mpmath.gamma(degrees / 2) / mpmath.sqrt(mpmath.pi * degrees * variance)
        return constant * (1 + z2 / degrees) ** -half

    def risks(x):
        joint = [belief[k] * density(k, mpmath.mpf(x)) for k in classes]
        return [sum(float(row[k]) * p for k, p in zip(classes, joint, strict=True)) for row in regret]

    with mpmath.workdps(20):
        places = np.concatenate([-np.logspace(4, -1, 20), np.linspace(-0.1, 0.1, 3), np.logspace(-1, 4, 20)])
        grid = np.unique(fact.mean[classes] + np.sqrt(fact.variance[classes]) * places[:, None])
        at_grid = [risks(x) for x in grid]
        points = set(map(float, fact.mean[classes]))
        for i, j in combinations(range(len(regret)), 2):
            for a, b, ra, rb in zip(grid, grid[1:], at_grid, at_grid[1:], strict=False):
                if (ra[i] - ra[j]) * (rb[i] - rb[j]) < 0:
                    root = mpmath.findroot(
                        lambda x, i=i, j=j: risks(x)[i] - risks(x)[j], (a, b), solver="anderson", verify=False
                    )
                    points.add(root)
        return float(mpmath.quad(lambda x: min(risks(x)), [-mpmath.inf, *sorted(points), mpmath.inf]))


@pytest.mark.parametrize(
    ("p", "distance", "miss"), [(0.5, 1.0, 1.0), (0.1, 2.5, 10.0), (0.001, 6.0, 300.0), (0.9, 0.1, 0.2)]
)
def test_two_normal_densities_of_one_variance_have_the_risk_of_the_closed_form(p, distance, miss):
    # Decide for the second where x > c = d/2 + log((1-p) / (p miss)) / d; its errors are the two tails at c.
    c = distance / 2 + np.log((1 - p) / (p * miss)) / distance
    expected = (1 - p) * ndtr(-c) + p * miss * ndtr(c - distance)
    fact, belief = density_fact((3.0, 4.0, NORMAL), (3.0 + 2 * distance, 4.0, NORMAL)), np.array([1 - p, p])
    loss = Loss([[0, miss], [1, 0]])
    outcomes = fact.outcomes(belief, loss.table.regret)
    assert len(outcomes.likelihood) == 2
    assert_allclose(remaining_risk(outcomes, belief, loss), expected, rtol=1e-13)  # tails of some roundings
    assert outcomes.error <= 1e-15


EVEN, SURE, TWO = (0.2, 0.5, 0.3), (0.98, 0.01, 0.01), (0.5, 0.0, 0.5)


@pytest.mark.parametrize(
    ("classes", "belief"),
    [
        ([(0, 1, NORMAL), (1, 4, NORMAL), (-2, 0.25, NORMAL)], EVEN),
        ([(0, 1, NORMAL), (1, 4, NORMAL), (-2, 0.25, NORMAL)], TWO),
        ([(0, 1, 3.0), (1, 4, 5.0), (-2, 0.25, 40.0)], EVEN),
        ([(0, 1, 3.0), (1, 4, 5.0), (-2, 0.25, 40.0)], SURE),
        ([(0, 1, NORMAL), (0, 1e-6, NORMAL), (0.5, 1e-4, 7.0)], EVEN),  # one class is a needle in another
        ([(0, 1, NORMAL), (0, 1, NORMAL), (0, 1, NORMAL)], SURE),  # nothing is learned
        ([(1e6, 1e-2, NORMAL), (1e6 + 0.1, 1e-2, NORMAL), (-1e6, 1.0, NORMAL)], EVEN),
    ],
)
def test_the_risk_that_is_left_by_a_number_is_the_integral_of_the_least_risk(classes, belief):
    fact, belief = density_fact(*classes), np.array(belief)
    outcomes, expected = fact.outcomes(belief, THREE.table.regret), risk_by_quadrature(fact, belief, THREE)
    found = remaining_risk(outcomes, belief, THREE)
    assert_allclose(outcomes.likelihood.sum(axis=0), 1, rtol=1e-14)
    assert found >= expected - 1e-13  # a rule that can be followed: never less than the least
    assert found - expected <= outcomes.error + 1e-12  # quadrature of kinks found to the last bit, risks of size 1


def test_an_action_that_is_best_in_a_sliver_alone_is_found():
    # A hundred thousandth to either side of equal probabilities: far less than a step of the grid.
    loss = Loss([[0, 1], [1, 0], [0.5 - 1e-5, 0.5 - 1e-5]])
    fact, belief = density_fact((-1.003, 1, NORMAL), (1.0, 1, NORMAL)), np.array([0.5, 0.5])
    outcomes, expected = fact.outcomes(belief, loss.table.regret), risk_by_quadrature(fact, belief, loss)
    assert len(outcomes.likelihood) == 3
    assert_allclose(remaining_risk(outcomes, belief, loss), expected, rtol=1e-13)


def test_values_of_variance_zero_are_outcomes_of_their_own():
    fact, belief = density_fact((1, 0, NORMAL), (2, 0, NORMAL), (2, 1, NORMAL)), np.array([0.2, 0.3, 0.5])
    outcomes = fact.outcomes(belief, THREE.table.regret)
    # x = 1 and x = 2 tell their classes; any other value, almost surely, the third.
    assert remaining_risk(outcomes, belief, THREE) == 0
    assert_array_equal(outcomes.likelihood.sum(axis=0), 1)
    together = density_fact((1, 0, NORMAL), (1, 0, NORMAL), (5, 0, NORMAL)).outcomes(belief, THREE.table.regret)
    assert_allclose(together.likelihood, [[1, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("rates", [(0.0, 0.5, 3.0), (2.0, 2.0, 2.0), (1e-9, 40.0, 41.0), (9e6, 9.01e6, 1.0)])
def test_counts_are_summed_to_the_end(rates):
    belief = np.array([0.3, 0.3, 0.4])
    outcomes = CountFact(np.array(rates)).outcomes(belief, THREE.table.regret)
    x = np.unique(np.concatenate([np.arange(poisson.isf(1e-16, r) + 1)[-200_000:] for r in rates] + [np.arange(99)]))
    expected = THREE.table.regret @ (poisson.pmf(x[:, None], rates) * belief).T
    assert_allclose(outcomes.likelihood.sum(axis=0), 1, rtol=1e-12)
    # log P of counts of ten million is a difference of numbers of 1e8, right to 1e-8.
    assert_allclose(
        remaining_risk(outcomes, belief, THREE), expected.min(axis=0).sum(), rtol=1e-7 if max(rates) > 1e6 else 1e-12
    )
    assert outcomes.error <= 1e-11


def test_facts_learned_together_are_one_fact_of_all_pairs():
    rng = np.random.default_rng(0)
    a, b = np.log(rng.dirichlet(np.ones(3), 3).T), np.log(rng.dirichlet(np.ones(4), 3).T)
    belief, regret = np.array([0.5, 0.2, 0.3]), THREE.table.regret
    pairs = StateFact((a[:, None] + b).reshape(12, 3)).outcomes(belief, regret)
    both = joint_outcomes([StateFact(a), StateFact(b)], belief, regret)
    assert_allclose(np.sort(both.likelihood, axis=0), np.sort(pairs.likelihood, axis=0), rtol=1e-14)


def test_a_number_and_a_state_learned_together_are_worth_what_many_bins_of_the_number_are():
    density, states = (
        density_fact((0, 1, NORMAL), (1, 2, NORMAL), (3, 1, NORMAL)),
        np.log([[0.7, 0.2, 0.5], [0.3, 0.8, 0.5]]),
    )
    belief, regret = np.array([0.4, 0.4, 0.2]), THREE.table.regret
    found = remaining_risk(joint_outcomes([density, StateFact(states)], belief, regret), belief, THREE)
    limits = np.linspace(-12, 14, 200_001)
    mass = np.diff(norm.cdf(limits[:, None], density.mean, np.sqrt(density.variance)), axis=0)
    bins = joint_outcomes([StateFact(states), StateFact(np.log(np.maximum(mass, 1e-300)))], belief, regret)
    by_bins = remaining_risk(bins, belief, THREE)
    # Bins of 1.3e-4 lose at most the square of their width where the action changes.
    assert found <= by_bins + 1e-12
    assert_allclose(found, by_bins, atol=1e-7)


def test_two_numbers_learned_together_are_worth_what_a_grid_over_both_says_and_never_more():
    first, second = density_fact((0, 1, NORMAL), (1, 2, NORMAL)), density_fact((0, 1, NORMAL), (1.5, 1, NORMAL))
    states = np.log(np.stack([np.full(5, 1 / 5), np.random.default_rng(0).dirichlet(np.full(5, 20.0))], axis=1))
    belief, two = np.array([0.6, 0.4]), Loss.zero_one([0, 1])
    facts = [first, second.in_cells(), StateFact(states)]
    found = remaining_risk(joint_outcomes(facts, belief, two.table.regret), belief, two)
    limits = np.linspace(-14, 16, 1_001)
    masses = [np.diff(norm.cdf(limits[:, None], one.mean, np.sqrt(one.variance)), axis=0) for one in (first, second)]
    grid = np.einsum("ak,bk->abk", *masses)
    exact = sum(np.minimum(*np.moveaxis(grid * (belief * p), 2, 0)).sum() for p in np.exp(states))
    assert found >= exact - 1e-4  # the grid itself is coarse
    assert_allclose(found, exact, rtol=2e-3)


@pytest.mark.parametrize("strength", [0.2, 0.7, 1.5])
def test_a_weakened_fact_is_a_normalised_power_of_it(strength):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(4), 3).T
    weak = StateFact(np.log(p)).weakened(strength).outcomes(np.ones(3) / 3, THREE.table.regret).likelihood
    assert_allclose(weak, p**strength / (p**strength).sum(axis=0), rtol=1e-13)
    x = np.linspace(-400, 400, 800_001)
    fact = density_fact((0.5, 2.0, NORMAL), (0.5, 2.0, 30.0))
    weaker = fact.weakened(strength)
    for k, density in ((0, norm.pdf(x, 0.5, np.sqrt(2))), (1, t.pdf(x, 30, 0.5, np.sqrt(2)))):
        power = density**strength
        left = np.cumsum(power)[400_000] / power.sum()  # mass left of 0
        z = -0.5 / np.sqrt(weaker.variance[k])
        expected = norm.cdf(z) if k == 0 else t.cdf(z, weaker.degrees[k])
        assert_allclose(expected, left, atol=1e-3)  # a Riemann sum in steps of 1e-3
    count = np.arange(200)
    power = poisson.pmf(count, 3.0) ** strength
    found = CountFact(np.array([3.0])).weakened(strength).outcomes(np.ones(1), np.zeros((1, 1))).likelihood
    assert_allclose(found[:30, 0], (power / power.sum())[:30], rtol=1e-10)


def test_a_tail_too_heavy_to_be_weakened_leaves_no_density():
    assert density_fact((0, 1, 2.0)).weakened(0.3) is None
    assert density_fact((0, 1, 2.0)).weakened(0.5) is not None


def test_facts_are_ranked_by_worth_minus_cost_and_those_without_a_value_named():
    loss = Loss.zero_one(["ill", "well"])
    sure, coin = StateFact(np.log([[1.0, 1e-300], [1e-300, 1.0]])), StateFact(np.log([[0.5, 0.5], [0.5, 0.5]]))
    facts = {"coin": [coin], "blood test": [sure], "note": "a text"}
    found = rank_facts(np.array([0.4, 0.6]), facts, {"coin": 0.0, "blood test": 0.1, "note": 0.0}, loss)
    assert [question.column for question in found] == ["blood test", "coin"]
    assert found.best is found[0]
    assert str(found).splitlines() == [
        "Ask for the blood test next: it is worth 0.4 of loss, costs 0.1.",
        "  coin: worth 0 of loss, costs 0: do not ask",
        "  note: a text",
    ]
    assert found.table.to_pydict()["net"] == [pytest.approx(0.3), 0.0]
    dear = rank_facts(np.array([0.4, 0.6]), {"blood test": [sure]}, {"blood test": 3.0}, loss)
    assert dear.best is None
    assert str(dear) == "Ask for nothing more: the best, the blood test, is worth 0.4 of loss, costs 3."
    assert str(rank_facts(np.array([0.4, 0.6]), {}, {}, loss)) == "There is nothing to ask for; the risk is 0.4."


def test_the_grid_of_a_number_holds_the_same_quantiles_of_every_class():
    fact = density_fact((1.0, 4.0, NORMAL), (-2.0, 0.25, 3.0))
    places = GRID[:: max(1, 2 * len(GRID) // MOST_POINTS)]
    low = places[places <= 0]
    expected = np.concatenate([norm(1.0, 2.0).ppf(ndtr(low)), t(3.0, -2.0, 0.5).ppf(ndtr(low))])
    grid = fact.grid()
    assert len(grid) <= 2 * len(places)
    for point in expected:  # and, as the densities are symmetric, those on the other side
        assert np.abs(grid - point).min() <= 1e-9 * max(1.0, abs(point))
    assert (grid > 1.0).any() and (grid < -2.0).any()


def test_a_class_that_is_not_believed_in_has_its_whole_mass_somewhere():
    fact = density_fact((0.0, 1.0, NORMAL), (1.0, 1.0, NORMAL), (5.0, 1.0, NORMAL))
    outcomes = fact.outcomes(np.array([0.5, 0.5, 0.0]), 1 - np.eye(3))
    assert_allclose(outcomes.likelihood.sum(axis=0), 1.0, rtol=1e-12)
