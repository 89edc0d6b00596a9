"""Calibration maps: small frozen objects that turn log-probabilities into better ones.

    temperature    softmax(log p_k / T)                                       one number
    vector         softmax(a_k log p_k + b_k); two classes share a: Platt     2 K - 1 numbers
    beta           logistic(a_k log p_k - b_k log(1 - p_k) + c_k)             3 K numbers
    isotonic       the rising step function of the log-odds nearest the labels

Beta and isotonic treat one class against the rest and normalise. Each is fitted to the least log-loss on rows that
the classifier was not fitted on, every label with the doubt of Platt (1999): one row more is taken to contradict
all W rows, so that even a faultless record leaves 1 / (W + 2) to error and no parameter runs to infinity.
Impossible classes (-inf) stay impossible; see `doubt`. A map fitted on no rows changes nothing or next to nothing.
"""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy.special import expit, log_expit
from sklearn.isotonic import IsotonicRegression

from bayeswater.decision.convex import Evaluation, minimise
from bayeswater.decision.scores import Scores, log_complement, normalised
from bayeswater.inference.log_space import log_posterior
from bayeswater.typing import Array


class CalibrationMap(Protocol):
    """What all maps can do."""

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Learn from log-probabilities (n_rows, n_classes), codes of the true classes (n_rows,) and weights."""

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities (n_rows, n_classes), normalised."""


@dataclass(frozen=True)
class Temperature:
    """softmax(log p / T): above 1 takes confidence back, below 1 adds; infinite if the scores say nothing.

    The log-loss is convex in 1/T, and its minimum is found there.

    >>> Temperature(2.0).apply(np.log([[0.8, 0.2]])).round(3)
    array([[-0.405, -1.099]])
    """

    temperature: float

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Find the temperature of least log-loss."""
        scores = _learnable(log_proba, codes, weight)
        if not len(scores):
            return cls(1.0)
        possible, target, share = _problem(scores)
        z = np.where(possible, scores.log_proba - scores.log_proba.max(axis=1, keepdims=True), 0.0)
        spread = -float(z.min())
        if spread == 0:
            return cls(1.0)
        z /= spread

        def evaluate(inverse: Array) -> Evaluation:
            eta = np.where(possible, inverse * z, -np.inf)
            p, log_sum = _softmax(eta)
            mean = (p * z).sum(axis=1)
            value = share @ (log_sum - (target * inverse * z).sum(axis=1))
            slope = share @ (mean - (target * z).sum(axis=1))
            curvature = share @ (p * (z - mean[:, None]) ** 2).sum(axis=1)
            return float(value), np.array([slope]), np.array([[curvature]])

        start = np.zeros(1)
        if evaluate(start)[1][0] >= 0:  # the true class scores no better than the others
            return cls(np.inf)
        return cls(spread / float(minimise(evaluate, start)[0]))

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities."""
        scores = normalised(log_proba)
        return log_posterior(np.where(np.isneginf(scores), -np.inf, scores / self.temperature))

    def __str__(self) -> str:
        return f"temperature {self.temperature:.4g}"


@dataclass(frozen=True)
class VectorScaling:
    """softmax(a_k log p_k + b_k); for two classes with one slope, which is Platt's logistic map of the log-odds."""

    slope: Array  # (n_classes,)
    shift: Array  # (n_classes,), of mean zero

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Find slopes and shifts of least log-loss, starting from the best temperature."""
        scores = _learnable(log_proba, codes, weight)
        n_classes = scores.n_classes
        slope = np.full(n_classes, 1 / Temperature.fit(scores.log_proba, scores.codes, scores.weight).temperature)
        if not len(scores):
            return cls(slope, np.zeros(n_classes))
        possible, target, share = _problem(scores)
        z = np.where(possible, scores.log_proba, 0.0)
        # All slopes and shifts as a linear function of the free parameters: two classes have one slope.
        free_slope = np.ones((n_classes, 1)) if n_classes == 2 else np.eye(n_classes)
        n_slopes = free_slope.shape[1]
        free = np.zeros((2 * n_classes, n_slopes + n_classes))
        free[:n_classes, :n_slopes] = free_slope
        free[n_classes:, n_slopes:] = np.eye(n_classes)

        def evaluate(parameters: Array) -> Evaluation:
            a, b = (free @ parameters).reshape(2, n_classes)
            eta = np.where(possible, a * z + b, -np.inf)
            p, log_sum = _softmax(eta)
            value = share @ (log_sum - (target * np.where(possible, eta, 0.0)).sum(axis=1))
            error = share[:, None] * (p - target)
            gradient = np.concatenate([(error * z).sum(axis=0), error.sum(axis=0)])
            part = np.hstack([p * z, p])  # (n_rows, 2 n_classes)
            own = share @ np.hstack([p * z * z, p * z, p])
            hessian = -(part * share[:, None]).T @ part
            for block, diagonal in enumerate(own.reshape(3, n_classes)):
                i = np.arange(n_classes) + (block == 2) * n_classes
                j = np.arange(n_classes) + (block >= 1) * n_classes
                hessian[i, j] += diagonal
                if block == 1:
                    hessian[j, i] += diagonal
            return float(value), free.T @ gradient, free.T @ hessian @ free

        start = np.concatenate([slope[:n_slopes], np.zeros(n_classes)])
        slope, shift = (free @ minimise(evaluate, start)).reshape(2, n_classes)
        return cls(slope, shift - shift.mean())

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities."""
        scores = normalised(log_proba)
        possible = np.isfinite(scores)
        return log_posterior(np.where(possible, self.slope * np.where(possible, scores, 0.0) + self.shift, -np.inf))

    def __str__(self) -> str:
        if len(self.slope) == 2:
            return f"Platt, log-odds x {self.slope[0]:.4g} {self.shift[1] - self.shift[0]:+.4g}"
        return f"vector, slopes {_range(self.slope)}, shifts {_range(self.shift)}"


@dataclass(frozen=True)
class BetaCalibration:
    """logistic(a_k log p_k - b_k log(1 - p_k) + c_k) with a, b >= 0, normalised over the classes (Kull et al. 2017)."""

    coefficients: Array  # (n_classes, 3): a, b, c

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Fit each class against the rest."""
        scores = _learnable(log_proba, codes, weight)
        features = _beta_features(scores.log_proba)
        coefficients = np.tile([1.0, 1.0, 0.0], (scores.n_classes, 1))
        for k, (rows, target) in enumerate(_one_against_rest(scores)):
            if rows.any():
                coefficients[k] = _rising_logistic(features[rows, k], target, scores.weight[rows])
        return cls(coefficients)

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities."""
        scores = normalised(log_proba)
        eta = (_beta_features(scores) * self.coefficients).sum(axis=2)
        return log_posterior(np.where(np.isfinite(scores), log_expit(eta), -np.inf))

    def __str__(self) -> str:
        a, b, c = self.coefficients[1:].T if len(self.coefficients) == 2 else self.coefficients.T
        return f"beta, a {_range(a)}, b {_range(b)}, c {_range(c)}"


@dataclass(frozen=True)
class IsotonicCalibration:
    """A rising function of the log-odds of each class against the rest, normalised over the classes."""

    knots: tuple[tuple[Array, Array], ...]  # for each class: log-odds, rising, and the probabilities there

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Fit each class against the rest by pooling adjacent violators."""
        scores = _learnable(log_proba, codes, weight)
        log_odds = _log_odds(scores.log_proba)
        knots = []
        for k, (rows, target) in enumerate(_one_against_rest(scores)):
            if not rows.any():  # nothing is known of this class: one value for all
                knots.append((np.zeros(1), np.full(1, 0.5)))
                continue
            curve = IsotonicRegression().fit(log_odds[rows, k], target, sample_weight=scores.weight[rows])
            knots.append((curve.X_thresholds_, curve.y_thresholds_))
        return cls(tuple(knots))

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities."""
        scores = normalised(log_proba)
        log_odds = _log_odds(scores)
        with np.errstate(divide="ignore"):
            columns = [np.log(np.interp(log_odds[:, k], *curve)) for k, curve in enumerate(self.knots)]
        return log_posterior(np.where(np.isfinite(scores), np.stack(columns, axis=1), -np.inf))

    def __str__(self) -> str:
        return f"isotonic, {sum(len(odds) for odds, _ in self.knots)} knots"
