"""Scorers for model selection by cost: more is better, so they give minus the mean cost.

With metadata routing they ask for weights as scikit-learn's own scorers do: ``set_score_request(sample_weight=True)``.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from bayeswater.decision.loss import Loss, as_loss
from bayeswater.typing import Array


class CostScorer(ABC):
    """Minus the mean cost of what a fitted classifier decides for some rows."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss
        self._sample_weight: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score a fitted classifier on the rows X of classes y."""
        cost = self._cost(as_loss(self.loss, estimator.classes_), estimator, X, y)
        return -float(np.average(cost, weights=sample_weight))

    @abstractmethod
    def _cost(self, loss: Loss, estimator: Any, X: Any, y: Any) -> Array:
        """Cost of each row."""

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Ask for weights or not, or for those of another name; by default they are refused until that is settled."""
        self._sample_weight = sample_weight
        self.get_metadata_routing()  # refuses what is no request
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell what may be passed to the scorer."""
        request = MetadataRequest(owner=type(self).__name__)
        request.score.add_request(param="sample_weight", alias=self._sample_weight)
        return request

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.loss!r})"


class ExpectedLossScorer(CostScorer):
    """Minus the mean expected cost of the best actions, by the classifier's own probabilities; needs no labels."""

    def _cost(self, loss: Loss, estimator: Any, X: Any, y: Any) -> Array:
        return loss.expected_loss(estimator.predict_proba(X), X=X)


class RealisedLossScorer(CostScorer):
    """Minus the mean cost of what the classifier's `predict` decides, by the true labels."""

    def _cost(self, loss: Loss, estimator: Any, X: Any, y: Any) -> Array:
        return loss.realised(estimator.predict(X), y, X=X)


def expected_loss_scorer(loss: Loss | Any) -> ExpectedLossScorer:
    """Make a scorer for ``GridSearchCV(scoring=...)``: the cost that a classifier expects of its best actions.

    An overconfident classifier expects little cost; compare by `realised_loss_scorer` where labels are known.
    """
    return ExpectedLossScorer(loss)


def realised_loss_scorer(loss: Loss | Any) -> RealisedLossScorer:
    """Make a scorer for ``GridSearchCV(scoring=...)``: the cost of the decisions once the truth is known."""
    return RealisedLossScorer(loss)
