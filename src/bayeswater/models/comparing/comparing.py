"""`ComparingClassifier`: how each row was decided, and which class it is to be compared with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.decision.softmax_maps import ShiftedTemperature, Temperature
from bayeswater.errors import ParameterError, SchemaError
from bayeswater.explain.explanations import Verdicts
from bayeswater.explain.turning import Decision
from bayeswater.inference.log_space import best_class, fall_back, log_posterior
from bayeswater.inference.scoring import Joint, score
from bayeswater.models.calibrating import CalibratingClassifier
from bayeswater.typing import Array


@dataclass(frozen=True)
class Decided:
    """Log-probabilities (n_rows, n_classes) before and after calibration, and the code of the class chosen."""

    log_proba: Array
    calibrated: Array | None
    chosen: Array

    @property
    def decisive(self) -> Array:
        """The log-probabilities that decide."""
        return self.log_proba if self.calibrated is None else self.calibrated


class ComparingClassifier(CalibratingClassifier):
    """A classifier whose decisions can be put against one another."""

    def _decided(self, joint: Joint, table: Any) -> Decided:
        """Decide each row as `predict` does."""
        log_joint = score(joint, table)
        fall_back(log_joint, joint.log_prior)
        chosen = best_class(log_joint)
        log_proba = log_posterior(log_joint)
        if not self._is_calibrated:
            return Decided(log_proba, None, chosen)
        calibrated = self.calibration_.corrected(log_proba)
        return Decided(log_proba, calibrated, best_class(calibrated))

    def _compared(self, decided: Decided, against: Any) -> Verdicts:
        """Find the class that each row is compared with."""
        return compared(decided, against, self.statistics_.classes)

    def _decision(self) -> Decision:
        none = np.zeros(len(self.classes_))
        corrected_by = self.calibration_.map if self._is_calibrated else None
        if isinstance(corrected_by, Temperature):
            return Decision(1 / corrected_by.temperature, none)
        if isinstance(corrected_by, ShiftedTemperature):
            return Decision(float(corrected_by.slope[0]), corrected_by.shift)
        return Decision(1.0, none)


def compared(decided: Decided, against: Any, classes: Variable) -> Verdicts:
    """Find the class that each row is compared with: the runner-up, or what a user says."""
    if classes.n_states < 2:
        raise ParameterError(
            f"the model knows one class, {classes.labels[0]!r}: there is none to compare it with; fit more"
        )
    others = decided.decisive.copy()
    others[np.arange(len(others)), decided.chosen] = -np.inf
    second = others.argmax(axis=1)
    second = np.where(second == decided.chosen, 1, second)  # all others are impossible: any of them is the second
    opposed = second if against is None else _opposed(against, classes, decided.chosen, second)
    return Verdicts(decided.log_proba, decided.calibrated, decided.chosen, opposed)


def _opposed(against: Any, classes: Variable, chosen: Array, second: Array) -> Array:
    """Codes of the classes that a user wants the rows to be compared with."""
    code_of = classes.code_of
    labels = _listed(against, code_of, len(chosen))
    unknown = [label for label in labels if label not in code_of]
    if unknown:
        raise SchemaError(
            f"against names class {unknown[0]!r}, which the model does not know; there are "
            f"{classes.labels.tolist()[:10]}"
        )
    codes = np.array([code_of[label] for label in labels], dtype=np.intp)
    return np.where(codes == chosen, second, codes)


def _listed(against: Any, code_of: Mapping[Any, int], n_rows: int) -> list[Any]:
    """One label for each row, from one for all or from as many as there are rows."""
    try:
        if against in code_of:
            return [against] * n_rows
    except TypeError:  # a list has no hash
        pass
    if isinstance(against, str) or not hasattr(against, "__len__"):
        return [against] * n_rows
    labels = against.tolist() if hasattr(against, "tolist") else list(against)
    if len(labels) != n_rows:
        raise ParameterError(
            f"against has {len(labels)} labels for {n_rows} rows; give one for each row, or one for all"
        )
    return labels
