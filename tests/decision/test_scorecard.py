"""A scorecard equals the metrics of whole arrays, and adds.

Intervals of what is measured: they hold what they promise.
"""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import confusion_matrix, log_loss

from bayeswater.decision.calibration_metrics import brier_decomposition, ece
from bayeswater.decision.intervals import wilson
from bayeswater.decision.scorecard import Measures, Scorecard
from bayeswater.decision.scores import Scores


def drawn(n_rows: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_rows)
    log_proba = np.log(rng.dirichlet(np.ones(n_classes), size=n_rows))
    return log_proba, rng.integers(0, n_classes, n_rows)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_scores_equal_those_of_whole_arrays(n_classes):
    log_proba, codes = drawn(500, n_classes)
    card, proba, labels = Scorecard.of(log_proba, codes), np.exp(log_proba), np.arange(n_classes)
    assert np.array_equal(card.confusion, confusion_matrix(codes, proba.argmax(axis=1), labels=labels))
    assert card.n_rows == 500
    assert card.accuracy == np.mean(codes == proba.argmax(axis=1))
    # Sums of 500 terms in another order.
    assert card.log_loss == pytest.approx(log_loss(codes, proba, labels=labels), rel=1e-12)
    assert card.brier == pytest.approx(brier_decomposition(codes, proba, labels=labels).score, rel=1e-12)
    assert card.ece == pytest.approx(ece(codes, proba, labels=labels), rel=1e-12)


def test_scorecards_of_parts_add_up_to_that_of_the_whole():
    log_proba, codes = drawn(100, 3)
    whole = Scorecard.of(log_proba, codes)
    parts = Scorecard.of(log_proba[:30], codes[:30]) + Scorecard.of(log_proba[30:], codes[30:])
    assert np.array_equal(parts.confusion, whole.confusion)
    assert np.array_equal(parts.correct, whole.correct)
    for name in ("log_loss", "brier", "ece"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), rel=1e-12)


def test_an_impossible_truth_costs_infinitely_much():
    with np.errstate(divide="ignore"):
        card = Scorecard.of(np.log([[1.0, 0.0]]), np.array([1]))
    assert card.log_loss == np.inf
    assert card.brier == 2.0
    assert card.ece == 1.0


def drawn_scores(n_rows, rng):
    """Rows whose probabilities are true."""
    p = rng.beta(2, 1, n_rows)
    codes = (rng.random(n_rows) >= p).astype(np.int64)
    return Scores.of(np.log(np.stack([p, 1 - p], axis=1)), codes)


@pytest.mark.parametrize(("k", "n"), [(0, 30), (7, 30), (30, 30), (12, 1000)])
def test_the_interval_of_a_share_is_wilsons(k, n):
    peer = binomtest(k, n).proportion_ci(method="wilson")
    found = wilson(k / n, n)
    assert found.low == pytest.approx(peer.low, abs=1e-12)
    assert found.high == pytest.approx(peer.high, abs=1e-12)


def test_the_intervals_of_error_and_log_loss_hold_the_truth_nineteen_times_in_twenty():
    rng = np.random.default_rng(0)
    truth = Measures.of(drawn_scores(100_000, rng))
    held = np.zeros(2)
    for _ in range(100):
        found = Measures.of(drawn_scores(150, rng))
        held += [
            found.error.low <= truth.error.value <= found.error.high,
            found.log_loss.low <= truth.log_loss.value <= found.log_loss.high,
        ]
    assert (held >= 87).all()  # of 100 at 95 %, fewer come once in 1000 such tests


def test_the_calibration_error_lies_within_its_interval_and_is_that_of_the_metric():
    scores = drawn_scores(300, np.random.default_rng(1))
    found = Measures.of(scores)
    assert found.ece.value == pytest.approx(ece(scores.codes, np.exp(scores.log_proba), labels=[0, 1]))
    assert 0 <= found.ece.low <= found.ece.value <= found.ece.high
    assert found.ece.high > found.ece.low


def test_a_row_of_weight_two_is_two_rows():
    scores = drawn_scores(100, np.random.default_rng(2))
    weight = np.tile([1.0, 2.0], 50)
    rows = np.repeat(np.arange(100), weight.astype(int))
    weighted = Measures.of(Scores.of(scores.log_proba, scores.codes, weight))
    repeated = Measures.of(scores.take(rows))
    np.testing.assert_allclose(weighted.error, repeated.error, rtol=1e-12)
    np.testing.assert_allclose(weighted.log_loss, repeated.log_loss, rtol=1e-12)
    assert weighted.n_rows == repeated.n_rows == 150


def test_of_no_rows_nothing_is_known():
    found = Measures.of(Scores.of(np.zeros((0, 2)), np.zeros(0, dtype=np.int64)))
    assert np.isnan([*found.error, *found.log_loss, *found.ece]).all()


@pytest.mark.parametrize("weight", [1e-300, 1e-10, 1e15, 1e300])
def test_weights_of_any_size_have_intervals(weight):
    scores = drawn_scores(50, np.random.default_rng(0))
    found = Measures.of(Scores.of(scores.log_proba, scores.codes, np.full(50, weight)))
    once = Measures.of(scores)
    for measured, same in zip(
        (found.error, found.log_loss, found.ece), (once.error, once.log_loss, once.ece), strict=True
    ):
        assert measured.value == pytest.approx(same.value, rel=1e-12)
        assert 0 <= measured.low <= measured.value <= measured.high
    if weight > 1:
        assert found.error.high - found.error.low < 1e-6
    else:
        assert (found.error.low, found.error.high) == pytest.approx((0.0, 1.0), abs=1e-6)


def test_the_interval_of_a_calibration_error_that_is_no_chance_is_that_of_the_share_that_is_right():
    right = np.arange(400) % 5 < 3  # 60 % of the rows, of which 90 % should be
    found = Measures.of(Scores.of(np.log(np.tile([0.9, 0.1], (400, 1))), (~right).astype(np.int64))).ece
    half = 1.96 * np.sqrt(0.6 * 0.4 / 400)
    assert found.value == pytest.approx(0.3, abs=1e-12)
    # Of 200 draws the outer ones are known to a sixth.
    assert (found.value - found.low, found.high - found.value) == (
        pytest.approx(half, rel=0.3),
        pytest.approx(half, rel=0.3),
    )
