"""Decisions: what to do under the costs and class frequencies of the page, for one row and over all rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.decision.calibration_metrics import Truth, reliability_table
from bayeswater.decision.curves import Rates, cost_curve, error_reject_curve, threshold_curve
from bayeswater.decision.loss import Loss
from bayeswater.decision.scorecard import Scorecard
from bayeswater.errors import BayesError
from bayeswater.models.streaming.answering import partial_rows
from bayeswater.typing import Array
from bayeswater.web.classifier_subject import ClassifierSubject
from bayeswater.web.costs import loss_of, prior_of, under_prior
from bayeswater.web.plain import QuestionError, number_of, written
from bayeswater.web.row_answers import decision, facts_of

MOST_POINTS = 200
"""Places of a curve that are sent: more cannot be seen."""


def row(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give the best action of a row, and where in the space of posteriors it lies."""
    model, X = partial_rows(subject.model, facts_of(subject, asked))
    loss, prior = loss_of(subject, asked), prior_of(subject, asked)
    told = decision(model, X, loss, prior)
    proba = _row_proba(subject, model, X, prior)
    dominated = [written(action) for action, _ in loss.table.dominated()]
    return told | {"proba": proba, "dominated": dominated, "regions": _regions(loss, len(subject.labels))}


def _row_proba(subject: ClassifierSubject, model: Any, X: Any, prior: Array | None) -> Array:
    from bayeswater.decision.prior_shift import shift_prior

    log_proba = model.predict_log_proba(X)
    return np.exp(log_proba if prior is None else shift_prior(log_proba, subject.frequencies, prior))[0]


def _regions(loss: Loss, n_classes: int) -> dict[str, Any] | None:
    """Give the best action along the line of two classes, or over the triangle of three; None for more."""
    if n_classes == 2:
        cost = loss.table.cost
        rise = cost[:, 1] - cost[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):  # where two actions cost the same
            cross = ((cost[:, None, 0] - cost[None, :, 0]) / (rise[None, :] - rise[:, None])).ravel()
        ends = np.unique(np.concatenate([[0.0, 1.0], cross[(cross > 0) & (cross < 1)]]))
        middle = (ends[1:] + ends[:-1]) / 2
        best = loss.best_action(np.column_stack([1 - middle, middle]), return_index=True)
        start = np.flatnonzero(np.append(True, best[1:] != best[:-1]))
        until = [*ends[start[1:]].tolist(), 1.0]
        return {"kind": "line", "until": until, "action": best[start], "threshold": _threshold(loss)}
    if n_classes == 3:
        areas = {action: corners for action in range(len(loss.table.cost)) if len(corners := _area(loss, action)) > 2}
        return {"kind": "triangle", "action": list(areas), "corners": list(areas.values())}
    return None


def _area(loss: Loss, action: int) -> list[Array]:
    """Give the corners, as posteriors, of the part of the triangle where an action is best, the first of equal ones."""
    corners = list(np.eye(3))
    for other, gain in enumerate(loss.table.cost - loss.table.cost[action]):
        if not gain.any():
            if other < action:
                return []
            continue
        height = [float(gain @ corner) for corner in corners]
        kept: list[Array] = []
        for i, (own, high) in enumerate(zip(corners, height, strict=True)):
            if min(high, height[i - 1]) < 0 < max(high, height[i - 1]):  # where the side crosses the border
                kept.append(own + (corners[i - 1] - own) * high / (high - height[i - 1]))
            if high >= 0:
                kept.append(own)
        corners = kept
    return corners


def _threshold(loss: Loss) -> float | None:
    try:
        return loss.binary_threshold()
    except BayesError:
        return None


def over_rows(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give what decisions over the rows come to: confusion, cost, curves; and what the costs before would have done.

    Where class frequencies are given, rows of a class weigh as much as these say, in costs and curves.
    """
    if subject.rows is None:
        raise QuestionError("there are no rows")
    loss, prior = loss_of(subject, asked), prior_of(subject, asked)
    log_proba = under_prior(subject, prior)
    action = loss.best_action(log_proba=log_proba, return_index=True)
    labels = [written(own) for own in loss.table.actions]
    told: dict[str, Any] = {
        "actions": labels,
        "n_rows": len(action),
        "n_by_action": np.bincount(action, minlength=len(labels)),
        "expected_cost": float(loss.expected_loss(log_proba=log_proba).mean()),
        "changed": _changed(subject, asked, log_proba, [labels[i] for i in action]),
    }
    return told | (_with_truth(subject, asked, loss, log_proba, prior) if subject.has_truth else {})


def _changed(subject: ClassifierSubject, asked: Mapping[str, Any], log_proba: Array, now: list[str]) -> int | None:
    """Count the rows whose action is another one than under the costs before."""
    before = asked.get("loss_before")
    if before is None:
        return None
    old = loss_of(subject, {"loss": before})
    code = old.best_action(log_proba=log_proba, return_index=True)
    names = [written(own) for own in old.table.actions]
    return sum(names[i] != own for i, own in zip(code, now, strict=True))


def _with_truth(
    subject: ClassifierSubject, asked: Mapping[str, Any], loss: Loss, log_proba: Array, prior: Array | None
) -> dict[str, Any]:
    """Give what only true classes tell."""
    assert subject.truth is not None
    known = np.flatnonzero(subject.truth >= 0)
    codes, log_proba = subject.truth[known], log_proba[known]
    weight = np.ones(len(codes))
    if prior is not None:
        count = np.bincount(codes, minlength=len(prior))
        weight = (prior * len(codes) / np.maximum(count, 1))[codes]
    truth = Truth(np.arange(len(subject.labels)), codes, np.exp(log_proba), weight)
    action = loss.best_action(log_proba=log_proba, return_index=True)
    cost = loss.table.cost[action, codes]
    share = weight / max(float(weight.sum()), 1e-300)
    shape = len(subject.labels), len(loss.table.actions)
    confusion = np.bincount(codes * shape[1] + action, minlength=shape[0] * shape[1]).reshape(shape)
    card = Scorecard.of(log_proba, codes, weight)
    likeliest = None
    if loss.table.decides_classes:
        own = np.array([loss.table.actions.index(label) for label in subject.labels])
        likeliest = float(share @ loss.table.cost[own[log_proba.argmax(axis=1)], codes])
    positive = int(number_of(asked, "positive", len(subject.labels) - 1, 0, len(subject.labels) - 1))
    return {
        "n_known": len(codes),
        "confusion": confusion,
        "cost": float(share @ cost),
        "cost_of_likeliest": likeliest,
        "accuracy": card.accuracy,
        "log_loss": card.log_loss,
        "ece": card.ece,
        "positive": positive,
        "curves": _curves(truth, loss, positive),
    }


def _curves(truth: Truth, loss: Loss, positive: int) -> dict[str, Any]:
    """Give the curves of one class against the rest; those that cannot be drawn have their reason."""
    given = {"labels": truth.labels, "sample_weight": truth.weight}
    # Costs know classes by their labels, curves here by their codes.
    places = Loss(loss.table.cost, classes=truth.labels.tolist(), actions=_places(loss, truth))
    return {
        "roc": _drawn(lambda: _roc(truth, positive)),
        "reliability": _drawn(lambda: _reliability(truth, positive)),
        "cost": _drawn(lambda: _cost(truth, positive, given)),
        "reject": _drawn(lambda: _reject(truth, places, given)),
        "threshold": _drawn(lambda: _by_threshold(truth, places, given)) if loss.table.cost.shape == (2, 2) else None,
    }


def _places(loss: Loss, truth: Truth) -> list[Any]:
    return [f"action {i}" for i in range(len(loss.table.actions))]


def _drawn(curve: Any) -> dict[str, Any]:
    try:
        return curve()
    except BayesError as error:
        return {"why_not": str(error)}


def _some(*lines: Array) -> list[Array]:
    """Give at most so many points of some lines, the first and the last among them."""
    n = len(lines[0])
    places = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    return [np.asarray(line)[places] for line in lines]


def _roc(truth: Truth, positive: int) -> dict[str, Any]:
    rates = Rates.of(truth.proba[:, positive], truth.codes == positive, truth.weight)
    found = rates.true_positive * rates.frequency
    called = found + rates.false_positive * (1 - rates.frequency)
    precision = np.where(called > 0, found / np.where(called > 0, called, 1.0), 1.0)
    false, true, precise = _some(rates.false_positive, rates.true_positive, precision)
    area = float(np.trapezoid(rates.true_positive, rates.false_positive))
    return {"false": false, "true": true, "precision": precise, "area": area, "frequency": rates.frequency}


def _reliability(truth: Truth, positive: int) -> dict[str, Any]:
    table = reliability_table(truth.codes, truth.proba, labels=truth.labels, sample_weight=truth.weight, n_bins=10)
    rows = [own for own in table.to_pylist() if own["class"] == positive]
    return {name: [own[name] for own in rows] for name in ("probability", "frequency", "weight", "error")}


def _cost(truth: Truth, positive: int, given: Mapping[str, Any]) -> dict[str, Any]:
    curve = cost_curve(truth.codes, truth.proba, positive=positive, **given)
    at, decided = _some(curve.decided_at, curve.decided_cost)
    return {"at": at, "decided": decided, "best": curve.at(at), "area": curve.area}


def _reject(truth: Truth, loss: Loss, given: Mapping[str, Any]) -> dict[str, Any]:
    curve = error_reject_curve(truth.codes, truth.proba, loss, **given)
    rejected, error, expected, price = _some(curve.rejected, curve.error, curve.expected_error, curve.reject_cost)
    return {"rejected": rejected, "error": error, "expected": expected, "price": price}


def _by_threshold(truth: Truth, loss: Loss, given: Mapping[str, Any]) -> dict[str, Any]:
    curve = threshold_curve(truth.codes, truth.proba, loss, **given)
    threshold, realised, expected = _some(curve.threshold, curve.realised, curve.expected)
    return {
        "threshold": threshold,
        "realised": realised,
        "expected": expected,
        "stated": curve.stated,
        "best": curve.best,
    }


ANSWERS = {"row": row, "over_rows": over_rows}
