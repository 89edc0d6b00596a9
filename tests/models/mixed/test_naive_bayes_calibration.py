"""`NaiveBayes` calibrated by leave-one-out: what is learned and reported, when it is stale, and decisions by it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from bayeswater import Loss, NaiveBayes
from bayeswater.errors import DataError
from bayeswater.models import calibrating


@pytest.fixture(scope="module")
def overconfident() -> tuple[pd.DataFrame, Any, NaiveBayes]:
    """The same measure four times over: naive Bayes is far too sure of it."""
    rng = np.random.default_rng(1)
    y = rng.choice(["no", "yes", "yes"], 400)
    measure = rng.normal(1.2 * (y == "yes"))
    frame = pd.DataFrame({f"copy {i}": measure + rng.normal(size=400) / 20 for i in range(4)})
    return frame, y, NaiveBayes(calibrate=True).fit(frame, y)


def test_calibration_takes_confidence_back_and_reports_it(overconfident: Any) -> None:
    frame, y, model = overconfident
    report = model.calibration_
    assert report.scored_by == "leave-one-out"
    assert report.n_used == 400
    assert not report.is_stale
    assert report.after.log_loss < report.before.log_loss
    assert report.after.ece < report.before.ece / 2
    text = str(report)
    assert text.startswith("Calibration: temperature ")
    assert "learned from 400 rows, scored by leave-one-out" in text
    plain = NaiveBayes().fit(frame, y)
    assert not hasattr(plain, "calibration_")
    assert_array_equal(model.predict_joint_log_proba(frame), plain.predict_joint_log_proba(frame))
    sure, calibrated = plain.predict_proba(frame).max(axis=1), model.predict_proba(frame).max(axis=1)
    assert calibrated.mean() < sure.mean() - 0.05
    assert_allclose(model.predict_proba(frame).sum(axis=1), 1)
    assert_array_equal(model.predict(frame), model.classes_[model.predict_proba(frame).argmax(axis=1)])


def test_rows_that_come_sorted_are_reported_as_they_are_in_any_order(overconfident: Any) -> None:
    frame, y, model = overconfident
    order = np.argsort(frame["copy 0"].to_numpy())
    report = NaiveBayes(calibrate=True).fit(frame.iloc[order], y[order]).calibration_
    assert_allclose(report.map.temperature, model.calibration_.map.temperature, rtol=1e-6)
    assert report.after.log_loss == pytest.approx(model.calibration_.after.log_loss, rel=1e-6)


def test_calibration_is_learned_from_the_leave_one_out_scores(overconfident: Any) -> None:
    frame, y, model = overconfident
    plain = NaiveBayes().fit(frame, y)
    review = plain.leave_one_out([(frame[:150], y[:150]), (frame[150:], y[150:])])
    assert_allclose(
        review.log_loss, -plain.loo_predict_log_proba(frame, y)[np.arange(400), (y == "yes").astype(int)].mean()
    )
    assert review.n_rows == 400
    assert str(review).startswith("Leave-one-out of 400 rows: accuracy 0.")
    wrong = review.scores.log_proba.argmax(axis=1) != review.scores.codes
    assert review.accuracy == pytest.approx(1 - wrong.mean())
    assert review.log_loss == pytest.approx(-review.scores.own.mean())
    plain.calibrate_with(review)
    assert_allclose(plain.predict_proba(frame), model.predict_proba(frame), rtol=1e-6)
    with pytest.raises(DataError, match="there are no rows to review"):
        plain.leave_one_out([])


def test_weights_count_in_calibration_as_repeated_rows_do(overconfident: Any) -> None:
    frame, y, _ = overconfident
    weight = np.random.default_rng(2).integers(0, 4, 400)
    times = np.repeat(np.arange(400), weight)
    weighted = NaiveBayes(calibrate=True, family="gaussian").fit(frame, y, weight)
    repeated = NaiveBayes(calibrate=True, family="gaussian").fit(frame.iloc[times], y[times])
    # The maximum of the likelihood is found to a millionth; moments are merged in another order.
    assert_allclose(weighted.predict_proba(frame), repeated.predict_proba(frame), rtol=1e-6)


def test_further_rows_make_a_calibration_stale_and_a_fit_makes_a_new_one(overconfident: Any) -> None:
    frame, y, _ = overconfident

    def fitted() -> NaiveBayes:
        return NaiveBayes(calibrate=True).fit(frame, y)

    for change in (
        lambda model: model.partial_fit(frame[:5], y[:5]),
        lambda model: model.forget(frame[:5], y[:5]),
        lambda model: model.decay(0.9),
        lambda model: model + clone(model).set_params(calibrate=False, columns=model.columns_).fit(frame, y),
        lambda model: model - NaiveBayes(columns=model.columns_).fit(frame[:5], y[:5]),
    ):
        changed = change(fitted())
        assert changed.calibration_.is_stale
        assert "(stale: rows were learned or forgotten since)" in str(changed.calibration_)
        assert str(changed.calibration_.map) == str(fitted().calibration_.map)  # the temperature is kept
    again = fitted().partial_fit(frame, y).fit(frame, y)
    assert not again.calibration_.is_stale
    assert not hasattr(again.set_params(calibrate=False).fit(frame, y), "calibration_")


def test_classes_that_come_and_go_keep_the_calibration_of_the_others() -> None:
    rng = np.random.default_rng(3)
    y = rng.choice(["a", "b", "c"], 600, p=[0.2, 0.3, 0.5])
    code = np.searchsorted(["a", "b", "c"], y)
    frame = pd.DataFrame({"x": rng.normal(code), "y": rng.normal(code)})
    model = NaiveBayes(calibrate=True, class_prior=[0.8, 0.1, 0.1]).fit(frame, y)
    shifted = model.calibration_.map
    assert np.ptp(shifted.shift) > 0.01
    model.set_params(class_prior=None).partial_fit(frame[:3], ["bb", "bb", "bb"])
    grown = model.calibration_.map
    assert_array_equal(grown.shift, [shifted.shift[0], shifted.shift[1], 0.0, shifted.shift[2]])
    assert (grown.temperature, grown.lapse) == (shifted.temperature, shifted.lapse)
    assert_allclose(model.predict_proba(frame).sum(axis=1), 1)
    model.forget(frame[:3], ["bb", "bb", "bb"])
    assert_array_equal(model.calibration_.map.shift, shifted.shift)
    other = NaiveBayes(columns=model.columns_).fit(frame[:9], ["z"] * 9)
    assert (model + other).predict_proba(frame).shape == (600, 4)


def test_decisions_are_made_on_calibrated_probabilities(overconfident: Any) -> None:
    frame, _, model = overconfident
    loss = Loss.from_costs({("no", "no"): 0, ("no", "yes"): 5, ("yes", "no"): 1, ("yes", "yes"): 0})
    proba = model.predict_proba(frame)
    expected = np.stack([5 * proba[:, 1], proba[:, 0]], axis=1)
    actions, risk = model.decide(frame, loss=loss, return_risk=True)
    assert_allclose(risk, expected, rtol=1e-12)
    assert_allclose(model.expected_loss(frame, loss=loss), expected.min(axis=1), rtol=1e-12)
    assert_array_equal(actions, np.array(["no", "yes"])[expected.argmin(axis=1)])
    assert_array_equal(model.decide(frame), model.predict(frame))
    # Another prior multiplies the calibrated odds by the ratio of the priors.
    prior = np.exp(model.class_log_prior_)
    odds = proba * (np.array([0.9, 0.1]) / prior)
    expected = 1 - (odds / odds.sum(axis=1, keepdims=True)).max(axis=1)
    assert_allclose(model.expected_loss(frame, prior=[0.9, 0.1]), expected, rtol=1e-9, atol=1e-15)


def test_of_more_rows_than_are_kept_a_sample_by_their_cells_is_taken(
    overconfident: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, y, model = overconfident
    every = model.leave_one_out([(frame, y)]).scores
    monkeypatch.setattr(calibrating, "REVIEWED_ROWS", 60)
    for size in (400, 70, 33):
        batches = [(frame[start : start + size], y[start : start + size]) for start in range(0, 400, size)]
        found = model.leave_one_out(batches)
        assert_allclose(found.scores.log_proba, every.log_proba[:60], rtol=1e-12, atol=1e-300)
        assert_array_equal(found.scores.codes, every.codes[:60])
        assert found.n_rows == 400


def test_equal_rows_are_reviewed_as_one_of_their_weight(overconfident: Any) -> None:
    frame, y, _ = overconfident
    twice = pd.concat([frame, frame[:100]])
    found = NaiveBayes().fit(twice, [*y, *y[:100]]).leave_one_out([(twice, [*y, *y[:100]])])
    assert (len(found.scores), found.scores.weight.sum(), found.n_rows) == (400, 500, 500)


def test_where_every_row_is_alone_in_its_class_no_figure_is_made_up() -> None:
    report = NaiveBayes(calibrate=True).fit(pd.DataFrame({"x": ["a", "b"]}), [0, 1]).calibration_
    assert "nan" not in str(report)


def test_one_row_is_called_a_row() -> None:
    frame = pd.DataFrame({"x": ["a", "b", "a", "b", "c"]})
    text = str(NaiveBayes(calibrate=True).fit(frame, [0, 0, 1, 1, 2]).calibration_)
    assert "left out: 1 row that would leave no row of its class" in text
