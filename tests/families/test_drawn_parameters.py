"""Parameters drawn from their posterior have its mean and variance, and drawn cells follow their law."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import i0e, i1e, polygamma, psi
from scipy.stats import beta, kstest, nbinom, norm, poisson, t, vonmises

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.estimate.normal_parameters import NormalInverseGamma
from bayeswater.families.beta import BetaBlock, ShareSums
from bayeswater.families.gaussian import NormalBlock
from bayeswater.families.negative_binomial import DispersedTotals, NegativeBinomialBlock
from bayeswater.families.poisson import PoissonBlock
from bayeswater.families.von_mises import CircleSums, VonMisesBlock
from bayeswater.inference.drawing import Stage, stream
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.moments import Moments

DRAWS = 4000
ROWS = np.array([[1.0, 5.0], [2.0, np.nan], [4.0, 7.0], [9.0, np.nan], [6.0, np.nan], [2.0, 3.0], [3.0, np.nan]])
LABELS = encode_labels(list("aaabbbc"), counted=False)


def require_moments(drawn, mean, variance):
    """Five standard errors: by chance no run in a million is so far off."""
    assert_array_equal(np.abs(drawn.mean(axis=0) - mean) <= 5 * np.sqrt(variance / len(drawn)), True)
    assert_allclose(drawn.var(axis=0), variance, rtol=0.25)


def rng():
    return np.random.default_rng(5)


def normal_block(x=ROWS, labels=LABELS, priors=None, floor=1e-3):
    return NormalBlock(
        Moments.of(DenseMatrix(x), labels, None, skip_missing=True), floor, priors or {}, np.zeros(2, bool)
    )


def test_variances_are_drawn_by_chi_square_and_means_around_theirs():
    mean, offset, log_variance = normal_block().drawn_parameters(0, rng(), DRAWS)
    x = ROWS[:, 0]
    own = [x[:3], x[3:6], x]  # one value has no spread: that of all rows
    scatter, degrees = np.array([v.var() * len(v) for v in own]), np.array([2, 2, 6])
    assert_allclose(mean, [x[:3].mean(), x[3:6].mean(), 3.0])
    require_moments(log_variance, np.log(scatter / 2) - psi(degrees / 2), polygamma(1, degrees / 2))
    require_moments(offset, 0.0, 1 / np.array([3, 3, 1]))


def test_a_class_without_a_value_is_drawn_as_all_rows_are():
    mean, offset, log_variance = normal_block().drawn_parameters(1, rng(), DRAWS)
    x = np.array([5.0, 7.0, 3.0])
    scatter = np.array([2.0, x.var() * 3, x.var() * 3])  # two rows, one row, none
    assert_allclose(mean, [6.0, 3.0, 5.0])
    require_moments(
        log_variance, np.log(scatter / 2) - psi(np.array([1, 2, 2]) / 2), polygamma(1, np.array([0.5, 1, 1]))
    )
    require_moments(offset, 0.0, 1 / np.array([2, 1, 3]))


def test_no_variance_is_drawn_below_its_floor():
    block = normal_block(
        np.repeat([[1.0, 0.0], [1.0, 1.0], [3.0, 2.0]], [3, 3, 3], axis=0), encode_labels(list("aaabbbccc"))
    )
    _, _, log_variance = block.drawn_parameters(0, rng(), 50)
    assert_allclose(log_variance[:, :2], np.log(1e-3 * np.var([1.0, 1.0, 3.0])))


def test_a_column_without_a_factor_has_no_parameters_to_draw():
    block = normal_block(np.column_stack([np.full(7, 3.0), ROWS[:, 0]]))
    assert block.drawn_parameters(0, rng(), 10) is None
    total = np.zeros((7, 10, 3))
    block.draw_parameters([0, 1], Stage(1, 10, 3)).add_to(total, np.column_stack([np.full(7, 3.0), ROWS[:, 0]]))
    assert_allclose(total, block.drawn_terms(ROWS[:, 0, None, None], 1, block.drawn_parameters(1, stream(1, 1), 10)))


def test_with_a_prior_parameters_are_drawn_from_its_posterior():
    prior = NormalInverseGamma(1.0, 2.0, 3.0, 4.0)
    mean, offset, log_variance = normal_block(priors={0: prior}).drawn_parameters(0, rng(), DRAWS)
    x = ROWS[:, 0]
    n, means, scatter = np.array([3, 3, 1]), *np.array([[v.mean(), v.var() * len(v)] for v in (x[:3], x[3:6], x[6:])]).T
    center, strength, shape, scale = prior.posterior(n, means, scatter)
    assert_allclose(mean, center)
    require_moments(log_variance, np.log(scale) - psi(shape), polygamma(1, shape))
    require_moments(offset, 0.0, 1 / strength)


def test_terms_of_drawn_densities_are_those_of_the_normal_law():
    block = normal_block()
    drawn = block.drawn_parameters(0, rng(), 20)
    x = np.array([2.5, np.nan])
    terms = block.drawn_terms(x[:, None, None], 0, drawn)
    deviation = np.exp(drawn[2] / 2)
    expected = norm.logpdf(2.5, drawn[0] + drawn[1] * deviation, deviation)
    assert_allclose(terms[0] - terms[0, :, :1], expected - expected[:, :1], rtol=1e-10, atol=1e-12)
    assert not terms[1].any()


def test_drawn_numbers_are_normal_or_students():
    block = normal_block(priors={1: NormalInverseGamma(1.0, 2.0, 1.5, 3.0)})
    p, codes = block.parameters, np.full(DRAWS, 1)
    plain, student = (block.draw_column(codes, j, rng()) for j in (0, 1))
    assert kstest(plain, norm(p.mean[1, 0], np.sqrt(p.variance[1, 0])).cdf).pvalue > 1e-4
    assert kstest(student, t(p.degrees[1, 1], p.mean[1, 1], np.sqrt(p.variance[1, 1])).cdf).pvalue > 1e-4


# ---------------------------------------------------------------------- counts


def count_block():
    return PoissonBlock(CountTotals.of(DenseMatrix(ROWS), LABELS, None), np.array([0.5, 2.0]))


WEIGHT, TOTAL = np.array([[3, 2], [3, 1], [1, 3]]), np.array([[7, 12], [17, 3], [3, 15]])  # class c has none of its own


@pytest.mark.parametrize("j", [0, 1])
def test_rates_are_drawn_from_their_gamma(j):
    block = count_block()
    (log_rate,) = block.drawn_parameters(j, rng(), DRAWS)
    shape = TOTAL[:, j] + block.pseudo_count[j]
    require_moments(log_rate, psi(shape) - np.log(WEIGHT[:, j]), polygamma(1, shape))
    x = np.array([0.0, 4.0, np.nan])
    terms, law = (
        block.drawn_terms(x[:, None, None], j, (log_rate,)),
        poisson.logpmf(x[:2, None, None], np.exp(log_rate)),
    )
    assert_allclose(terms[:2] - terms[:2, :, :1], law - law[:, :, :1], rtol=1e-9, atol=1e-9)
    assert not terms[2].any()


@pytest.mark.parametrize("j", [0, 1])
def test_means_of_counts_that_spread_are_drawn_by_two_gammas(j):
    sums = DispersedTotals.of(DenseMatrix(ROWS), LABELS, None)
    block, r = NegativeBinomialBlock(sums, np.array([0.5, 2.0]), np.array([2.0, 0.5])), [2.0, 0.5][j]
    (log_mean,) = block.drawn_parameters(j, rng(), DRAWS)
    shape, other = TOTAL[:, j] + block.pseudo_count[j], r * WEIGHT[:, j]
    require_moments(log_mean, np.log(r) + psi(shape) - psi(other), polygamma(1, shape) + polygamma(1, other))
    x = np.array([0.0, 4.0, np.nan])
    mean = np.exp(log_mean)
    terms, law = (
        block.drawn_terms(x[:, None, None], j, (log_mean,)),
        nbinom.logpmf(x[:2, None, None], r, r / (r + mean)),
    )
    assert_allclose(terms[:2] - terms[:2, :, :1], law - law[:, :, :1], rtol=1e-9, atol=1e-9)
    assert not terms[2].any()


def test_a_column_of_counts_without_a_value_adds_nothing():
    none = np.full((7, 1), np.nan)
    for block in (
        PoissonBlock(CountTotals.of(DenseMatrix(none), LABELS, None), np.array([0.5])),
        NegativeBinomialBlock(DispersedTotals.of(DenseMatrix(none), LABELS, None), np.array([0.5]), np.array([2.0])),
    ):
        total = np.zeros((2, 10, 3))
        block.draw_parameters([0], Stage(1, 10, 3)).add_to(total, np.array([[3.0], [0.0]]))
        assert not total.any()


# ---------------------------------------------------------------------- shares and circles

LONG = np.random.default_rng(8).beta(np.where(np.arange(300) % 2, 2.0, 6.0), 3.0)
HALVES = encode_labels(np.arange(300) % 2)


def test_parameters_of_shares_are_drawn_from_the_normal_that_touches_their_posterior():
    block = BetaBlock(ShareSums.of(DenseMatrix(LONG[:, None]), HALVES, None), np.array([1.0]))
    a, b = block.drawn_parameters(0, rng(), DRAWS)
    for k in range(2):
        near, far = np.log(LONG[k::2]).sum() - 1, np.log1p(-LONG[k::2]).sum() - 1  # with the row spread evenly

        def loss(u, v, near=near, far=far):
            a, b = mp.exp(u), mp.exp(v)
            return 151 * mp.log(mp.beta(a, b)) - (a - 1) * near - (b - 1) * far

        u, v = np.log(block.a[k, 0]), np.log(block.b[k, 0])
        curve = [[float(mp.diff(loss, (u, v), ((2 - j), j))) for j in (i, i + 1)] for i in (0, 1)]
        logs = np.stack([np.log(a[:, k]) - u, np.log(b[:, k]) - v])
        covariance = np.linalg.inv(curve)
        assert (np.abs(logs.mean(axis=1)) < 5 * np.sqrt(np.diag(covariance) / DRAWS)).all()
        assert_allclose(np.cov(logs), covariance, rtol=0.1)


def test_terms_of_drawn_shares_and_drawn_shares_are_those_of_the_law():
    block = BetaBlock(ShareSums.of(DenseMatrix(LONG[:, None]), HALVES, None), np.array([1.0]))
    a, b = block.drawn_parameters(0, rng(), 20)
    terms = block.drawn_terms(np.array([0.3, np.nan])[:, None, None], 0, (a, b))
    assert_allclose(terms[0], beta.logpdf(0.3, a, b), rtol=1e-9)
    assert not terms[1].any()
    drawn = block.draw_column(np.full(DRAWS, 1), 0, rng())
    assert kstest(drawn, beta(block.a[1, 0], block.b[1, 0]).cdf).pvalue > 1e-4


ANGLES = np.random.default_rng(9).vonmises(
    np.where(np.arange(300) % 2, 0.5, -2.0), np.where(np.arange(300) % 2, 1.0, 8.0)
)


def circle_block(even=1.0):
    hours = ANGLES[:, None] % (2 * np.pi) * 24 / (2 * np.pi)
    sums = CircleSums.of(DenseMatrix(hours), HALVES, None, np.array([24.0]))
    return VonMisesBlock(sums, np.array([24.0]), np.array([even]))


def test_directions_and_concentrations_are_drawn_by_the_spread_of_their_sums():
    block = circle_block()
    mu, kappa = block.drawn_parameters(0, rng(), DRAWS)
    for k in range(2):
        center, own = block.mu[k, 0], block.kappa[k, 0]
        ratio = i1e(own) / i0e(own)
        slope = 1 - ratio / own - ratio**2
        # One row moves the mean direction by 1 / (kappa A), the length by the slope of A, as 151 rows are many.
        assert np.var(mu[:, k] - center) == pytest.approx(1 / (151 * own * ratio), rel=0.1)
        assert np.var(kappa[:, k]) == pytest.approx(1 / (151 * slope), rel=0.2)
        assert np.mean(mu[:, k]) == pytest.approx(center, abs=0.02)
        assert np.mean(kappa[:, k]) == pytest.approx(own, rel=0.05)


def test_a_class_spread_evenly_has_any_direction_and_little_concentration():
    sums = CircleSums.of(DenseMatrix(np.full((4, 1), np.nan)), encode_labels(list("aabb")), None, np.array([24.0]))
    mu, kappa = VonMisesBlock(sums, np.array([24.0]), np.array([9.0])).drawn_parameters(0, rng(), DRAWS)
    assert kstest(mu[:, 0], lambda angle: (angle + np.pi) / (2 * np.pi)).pvalue > 1e-4
    # Cosine and sine of an even row have variance 1/2, and A is half of a small kappa: nine rows, each drawn twice.
    length = i1e(kappa) / i0e(kappa)
    assert np.mean(np.minimum(length, 1) ** 2) == pytest.approx(1 / 9, rel=0.1)


def test_terms_of_drawn_circles_and_drawn_numbers_are_those_of_the_law():
    block = circle_block()
    mu, kappa = block.drawn_parameters(0, rng(), 20)
    terms = block.drawn_terms(np.array([7.0, np.nan])[:, None, None], 0, (mu, kappa))
    assert_allclose(terms[0], vonmises.logpdf(7 * 2 * np.pi / 24, kappa, mu) + np.log(2 * np.pi / 24), rtol=1e-9)
    assert not terms[1].any()
    drawn = block.draw_column(np.full(DRAWS, 1), 0, rng())
    assert ((drawn >= 0) & (drawn < 24)).all()
    centred = (drawn * 2 * np.pi / 24 - block.mu[1, 0] + np.pi) % (2 * np.pi) - np.pi
    assert kstest(centred, vonmises(block.kappa[1, 0]).cdf).pvalue > 1e-4
