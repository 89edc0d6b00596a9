"""Maps of one class against the rest, normalised over the classes: beta calibration and isotonic regression.

Both are guarded against a record too good to be true. Beta calibration is drawn to the best temperature by a standard
normal prior. Isotonic frequencies run from 1 / (W0 + 2) to (W1 + 1) / (W1 + 2) for W1 rows of the class and W0 others
(the labels of Platt 1999), so that no class is ruled out because a few rows did not have it.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit
from sklearn.isotonic import isotonic_regression

from bayeswater.decision.convex import Evaluation, minimise
from bayeswater.decision.scores import learnable, log_complement, normalised, span
from bayeswater.decision.softmax_maps import best_slope
from bayeswater.kernels.class_scores import log_shares
from bayeswater.typing import Array


@dataclass(frozen=True)
class BetaCalibration:
    """logistic(a_k log p_k - b_k log(1 - p_k) + c_k) with a, b >= 0, normalised over the classes (Kull et al. 2017)."""

    coefficients: Array  # (n_classes, 3): a, b, c

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Fit each class against the rest."""
        scores = learnable(log_proba, codes, weight)
        log_p, log_rest = _finite(scores.log_proba), _finite(log_complement(scores.log_proba))
        coefficients = np.tile([1.0, 1.0, 0.0], (scores.n_classes, 1))
        slope, unit = best_slope(scores)
        for k, rows in enumerate(np.isfinite(scores.log_proba).T):
            if rows.any():
                features = np.column_stack([log_p[rows, k], -log_rest[rows, k]])
                coefficients[k] = _rising_logistic(features, scores.codes[rows] == k, scores.weight[rows], slope, unit)
        return cls(coefficients)

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities."""
        scores = normalised(log_proba)
        a, b, c = self.coefficients.T
        eta = a * _finite(scores) - b * _finite(log_complement(scores)) + c
        return log_shares(np.where(np.isfinite(scores), log_expit(eta), -np.inf), use_loop=False)

    def __str__(self) -> str:
        a, b, c = self.coefficients[1:].T if len(self.coefficients) == 2 else self.coefficients.T
        return f"beta, a {span(a)}, b {span(b)}, c {span(c)}"


@dataclass(frozen=True)
class IsotonicCalibration:
    """A rising function of the log-odds of each class against the rest, normalised over the classes."""

    knots: tuple[tuple[Array, Array], ...]  # for each class rising log-odds and frequencies; none: p stays

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Fit each class against the rest by pooling adjacent violators."""
        scores = learnable(log_proba, codes, weight)
        log_odds = _finite(scores.log_proba - log_complement(scores.log_proba))
        knots = []
        for k, rows in enumerate(np.isfinite(scores.log_proba).T):
            if not rows.any():
                knots.append((np.empty(0), np.empty(0)))
                continue
            member = scores.codes[rows] == k
            of_class, others = scores.weight[rows] @ member, scores.weight[rows] @ ~member
            target = np.where(member, (of_class + 1) / (of_class + 2), 1 / (others + 2))
            knots.append(_isotonic_knots(log_odds[rows, k], target, scores.weight[rows]))
        return cls(tuple(knots))

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities."""
        scores = normalised(log_proba)
        log_odds = _finite(scores - log_complement(scores))
        columns = [
            np.log(np.interp(log_odds[:, k], odds, frequency)) if len(odds) else scores[:, k]
            for k, (odds, frequency) in enumerate(self.knots)
        ]
        return log_shares(np.where(np.isfinite(scores), np.stack(columns, axis=1), -np.inf), use_loop=False)

    def __str__(self) -> str:
        return f"isotonic, {sum(len(odds) for odds, _ in self.knots)} knots"


def _finite(scores: Array) -> Array:
    """Put 0 where a class is impossible or the only possible one: nothing is read off such entries."""
    return np.where(np.isfinite(scores), scores, 0.0)


def _isotonic_knots(x: Array, target: Array, weight: Array) -> tuple[Array, Array]:
    """Rising x, and the values there of the rising function of least squared error; inner points of a step left out."""
    x, place = np.unique(x, return_inverse=True)
    total = np.bincount(place, weights=weight)
    y = isotonic_regression(np.bincount(place, weights=weight * target) / total, sample_weight=total)
    inner = np.zeros(len(x), dtype=bool)
    inner[1:-1] = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
    return x[~inner], y[~inner]


def _rising_logistic(features: Array, member: Array, weight: Array, slope: float, unit: float) -> Array:
    """Coefficients of two features, neither below zero, and of a constant, of least log-loss: (3,).

    Drawn to (slope, slope, 0) by a normal prior of standard deviations (unit, unit, 1).
    """
    total = weight.sum()
    share = weight / total
    design = np.column_stack([features * unit, np.ones(len(features))])
    centre, scale = np.array([slope / unit, slope / unit, 0.0]), np.array([unit, unit, 1.0])
    best, least = np.zeros(3), np.inf
    for used in ([0, 1, 2], [0, 2], [1, 2], [2]):  # with a coefficient below zero, the best without it or them
        x, mean, fixed = design[:, used], centre[used], np.delete(centre, used)

        def evaluate(parameters: Array, x: Array = x, mean: Array = mean, fixed: Array = fixed) -> Evaluation:
            eta, off = x @ parameters, parameters - mean
            p = expit(eta)
            value = share @ (np.logaddexp(0, eta) - member * eta) + (off @ off + fixed @ fixed) / (2 * total)
            hessian = (x.T * (share * p * (1 - p))) @ x + np.eye(len(mean)) / total
            return float(value), x.T @ (share * (p - member)) + off / total, hessian

        fitted = minimise(evaluate, mean)
        value = evaluate(fitted)[0]
        if (fitted[:-1] >= 0).all() and value < least:
            best, least = np.zeros(3), value
            best[used] = fitted
            if len(used) == 3:  # the least value of all, and it rises
                break
    return best * scale
