"""AUC: over all pairs, in pieces and in bins; precision, recall, F1 and the baseline of a scorecard."""

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from bayeswater.decision import ranking
from bayeswater.decision.intervals import Z
from bayeswater.decision.ranking import Ranking
from bayeswater.decision.scorecard import Scorecard

RNG = np.random.default_rng(5)
CODES = RNG.integers(0, 3, 400)
P = RNG.dirichlet(np.ones(3), 400).round(2) + 0.4 * np.eye(3)[CODES] + 1e-3  # rounded: some are equal
LOG_P = np.log(P / P.sum(axis=1, keepdims=True))


def by_pairs(k):
    """Share of pairs in the right order, of each row of the class and of each other row."""
    p = np.exp(LOG_P[:, k])
    own, others = p[k == CODES][:, None], p[k != CODES][None, :]
    right = (own > others) + 0.5 * (own == others)
    return right.mean(), right.mean(axis=1).var() / len(own) + right.mean(axis=0).var() / others.size


def test_auc_is_the_share_of_pairs_in_the_right_order_with_delongs_variance():
    found = Ranking.of(LOG_P, CODES)
    for k in range(3):
        value, variance = by_pairs(k)
        area = found.area(k)
        assert area.value == pytest.approx(value, rel=1e-12) and area.error == 0
        assert area.high - area.value == pytest.approx(Z * np.sqrt(variance), rel=1e-9)
    assert found.mean_area() == pytest.approx(roc_auc_score(CODES, np.exp(LOG_P), multi_class="ovr"), rel=1e-12)


def test_pieces_add_up_and_weights_are_copies():
    whole = Ranking.of(LOG_P, CODES)
    pieces = Ranking.of(LOG_P[:90], CODES[:90]) + Ranking.of(LOG_P[90:], CODES[90:])
    assert pieces.areas == whole.areas
    weight = RNG.integers(0, 4, 400)
    copied = Ranking.of(np.repeat(LOG_P, weight, axis=0), np.repeat(CODES, weight))
    for one, same in zip(Ranking.of(LOG_P, CODES, weight.astype(float)).areas, copied.areas, strict=True):
        assert one == pytest.approx(same, rel=1e-12)


def test_many_rows_are_counted_in_bins_with_their_error(monkeypatch):
    exact = Ranking.of(LOG_P, CODES)
    monkeypatch.setattr(ranking, "MOST_EXACT", 300)
    monkeypatch.setattr(ranking, "MOST_BINS", 256)
    binned = Ranking.of(LOG_P[:200], CODES[:200]) + Ranking.of(LOG_P[200:], CODES[200:])
    assert binned.bins is not None and not binned.pieces
    again = binned + Ranking.of(LOG_P[:1], CODES[:1])
    assert again.bins.sum() == pytest.approx(3 * 401)
    for one, truth in zip(binned.areas, exact.areas, strict=True):
        assert 0 < one.error < 0.05  # 256 bins over 74 log-odds
        assert abs(one.value - truth.value) <= one.error + 1e-12


def test_auc_needs_rows_of_the_class_and_others():
    found = Ranking.of(np.log([[0.5, 0.5], [0.2, 0.8]]), np.array([0, 0]))
    assert found.areas == [None, None] and found.mean_area() is None


def test_figures_of_classes_are_those_of_scikit_learn():
    card = Scorecard.of(LOG_P, CODES)
    precision, recall, f1, support = precision_recall_fscore_support(CODES, LOG_P.argmax(axis=1))
    np.testing.assert_allclose(np.array(card.by_class), np.column_stack([support, precision, recall, f1]), rtol=1e-12)
    assert card.mean_figures[1:] == pytest.approx((precision.mean(), recall.mean(), f1.mean()), rel=1e-12)


def test_a_class_that_nobody_predicts_has_no_precision():
    card = Scorecard.of(np.log([[0.9, 0.1], [0.8, 0.2]]), np.array([0, 1]))
    assert card.by_class[1] == (1.0, None, 0.0, 0.0)
    assert card.mean_figures.precision == 0.25


def test_the_baseline_knows_the_class_frequencies_alone():
    card = Scorecard.of(np.log([[0.9, 0.1]] * 4), np.array([0, 1, 1, 1]))
    entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert card.baseline == pytest.approx((1, 0.75, entropy, 2 * 0.25 * 0.75))
