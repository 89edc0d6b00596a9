"""Maps of all classes at once: temperature, and vector scaling, which for two classes is Platt's.

Both have the least log-loss on the rows they are fitted on, with a guard against a record too good to be true: W rows
without an error do not prove that there are none. A temperature claims at least 1 / (W + 2) errors (Laplace's rule of
succession), and vector scaling is drawn to the best temperature by a standard normal prior, worth one row or so.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq

from bayeswater.decision.convex import Evaluation, minimise
from bayeswater.decision.scores import Scores, learnable, normalised, span
from bayeswater.kernels.class_scores import log_shares
from bayeswater.typing import Array


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
        return cls._of(learnable(log_proba, codes, weight))

    @classmethod
    def _of(cls, scores: Scores) -> Self:
        if not len(scores):
            return cls(1.0)
        possible = np.isfinite(scores.log_proba)
        z = np.where(possible, scores.log_proba - scores.log_proba.max(axis=1, keepdims=True), 0.0)
        spread = -float(z.min())
        if spread == 0:
            return cls(1.0)
        z /= spread
        own, share = z[np.arange(len(z)), scores.codes], scores.weight / scores.weight.sum()

        def evaluate(inverse: Array) -> Evaluation:
            p, log_sum = _softmax(np.where(possible, inverse * z, -np.inf))
            mean = np.einsum("ik,ik->i", p, z)
            curvature = np.einsum("ik,ik,ik->i", p, z, z) - mean**2
            return float(share @ (log_sum - inverse * own)), np.array([share @ (mean - own)]), share @ curvature * _ONE

        def errors_claimed(inverse: float) -> float:
            return 1 - float(
                share @ np.exp(-_softmax(np.where(possible, inverse * z, -np.inf))[1])
            )  # z is 0 at the top

        if evaluate(np.zeros(1))[1][0] >= 0:  # the true class scores no better than the others
            return cls(np.inf)
        inverse = float(minimise(evaluate, np.zeros(1))[0])
        least_errors = 1 / (scores.weight.sum() + 2)
        if errors_claimed(inverse) < least_errors:
            inverse = brentq(lambda x: errors_claimed(x) - least_errors, 0.0, inverse, xtol=1e-14 * inverse)
        return cls(spread / inverse)

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities."""
        scores = normalised(log_proba)
        possible = np.isfinite(scores)
        return log_shares(np.divide(scores, self.temperature, where=possible, out=scores), use_loop=False)

    def __str__(self) -> str:
        return f"temperature {self.temperature:.4g}"


@dataclass(frozen=True)
class VectorScaling:
    """softmax(a_k log p_k + b_k); for two classes with one slope, which is Platt's logistic map of the log-odds."""

    slope: Array  # (n_classes,)
    shift: Array  # (n_classes,), of mean zero

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Find slopes and shifts of least log-loss, drawn to the best temperature."""
        scores = learnable(log_proba, codes, weight)
        n_classes, total = scores.n_classes, scores.weight.sum()
        centre, unit = best_slope(scores)
        if not len(scores):
            return cls(np.full(n_classes, centre), np.zeros(n_classes))
        possible = np.isfinite(scores.log_proba)
        z = np.where(possible, scores.log_proba, 0.0)
        share, member = scores.weight / total, scores.codes[:, None] == np.arange(n_classes)
        # The 2 n_classes slopes and shifts are centre + free @ parameters, these of prior variance 1.
        n_slopes = 1 if n_classes == 2 else n_classes
        free = np.zeros((2 * n_classes, n_slopes + n_classes))
        free[:n_classes, :n_slopes] = unit * (np.ones((2, 1)) if n_classes == 2 else np.eye(n_classes))
        free[n_classes:, n_slopes:] = np.eye(n_classes)

        def slopes_and_shifts(parameters: Array) -> Array:
            return (free @ parameters).reshape(2, n_classes) + np.array([[centre], [0.0]])

        def evaluate(parameters: Array) -> Evaluation:
            a, b = slopes_and_shifts(parameters)
            eta = np.where(possible, a * z + b, -np.inf)
            p, log_sum = _softmax(eta)
            value = share @ (log_sum - eta[member])
            error = share[:, None] * (p - member)
            gradient = np.concatenate([(error * z).sum(axis=0), error.sum(axis=0)])
            # The curvature of a log-normaliser is the covariance of what it sums over: z_k and 1 of the class drawn.
            parts = np.hstack([p * z, p])  # (n_rows, 2 n_classes)
            square, product, single = (np.diag(share @ part) for part in (p * z * z, p * z, p))
            hessian = np.block([[square, product], [product, single]]) - (parts * share[:, None]).T @ parts
            return (
                float(value + parameters @ parameters / (2 * total)),
                free.T @ gradient + parameters / total,
                free.T @ hessian @ free + np.eye(len(parameters)) / total,
            )

        slope, shift = slopes_and_shifts(minimise(evaluate, np.zeros(free.shape[1])))
        return cls(slope, shift - shift.mean())

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities."""
        scores = normalised(log_proba)
        possible = np.isfinite(scores)
        return log_shares(
            np.where(possible, self.slope * np.where(possible, scores, 0.0) + self.shift, -np.inf), use_loop=False
        )

    def __str__(self) -> str:
        if len(self.slope) == 2:
            return f"Platt, log-odds x {self.slope[0]:.4g} {self.shift[1] - self.shift[0]:+.4g}"
        return f"vector, slopes {span(self.slope)}, shifts {span(self.shift)}"


def best_slope(scores: Scores) -> tuple[float, float]:
    """Inverse of the best temperature, and a unit for slopes: itself or, where it is 0, what the scores allow."""
    slope = 1 / Temperature._of(scores).temperature
    finite = scores.log_proba[np.isfinite(scores.log_proba)]
    return slope, slope or -1 / float(finite.min())


_ONE = np.ones((1, 1))


def _softmax(eta: Array) -> tuple[Array, Array]:
    """Probabilities (n_rows, n_classes) and the logarithm of their normaliser (n_rows,)."""
    top = eta.max(axis=1, keepdims=True)
    p = np.exp(eta - top)
    total = p.sum(axis=1, keepdims=True)
    return p / total, (top + np.log(total))[:, 0]
