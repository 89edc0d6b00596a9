"""`CalibratingClassifier`: probabilities corrected by what leave-one-out shows, without a second fit.

Every row is scored against the sums without it. From these scores a temperature, and perhaps a shift of each class, is
learned; it is applied to whatever is predicted afterwards, until the next fit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import held
from bayeswater.data.labels import encode_labels
from bayeswater.data.variable import Variable
from bayeswater.decision.calibration_choice import choose_few_parameters, thinned, trial, with_doubt
from bayeswater.decision.calibration_maps import few_parameters
from bayeswater.decision.calibration_report import CalibrationReport, Quality
from bayeswater.decision.cross_fitting import folds_of
from bayeswater.decision.deciding import Evidence
from bayeswater.decision.doubt import Doubt
from bayeswater.decision.probabilities import Probabilities
from bayeswater.decision.scorecard import Scorecard
from bayeswater.decision.scores import Scores
from bayeswater.decision.softmax_maps import ShiftedTemperature, Temperature, Unchanged
from bayeswater.errors import DataError
from bayeswater.explain.turning import Decision
from bayeswater.explain.verdicts import Decided
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.log_space import best_class, fall_back, log_posterior
from bayeswater.inference.scoring import Joint, score
from bayeswater.limits import require_table_bytes
from bayeswater.models.classifier import CountingClassifier
from bayeswater.models.streaming.answering import over_rows
from bayeswater.statistics.statistic import spread
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

REVIEWED_ROWS = 2**15
"""Rows whose leave-one-out scores are kept to calibrate by, at most; of more, every second, fourth, ... one."""


FOLDS = 2
"""Folds by which the effect of the map is measured."""


@dataclass(frozen=True)
class LeaveOneOut:
    """Scores of counted rows, each against the sums without it, and how good they are.

    Rows alone in their class cannot be judged: they are left out, and counted.
    """

    scores: Scores
    quality: Quality | None
    n_rows: int
    n_left_out: int

    @property
    def accuracy(self) -> float:
        """Share of rows whose class is predicted."""
        return float("nan") if self.quality is None else self.quality.accuracy

    @property
    def log_loss(self) -> float:
        """Mean negative logarithm of the probability of the true class."""
        return float("nan") if self.quality is None else self.quality.log_loss

    @property
    def ece(self) -> float:
        """Expected calibration error of the predicted class."""
        return float("nan") if self.quality is None else self.quality.ece

    def __str__(self) -> str:
        left_out = f", {self.n_left_out} alone in their class left out" if self.n_left_out else ""
        return (
            f"Leave-one-out of {self.n_rows} rows{left_out}: accuracy {self.accuracy:.4f}, "
            f"log-loss {self.log_loss:.4f}, ECE {self.ece:.4f}"
        )


class CalibratingClassifier(CountingClassifier):
    """A classifier on sums that can correct its probabilities."""

    calibration_: CalibrationReport

    def leave_one_out(self, batches: Iterable[tuple[Any, ...]]) -> LeaveOneOut:
        """Score rows that were counted, each against the sums without it.

        What decides how rows are read is held fixed, as all rows decided it: classes, domains, families, cuts,
        vocabulary, and smoothing of words that was chosen automatically (see `loo_predict_log_proba`). They were chosen
        by the very rows that are scored, so the figures may be a little better than those of new rows. Automatic
        smoothing of categories and bins is chosen again without each row, where these are few: together with many
        columns it would know them by heart.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            The rows the model was fitted on, in pieces, or some of them.
        """
        self._require_fitted()
        parts: list[Scores] = []
        card: Scorecard | None = None
        stride, n_rows, n_left_out = 1, 0, 0
        for batch in batches:
            scores, left_out = self._scores_of(*batch)
            new = Scorecard.of(scores.log_proba, scores.codes, scores.weight)
            card = new if card is None else card + new
            parts.append(scores.take(slice(-n_rows % stride, None, stride)))
            n_rows, n_left_out = n_rows + len(scores), n_left_out + left_out
            while sum(map(len, parts)) > REVIEWED_ROWS:
                stride, parts = 2 * stride, [joined_scores(parts).take(slice(None, None, 2))]
        if card is None:
            raise DataError("there are no rows to review: the batches are empty")
        quality = Quality(card.log_loss, card.ece, card.accuracy) if n_rows else None
        return LeaveOneOut(joined_scores(parts), quality, n_rows, n_left_out)

    def _scores_of(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Scores, int]:
        rows = self._rows_that_count(X, y, sample_weight)
        labels = encode_labels(rows.y, self.statistics_.classes, counted=True)
        require_table_bytes(
            8 * len(rows.y) * labels.n_classes,
            f"leaving each of {len(rows.y):,} rows out of a model of {labels.n_classes:,} classes",
            "are these classes, and no names of rows? If they are, give fewer rows at a time",
        )
        removed = removed_weight(rows.weight, len(rows.y))
        alone = self.statistics_.class_count.count[labels.codes] <= removed
        with rows.named():
            log_proba = self._log_proba_without(rows.X, labels, removed)
        scores = Scores.of(log_proba, labels.codes, rows.weight)
        return scores.take(~alone), int(alone.sum())

    def calibrate_with(self, review: LeaveOneOut) -> Self:
        """Learn from leave-one-out scores how far the probabilities can be trusted, and correct them from now on."""
        self._require_fitted()
        scores = review.scores
        ways = few_parameters(self._joint().log_prior)
        method, fitted, candidates = choose_few_parameters(scores, ways)
        folds = folds_of(FOLDS, None, scores.codes, np.ones(len(scores), dtype=bool), {}) if len(scores) else []
        folds = thinned(folds, len(scores))
        found = with_doubt(trial(ways[method][0], scores, folds), scores, folds)
        before, after = CalibrationReport.of_trial(found)
        self.calibration_ = CalibrationReport(
            method=method,
            map=fitted,
            doubt=Doubt.fit(scores),
            scored_by="leave-one-out",
            n_used=len(scores),
            n_left_out=review.n_left_out,
            n_impossible=int(np.isneginf(scores.own).sum()),
            before=before,
            after=after,
            candidates=candidates,
        )
        return self

    def _keep(self, sums: Sums[Any], X: Any, first: bool) -> Self:
        super()._keep(sums, X, first)
        if first:
            self.__dict__.pop("calibration_", None)
        return self

    def _adopt(self, sums: Sums[Any]) -> Self:
        if "calibration_" in self.__dict__:
            self.calibration_ = _stale(self.calibration_, self.statistics_.classes, sums.classes)
        return super()._adopt(sums)

    def _combined(self, other: Any, operation: Any) -> Self:
        result = super()._combined(other, operation)
        if result is not NotImplemented and "calibration_" in self.__dict__:
            result.calibration_ = _stale(self.calibration_, self.statistics_.classes, result.statistics_.classes)
        return result

    @property
    def _is_calibrated(self) -> bool:
        return "calibration_" in self.__dict__

    @over_rows
    def predict(self, X: Any) -> Array:
        """Class of largest probability; the first one among equals."""
        return self.classes_[best_class(self.predict_log_proba(X))] if self._is_calibrated else super().predict(X)

    @over_rows
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, calibrated if that was asked for: (n_rows, n_classes)."""
        return np.exp(self.predict_log_proba(X)) if self._is_calibrated else super().predict_proba(X)

    @over_rows
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of the probabilities: (n_rows, n_classes)."""
        log_proba = super().predict_log_proba(X)
        return self.calibration_.corrected(log_proba) if self._is_calibrated else log_proba

    def _evidence(self, X: Any) -> Evidence:
        if not self._is_calibrated:
            return super()._evidence(X)
        X = held(X)
        log_proba = Probabilities(self.predict_log_proba(X), "log_joint")
        return Evidence(log_proba, self.classes_, self._scored_prior(), X)

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

    def _decision(self) -> Decision:
        """Say what calibration makes of log-joints before the largest of them wins."""
        corrected_by = self.calibration_.map if self._is_calibrated else Unchanged()
        if isinstance(corrected_by, ShiftedTemperature):
            return Decision(float(corrected_by.slope[0]), corrected_by.shift)
        slope = 1 / corrected_by.temperature if isinstance(corrected_by, Temperature) else 1.0
        return Decision(slope, np.zeros(len(self.classes_)))


def joined_scores(parts: Sequence[Scores]) -> Scores:
    """Put the scores of several batches together."""
    names = ("log_proba", "codes", "weight")
    return Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _stale(report: CalibrationReport, old: Variable, new: Variable) -> CalibrationReport:
    """Mark a calibration as learned from other rows; a class that it did not know is not shifted by it."""
    shifted, doubt = report.map, report.doubt
    if isinstance(shifted, ShiftedTemperature):
        slope = np.full(new.n_states, shifted.slope[0])
        shifted = ShiftedTemperature(slope, spread(shifted.shift, old, new))
    return replace(report, map=shifted, doubt=replace(doubt, known=spread(doubt.known, old, new)), is_stale=True)
