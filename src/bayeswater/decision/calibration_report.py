"""What a calibration was learned from and what it achieved, to be read and printed."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayeswater.decision.calibration_choice import Trial
from bayeswater.decision.calibration_metrics import ece
from bayeswater.decision.doubt import Doubt
from bayeswater.decision.scores import Scores
from bayeswater.typing import Array


@dataclass(frozen=True)
class Quality:
    """Mean log-loss, never floored, expected calibration error of the predicted class, and share of classes right."""

    log_loss: float
    ece: float
    accuracy: float

    @classmethod
    def of(cls, scores: Scores) -> "Quality":
        """Measure rows whose class is known."""
        proba = np.exp(scores.log_proba)
        labels = np.arange(scores.n_classes)
        correct = scores.log_proba.argmax(axis=1) == scores.codes
        return cls(
            float(0 - (scores.own @ scores.weight) / scores.weight.sum()),  # not -0.0, where all is certain and right
            ece(scores.codes, proba, labels=labels, sample_weight=scores.weight),
            float(correct @ scores.weight / scores.weight.sum()),
        )


@dataclass(frozen=True)
class CalibrationReport:
    """Result of a calibration.

    `before` and `after` are measured on the same rows, each scored by a classifier and a map that had not seen it
    (the classifier by leave-one-out or cross-fitting, the map by the folds of `cv`); None where no row could be
    held out. `candidates` has the held-out log-loss of every map that was tried for ``method="auto"``.
    """

    method: str
    map: Any  # a `CalibrationMap`, or a `LikelihoodTemperature`
    doubt: Doubt
    scored_by: str
    n_used: int
    n_left_out: int
    n_impossible: int
    before: Quality | None
    after: Quality | None
    candidates: dict[str, float] = field(default_factory=dict)
    is_stale: bool = False  # whether the classifier has learned or forgotten rows since

    @classmethod
    def of_trial(cls, found: Trial | None) -> tuple[Quality | None, Quality | None]:
        """Measure a trial before and after the map."""
        return (None, None) if found is None else (Quality.of(found.before), Quality.of(found.after))

    def corrected(self, log_proba: Array) -> Array:
        """Apply the map and the doubt to log-probabilities (n_rows, n_classes)."""
        corrected: Array = self.doubt.apply(self.map.apply(log_proba))
        return corrected

    def __str__(self) -> str:
        stale = " (stale: rows were learned or forgotten since)" if self.is_stale else ""
        lines = [f"Calibration: {self.map}{stale}", f"  learned from {_rows(self.n_used)}, scored by {self.scored_by}"]
        if self.n_left_out:
            whose = "its" if self.n_left_out == 1 else "their"
            lines.append(f"  left out: {_rows(self.n_left_out)} that would leave no row of {whose} class to learn from")
        if self.n_impossible:
            lines.append(
                f"  {_rows(self.n_impossible)} of a class called impossible: "
                f"impossible classes now share {self.doubt.probability:.3g}"
            )
        if self.before and self.after:
            lines.append("  on held-out rows    before     after")
            lines.append(f"    log-loss        {self.before.log_loss:10.4f}{self.after.log_loss:10.4f}")
            lines.append(f"    ECE             {self.before.ece:10.4f}{self.after.ece:10.4f}")
        tried = [f"{name} {loss:.4f}" for name, loss in self.candidates.items() if not np.isnan(loss)]
        if tried:  # none could be, where every row is alone in its class
            lines.append(f"  log-loss of each map: {', '.join(tried)}")
        return "\n".join(lines)


def _rows(n: int) -> str:
    return f"{n} row{'' if n == 1 else 's'}"
