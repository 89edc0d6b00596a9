"""Calibration maps: small frozen objects that turn log-probabilities into better ones.

    unchanged      as it is                                                   nothing
    temperature    softmax(log p_k / T)                                       one number
    likelihood     softmax(log q_k + (log p_k - log q_k) / T), q the prior    one number
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
from bayeswater.decision.softmax_maps import (
    ShiftedTemperature,
    Temperature,
    Unchanged,
    VectorScaling,
    tempered_likelihood,
)
from bayeswater.typing import Array

__all__ = [
    "FEW_PARAMETERS",
    "MAPS",
    "BetaCalibration",
    "CalibrationMap",
    "Fit",
    "IsotonicCalibration",
    "ShiftedTemperature",
    "Temperature",
    "Unchanged",
    "VectorScaling",
    "few_parameters",
]


class CalibrationMap(Protocol):
    """What all maps can do."""

    @classmethod
    def fit(cls, log_proba: Any, codes: Any, weight: Any = None) -> Self:
        """Learn from log-probabilities (n_rows, n_classes), codes of the true classes (n_rows,) and weights."""

    def apply(self, log_proba: Any) -> Array:
        """Calibrated log-probabilities (n_rows, n_classes), normalised."""


Fit = Callable[[Any, Any, Any], CalibrationMap]
"""What learns a map from log-probabilities, codes of the true classes and weights."""

MAPS: dict[str, type[CalibrationMap]] = {
    "temperature": Temperature,
    "vector": VectorScaling,
    "beta": BetaCalibration,
    "isotonic": IsotonicCalibration,
}
"""The maps by name, those of fewer parameters first."""

FEW_PARAMETERS: dict[str, type[CalibrationMap]] = {
    "unchanged": Unchanged,
    "temperature": Temperature,
    "likelihood": ShiftedTemperature,
    "shifted": ShiftedTemperature,
}
"""Kinds of the maps that a classifier on sums takes for itself, by the names of `few_parameters`."""


def few_parameters(log_prior: Array) -> dict[str, tuple[Fit, int]]:
    """Give the ways in which a classifier on sums learns its own map, and how many numbers each of them learns.

    What is wrong with it is too much confidence, in all that it says or in all but its class prior (n_classes,); and
    perhaps that prior.
    """
    return {
        "unchanged": (Unchanged.fit, 0),
        "temperature": (Temperature.fit, 1),
        "likelihood": (tempered_likelihood(log_prior), 1),
        "shifted": (ShiftedTemperature.fit, len(log_prior)),
    }
