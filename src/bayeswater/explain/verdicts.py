"""How rows were decided, and which class each of them is compared with: the runner-up, or what a user says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayeswater.data.frames import Alongside
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError, SchemaError
from bayeswater.explain.turning import RowDecisions
from bayeswater.typing import Array


@dataclass(frozen=True)
class Decided:
    """Log-probabilities (n_rows, n_classes) before and after calibration, and the code of the class chosen (n_rows,).

    Without a calibration, there are none after it.
    """

    log_proba: Array
    calibrated: Array | None
    chosen: Array

    @property
    def decisive(self) -> Array:
        """The log-probabilities that decide."""
        return self.log_proba if self.calibrated is None else self.calibrated

    def compared(self, against: Any, classes: Variable) -> "Verdicts":
        """Find the class that each row is compared with."""
        if classes.n_states < 2:
            raise ParameterError(
                f"the model knows one class, {classes.states[0]!r}: there is none to compare it with; fit more"
            )
        others = self.decisive.copy()
        others[np.arange(len(others)), self.chosen] = -np.inf
        second = others.argmax(axis=1)
        second = np.where(second == self.chosen, 1, second)  # all others are impossible: any of them is the second
        opposed = second if against is None else _opposed(against, classes, self.chosen, second)
        return Verdicts(self.log_proba, self.calibrated, self.chosen, opposed)


@dataclass(frozen=True)
class Verdicts(Decided):
    """What was decided, and the code of the class that it is compared with (n_rows,)."""

    against: Array


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


class Told(NamedTuple):
    """What an explanation is told of rows beside their reasons, in the order in which all explanations take it."""

    verdicts: Verdicts
    decisions: RowDecisions
    classes: Array
    alongside: Alongside
