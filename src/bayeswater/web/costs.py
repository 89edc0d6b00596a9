"""Costs and class frequencies as the page says them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.decision.loss import Loss
from bayeswater.decision.prior_shift import shift_prior
from bayeswater.typing import Array
from bayeswater.web.classifier_subject import ClassifierSubject
from bayeswater.web.plain import QuestionError, written

MOST_ACTIONS = 200


def loss_of(subject: ClassifierSubject, asked: Mapping[str, Any]) -> Loss:
    """Read ``{"actions": [...], "costs": [[...], ...]}``, a row for each action and a column for each class.

    Actions that are written as a class are that class. Without costs every error costs 1.
    """
    given = asked.get("loss")
    if given is None:
        return Loss.zero_one(subject.labels)
    actions, costs = (given.get("actions"), given.get("costs")) if isinstance(given, dict) else (None, None)
    if not (isinstance(actions, list) and isinstance(costs, list) and 0 < len(actions) == len(costs) <= MOST_ACTIONS):
        raise QuestionError("a loss has a list of actions, and a row of costs for each")
    rows = [row if isinstance(row, list) else [] for row in costs]
    if any(len(row) != len(subject.labels) or not all(map(_is_cost, row)) for row in rows):
        raise QuestionError("a cost is a number, one for each class")
    label = {written(own): own for own in subject.labels}
    named = [label.get(action, action) if isinstance(action, str) else None for action in actions]
    if None in named or len(set(map(written, named))) < len(named):
        raise QuestionError("actions have names, each its own")
    return Loss(np.array(rows, dtype=np.float64), actions=named, classes=subject.labels)


def _is_cost(cost: Any) -> bool:
    return isinstance(cost, int | float) and not isinstance(cost, bool) and abs(cost) <= 1e12


def prior_of(subject: ClassifierSubject, asked: Mapping[str, Any]) -> Array | None:
    """Read class frequencies, made to sum to one; None for those of the model."""
    given = asked.get("prior")
    if given is None:
        return None
    if not (isinstance(given, list) and len(given) == len(subject.labels) and all(map(_is_cost, given))):
        raise QuestionError("frequencies are numbers, one for each class")
    prior = np.array(given, dtype=np.float64)
    if (prior < 0).any() or not prior.sum() > 0:
        raise QuestionError("frequencies are not negative, and not all 0")
    return prior / prior.sum()


def under_prior(subject: ClassifierSubject, prior: Array | None) -> Array:
    """Log-probabilities of the rows (n_rows, n_classes) where classes have these frequencies; None for the model's."""
    if prior is None:
        return subject.log_proba
    return shift_prior(subject.log_proba, subject.frequencies, prior)
