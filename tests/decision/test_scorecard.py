"""A scorecard equals the metrics of whole arrays, and adds."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, log_loss

from bayeswater.decision.calibration_metrics import brier_decomposition, ece
from bayeswater.decision.scorecard import Scorecard


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
