"""Scorers for model selection by cost: more is better, so they give minus the mean cost."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.decision.loss import Loss, as_loss


@dataclass(frozen=True)
class ExpectedLossScorer:
    """Minus the mean expected cost of the best actions, by the classifier's own probabilities; needs no labels."""

    loss: Any

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score a fitted classifier on the rows X."""
        cost = as_loss(self.loss, estimator.classes_).expected_loss(estimator.predict_proba(X), X=X)
        return -float(np.average(cost, weights=sample_weight))


@dataclass(frozen=True)
class RealisedLossScorer:
    """Minus the mean cost of what the classifier's `predict` decides, by the true labels."""

    loss: Any

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score a fitted classifier on the rows X of classes y."""
        cost = as_loss(self.loss, estimator.classes_).realised(estimator.predict(X), y, X=X)
        return -float(np.average(cost, weights=sample_weight))


def expected_loss_scorer(loss: Loss | Any) -> ExpectedLossScorer:
    """Make a scorer for ``GridSearchCV(scoring=...)``: the cost that a classifier expects of its best actions.

    An overconfident classifier expects little cost; compare by `realised_loss_scorer` where labels are known.
    """
    return ExpectedLossScorer(loss)


def realised_loss_scorer(loss: Loss | Any) -> RealisedLossScorer:
    """Make a scorer for ``GridSearchCV(scoring=...)``: the cost of the decisions once the truth is known."""
    return RealisedLossScorer(loss)
