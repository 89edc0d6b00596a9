"""Evidence: the product of the predictions of each value from those before it, and the integral that it stands for."""

from fractions import Fraction
from math import comb, factorial

import mpmath
import numpy as np
from scipy import stats
from tests.oracles.precise import moments_of, predictive

from bayeswater.estimate.normal_parameters import NormalInverseGamma, dirichlet_log_evidence, normal_log_evidence
from bayeswater.families.poisson import poisson_log_evidence

PRIOR = NormalInverseGamma(mean=0.5, strength=2.0, shape=1.5, scale=3.0)
VALUES = [0.25, -1.5, 3.0, 3.0, 0.125, 7.5]
COUNTS = [3, 0, 1, 7, 2, 2]

# A handful of logarithms, gamma functions and additions.
CLOSE = {"rtol": 1e-13}


def test_normal_evidence_is_the_chain_of_its_predictions():
    cells = [(Fraction(x), Fraction(1)) for x in VALUES]
    chain = sum(predictive(PRIOR, moments_of(cells[:i])).log_density(x) for i, (x, _) in enumerate(cells))
    m = moments_of(cells)
    evidence = normal_log_evidence(PRIOR, np.array(len(cells)), np.float64(m.mean), np.float64(m.scatter))
    np.testing.assert_allclose(evidence, float(chain), **CLOSE)


def test_normal_evidence_is_the_integral_over_mean_and_variance():
    x = np.array(VALUES[:3])[:, None, None]
    # Sums over an even grid: of a curve that is smooth and ends in nothing they have nearly every digit.
    log_variance = np.linspace(-5, 35, 2001)[:, None]
    z = np.linspace(-12, 12, 401)  # the mean, in standard deviations from where prior and values expect it
    variance = np.exp(log_variance)
    strength = PRIOR.strength + len(x)
    mean = (PRIOR.strength * PRIOR.mean + x.sum()) / strength + z * np.sqrt(variance / strength)
    prior = stats.norm.logpdf(mean, PRIOR.mean, np.sqrt(variance / PRIOR.strength))
    prior = prior + stats.invgamma.logpdf(variance, PRIOR.shape, scale=PRIOR.scale)
    weighed = np.exp(prior + stats.norm.logpdf(x, mean, np.sqrt(variance)).sum(axis=0))
    cell = (40 / 2000) * variance * (24 / 400) * np.sqrt(variance / strength)
    exact = np.log((weighed * cell).sum())
    evidence = normal_log_evidence(PRIOR, np.array(3), x.mean(), ((x - x.mean()) ** 2).sum())
    np.testing.assert_allclose(evidence, exact, rtol=1e-10)


def poisson_evidence(shape, rate):
    log_factorials = sum(float(mpmath.log(factorial(x))) for x in COUNTS)
    return poisson_log_evidence(shape, rate, np.array(len(COUNTS)), np.array(float(sum(COUNTS))), log_factorials)


def test_poisson_evidence_is_the_chain_of_its_predictions():
    shape, rate = 2, Fraction(1, 4)
    chain = Fraction(1)
    for x in COUNTS:  # the next count is negative binomial, and the rate is then Gamma(shape + x, rate + 1)
        chain *= comb(shape + x - 1, x) * (rate / (rate + 1)) ** shape * (1 / (rate + 1)) ** x
        shape, rate = shape + x, rate + 1
    np.testing.assert_allclose(poisson_evidence(2.0, 0.25), log(chain), **CLOSE)


def test_poisson_evidence_is_the_integral_over_the_rate():
    def weighed(mean):
        poisson = mpmath.fprod(mean**x * mpmath.exp(-mean) / factorial(x) for x in COUNTS)
        return poisson * mpmath.mpf(0.25) ** 1.5 / mpmath.gamma(1.5) * mean**0.5 * mpmath.exp(-0.25 * mean)

    with mpmath.workdps(30):
        exact = mpmath.log(mpmath.quad(weighed, [0, 1, 2, 4, 8, 20, mpmath.inf]))
    np.testing.assert_allclose(poisson_evidence(1.5, 0.25), float(exact), **CLOSE)


def test_dirichlet_evidence_is_the_chain_of_its_predictions():
    a, states = Fraction(1, 2), [0, 2, 2, 1, 2, 0, 2]
    count, chain = [Fraction(0)] * 4, Fraction(1)
    for state in states:
        chain *= (count[state] + a) / (sum(count) + 4 * a)
        count[state] += 1
    table = np.array([[int(n), 0] for n in count])
    evidence = dirichlet_log_evidence(0.5, table)
    np.testing.assert_allclose(evidence[0], log(chain), **CLOSE)
    assert evidence[1] == 0  # no row, and nothing to be surprised at


def test_a_class_without_rows_has_evidence_one():
    assert normal_log_evidence(PRIOR, np.array(0), np.array(0.0), np.array(0.0)) == 0
    assert poisson_log_evidence(1.5, 2.0, np.array(0), np.array(0.0), np.array(0.0)) == 0


def log(fraction):
    with mpmath.workdps(30):
        return float(mpmath.log(mpmath.mpf(fraction.numerator) / fraction.denominator))
