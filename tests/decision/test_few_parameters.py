"""The map that a classifier on sums takes for itself: a temperature of all it says, or of its likelihood alone."""

from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax

from bayeswater.decision.calibration_choice import choose_few_parameters
from bayeswater.decision.calibration_maps import CalibrationMap, few_parameters
from bayeswater.decision.scores import Scores
from bayeswater.decision.softmax_maps import Temperature, Unchanged, tempered_likelihood

PRIOR = np.log([0.7, 0.2, 0.1])


def chosen(log_proba: Any, codes: np.ndarray, log_prior: np.ndarray) -> tuple[str, CalibrationMap, dict[str, float]]:
    return choose_few_parameters(Scores.of(log_proba, codes), few_parameters(log_prior))


def drawn_from(log_proba: np.ndarray, seed: int) -> np.ndarray:
    """Labels that these probabilities are true of."""
    return (log_proba + np.random.default_rng(seed).gumbel(size=log_proba.shape)).argmax(axis=1)


def some_likelihood(n: int, seed: int = 0) -> np.ndarray:
    return 2 * np.random.default_rng(seed).normal(size=(n, 3))


def slope_of_least_loss(log_proba: np.ndarray, codes: np.ndarray, start: float) -> float:
    """1/T by mpmath: where the log-loss of softmax(log q + (log p - log q) / T) has slope zero."""
    with mpmath.workdps(40):
        prior = [mpmath.mpf(float(cell)) for cell in PRIOR]
        rows = [[mpmath.mpf(float(p)) - q for p, q in zip(row, prior, strict=True)] for row in log_proba]

        def slope(b):
            total = mpmath.mpf(0)
            for row, code in zip(rows, codes, strict=True):
                power = [mpmath.exp(q + b * cell) for q, cell in zip(prior, row, strict=True)]
                total += mpmath.fdot(power, row) / sum(power) - row[code]
            return total

        return float(mpmath.findroot(slope, start))


@pytest.mark.parametrize("scale", [0.3, 1.0, 20.0])
def test_the_temperature_of_a_likelihood_is_that_of_least_log_loss(scale):
    likelihood = some_likelihood(80)
    log_proba = log_softmax(PRIOR + scale * likelihood, axis=1)
    codes = drawn_from(PRIOR + 0.5 * likelihood, seed=1)
    found = tempered_likelihood(PRIOR)(log_proba, codes, None)
    # The minimum is found until what is left to gain is 1e-13: the slope is off by its root.
    assert found.slope[0] == pytest.approx(slope_of_least_loss(log_proba, codes, found.slope[0]), rel=1e-6)
    expected = log_softmax(PRIOR + found.slope[0] * (log_proba - PRIOR), axis=1)
    assert_allclose(found.apply(log_proba), expected, rtol=0, atol=1e-12)  # some roundings of numbers up to 100


def test_a_row_that_says_no_more_than_the_prior_is_left_at_the_prior():
    likelihood = some_likelihood(200)
    found = tempered_likelihood(PRIOR)(PRIOR + 5 * likelihood, drawn_from(PRIOR + likelihood, seed=2), None)
    assert found.slope[0] < 0.5
    assert_allclose(found.apply(PRIOR[None]), PRIOR[None], rtol=1e-14)


def test_under_equal_classes_the_likelihood_is_all_there_is():
    log_proba, equal = log_softmax(some_likelihood(60), axis=1), np.log(np.full(3, 1 / 3))
    codes = drawn_from(0.4 * log_proba, seed=3)
    alone, whole = tempered_likelihood(equal)(log_proba, codes, None), Temperature.fit(log_proba, codes)
    assert 1 / alone.slope[0] == pytest.approx(whole.temperature, rel=1e-9)  # two searches for one minimum
    assert_array_equal(alone.shift, 0)
    assert chosen(log_proba, codes, equal)[0] == "temperature"


def test_a_likelihood_that_points_the_wrong_way_is_not_left_to_the_most_frequent_class():
    likelihood = some_likelihood(200)
    log_proba = log_softmax(PRIOR + likelihood, axis=1)
    wrong = likelihood.argmin(axis=1)
    found = tempered_likelihood(PRIOR)(log_proba, wrong, None)
    assert_allclose(found.apply(log_proba), Temperature.fit(log_proba, wrong).apply(log_proba), rtol=1e-12)
    assert_array_equal(found.apply(log_proba).argmax(axis=1), log_proba.argmax(axis=1))


def test_weights_are_as_many_rows():
    log_proba = log_softmax(PRIOR + 3 * some_likelihood(30), axis=1)
    codes, weight = drawn_from(0.3 * log_proba, seed=4), np.random.default_rng(4).integers(1, 5, 30)
    weighted = tempered_likelihood(PRIOR)(log_proba, codes, weight)
    repeated = tempered_likelihood(PRIOR)(log_proba.repeat(weight, axis=0), codes.repeat(weight), None)
    assert weighted.slope[0] == pytest.approx(repeated.slope[0], rel=1e-9)  # sums in another order


def test_a_class_without_prior_stays_impossible_and_has_no_say():
    likelihood = some_likelihood(50)
    codes = drawn_from((PRIOR + likelihood)[:, :2], seed=5)
    two = log_softmax((PRIOR + 3 * likelihood)[:, :2], axis=1)
    three = np.column_stack([two, np.full(50, -np.inf)])
    prior = log_softmax(PRIOR[:2])
    without, with_it = tempered_likelihood(prior), tempered_likelihood(np.append(prior, -np.inf))
    found = with_it(three, codes, None).apply(three)
    assert_allclose(found[:, :2], without(two, codes, None).apply(two), rtol=0, atol=1e-12)  # a few roundings
    assert np.isneginf(found[:, 2]).all()


@pytest.mark.parametrize(
    ("true", "expected"),
    [
        (lambda likelihood: 0.3 * (PRIOR + likelihood), "temperature"),
        (lambda likelihood: PRIOR + 0.3 * likelihood, "likelihood"),
        (lambda likelihood: PRIOR[::-1] + 0.3 * likelihood, "shifted"),
    ],
)
def test_what_is_wrong_with_the_scores_is_found_out(true, expected):
    likelihood = some_likelihood(4000)
    log_proba = log_softmax(PRIOR + likelihood, axis=1)
    method, found, tried = chosen(log_proba, drawn_from(true(likelihood), seed=6), PRIOR)
    assert method == expected
    assert_allclose(found.apply(log_proba), log_softmax(true(likelihood), axis=1), atol=0.3)  # of up to six nats
    assert list(tried) == ["unchanged", "temperature", "likelihood", "shifted"]
    assert tried[method] < tried["unchanged"]


@pytest.mark.parametrize("nats", [7.0, 1e6, 1e100])
@pytest.mark.parametrize("prior", [np.log([0.6, 0.4]), np.log([0.99, 0.01])], ids=["even", "sure"])
@pytest.mark.parametrize("method", ["temperature", "likelihood"])
def test_few_rows_without_an_error_do_not_bear_out_a_classifier_that_claims_none(method, prior, nats):
    log_proba, codes = [[0.0, -nats]] * 5 + [[-nats, 0.0]] * 5, np.repeat([0, 1], 5)
    found = few_parameters(prior)[method][0](log_proba, codes, None).apply(log_proba)
    claimed = 1 - np.exp(found).max(axis=1).mean()
    assert claimed == pytest.approx(1 / 12, rel=1e-9)  # the precision of the root that is sought
    assert chosen(log_proba, codes, prior)[0] in ("temperature", "likelihood")


def test_errors_enough_leave_a_likelihood_its_temperature_under_a_prior_that_is_too_sure():
    prior = np.log([0.99, 0.01])
    log_proba = np.log([[0.9, 0.1]] * 6 + [[0.2, 0.8]] * 4)
    codes = np.array([0] * 5 + [1] + [1] * 3 + [0])
    found = tempered_likelihood(prior)(log_proba, codes, None)
    assert np.ptp(found.shift) > 0
    assert 1 - np.exp(found.apply(log_proba)).max(axis=1).mean() > 1 / 12


@pytest.mark.parametrize("log_proba", [np.empty((0, 2)), [[0.0, -np.inf]] * 3, [[-np.inf, 0.0]] * 3])
def test_without_rows_to_learn_from_nothing_changes(log_proba):
    method, found, _ = chosen(log_proba, np.zeros(len(log_proba), dtype=int), np.log([0.5, 0.5]))
    assert (method, found) == ("unchanged", Unchanged())
