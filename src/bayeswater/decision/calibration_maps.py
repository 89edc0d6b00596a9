"""Calibration maps: small frozen objects that turn log-probabilities into better ones.

    temperature    softmax(log p_k / T)                                       one number
    vector         softmax(a_k log p_k + b_k); two classes share a: Platt     2 K - 1 numbers
    beta           logistic(a_k log p_k - b_k log(1 - p_k) + c_k)             3 K numbers
    isotonic       a rising function of the log-odds of each class            as many as the rows allow

Each is fitted to rows that the classifier was not fitted on, and applied to log-probabilities of new ones. Impossible
classes (-inf) stay impossible (see `doubt`). A map fitted on no rows changes nothing. NaN is never a result.
"""

from typing import Any, Protocol, Self

from bayeswater.decision.one_against_rest_maps import BetaCalibration, IsotonicCalibration
from bayeswater.decision.softmax_maps import Temperature, VectorScaling
from bayeswater.typing import Array

__all__ = [
    "MAPS",
    "BetaCalibration",
    "CalibrationMap",
    "IsotonicCalibration",
    "Temperature",
    "VectorScaling",
]


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
