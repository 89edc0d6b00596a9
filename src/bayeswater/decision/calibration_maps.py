"""Calibration maps: small frozen objects that turn log-probabilities into better ones.

    unchanged      as it is                                                   nothing
    temperature    softmax(log p_k / T)                                       one number
    shifted        softmax(log p_k / T + b_k)                                 K numbers
    vector         softmax(a_k log p_k + b_k); two classes share a: Platt     2 K - 1 numbers
    beta           logistic(a_k log p_k - b_k log(1 - p_k) + c_k)             3 K numbers
    isotonic       a rising function of the log-odds of each class            as many as the rows allow

Each is fitted to rows that the classifier was not fitted on, and applied to log-probabilities of new ones. Impossible
classes (-inf) stay impossible (see `doubt`). A map fitted on no rows changes nothing. NaN is never a result.
"""

from collections.abc import Callable
from typing import Any, Protocol, Self

from bayeswater.decision.one_against_rest_maps import BetaCalibration, IsotonicCalibration
from bayeswater.decision.softmax_maps import ShiftedTemperature, Temperature, Unchanged, VectorScaling
from bayeswater.typing import Array

__all__ = [
    "FEW_PARAMETERS",
    "MAPS",
    "BetaCalibration",
    "CalibrationMap",
    "IsotonicCalibration",
    "ShiftedTemperature",
    "Temperature",
    "Unchanged",
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

FEW_PARAMETERS: dict[str, tuple[type[CalibrationMap], Callable[[int], int]]] = {
    "unchanged": (Unchanged, lambda n_classes: 0),
    "temperature": (Temperature, lambda n_classes: 1),
    "shifted": (ShiftedTemperature, lambda n_classes: n_classes),
}
"""Maps that a classifier on sums takes for itself, with the number of their parameters.

What is wrong with it is too much confidence, and perhaps its prior.
"""
