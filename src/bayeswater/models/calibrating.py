"""Probabilities corrected by what leave-one-out shows, without a second fit: the same for every classifier.

Every row is scored against the sums without it (`models.review`). From these scores a `LikelihoodTemperature` is
learned, which depends on how many cells of a row are known; it is applied to whatever is predicted afterwards, until
the next fit. It is learned under the class frequencies of the counted rows: where a class prior was given, scores are
turned into those under the counted one, corrected, and turned back.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.decision.calibration_choice import CalibrationReport, Doubt, thinned, trial, with_doubt
from bayeswater.decision.cross_fitting import folds_of
from bayeswater.decision.likelihood_temperature import LikelihoodTemperature
from bayeswater.decision.scores import Scores, normalised
from bayeswater.explain.turning import Decided, RowDecisions
from bayeswater.inference.log_space import best_class, fall_back, log_posterior
from bayeswater.inference.scoring import Joint, score
from bayeswater.kernels.class_scores import log_shares
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.models.review import LeaveOneOut
from bayeswater.statistics.statistic import spread
from bayeswater.typing import Array

FOLDS = 2
"""Folds by which the effect of the map is measured."""


@dataclass(frozen=True)
class Priors:
    """Log class prior of the scores (n_classes,), and that of the counted rows, of which leave-one-out tells."""

    scored: Array
    counted: Array

    @property
    def to_counted(self) -> Array:
        """What turns scores under a class prior that was given into those under the counted one: (n_classes,)."""
        return np.where(np.isfinite(self.scored), self.counted - self.scored, 0.0)


@dataclass(frozen=True)
class Calibration:
    """A map that was learned, ready to correct the log-probabilities of a model."""

    report: CalibrationReport
    priors: Priors

    def corrected(self, log_proba: Array, known: Array) -> Array:
        """Correct log-probabilities (n_rows, n_classes) of rows of which so many cells are known (n_rows,)."""
        to_counted = self.priors.to_counted
        found = self.report.map.apply(log_proba + to_counted, self.priors.counted, known)
        corrected = self.report.doubt.apply(found)
        if self.priors.counted is self.priors.scored:
            return corrected
        impossible = np.isneginf(self.priors.scored)
        return log_shares(np.where(impossible, -np.inf, corrected - to_counted), use_loop=False)

    def decisions(self, known: Array) -> RowDecisions:
        """Say what becomes of log-joints, of rows with so many known cells, before the largest wins."""
        found = self.report.map
        return RowDecisions(found.slope(known), found.shifts(known, self.priors.scored), by_known=found.usual > 1)


def learned_calibration(review: LeaveOneOut, priors: Priors) -> CalibrationReport:
    """Learn from leave-one-out scores how far the probabilities of a model can be trusted."""
    scores = review.scores
    scores = replace(scores, log_proba=normalised(scores.log_proba + priors.to_counted))

    def calibrated(learned_from: Scores, held_out: Scores) -> Array:
        assert held_out.known is not None
        fitted = LikelihoodTemperature.fit(learned_from, priors.counted)
        return fitted.apply(held_out.log_proba, priors.counted, held_out.known)

    folds = folds_of(FOLDS, None, scores.codes, np.ones(len(scores), dtype=bool), {}) if len(scores) else []
    folds = thinned(folds, len(scores))
    with one_blas_thread():  # products of a few columns, in hundreds of steps
        found = LikelihoodTemperature.fit(scores, priors.counted)
        before, after = CalibrationReport.of_trial(with_doubt(trial(calibrated, scores, folds), scores, folds))
    return CalibrationReport(
        method="likelihood",
        map=found,
        doubt=Doubt.fit(scores),
        scored_by="leave-one-out",
        n_used=round(float(scores.weight.sum())),
        n_left_out=review.n_left_out,
        n_impossible=int(np.isneginf(scores.own).sum()),
        before=before,
        after=after,
    )


def decided(joint: Joint, table: Any, calibration: Calibration | None = None, known: Array | None = None) -> Decided:
    """Decide each row of a table as `predict` does; of a calibrated model, `known` are the known cells of each row."""
    log_joint = score(joint, table)
    fall_back(log_joint, joint.log_prior)
    chosen = best_class(log_joint)
    log_proba = log_posterior(log_joint)
    if calibration is None or known is None:
        return Decided(log_proba, None, chosen)
    calibrated = calibration.corrected(log_proba, known)
    return Decided(log_proba, calibrated, best_class(calibrated))


def as_stale(report: CalibrationReport, old: Variable, new: Variable) -> CalibrationReport:
    """Mark a calibration as learned from other rows; a class that it did not know is not shifted by it."""
    found: Any = report.map
    return replace(
        report,
        map=replace(found, shift=spread(found.shift, old, new)),
        doubt=replace(report.doubt, known=spread(report.doubt.known, old, new)),
        is_stale=True,
    )
