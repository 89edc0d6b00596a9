"""Normal densities and the Normal-inverse-gamma prior, against fractions and by hand.

Evidence: the product of the predictions of each value from those before it, and the integral that it stands for.
"""

from fractions import Fraction
from math import comb, factorial
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from tests.oracles.precise import moments_of, predictive

from bayeswater import DataError, GaussianNB, NormalInverseGamma, ParameterError
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.estimate.normal_parameters import (
    dirichlet_log_evidence,
    floored_parameters,
    normal_log_evidence,
    pooled_variance,
    require_finite_moments,
    require_near_priors,
)
from bayeswater.families.poisson import poisson_log_evidence
from bayeswater.statistics.moments import Moments


@pytest.mark.parametrize("value", ["a", None, np.nan, np.inf, -np.inf, [1.0], 1j])
def test_a_mean_that_is_no_number_is_refused(value):
    with pytest.raises(ParameterError, match=r"NormalInverseGamma: mean is .*; give a finite number"):
        NormalInverseGamma(mean=value)


@pytest.mark.parametrize("name", ["strength", "shape", "scale"])
@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "a", None, np.array([1.0, 2.0])])
def test_every_other_parameter_is_over_zero_and_finite(name, value):
    with pytest.raises(ParameterError, match=rf"NormalInverseGamma: {name} is .*; it must be over 0 and f"):
        NormalInverseGamma(**{name: value})


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2)])
def test_any_kind_of_number_will_do(value):
    assert NormalInverseGamma(mean=value, scale=value).predictive(0, 0, 0)[0] == 2


def test_a_prior_is_a_value():
    prior = NormalInverseGamma(mean=1.0, strength=2.0)
    assert prior == NormalInverseGamma(1.0, 2.0)
    assert hash(prior) == hash(NormalInverseGamma(1.0, 2.0))
    assert repr(prior) == "NormalInverseGamma(mean=1.0, strength=2.0, shape=1.0, scale=1.0)"
    with pytest.raises(AttributeError, match="cannot assign"):
        prior.mean = 3.0


@pytest.mark.parametrize("values", [[], [3], [1, 2, 4], [Fraction(1, 4)] * 5])
def test_the_predictive_is_that_of_the_conjugate_update(values):
    m, kappa, a, b = Fraction(1, 2), Fraction(3), Fraction(5, 2), Fraction(7, 4)
    n = len(values)
    mean = sum(values, Fraction(0)) / n if n else Fraction(0)
    scatter = sum((x - mean) ** 2 for x in values)
    kappa_n, a_n = kappa + n, a + Fraction(n, 2)
    m_n = (kappa * m + n * mean) / kappa_n
    b_n = b + scatter / 2 + (mean - m) ** 2 * kappa * n / (2 * kappa_n)
    location, squared_scale, degrees = NormalInverseGamma(0.5, 3.0, 2.5, 1.75).predictive(
        n, float(mean), float(scatter)
    )
    assert degrees == float(2 * a_n)
    np.testing.assert_allclose(location, float(m_n), rtol=1e-15)
    np.testing.assert_allclose(squared_scale, float(b_n * (kappa_n + 1) / (a_n * kappa_n)), rtol=1e-15)


def test_many_rows_outweigh_the_prior():
    location, squared_scale, degrees = NormalInverseGamma(mean=4.0).predictive(1e9, 3.0, 4e9)
    np.testing.assert_allclose([location, squared_scale], [3.0, 4.0], rtol=1e-6)  # the prior is worth a row in 1e9
    assert degrees > 1e9


# ---------------------------------------------------------------------- densities

X = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 20.0], [9.0, 40.0]])
Y = np.array([0, 0, 1, 1])


def test_variances_are_the_mean_squares_plus_a_share_of_the_largest_one():
    model = GaussianNB(var_smoothing=0.01).fit(X, Y)
    largest = np.var(X[:, 1])
    np.testing.assert_allclose(model.epsilon_, 0.01 * largest, rtol=1e-15)
    np.testing.assert_allclose(
        model.var_, [[1 + model.epsilon_, model.epsilon_], [4 + model.epsilon_, 100 + model.epsilon_]]
    )
    assert model.theta_.tolist() == [[2, 10], [7, 30]]


def test_a_class_without_a_value_in_a_column_takes_that_of_all_classes():
    cells = X.copy()
    cells[Y == 0, 1] = np.nan
    model = GaussianNB(missing="ignore", var_smoothing=0).fit(cells, Y)
    assert model.theta_.tolist() == [[2, 30], [7, 30]]
    assert model.var_.tolist() == [[1, 100], [4, 100]]


def test_a_column_with_a_prior_has_the_predictive_of_the_prior():
    prior = NormalInverseGamma(mean=15.0, strength=2.0, shape=3.0, scale=4.0)
    model = GaussianNB(columns={1: {"prior": prior}}).fit(X, Y)
    for k, (n, mean, scatter) in enumerate([(2, 10.0, 0.0), (2, 30.0, 200.0)]):
        location, squared_scale, _ = prior.predictive(n, mean, scatter)
        np.testing.assert_allclose([model.theta_[k, 1], model.var_[k, 1]], [location, squared_scale], rtol=1e-15)


def test_smoothing_is_read_and_never_stored():
    model = GaussianNB(var_smoothing=0.5).fit(X, Y)
    assert model.statistics_ == GaussianNB(var_smoothing=0).fit(X, Y).statistics_


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


# ---------------------------------------------------------------------- a floor under the variance, in whatever unit


def sums_of(*columns: Any) -> Moments:
    """Sums of columns of five rows, two of one class and three of another."""
    labels = encode_labels(["a", "a", "b", "b", "b"])
    return Moments.of(DenseMatrix(np.array(columns, dtype=float).T), labels, None, skip_missing=True)


def test_a_variance_over_the_floor_is_that_of_largest_likelihood() -> None:
    p = floored_parameters(sums_of([1, 3, 0, 3, 6]), 1e-6, {})
    assert_allclose(p.mean, [[2], [3]])
    assert_allclose(p.variance, [[1], [6]])
    assert np.isinf(p.degrees).all()
    assert p.seen.all() and p.epsilon == 0.0


def test_a_variance_under_the_floor_is_a_share_of_that_of_all_classes() -> None:
    x = np.array([1, 1, 0, 4, 2])
    for unit in (1.0, 2.0**-300, 1e100):
        moments = sums_of(x * unit)
        p = floored_parameters(moments, 0.125, {})
        assert_allclose(pooled_variance(moments), [x.var() * unit**2], rtol=1e-14)
        assert_allclose(p.variance[:, 0], [0.125 * x.var() * unit**2, x[2:].var() * unit**2], rtol=1e-14)


def test_a_class_without_a_value_has_the_moments_of_all() -> None:
    p = floored_parameters(sums_of([np.nan, np.nan, 1, 2, 6]), 1e-6, {})
    assert_allclose(p.mean, [[3], [3]])
    assert_allclose(p.variance, [[14 / 3], [14 / 3]])


@pytest.mark.parametrize("cells", [[7] * 5, [np.nan] * 5, [np.nan] * 4 + [3]], ids=["constant", "empty", "one value"])
def test_a_column_that_never_varies_has_no_factor_unless_a_prior_gives_one(cells: Any) -> None:
    moments = sums_of(cells, [1, 2, 3, 4, 5])
    assert_array_equal(floored_parameters(moments, 1e-6, {}).has_factor, [False, True])
    prior = NormalInverseGamma(0.0, 1.0, 2.0, 3.0)
    with_prior = floored_parameters(moments, 1e-6, {0: prior})
    assert_array_equal(with_prior.has_factor, [True, True])
    assert np.isfinite(with_prior.degrees[:, 0]).all()
    assert np.isinf(with_prior.degrees[:, 1]).all()


def test_a_prior_gives_students_t_by_the_rows_of_each_class() -> None:
    prior = NormalInverseGamma(mean=1.0, strength=2.0, shape=3.0, scale=4.0)
    p = floored_parameters(sums_of([1, 3, 0, 3, 6]), 0.5, {0: prior})
    assert_allclose(p.mean[:, 0], [(2 * 1 + 2 * 2) / 4, (2 * 1 + 3 * 3) / 5])
    scale = [4 + 2 / 2 + 2 * 2 * 1 / (2 * 4), 4 + 18 / 2 + 2 * 3 * 4 / (2 * 5)]
    assert_allclose(p.variance[:, 0], [scale[0] / 4 * 5 / 4, scale[1] / 4.5 * 6 / 5])
    assert_allclose(p.degrees[:, 0], [8, 9])


def test_what_overflows_is_refused_by_the_name_of_its_column() -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        far = sums_of([1, 2, 3, 4, 5], [1e200, -1e200, 1e200, 1, 2])
    with pytest.raises(DataError, match="the squares of column 'x1' overflow: its values are too far apart"):
        require_finite_moments(far)
    with pytest.raises(
        DataError, match="column 'x0' overflow: its values are too far from the mean 1e\\+200 of its prior"
    ):
        require_near_priors(sums_of([1, 2, 3, 4, 5]), {0: NormalInverseGamma(1e200)})
    require_near_priors(sums_of([1, 2, 3, 4, 5]), {0: NormalInverseGamma(1e100)})
