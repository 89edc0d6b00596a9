"""The Bayes risk: what the best decisions cost on average, whoever decides.

    risk = mean over rows of (least over actions i of sum over classes j of cost[i, j] P(j | row))

Under 0-1 loss 1 - risk is the ceiling of accuracy; under other losses it is not. From the probabilities of a
classifier it is an estimate that holds as far as they are calibrated: an overconfident classifier tells too little.
Of a model that is fully known it is computed exactly, or by drawing rows, with a standard error.

Scorers select models by cost: more is better, so they give minus the mean cost. With metadata routing they ask for
weights as scikit-learn's own scorers do: ``set_score_request(sample_weight=True)``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from bayeswater.decision import risk
from bayeswater.decision.cost_table import CostTable
from bayeswater.decision.loss import Loss, as_loss
from bayeswater.decision.probabilities import SUM_TOLERANCE, Probabilities
from bayeswater.errors import DataError, ParameterError
from bayeswater.kernels.threads import ordered_map
from bayeswater.records import record
from bayeswater.typing import Array


@record
class BayesRisk:
    """A Bayes risk, how far it may be off, and what follows for accuracy."""

    value: float
    standard_error: float  # 0 where it is exact
    interval: tuple[float, float]
    confidence: float
    n_rows: int
    accuracy_ceiling: float | None  # under 0-1 loss only

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        low, high = self.interval
        text = (
            f"Bayes risk {self.value:.4g} ({self.confidence:.0%} interval {low:.4g} to {high:.4g}, {self.n_rows} rows)"
        )
        if self.accuracy_ceiling is None:
            return text
        ceiling = f"no classifier is right more often than {self.accuracy_ceiling:.4g}"
        return f"{text}; {ceiling}, as far as the probabilities are calibrated"


def bayes_risk(
    proba: Any = None,
    loss: Any = None,
    *,
    log_proba: Any = None,
    X: Any = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: Any = None,
) -> BayesRisk:
    """Estimate the Bayes risk from calibrated probabilities (n_rows, n_classes), with a bootstrap interval.

    The interval is over which rows were seen; it knows nothing of probabilities that are wrong.

    Examples
    --------
    >>> found = bayes_risk([[0.9, 0.1], [0.3, 0.7]])
    >>> round(found.value, 3), round(found.accuracy_ceiling, 3)
    (0.2, 0.8)
    """
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence is {confidence!r}; give a share between 0 and 1")
    if n_resamples < 1:
        raise ParameterError(f"n_resamples is {n_resamples!r}; give 1 or more")
    loss = _loss(loss, proba if log_proba is None else log_proba)
    least = loss.expected_loss(proba, log_proba=log_proba, X=X)
    means = _resampled_means(least, n_resamples, random_state)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    error = float(least.std(ddof=1) / np.sqrt(len(least))) if len(least) > 1 else float("nan")
    return _result(loss.table, float(least.mean()), error, (float(low), float(high)), confidence, len(least))


def bayes_risk_by_enumeration(joint: Any, loss: Any = None) -> BayesRisk:
    """Compute the Bayes risk of a model from P(row, class) of every possible row: exact.

    Parameters
    ----------
    joint : array of shape (n_possible_rows, n_classes) that sums to one

    Examples
    --------
    >>> bayes_risk_by_enumeration([[0.4, 0.1], [0.2, 0.3]]).value.__round__(3)
    0.3
    """
    joint = np.asarray(joint, dtype=np.float64)
    if joint.ndim != 2 or not (joint >= 0).all() or not abs(joint.sum() - 1) <= SUM_TOLERANCE:
        raise DataError("joint must hold P(row, class) of every possible row: 0 or more, and 1 in all")
    loss = _loss(loss, joint)
    if joint.shape[1] != len(loss.classes) or loss.table.by_row:
        raise DataError(
            f"joint has {joint.shape[1]} columns, the loss {len(loss.classes)} classes; costs must be fixed"
        )
    value = float(risk.risks(loss.table, joint, slice(0, len(joint))).min(axis=1).sum())
    return _result(loss.table, value, 0.0, (value, value), 1.0, len(joint))


def bayes_risk_by_sampling(
    sample: Callable[[int, np.random.Generator], Any],
    log_joint: Callable[[Any], Any],
    loss: Any = None,
    *,
    n_rows: int = 100_000,
    confidence: float = 0.95,
    random_state: Any = None,
) -> BayesRisk:
    """Estimate the Bayes risk of a model that can draw rows, with its standard error.

    Parameters
    ----------
    sample : function (n, generator) -> n rows drawn from the model
    log_joint : function (rows) -> log P(row, class), (n, n_classes)
        Up to a constant in each row: log posteriors will do.
    """
    from scipy.stats import norm

    if n_rows < 2:
        raise ParameterError(f"n_rows is {n_rows!r}; give 2 or more")
    rows = sample(n_rows, np.random.default_rng(random_state))
    scores = np.asarray(log_joint(rows), dtype=np.float64)
    loss = _loss(loss, scores)
    table = loss.for_rows(rows, n_rows).table
    least = risk.least_risk(table, Probabilities(scores, "log_joint"))
    error = float(least.std(ddof=1) / np.sqrt(n_rows))
    value, reach = float(least.mean()), float(norm.ppf((1 + confidence) / 2)) * error
    return _result(table, value, error, (value - reach, value + reach), confidence, n_rows)


def _loss(loss: Any, proba: Any) -> Loss:
    if loss is None:
        return Loss.zero_one(range(np.shape(proba)[-1]))
    return loss if isinstance(loss, Loss) else Loss(loss)


def _resampled_means(values: Array, n_resamples: int, random_state: Any) -> Array:
    """Means of rows drawn with replacement; each resample has a generator of its own, so threads do not show."""
    seeds = np.random.SeedSequence(np.random.default_rng(random_state).integers(2**63)).spawn(n_resamples)

    def mean(seed: np.random.SeedSequence) -> float:
        return float(values[np.random.default_rng(seed).integers(len(values), size=len(values))].mean())

    return np.fromiter(ordered_map(mean, seeds), dtype=np.float64, count=n_resamples)


def _result(
    table: CostTable, value: float, error: float, interval: tuple[float, float], confidence: float, n_rows: int
) -> BayesRisk:
    errors = 1.0 - np.eye(len(table.classes))
    zero_one = not table.by_row and table.actions == table.classes and np.array_equal(table.cost, errors)
    return BayesRisk(value, error, interval, confidence, n_rows, 1 - value if zero_one else None)


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
