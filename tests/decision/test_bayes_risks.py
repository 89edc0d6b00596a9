"""The Bayes risk: of probabilities with an interval, of a known model exactly and by sampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm
from tests.decision.exact import exact_risk

from bayeswater import CategoricalNB, DataError, GaussianNB, Loss, ParameterError, threads
from bayeswater.decision import bayes_risk, bayes_risk_by_enumeration, bayes_risk_by_sampling

COSTS = Loss([[0, 5, 1], [1, 0, 2], [3, 1, 0]])


@given(
    st.lists(st.lists(st.integers(0, 16), min_size=3, max_size=3), min_size=1, max_size=8).filter(lambda t: np.sum(t))
)
def test_enumeration_is_the_sum_of_least_risks_in_exact_fractions(counts):
    joint = np.array(counts) / np.sum(counts)
    expected = sum(min(exact_risk(COSTS.costs, row)) for row in joint)
    assert_allclose(float(bayes_risk_by_enumeration(joint, COSTS)), float(expected), rtol=1e-14, atol=1e-15)


def test_two_normal_classes_have_the_risk_of_the_closed_form():
    # Classes at -1 and +1 with variance 1 and equal frequency: the best rule errs with probability Phi(-1).
    found = bayes_risk_by_sampling(
        lambda n, rng: rng.normal(size=n) + rng.choice([-1.0, 1.0], n),
        lambda x: -0.5 * (x[:, None] - [-1.0, 1.0]) ** 2,
        n_rows=200_000,
        random_state=0,
    )
    assert abs(found.value - norm.cdf(-1)) < 4 * found.standard_error < 0.002
    assert found.interval[0] < norm.cdf(-1) < found.interval[1]
    assert found.accuracy_ceiling == 1 - found.value


def test_sampling_agrees_with_enumeration_of_a_fitted_model():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (60, 2)), rng.integers(0, 3, 60)
    model = CategoricalNB().fit(X, y)
    rows = np.array([[a, b] for a in range(3) for b in range(3)])
    exact = bayes_risk_by_enumeration(np.exp(model.predict_joint_log_proba(rows)), COSTS)
    drawn = bayes_risk_by_sampling(
        lambda n, rng: model.sample(n, random_state=rng)[0],
        model.predict_joint_log_proba,
        COSTS,
        n_rows=50_000,
        random_state=2,
    )
    assert exact.standard_error == 0
    assert abs(drawn.value - exact.value) < 4 * drawn.standard_error


def test_no_accuracy_is_over_the_ceiling_of_calibrated_probabilities():
    rng = np.random.default_rng(3)
    proba = rng.dirichlet(np.ones(3), 20_000)
    y = (rng.random(len(proba))[:, None] > proba.cumsum(axis=1)).sum(axis=1)  # calibrated by construction
    found = bayes_risk(proba, random_state=0)
    low, high = found.interval
    assert low < found.value < high
    assert high - low == pytest.approx(2 * 1.96 * found.standard_error, rel=0.15)  # 1000 resamples
    assert (proba.argmax(axis=1) == y).mean() <= found.accuracy_ceiling + 4 * np.sqrt(0.25 / len(y))
    assert "no classifier is right more often" in str(found)


def test_under_another_loss_nothing_is_said_of_accuracy():
    found = bayes_risk([[0.2, 0.3, 0.5]], COSTS)
    assert found.value == COSTS.expected_loss([[0.2, 0.3, 0.5]])[0]
    assert found.accuracy_ceiling is None
    assert "accuracy" not in str(found)
    assert "classifier" not in str(found)


def test_the_interval_depends_on_the_seed_and_not_on_the_threads():
    proba = np.random.default_rng(4).dirichlet(np.ones(3), 100)
    with threads(1):
        one = bayes_risk(proba, COSTS, random_state=5)
    with threads(3):
        assert bayes_risk(proba, COSTS, random_state=5) == one
    assert bayes_risk(proba, COSTS, random_state=6).interval != one.interval


def test_logarithms_and_rows_with_their_own_costs_are_read():
    proba = np.array([[0.25, 0.75], [0.5, 0.5]])
    loss = Loss.from_costs({("a", "b"): lambda X: X[:, 0], ("b", "a"): 1})
    found = bayes_risk(log_proba=np.log(proba), loss=loss, X=np.array([[2.0], [0.5]]))
    assert found.value == pytest.approx((0.25 + 0.25) / 2, rel=1e-15)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bayes_risk([[0.5, 0.5]], confidence=1.0), ParameterError, "between 0 and 1"),
        (lambda: bayes_risk([[0.5, 0.5]], confidence=0.0), ParameterError, "between 0 and 1"),
        (lambda: bayes_risk([[0.5, 0.5]], n_resamples=0), ParameterError, "n_resamples is 0"),
        (lambda: bayes_risk([[0.5, 0.6]]), DataError, "does not sum to one"),
        (lambda: bayes_risk_by_enumeration([[0.5, 0.6]]), DataError, "1 in all"),
        (lambda: bayes_risk_by_enumeration([0.5, 0.5]), DataError, "1 in all"),
        (lambda: bayes_risk_by_enumeration([[0.5, 0.5]], COSTS), DataError, "2 columns, the loss 3"),
        (lambda: bayes_risk_by_sampling(None, None, n_rows=1), ParameterError, "n_rows is 1"),
    ],
)
def test_it_is_refused_with_the_reason(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_two_drawn_rows_are_enough_and_their_interval_is_normal():
    found = bayes_risk_by_sampling(lambda n, rng: np.arange(n), lambda x: np.log([[0.9, 0.1], [0.7, 0.3]]), n_rows=2)
    error = np.std([0.1, 0.3], ddof=1) / np.sqrt(2)
    assert_allclose([found.value, *found.interval], [0.2, 0.2 - 1.96 * error, 0.2 + 1.96 * error], atol=1e-5)


def test_a_gaussian_model_tells_its_own_bayes_risk():
    X = np.array([[-1.0], [-3.0], [1.0], [3.0]])
    model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 1, 1])  # N(-2, 1) and N(2, 1)
    found = bayes_risk_by_sampling(
        lambda n, rng: model.sample(n, random_state=rng)[0], model.predict_joint_log_proba, random_state=0
    )
    assert abs(found.value - norm.cdf(-2)) < 4 * found.standard_error
