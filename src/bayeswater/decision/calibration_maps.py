"""Calibration maps: small frozen objects that turn log-probabilities into better ones.

    temperature    softmax(log p_k / T)                                       one number
    vector         softmax(a_k log p_k + b_k); two classes share a: Platt     2 K - 1 numbers
    beta           logistic(a_k log p_k - b_k log(1 - p_k) + c_k)             3 K numbers
    isotonic       a rising function of the log-odds of each class            as many as the rows allow

Each is fitted to rows that the classifier was not fitted on, and applied to log-probabilities of new ones. Impossible
classes (-inf) stay impossible (`calibration_choice.Doubt`). A map fitted on no rows changes nothing. NaN is never a
result.

Temperature and vector scaling are maps of all classes at once. They have the least log-loss on the rows they are fitted
on, with a guard against a record too good to be true: W rows without an error do not prove that there are none. A
temperature claims at least 1 / (W + 2) errors (Laplace's rule of succession), and vector scaling is drawn to the best
temperature by a standard normal prior, worth one row or so. Nor is it proof of anything if few rows seem to speak
against the scores: a temperature never erases what they say, so that the class of the largest score stays that of the
largest probability. A classifier that knows its class prior takes `likelihood_temperature` instead.

Beta calibration and isotonic regression are maps of one class against the rest, normalised over the classes, with the
same guard. Beta calibration is drawn to the best temperature by a standard normal prior. Isotonic frequencies run from
1 / (W0 + 2) to (W1 + 1) / (W1 + 2) for W1 rows of the class and W0 others (the labels of Platt 1999), so that no class
is ruled out because a few rows did not have it.
"""

from typing import Any, Protocol, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit

from bayeswater.decision.convex import Evaluation, minimise
from bayeswater.decision.scores import Scores, learnable, log_complement, normalised, span
from bayeswater.kernels.class_scores import log_shares
from bayeswater.records import record
from bayeswater.typing import Array

LEAST_LOG_ODDS = 1 / 20
"""What a temperature leaves, at least, of the widest log-odds of two classes among the rows it is fitted on."""


@record
class Temperature:
    """softmax(log p / T): above 1 takes confidence back, below 1 adds.

    The log-loss is convex in 1/T, and its minimum is found there. Scores that seem to say nothing, or the wrong thing,
    keep 1/20 of log-odds at their widest: too little to do harm, and enough to tell which class comes first.

    >>> Temperature(2.0).apply(np.log([[0.8, 0.2]])).round(3)
    array([[-0.405, -1.099]])
    """

    temperature: float

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Find the temperature of least log-loss."""
        return cls(best_temperature(learnable(log_proba, codes, weight)))

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities."""
        scores = normalised(log_proba)
        possible = np.isfinite(scores)
        return log_shares(np.divide(scores, self.temperature, where=possible, out=scores), use_loop=False)

    def __str__(self) -> str:
        return f"temperature {self.temperature:.4g}"


@record
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
        impossible = np.isneginf(scores.log_proba)
        z = np.where(impossible, 0.0, scores.log_proba)
        some_impossible = bool(impossible.any())
        share, rows = scores.weight / total, np.arange(len(scores))
        own_z = np.bincount(scores.codes, weights=share * z[rows, scores.codes], minlength=n_classes)
        own = np.bincount(scores.codes, weights=share, minlength=n_classes)
        # The 2 n_classes slopes and shifts are centre + free @ parameters, these of prior variance 1.
        n_slopes = 1 if n_classes == 2 else n_classes
        free = np.zeros((2 * n_classes, n_slopes + n_classes))
        free[:n_classes, :n_slopes] = unit * (np.ones((n_classes, 1)) if n_slopes == 1 else np.eye(n_classes))
        free[n_classes:, n_slopes:] = np.eye(n_classes)

        def slopes_and_shifts(parameters: Array) -> Array:
            return (free @ parameters).reshape(2, n_classes) + np.array([[centre], [0.0]])

        def evaluate(parameters: Array) -> Evaluation:
            a, b = slopes_and_shifts(parameters)
            eta = a * z
            eta += b
            if some_impossible:
                eta[impossible] = -np.inf
            p, log_sum = _softmax(eta)
            value = share @ (log_sum - eta[rows, scores.codes])
            # The curvature of a log-normaliser is the covariance of what it sums over: z_k and 1 of the class drawn.
            pz, weighted = p * z, share[:, None] * p
            weighted_z = weighted * z
            single, product = weighted.sum(axis=0), weighted_z.sum(axis=0)
            square = np.einsum("ik,ik->k", weighted_z, z)
            cross = np.diag(product) - weighted_z.T @ p
            hessian = np.block(
                [[np.diag(square) - weighted_z.T @ pz, cross], [cross.T, np.diag(single) - weighted.T @ p]]
            )
            gradient = np.concatenate([product - own_z, single - own])
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


def best_temperature(scores: Scores) -> float:
    """Temperature of least log-loss."""
    if not len(scores):
        return 1.0
    impossible = np.isneginf(scores.log_proba)
    z = _below_best(scores.log_proba)
    spread = -float(z.min())
    if spread == 0:
        return 1.0
    z /= spread
    own, share = z[np.arange(len(z)), scores.codes], scores.weight / scores.weight.sum()
    some_impossible = bool(impossible.any())

    def powers(inverse: float) -> tuple[Array, Array]:
        """Unnormalised probabilities (n_rows, n_classes), 1 for the largest of a row, and their sums."""
        score = inverse * z
        if some_impossible:
            score[impossible] = -np.inf
        power = np.exp(score, out=score)
        return power, power.sum(axis=1)

    def evaluate(parameters: Array) -> Evaluation:
        inverse = float(parameters[0])
        power, total = powers(inverse)
        mean = np.einsum("ik,ik->i", power, z) / total
        curvature = np.einsum("ik,ik,ik->i", power, z, z) / total - mean**2
        value = share @ (np.log(total) - inverse * own)
        return float(value), np.array([share @ (mean - own)]), share @ curvature * _ONE

    def errors_claimed(inverse: float) -> float:
        return 1 - float(share @ (1 / powers(inverse)[1]))

    if evaluate(np.zeros(1))[1][0] >= 0:  # the true class scores no better than the others
        return spread / LEAST_LOG_ODDS
    inverse = float(minimise(evaluate, np.zeros(1))[0])
    least_errors = 1 / (scores.weight.sum() + 2)
    if errors_claimed(inverse) < least_errors:
        inverse = brentq(lambda x: errors_claimed(x) - least_errors, 0.0, inverse, xtol=1e-14 * inverse)
    return spread / max(inverse, LEAST_LOG_ODDS)


def best_slope(scores: Scores) -> tuple[float, float]:
    """Inverse of the best temperature, and a unit for slopes: itself or, where it is the least, what scores allow."""
    best = best_temperature(scores)
    if best < highest_temperature(scores):
        return 1 / best, 1 / best
    finite = scores.log_proba[np.isfinite(scores.log_proba)]
    return 1 / best, -1 / float(finite.min())


def highest_temperature(scores: Scores) -> float:
    """Temperature that leaves the least of the log-odds; infinite where all classes score alike."""
    spread = -float(_below_best(scores.log_proba).min(initial=0.0))
    return spread / LEAST_LOG_ODDS if spread else np.inf


def _below_best(log_proba: Array) -> Array:
    """Distance of each class from the best of its row, at most 0; 0 for one that is impossible."""
    return np.where(np.isneginf(log_proba), 0.0, log_proba - log_proba.max(axis=1, keepdims=True, initial=-np.inf))


_ONE = np.ones((1, 1))


def _softmax(eta: Array) -> tuple[Array, Array]:
    """Probabilities (n_rows, n_classes) and the logarithm of their normaliser (n_rows,)."""
    top = eta.max(axis=1, keepdims=True)
    p = eta - top
    np.exp(p, out=p)
    total = p.sum(axis=1, keepdims=True)
    p /= total
    return p, (top + np.log(total))[:, 0]


@record
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


@record
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
    from sklearn.isotonic import isotonic_regression  # with it comes more than most models need

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


__all__ = ["MAPS", "BetaCalibration", "CalibrationMap", "IsotonicCalibration", "Temperature", "VectorScaling"]


class CalibrationMap(Protocol):
    """What all maps can do."""

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Learn from log-probabilities (n_rows, n_classes), codes of the true classes (n_rows,) and weights."""

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities (n_rows, n_classes), normalised."""


MAPS: dict[str, type[CalibrationMap]] = {
    "temperature": Temperature,
    "vector": VectorScaling,
    "beta": BetaCalibration,
    "isotonic": IsotonicCalibration,
}
"""The maps by name, those of fewer parameters first."""
