"""`CalibratingClassifier`: probabilities corrected by what leave-one-out shows, without a second fit.

Every row is scored against the sums without it. From these scores a `LikelihoodTemperature` is learned, which depends
on how many cells of a row are known; it is applied to whatever is predicted afterwards, until the next fit.
"""

import operator
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import held
from bayeswater.data.labels import encode_labels
from bayeswater.data.mixing import word
from bayeswater.data.raw_table import read_raw
from bayeswater.data.row_hashes import row_hashes
from bayeswater.data.variable import Variable
from bayeswater.decision.calibration_choice import thinned, trial, with_doubt
from bayeswater.decision.calibration_report import CalibrationReport
from bayeswater.decision.cross_fitting import folds_of
from bayeswater.decision.deciding import Evidence
from bayeswater.decision.doubt import Doubt
from bayeswater.decision.likelihood_temperature import LikelihoodTemperature
from bayeswater.decision.probabilities import Probabilities
from bayeswater.decision.scores import Scores, normalised
from bayeswater.errors import DataError
from bayeswater.explain.turning import Decisions
from bayeswater.explain.verdicts import Decided
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.log_space import best_class, fall_back, log_posterior
from bayeswater.inference.scoring import Joint, score
from bayeswater.kernels.blas import one_blas_thread
from bayeswater.kernels.class_scores import log_shares
from bayeswater.limits import require_table_bytes
from bayeswater.models.classifier import CountingClassifier
from bayeswater.models.review import LeaveOneOut, Review, row_keys
from bayeswater.models.streaming.answering import over_rows
from bayeswater.statistics.statistic import spread
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

FOLDS = 2
"""Folds by which the effect of the map is measured."""


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
        reviews = [self._review_of(*batch) for batch in batches]
        if not reviews:
            raise DataError("there are no rows to review: the batches are empty")
        return reduce(operator.add, reviews).result()

    def _review_of(
        self, X: Any, y: Any, sample_weight: Any = None, judging: Array | None = None, part: int = 0
    ) -> Review:
        """Score rows that were counted, each against the sums without it.

        `judging` is the weight of their scores. Equal rows of two parts are scored differently, and no one kind.
        """
        rows = self._rows_that_count(X, y, sample_weight)
        labels = encode_labels(rows.y, self.statistics_.classes, counted=True)
        require_table_bytes(
            8 * len(rows.y) * labels.n_classes,
            f"leaving each of {len(rows.y):,} rows out of a model of {labels.n_classes:,} classes",
            "are these classes, and no names of rows? If they are, give fewer rows at a time",
        )
        removed = removed_weight(rows.weight, len(rows.y))
        judged = self.statistics_.class_count.count[labels.codes] > removed
        with rows.named():
            table = self._table(rows.X)
            log_proba = self._log_proba_without(table, labels, removed)
            hashes = row_hashes(read_raw(rows.X, type(self).__name__)) + word(part)
            keys = row_keys(hashes, labels, removed)
        weight = rows.weight if judging is None else judging
        scores = Scores.of(log_proba, labels.codes, weight, self._known_cells(table))
        return Review.of(scores.take(judged), keys[judged], int((~judged).sum()))

    @abstractmethod
    def _known_cells(self, table: Any) -> Array:
        """Count the known cells of each row of a table: (n_rows,)."""

    def calibrate_with(self, review: LeaveOneOut) -> Self:
        """Learn from leave-one-out scores how far the probabilities can be trusted, and correct them from now on."""
        self._require_fitted()
        scores, log_prior = review.scores, self._counted_log_prior
        scores = replace(scores, log_proba=normalised(scores.log_proba + self._to_counted_prior))

        def calibrated(learned_from: Scores, held_out: Scores) -> Array:
            assert held_out.known is not None
            fitted = LikelihoodTemperature.fit(learned_from, log_prior)
            return fitted.apply(held_out.log_proba, log_prior, held_out.known)

        folds = folds_of(FOLDS, None, scores.codes, np.ones(len(scores), dtype=bool), {}) if len(scores) else []
        folds = thinned(folds, len(scores))
        with one_blas_thread(scores.log_proba.size * scores.n_classes):  # products of a few columns, many times over
            found = LikelihoodTemperature.fit(scores, log_prior)
            before, after = CalibrationReport.of_trial(with_doubt(trial(calibrated, scores, folds), scores, folds))
        self.calibration_ = CalibrationReport(
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
        if not self._is_calibrated:
            return super().predict_log_proba(X)
        self._require_fitted()
        table = self._table(X)
        return self._corrected(self._score_table(table, log_posterior), self._known_cells(table))

    def _corrected(self, log_proba: Array, known: Array) -> Array:
        """Calibrate log-probabilities of rows of which so many cells are known."""
        report, to_counted = self.calibration_, self._to_counted_prior
        counted = report.map.apply(log_proba + to_counted, self._counted_log_prior, known)
        corrected = report.doubt.apply(counted)
        if self._prior_is_counted:
            return corrected
        return log_shares(
            np.where(np.isneginf(self._joint().log_prior), -np.inf, corrected - to_counted), use_loop=False
        )

    @property
    def _counted_log_prior(self) -> Array:
        """Logarithm of the class frequencies of the counted rows, of which leave-one-out tells: (n_classes,)."""
        if self._prior_is_counted:
            return self._joint().log_prior
        count = self.statistics_.class_count.count + 1.0
        return np.log(count / count.sum())

    @property
    def _to_counted_prior(self) -> Array:
        """What turns scores under a class prior that was given into those under the counted one: (n_classes,)."""
        log_prior = self._joint().log_prior
        return np.where(np.isfinite(log_prior), self._counted_log_prior - log_prior, 0.0)

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
        calibrated = self._corrected(log_proba, self._known_cells(table))
        return Decided(log_proba, calibrated, best_class(calibrated))

    def _decisions(self, known: Array) -> Decisions:
        """Say what calibration makes of log-joints, of rows with so many known cells, before the largest wins."""
        if not self._is_calibrated:
            return Decisions(np.ones(len(known)), np.zeros((len(known), len(self.classes_))))
        found = self.calibration_.map
        return Decisions(found.slope(known), found.shifts(known, self._joint().log_prior), by_known=found.usual > 1)


def _stale(report: CalibrationReport, old: Variable, new: Variable) -> CalibrationReport:
    """Mark a calibration as learned from other rows; a class that it did not know is not shifted by it."""
    found, doubt = report.map, report.doubt
    return replace(
        report,
        map=replace(found, shift=spread(found.shift, old, new)),
        doubt=replace(doubt, known=spread(doubt.known, old, new)),
        is_stale=True,
    )
