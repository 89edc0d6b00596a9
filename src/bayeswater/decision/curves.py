"""Costs against what can be set or may change: the threshold, the class frequencies, the share of rows refused.

All are data: arrays of the same length, ready for a table or a plot (`bayeswater.plots`).

A cost curve shows what a two-class classifier costs under every ratio of costs and frequencies at once (Drummond and
Holte 2006, Cost curves: an improved method for visualizing classifier performance). With p+ the frequency of the
positive class, and C(-|+), C(+|-) the costs of missing it and of a false alarm, all that matters is

    x = probability-cost = p+ C(-|+) / (p+ C(-|+) + p- C(+|-)),
    y = normalised cost  = FNR x + FPR (1 - x):    0 for no error, 1 for nothing but errors.

A threshold is a straight line from FPR (at x = 0) to FNR (at x = 1). The lower envelope of all lines is what the best
threshold costs, known only afterwards; never to decide for the positive class costs x, always 1 - x.
"""

import warnings
from typing import Any

import numpy as np

from bayeswater.decision import risk
from bayeswater.decision.calibration_metrics import Truth
from bayeswater.decision.cost_table import CostTable
from bayeswater.decision.loss import as_loss
from bayeswater.decision.prior_shift import checked_prior, shifted
from bayeswater.decision.probabilities import Probabilities
from bayeswater.errors import DataError, ImpossibleEvidenceWarning, ParameterError
from bayeswater.records import record
from bayeswater.typing import Array

N_POINTS = 201
"""Operating points at which the classifier's own decisions are looked at."""


@record
class CostCurve:
    """Cost of a classifier for one class against the rest, under every operating point.

    Attributes
    ----------
    probability_cost, normalised_cost : corners of the lower envelope, (n_corners,)
    threshold : probability over which the best line decides for the class, between two corners each, (n_corners - 1,)
    false_positive_rate, false_negative_rate : of all thresholds, (n_lines,)
    decided_at, decided_cost : what the classifier's own decisions cost, (n_points,): it takes its probabilities at
        their word, and moves its threshold with the operating point. The gap to the envelope is its miscalibration.
    frequency : of the class among the rows
    positive : label of the class
    """

    probability_cost: Array
    normalised_cost: Array
    threshold: Array
    false_positive_rate: Array
    false_negative_rate: Array
    decided_at: Array
    decided_cost: Array
    frequency: float
    positive: Any

    def at(self, probability_cost: Any) -> Array:
        """Cost of the best threshold at some operating points."""
        return np.interp(probability_cost, self.probability_cost, self.normalised_cost)

    @property
    def area(self) -> float:
        """Mean cost of the best threshold, all operating points being equally likely."""
        return float(np.trapezoid(self.normalised_cost, self.probability_cost))


def cost_curve(y: Any, proba: Any, *, positive: Any = None, labels: Any = None, sample_weight: Any = None) -> CostCurve:
    """Give the cost curve of one class against the rest.

    Parameters
    ----------
    y, proba, labels, sample_weight : true labels, probabilities (n_rows, n_classes), as in `ece`
    positive : label of the class; of two classes by default the second

    Examples
    --------
    >>> curve = cost_curve(["no", "no", "yes", "yes"], [[0.9, 0.1], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]])
    >>> curve.at([0.0, 0.5, 1.0]).tolist()
    [0.0, 0.25, 0.0]
    """
    truth = Truth.of(y, proba, labels, sample_weight)
    k = positive_class(truth, positive)
    rates = Rates.of(truth.proba[:, k], truth.codes == k, truth.weight)
    fpr, tpr, threshold = rates.false_positive, rates.true_positive, rates.threshold
    hull = _upper_hull(fpr, tpr)
    step_f, step_t = np.diff(fpr[hull]), np.diff(tpr[hull])
    corner = np.concatenate([[0.0], step_f / (step_f + step_t), [1.0]])
    line = np.append(hull, hull[-1])  # the one on the right of each corner, and at the end the last
    envelope = fpr[line] * (1 - corner) + (1 - tpr[line]) * corner
    at = np.linspace(0, 1, N_POINTS)
    own = rates.at_threshold(_own_threshold(at, rates.frequency))
    decided = fpr[own] * (1 - at) + (1 - tpr[own]) * at
    return CostCurve(
        corner, envelope, threshold[hull], fpr, 1 - tpr, at, decided, rates.frequency, _label(truth.labels[k])
    )


@record
class Rates:
    """Rates of "positive where the probability is over the threshold", for falling thresholds: none first, all last."""

    threshold: Array
    false_positive: Array
    true_positive: Array
    frequency: float

    @classmethod
    def of(cls, p: Array, is_positive: Array, weight: Array) -> "Rates":
        """Count the rows of both kinds over each distinct probability."""
        total = np.array([weight @ ~is_positive, weight @ is_positive])
        if (total == 0).any():
            raise DataError("the rows are all of the class, or none is; a rate needs both")
        value, place = np.unique(-p, return_inverse=True)
        of_value = [
            np.bincount(place, weights=weight * rows, minlength=len(value)) for rows in (~is_positive, is_positive)
        ]
        false, true = (np.concatenate([[0.0], np.cumsum(count)]) / n for count, n in zip(of_value, total, strict=True))
        false[-1] = true[-1] = 1.0
        threshold = np.concatenate([-value, [-np.inf]])  # over the largest is none, over -inf are all
        return cls(threshold, false, true, float(total[1] / total.sum()))

    def at_threshold(self, threshold: Array) -> Array:
        """Place of the rates that hold for some thresholds."""
        # Thresholds fall: rows over t are those over the first one that is no larger.
        return np.searchsorted(-self.threshold, -threshold, side="left")


def positive_class(truth: Truth, positive: Any) -> int:
    """Find the column of the class that is set against the rest."""
    labels = truth.labels.tolist()
    if positive is None:
        if len(labels) != 2:
            raise ParameterError(f"there are {len(labels)} classes, {labels[:10]}; name one of them: positive=...")
        return 1
    if positive not in labels:
        raise ParameterError(f"positive is {positive!r}, which is none of the classes {labels[:10]}")
    return labels.index(positive)


def _upper_hull(x: Array, y: Array) -> Array:
    """Places of the corners of the upper convex hull of points in rising order, from the first to the last."""
    hull: list[int] = []
    for i in range(len(x)):
        while len(hull) > 1:
            a, b = hull[-2:]
            if (x[b] - x[a]) * (y[i] - y[a]) < (y[b] - y[a]) * (x[i] - x[a]):
                break
            hull.pop()  # the last corner is on or below the line past it
        hull.append(i)
    return np.array(hull)


def _own_threshold(probability_cost: Array, frequency: float) -> Array:
    """Probability over which the class is decided for: its odds times the ratio of costs are over 1."""
    with np.errstate(divide="ignore"):
        odds = frequency / (1 - frequency) * (1 - probability_cost) / probability_cost
    return np.where(np.isinf(odds), 1.0, odds / (1 + np.where(np.isinf(odds), 0.0, odds)))


def _label(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


SHARES = np.linspace(0.005, 0.995, 199)
"""Class frequencies that are gone through."""


@record
class ThresholdCurve:
    """Mean cost of deciding for the second class where its probability is over a threshold.

    Attributes
    ----------
    threshold : in rising order, (n_thresholds,)
    realised : mean cost by the true classes
    expected : mean cost that the probabilities promise
    stated : the threshold of least expected cost, in closed form
    best : the threshold that would have cost least
    """

    threshold: Array
    realised: Array
    expected: Array
    stated: float
    best: float
    positive: Any


def threshold_curve(
    y: Any, proba: Any, loss: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> ThresholdCurve:
    """Give cost against threshold, for two classes and two actions.

    Parameters
    ----------
    y, proba : labels, array of shape (n_rows, 2)
        True classes and probabilities.
    loss : Loss, or anything that `Loss` reads
        Costs of the actions; default 0-1 loss.
    labels, sample_weight : as in `ece`
        Classes in the order of the columns of `proba`, and weights of rows.

    Returns
    -------
    ThresholdCurve
        Mean cost, realised and expected, at each threshold.

    See Also
    --------
    bayeswater.plots.ErrorRejectDisplay : Mean cost of decided rows against the share refused.

    Examples
    --------
    >>> curve = threshold_curve([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]], [[0, 5], [1, 0]])
    >>> round(curve.stated, 3), curve.best
    (0.167, 0.1)
    """
    truth = Truth.of(y, proba, labels, sample_weight)
    table = _table(loss, truth)
    stated = as_loss(loss, truth.labels.tolist()).binary_threshold()
    p, is_second = truth.proba[:, 1], truth.codes == 1
    share = truth.weight / truth.weight.sum()
    order = np.argsort(p, kind="stable")
    threshold = np.unique(np.concatenate([[0.0], p]))
    first = np.searchsorted(p[order], threshold, side="right")  # rows from here on are over the threshold

    def mean_cost(chance: Array) -> Array:
        """Mean cost for each threshold, the second class having some chance in each row."""
        of_action = [share * (row[0] * (1 - chance) + row[1] * chance) for row in table.cost]
        below, over = (np.concatenate([[0.0], np.cumsum(cost[order])]) for cost in of_action)
        return below[first] + over[-1] - over[first]

    realised, expected = mean_cost(is_second.astype(np.float64)), mean_cost(p)
    best = float(threshold[realised.argmin()])
    return ThresholdCurve(threshold, realised, expected, stated, best, truth.labels.tolist()[1])


@record
class PriorCurve:
    """Mean cost against the frequency of one class, the others keeping their proportions.

    Attributes
    ----------
    frequency : of the class, (n_points,)
    adapted : cost if decisions are made for that frequency
    fixed : cost of the decisions that are made for `known`, the frequency that the probabilities hold for
    """

    frequency: Array
    adapted: Array
    fixed: Array
    known: float
    positive: Any


def prior_curve(
    y: Any,
    proba: Any,
    loss: Any = None,
    *,
    positive: Any = None,
    prior: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> PriorCurve:
    """Give cost against class frequency, as if the rows of each class were more or fewer, and otherwise the same.

    Parameters
    ----------
    y, proba, labels, sample_weight : true labels, probabilities (n_rows, n_classes), as in `ece`
    loss : Loss, or anything that `Loss` reads; default 0-1 loss
    positive : label of the class whose frequency changes; of two classes by default the second
    prior : class frequencies that the probabilities hold for; default those of y
    """
    truth = Truth.of(y, proba, labels, sample_weight)
    table, k = _table(loss, truth), positive_class(truth, positive)
    n_classes = len(truth.labels)
    weight_of = np.bincount(truth.codes, weights=truth.weight, minlength=n_classes)
    if (weight_of == 0).any():
        raise ParameterError(
            f"y has no row of class {truth.labels.tolist()[int(weight_of.argmin())]!r}; give rows of every class"
        )
    old = weight_of / weight_of.sum() if prior is None else checked_prior(prior, truth.labels.tolist())
    others = np.delete(old, k).sum()
    if others == 0:
        raise ParameterError(f"prior is {old.tolist()}: the other classes have no frequency to share")
    with np.errstate(divide="ignore"):
        log_proba = np.log(truth.proba)

    def cost_within(action: Array) -> Array:
        """Mean cost of some actions among the rows of each class: (n_classes,)."""
        cost = truth.weight * table.cost[action, truth.codes]
        return np.bincount(truth.codes, weights=cost, minlength=n_classes) / weight_of

    def under(share: float) -> Array:
        new = old * (1 - share) / others
        new[k] = share
        return new

    fixed = cost_within(risk.best_action(table, Probabilities(truth.proba, "proba")))
    adapted = []
    with warnings.catch_warnings():  # a row may be possible in one class alone
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
        for share in SHARES:
            moved = shifted(log_proba, old, under(share), range(n_classes))
            adapted.append(under(share) @ cost_within(risk.best_action(table, Probabilities(moved, "log_joint"))))
    at_fixed = np.array([under(share) @ fixed for share in SHARES])
    return PriorCurve(SHARES.copy(), np.array(adapted), at_fixed, float(old[k]), truth.labels.tolist()[k])


@record
class RejectCurve:
    """Mean cost of the rows that are decided, against the share of rows that are refused, the riskiest first.

    Attributes
    ----------
    rejected : share of the weight of all rows that is refused, in rising order, (n_points,)
    error : mean cost of the others, by their true classes; under 0-1 loss their error rate
    expected_error : mean cost of the others that the probabilities promise
    reject_cost : largest expected cost of a row that is still decided: the cost of refusing at which this happens
    """

    rejected: Array
    error: Array
    expected_error: Array
    reject_cost: Array

    @property
    def area(self) -> float:
        """Mean error over all shares of refused rows, of which the last point stands for all beyond it."""
        ends = np.append(self.rejected, 1.0)
        return float(np.diff(ends) @ self.error)


def error_reject_curve(
    y: Any, proba: Any, loss: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> RejectCurve:
    """Give error against the share of refused rows.

    Parameters
    ----------
    y, proba : labels, array of shape (n_rows, n_classes)
        True classes and probabilities.
    loss : Loss, or anything that `Loss` reads
        Costs of the actions; default 0-1 loss, under which rows of small confidence are refused first.
    labels, sample_weight : as in `ece`
        Classes in the order of the columns of `proba`, and weights of rows.

    Returns
    -------
    RejectCurve
        Mean cost of the decided rows, at each share of refused ones.

    See Also
    --------
    bayeswater.plots.ThresholdDisplay : Mean cost against the threshold of the second class.

    Examples
    --------
    >>> curve = error_reject_curve([0, 1, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])
    >>> curve.rejected.tolist(), curve.error.tolist()
    ([0.0, 0.25, 0.5, 0.75], [0.25, 0.0, 0.0, 0.0])
    """
    truth = Truth.of(y, proba, labels, sample_weight)
    table = _table(loss, truth)
    posterior = Probabilities(truth.proba, "proba")
    least = risk.least_risk(table, posterior)
    cost = table.cost[risk.best_action(table, posterior), truth.codes]
    risk_of, place = np.unique(least, return_inverse=True)  # rows of equal risk are refused together

    def up_to(values: Array) -> Array:
        return np.cumsum(np.bincount(place, weights=truth.weight * values))

    decided = up_to(np.ones(len(cost)))
    points = (1 - decided / decided[-1], up_to(cost) / decided, up_to(least) / decided, risk_of)
    return RejectCurve(*(values[::-1].copy() for values in points))


def _table(loss: Any, truth: Truth) -> CostTable:
    table = as_loss(loss, truth.labels.tolist()).table
    if table.by_row:
        raise ParameterError("some costs depend on the row; a curve needs fixed costs")
    return table
