"""Shares between 0 and 1: the law, its parameters, its evidence and its leave-one-out against exact ones."""

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import betaln
from scipy.stats import beta

from bayeswater import NaiveBayes
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.errors import DataError, ParameterError, UnseenCategoryWarning
from bayeswater.families.beta import (
    PRIOR_DEVIATION,
    BetaBlock,
    BetaFact,
    ShareSums,
    beta_log_evidence,
    beta_parameters,
    draw_shares,
)
from bayeswater.families.choosing import choose_family
from bayeswater.families.open_numbers import NumberProfile, OpenColumn
from bayeswater.families.registry import CANDIDATES
from bayeswater.kernels import sorted_column

RNG = np.random.default_rng(0)
N = 60
Y = np.arange(N) % 2
X = RNG.beta(2.0 + Y, 5.0)


def sums_of(x, y=Y, weight=None):
    return ShareSums.of(DenseMatrix(np.asarray(x)[:, None]), encode_labels(y), weight)


def block_of(x, y=Y, weight=None, even=1.0):
    return BetaBlock(sums_of(x, y, weight), np.array([even]))


@pytest.mark.parametrize(("a", "b"), [(2.0, 5.0), (0.05, 0.07), (300.0, 1e4), (1.0, 1.0), (1e-3, 40.0)])
def test_parameters_are_found_from_the_mean_logarithms(a, b):
    found = beta_parameters(
        np.array(float(mp.digamma(a) - mp.digamma(a + b))), np.array(float(mp.digamma(b) - mp.digamma(a + b)))
    )
    assert_allclose(found, (a, b), rtol=1e-8)


def test_the_law_is_that_of_scipy_and_a_class_without_a_value_is_spread_evenly():
    block = block_of(X)
    x = np.array([1e-9, 0.2, 0.5, 1 - 1e-9])
    expected = np.stack([beta.logpdf(x, a, b) for a, b in zip(block.a[:, 0], block.b[:, 0], strict=True)], axis=1)
    assert_allclose(block.column_terms(x, 0), expected, rtol=1e-10)
    assert_allclose(block.likelihood(x[:, None], use_loop=False), expected, rtol=1e-10)
    empty = block_of(np.full(N, np.nan))
    assert_allclose([empty.a, empty.b], 1.0, rtol=1e-12)
    assert not empty.likelihood(np.full((3, 1), np.nan), use_loop=False).any()


def test_the_parameters_are_the_most_probable_ones_under_a_row_spread_evenly():
    block = block_of(X)

    def log_posterior(a, b, own):
        even = -(a - 1) - (b - 1) - (mp.log(mp.beta(a, b)))  # a row of which log x and log(1 - x) are -1
        return even + sum((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - mp.log(mp.beta(a, b)) for x in own)

    for k in range(2):
        own = [mp.mpf(float(x)) for x in X[k == Y]]
        at = mp.mpf(float(block.a[k, 0])), mp.mpf(float(block.b[k, 0]))
        slopes = [mp.diff(lambda *p, own=own: log_posterior(*p, own), at, order) for order in ((1, 0), (0, 1))]
        assert all(abs(slope) < 1e-9 * N for slope in slopes)


@pytest.mark.parametrize("weight", [None, np.linspace(0.1, 3, N)])
def test_leaving_a_row_out_is_never_having_counted_it(weight):
    labels = np.r_[2, Y[1:]]  # a class of one row
    removed = np.ones(N) if weight is None else np.minimum(weight, 1.0)
    x = np.where(np.arange(N) == 7, np.nan, X)
    block, encoded = block_of(x, labels, weight), encode_labels(labels)
    found = block.without(DenseMatrix(x[:, None]), encoded, removed)(slice(0, N), False)
    for i in range(0, N, 7):
        rest = np.ones(N) if weight is None else weight.copy()
        rest[i] -= removed[i]
        without = BetaBlock(ShareSums.of(DenseMatrix(x[:, None]), encoded, rest), np.array([1.0]))
        assert_allclose(found[i], without.likelihood(x[i : i + 1, None], use_loop=False)[0], rtol=1e-9, atol=1e-12)


def test_whole_weights_are_summed_as_repeated_rows_and_stay_whole():
    weight = np.arange(N) % 3
    found, repeated = sums_of(X, weight=weight), sums_of(np.repeat(X, weight), np.repeat(Y, weight))
    assert found.weight.dtype == repeated.weight.dtype == np.int64
    for name, array in repeated.to_arrays().items():
        assert_allclose(found.to_arrays()[name], array, rtol=1e-12, err_msg=name)
    assert sums_of(X, weight=weight / 2).weight.dtype == np.float64


@pytest.mark.parametrize("n_rows", [40, 160])
def test_the_evidence_is_the_integral_over_the_parameters_but_for_one_over_the_rows(n_rows):
    x = RNG.beta(2, 5, n_rows)
    near, far = -np.log(x).sum(), -np.log1p(-x).sum()
    found = beta_log_evidence(np.array([float(n_rows)]), np.array([near]), np.array([far]))[0]
    center = np.log(beta_parameters(np.array(-near / n_rows), np.array(-far / n_rows)))
    grid = np.linspace(-2, 2, 801)
    u, v = center[0] + grid[:, None], center[1] + grid
    a, b = np.exp(u), np.exp(v)
    normal = (grid[:, None] ** 2 + grid**2) / (2 * PRIOR_DEVIATION**2) + np.log(2 * np.pi * PRIOR_DEVIATION**2)
    log_beta = np.vectorize(lambda p, q: float(mp.log(mp.beta(p, q))))
    assert_allclose(betaln(2.5, 3.5), log_beta(2.5, 3.5), rtol=1e-14)
    integrand = np.exp((1 - a) * near + (1 - b) * far - n_rows * betaln(a, b) - normal - found)
    exact = np.log(np.trapezoid(np.trapezoid(integrand, grid, axis=1), grid))
    assert abs(exact) < 1.5 / n_rows


def test_classes_that_differ_pay_in_evidence_for_being_far_from_the_parameters_of_all():
    x = [RNG.beta(2, 9, 80), RNG.beta(9, 2, 120)]
    n = np.array([80.0, 120.0])
    near, far = (
        np.array([function(own).sum() for own in x]) for function in (lambda v: -np.log(v), lambda v: -np.log1p(-v))
    )
    found = beta_log_evidence(n, near, far)
    center = np.log(beta_parameters(np.array(-near.sum() / 200), np.array(-far.sum() / 200)))
    grid = np.linspace(-1.5, 4.5, 601)
    a, b = np.exp(center[0] + grid[:, None]), np.exp(center[1] + grid)
    normal = (grid[:, None] ** 2 + grid**2) / 2 + np.log(2 * np.pi)
    for k in range(2):
        integrand = np.exp((1 - a) * near[k] + (1 - b) * far[k] - n[k] * betaln(a, b) - normal - found[k])
        exact = np.log(np.trapezoid(np.trapezoid(integrand, grid, axis=1), grid))
        assert abs(exact) < 3 / n[k]  # Laplace's method


def test_a_single_value_without_a_row_spread_evenly_is_no_infinite_density():
    block = block_of(np.full(4, 0.3), np.array([0, 0, 1, 1]), even=0.0)
    assert np.isfinite(block.column_terms(np.array([0.3, 0.4]), 0)).all()
    assert (block.a > 1e4).all()
    assert_allclose(block.a / (block.a + block.b), 0.3, rtol=1e-3)


def test_drawn_shares_that_a_float_would_call_0_or_1_are_neither():
    drawn = draw_shares(np.array([1e-4, 1e6]), np.array([1e6, 1e-4]), np.random.default_rng(0))
    assert 0 < drawn[0] < 1e-300 and 1 - 1e-15 < drawn[1] < 1


def test_a_candidate_takes_its_sums_in_the_first_pass(monkeypatch):
    candidate = next(one for one in CANDIDATES if one.family == "beta")
    rows, labels = RNG.beta(2, 3, sorted_column.LONG + 500), np.arange(sorted_column.LONG + 500) % 2
    for x, y in ((X, Y), (rows, labels)):  # sorted, and counted as they come
        column = OpenColumn(NumberProfile.of(DenseMatrix(x[:, None]), encode_labels(y), None, CANDIDATES), 0)
        assert candidate.why_not(column, alone=False) is None
        expected = ShareSums.of(DenseMatrix(x[:, None]), encode_labels(y), None).to_arrays()
        for name, array in candidate.settled(column, None, np.empty(0)).to_arrays().items():
            assert_allclose(array, expected[name], rtol=1e-12, err_msg=name)
    outside = OpenColumn(
        NumberProfile.of(DenseMatrix(np.r_[X[:-1], 1.0][:, None]), encode_labels(Y), None, CANDIDATES), 0
    )
    assert candidate.why_not(outside, alone=False) == ""
    assert candidate.why_not(outside, alone=True) == "numbers that are not between 0 and 1"
    assert outside.own("beta").weight.sum() == N - 1


def test_shares_are_found_by_evidence_and_what_is_none_is_refused():
    y = np.arange(500) % 2
    frame = pd.DataFrame({"share": RNG.beta(0.6 + 2 * y, 0.7), "percent": 100 * RNG.beta(2, 5, 500)})
    model = NaiveBayes().fit(frame, y)
    assert model.columns_["share"].family == "beta"
    assert model.columns_["percent"].family != "beta"
    assert "beta" not in model.columns_["percent"].why
    percent = NumberProfile.of(DenseMatrix(frame[["percent"]].to_numpy()), encode_labels(y), None, CANDIDATES)
    with pytest.raises(ParameterError, match=r"not beta \(numbers that are not between 0 and 1\)"):
        choose_family(percent, 0, families=("beta",))
    with pytest.raises(DataError, match="shares over 0 and under 1"):
        NaiveBayes(columns={"percent": "beta"}).fit(frame, y)
    with pytest.warns(UnseenCategoryWarning, match="left out"):
        found = model.predict_log_proba(frame[:1].assign(share=1.0))
    assert_allclose(found, model.predict_log_proba(frame[:1].assign(share=np.nan)), rtol=1e-12)


def test_drawn_shares_have_the_mean_and_the_variance_of_the_law():
    y = np.arange(2000) % 2
    model = NaiveBayes(columns={"x": "beta"}).fit(pd.DataFrame({"x": RNG.beta(2 + 3 * y, 4)}), y)
    rows, labels = model.sample(40_000, random_state=1)
    table = model.tables()["x"]
    for k in range(2):
        own, mean = rows["x"][labels == k], table["mean(x)"][k]
        variance = mean * (1 - mean) / (table["a(x)"][k] + table["b(x)"][k] + 1)
        assert own.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / len(own)))
        assert own.var() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize("strength", [1.0, 0.4])
def test_the_regions_of_a_share_have_their_exact_mass(strength):
    fact = BetaFact(np.array([2.0, 5.0]), np.array([6.0, 2.0])).weakened(strength)
    belief, regret = np.array([0.4, 0.6]), np.array([[0.0, 2.0], [1.0, 0.0]])
    outcomes = fact.outcomes(belief, regret)
    assert_allclose(outcomes.likelihood.sum(axis=0), 1.0, rtol=1e-12)
    x = (np.arange(200_000) + 0.5) / 200_000
    joint = belief * np.stack([beta.pdf(x, a, b) for a, b in zip(fact.a, fact.b, strict=True)], axis=1)
    expected = (joint @ regret.T).min(axis=1).mean()
    found = (regret @ (belief * outcomes.likelihood).T).min(axis=0).sum()
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_power_of_a_density_that_has_no_area_is_no_fact():
    assert BetaFact(np.array([0.2]), np.array([3.0])).weakened(2.0) is None
