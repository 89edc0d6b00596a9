"""Cost curves: what a two-class classifier costs under every ratio of costs and frequencies at once.

Drummond and Holte (2006, Cost curves: an improved method for visualizing classifier performance). With p+ the frequency
of the positive class, and C(-|+), C(+|-) the costs of missing it and of a false alarm, all that matters is

    x = probability-cost = p+ C(-|+) / (p+ C(-|+) + p- C(+|-)),
    y = normalised cost  = FNR x + FPR (1 - x):    0 for no error, 1 for nothing but errors.

A threshold is a straight line from FPR (at x = 0) to FNR (at x = 1). The lower envelope of all lines is what the best
threshold costs, known only afterwards; never to decide for the positive class costs x, always 1 - x.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.decision.bins import Truth
from bayeswater.errors import DataError, ParameterError
from bayeswater.typing import Array

N_POINTS = 201
"""Operating points at which the classifier's own decisions are looked at."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
