"""The Gaussian member against its formulas: standard numbers, lent covariances, naive Bayes on the states."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from tests.learning.members.member_rows import mixed_rows, repeated, table_of

from bayeswater.learning.members.committee import best_temperature, log_loss, tempered
from bayeswater.learning.members.gaussian_member import LENT_ROWS, SPHERICAL, GaussianMember
from bayeswater.learning.members.member_table import FARTHEST, StandardNumbers


def test_posteriors_follow_the_formula():
    table = mixed_rows(80)
    member = GaussianMember().learn(table, 0)
    x, y, n = member.numbers.numbers.read(table).values, table.labels, len(table)
    q = member.numbers.shared / (1 - member.numbers.shared)
    d = x.shape[1]
    deviations = [x[y == k] - x[y == k].mean(axis=0) for k in range(3)]
    scatters = [each.T @ each for each in deviations]
    joint = np.log((np.bincount(y) + 1 / 3) / (n + 1)) + np.zeros((n, 3))
    for k in range(3):
        covariance = (scatters[k] + q * sum(scatters)) / ((y == k).sum() + q * n)
        covariance = (1 - SPHERICAL) * covariance + SPHERICAL * np.trace(covariance) / d * np.eye(d)
        joint[:, k] += multivariate_normal(x[y == k].mean(axis=0), covariance).logpdf(x)
        for j, v in enumerate(table.n_states + 1):  # missing is a state
            states = np.where(table.states[:, j] < 0, v - 1, table.states[:, j])
            count = np.bincount(states[y == k], minlength=v)
            joint[:, k] += np.log((count[states] + 1 / v) / ((y == k).sum() + 1))
    expected = tempered(joint - logsumexp(joint, axis=1, keepdims=True), member.temperature)
    # Inverses of covariances lose some digits.
    np.testing.assert_allclose(member.log_posterior(table), expected, rtol=1e-9, atol=1e-9)


def test_the_rows_lent_are_those_of_least_log_loss():
    table = mixed_rows(120)
    member = GaussianMember().learn(table, 0)

    def loss(g):
        own = replace(member, numbers=member.numbers.lent(g), temperature=1.0)
        found = own.honest_log_posterior(table)[0]
        count = np.bincount(table.labels)
        return log_loss(tempered(found, best_temperature(found, table, count)), table, count)

    best = min(LENT_ROWS, key=loss)
    assert member.numbers.shared == member.numbers.lent(best).shared
    d, n = 3, len(table)
    assert member.numbers.shared == pytest.approx(best * d / (n + best * d), rel=1e-15)


def test_numbers_are_standard_whatever_is_missing_or_far_away():
    numbers = np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 1e9], [np.nan, 5.0, 0.0], [6.0, np.nan, 0.5]] * 20)
    table = table_of(numbers, np.zeros((80, 0)), [], np.zeros(80, dtype=np.int64), 1)
    standard = StandardNumbers.learn(table)
    assert standard.kept.tolist() == [0, 2]
    found = standard.read(table).values
    mean, deviation = np.nanmean(numbers[:, 0]), np.nanstd(numbers[:, 0])
    np.testing.assert_allclose(found[:4, 0], (np.array([1, 2, 2, 6]) - mean) / deviation, rtol=1e-14)
    far = replace(table.take([0]), numbers=np.array([[-1e300, 0.0, 0.0]]))
    assert standard.read(far).values[0, 0] == -FARTHEST


def test_a_row_of_weight_two_is_two_rows_to_the_standard():
    table = mixed_rows(60)
    weight = np.random.default_rng(0).integers(1, 4, 60)
    one = StandardNumbers.learn(replace(table, weight=weight.astype(float)))
    other = StandardNumbers.learn(repeated(table, weight))
    for name, array in one.to_arrays().items():
        np.testing.assert_allclose(array, other.to_arrays()[name], rtol=1e-13)  # sums in another order


def test_numbers_of_any_size_are_standard():
    """The largest floats have no squares, and tiny ones none that are not zero."""
    for size in (1e300, 1e-300):
        numbers = size * np.array([[1.0], [2.0], [4.0], [5.0]])
        table = table_of(numbers, np.zeros((4, 0)), [], np.array([0, 0, 1, 1]), 2)
        found = StandardNumbers.learn(table).read(table).values[:, 0]
        np.testing.assert_allclose(found, (np.array([1, 2, 4, 5]) - 3) / np.sqrt(2.5), rtol=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_rows_can_be_forgotten_until_hardly_any_scatter_is_left(seed):
    """Columns are bound to one another, or tell the class outright, and of a class only equal rows may remain."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, 30)
    numbers = np.round(rng.normal(size=(30, 4)) + codes[:, None])
    numbers[:, 1], numbers[:, 2] = 2 * numbers[:, 0], codes
    table = table_of(numbers, np.zeros((30, 0)), [], codes, 3)
    learned = GaussianMember().learn(table, 0)
    kept = np.flatnonzero(rng.random(30) < 0.3)
    found = learned.minus(table.take(np.setdiff1d(np.arange(30), kept)))
    expected = learned.counting(table.take(kept))
    # What rounding leaves of a scatter is of the order of 1e-13, and a thousandth of all scatter is added to it.
    np.testing.assert_allclose(np.exp(found.log_posterior(table)), np.exp(expected.log_posterior(table)), atol=1e-8)
