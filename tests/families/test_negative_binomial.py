"""Counts that spread more than Poisson's: the law, its evidence and its leave-one-out against exact ones."""

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import nbinom

from bayeswater import NaiveBayes
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.families.negative_binomial import (
    DISPERSIONS,
    PRIOR_EVENTS,
    DispersedFact,
    DispersedTotals,
    NegativeBinomialBlock,
    _stands_apart,
    log_rise,
)
from bayeswater.families.open_numbers import NumberProfile, OpenColumn
from bayeswater.families.registry import CANDIDATES
from bayeswater.statistics.key_counts import Occupied

RNG = np.random.default_rng(0)
COUNTS = np.array([0, 0, 1, 7, 2, 0, 15, 3, 1, 4])
Y = np.arange(len(COUNTS)) % 2


def drawn(n_rows=600, seed=0):
    rng, y = np.random.default_rng(seed), np.arange(n_rows) % 3
    mean = np.array([1.0, 3.0, 9.0])[y]
    return rng.negative_binomial(1.5, 1.5 / (1.5 + mean)), y


def sums_of(x, y=Y, weight=None):
    return DispersedTotals.of(DenseMatrix(np.asarray(x, dtype=float)[:, None]), encode_labels(y), weight)


@pytest.mark.parametrize("r", [0.125, 1.0, 64.0])
def test_a_rise_is_a_product_of_growing_factors(r):
    x = np.array([0, 1, 2, 3, 10, 1000])
    expected = [float(mp.log(mp.fprod(1 + mp.mpf(i) / mp.mpf(r) for i in range(int(n))))) for n in x]
    assert_allclose(log_rise(x.astype(float), r), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("r", [0.125, 2.0, 64.0])
def test_the_law_is_that_of_scipy(r):
    block = NegativeBinomialBlock(sums_of(COUNTS), np.array([0.5]), np.array([r]))
    x = np.arange(40.0)
    expected = np.stack([nbinom.logpmf(x, r, r / (r + mean)) for mean in block.rate[:, 0]], axis=1)
    assert_allclose(block.column_terms(x, 0), expected, rtol=1e-11)
    assert_allclose(block.likelihood(x[:, None], use_loop=False), expected, rtol=1e-11)


@pytest.mark.parametrize("i", [0, 4, 9])
def test_the_evidence_is_the_integral_over_all_means(i):
    r, m = mp.mpf(float(DISPERSIONS[i])), mp.mpf(int(COUNTS.sum())) / len(COUNTS)
    a = PRIOR_EVENTS + PRIOR_EVENTS * r / m

    def integrand(q, own):  # q = mean / (mean + r)
        law = mp.fprod(mp.rf(r, int(x)) / mp.factorial(int(x)) * q ** int(x) * (1 - q) ** r for x in own)
        return law * q ** (PRIOR_EVENTS - 1) * (1 - q) ** (a - 1) / mp.beta(PRIOR_EVENTS, a)

    expected = sum(mp.log(mp.quad(lambda q, own=COUNTS[k == Y]: integrand(q, own), [0, 0.5, 1])) for k in (0, 1))
    factorials = sum(mp.log(mp.factorial(int(x))) for x in COUNTS)
    assert sums_of(COUNTS).log_evidences()[i, 0] == pytest.approx(float(expected + factorials), rel=1e-9)


def test_a_candidate_averages_over_the_dispersions_and_takes_its_sums_from_the_histogram():
    profile = NumberProfile.of(DenseMatrix(COUNTS[:, None]), encode_labels(Y), None, CANDIDATES)
    column = OpenColumn(profile, 0)
    candidate = next(one for one in CANDIDATES if one.family == "negative_binomial")
    sums = sums_of(COUNTS)
    factorials = float(sum(mp.log(mp.factorial(int(x))) for x in COUNTS))
    expected = np.log(np.mean(np.exp(sums.log_evidences()[:, 0]))) - factorials
    assert candidate.weighed(column).log_evidence == pytest.approx(expected, rel=1e-12)
    for name, array in candidate.settled(column, None, np.empty(0)).to_arrays().items():
        assert_allclose(array, sums.to_arrays()[name], rtol=1e-13, err_msg=name)


@pytest.mark.parametrize("weight", [None, np.linspace(0.2, 3, len(COUNTS))])
@pytest.mark.parametrize("labels", [Y, np.r_[2, Y[1:]]])
def test_leaving_a_row_out_is_never_having_counted_it(weight, labels):
    x, dispersion = COUNTS.astype(float), np.array([0.5])
    encoded = encode_labels(labels)
    removed = np.ones(len(x)) if weight is None else np.minimum(weight, 1.0)
    block = NegativeBinomialBlock(sums_of(x, labels, weight), np.array([0.5]), dispersion)
    found = block.without(DenseMatrix(x[:, None]), encoded, removed)(slice(0, len(x)), False)
    for i in range(len(x)):
        rest = np.ones(len(x)) if weight is None else weight.copy()
        rest[i] -= removed[i]
        without = DispersedTotals.of(DenseMatrix(x[:, None]), encoded, rest)
        refit = NegativeBinomialBlock(without, np.array([0.5]), dispersion)
        assert_allclose(found[i], refit.likelihood(x[i : i + 1, None], use_loop=False)[0], rtol=1e-10)


def test_counts_that_spread_are_found_by_evidence_and_others_are_not():
    x, y = drawn()
    model = NaiveBayes().fit(pd.DataFrame({"x": x, "events": RNG.poisson(4, len(x))}), y)
    assert [column.family for column in model.columns_] == ["negative_binomial", "poisson"]
    assert model.tables()["x"]["dispersion(x)"].tolist() == [2.0] * 3  # drawn with 1.5
    assert model.n_parameters == 2 + 4 + 3


def test_a_peak_with_a_gap_beside_it_is_none_of_a_law_of_counts():
    x, y = drawn()
    gains = np.where(x > 8, 100 * x, 0)  # nothing in most rows, and amounts in the others
    why = NaiveBayes().fit(pd.DataFrame({"x": gains}), y).columns_["x"].why
    assert "negative binomial not eligible (a value that stands apart)" in why
    told = NaiveBayes(columns={"x": "negative_binomial"}).fit(pd.DataFrame({"x": gains}), y)
    assert told.columns_["x"].family == "negative_binomial"


def test_the_dispersion_is_read_anew_from_rows_that_are_added_and_taken_away():
    x, y = drawn()
    wild = np.where(np.arange(100) % 10 == 0, 100, 0)
    X, more = pd.DataFrame({"x": x}), pd.DataFrame({"x": wild})
    model = NaiveBayes().fit(X, y)
    before = model.tables()["x"]["dispersion(x)"][0]
    model.partial_fit(more, np.arange(100) % 3)
    assert model.tables()["x"]["dispersion(x)"][0] < before
    model.forget(more, np.arange(100) % 3)
    assert model.tables()["x"]["dispersion(x)"][0] == before
    assert_allclose(model.predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X), rtol=1e-12)


def test_drawn_counts_have_the_mean_and_the_variance_of_the_law():
    x, y = drawn(3000)
    model = NaiveBayes(columns={"x": "negative_binomial"}).fit(pd.DataFrame({"x": x}), y)
    rows, labels = model.sample(60_000, random_state=1)
    table = model.tables()["x"]
    for k in range(3):
        mean, r = table["mean(x)"][k], table["dispersion(x)"][k]
        own = rows["x"][labels == k]
        variance = mean + mean**2 / r
        assert own.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / len(own)))
        assert own.var() == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize("strength", [1.0, 0.3])
@pytest.mark.parametrize("r", [0.125, 8.0])
def test_the_outcomes_of_a_count_leave_hardly_any_mass_out(r, strength):
    mean = np.array([0.3, 40.0])
    fact = DispersedFact(mean, dispersion=r).weakened(strength)
    found = fact.outcomes(np.array([0.5, 0.5]), 1 - np.eye(2)).likelihood
    far = np.arange(8 * len(found))
    for k in range(2):
        power = np.exp(strength * nbinom.logpmf(far, r, r / (r + mean[k])))
        assert power[len(found) :].sum() < 1e-12 * power.sum()
        assert_allclose(found[:, k], power[: len(found)] / power.sum(), rtol=1e-8, atol=1e-15)


def test_log_odds_are_a_line_in_the_count():
    x, y = drawn()
    X = pd.DataFrame({"x": x})
    model = NaiveBayes(columns={"x": "negative_binomial"}).fit(X, y)
    assert_allclose(model.to_linear().predict_log_proba(X), model.predict_log_proba(X), rtol=1e-10)


def test_draws_of_the_mean_lie_around_it():
    x, y = drawn(300)
    X = pd.DataFrame({"x": [0, 3, 40]})
    found = NaiveBayes(columns={"x": "negative_binomial"}).fit(pd.DataFrame({"x": x}), y).credible_interval(X)
    assert ((found.low < found.probability) & (found.probability < found.high)).all()


@pytest.mark.parametrize(
    ("counts", "weights", "is_apart"),
    [
        ([0, 2, 3], [9, 4, 4], True),
        ([0, 1, 3], [9, 4, 4], False),
        ([2, 3, 9], [4, 9, 4], False),
        ([1, 3, 9], [4, 9, 4], True),
        ([], [], False),
        (np.arange(0, 40, 2), np.ones(20), False),  # none is frequent: a twentieth is no peak
        (np.arange(0, 38, 2), np.ones(19), True),
    ],
)
def test_a_peak_stands_apart_where_it_has_no_neighbour(counts, weights, is_apart):
    counts = np.asarray(counts, dtype=float)
    assert _stands_apart(Occupied(counts, counts, np.asarray(weights, dtype=float), is_whole=True)) == is_apart
