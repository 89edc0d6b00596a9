"""Leave-one-out scores of counted rows, and probabilities corrected by what they show: the same for every classifier.

Every row is scored against the sums without it, piece by piece: quality over all rows, and rows to calibrate by. Equal
rows are one kind with the weight of all, and kinds stand in the order of a hash of their cells. Of more kinds than a
calibration looks at, those of least hash are kept: a fair sample. A kind that is among the least of all rows is among
the least of its piece, so the sample is the same for any order of rows and any division into pieces.

From these scores a `LikelihoodTemperature` is learned, which depends on how many cells of a row are known. It is
applied to whatever is predicted afterwards, until the next fit. It is learned under the class frequencies of the
counted rows: where a class prior was given, scores are turned into those under the counted one, corrected, and back.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.reading.raw_table import read_raw
from bayeswater.data.reading.row_hashes import hash_word, hashed, number_words, row_hashes, state_words
from bayeswater.data.variable import Variable
from bayeswater.data.weights import CountedRows
from bayeswater.decision.calibration_choice import CalibrationReport, Doubt, Quality, thinned, trial, with_doubt
from bayeswater.decision.cross_fitting import folds_of
from bayeswater.decision.likelihood_temperature import LikelihoodTemperature
from bayeswater.decision.scorecard import Scorecard
from bayeswater.decision.scores import Scores, normalised
from bayeswater.errors import DataError
from bayeswater.explain.turning import RowDecisions
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.kernels.class_scores import log_shares
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.limits import require_table_bytes
from bayeswater.markup import paragraphs
from bayeswater.models.held_out import Fold, kinds_of
from bayeswater.models.streaming.passes import Examples, Pass, Passes, Piece, plus, run_passes, side_by_side
from bayeswater.records import record
from bayeswater.statistics.statistic import spread
from bayeswater.statistics.sums import ClassCounts
from bayeswater.typing import Array

Scoring = Callable[[Any, Labels, Array], tuple[Array, Array]]
"""Log-probabilities (n_rows, n_classes) of rows, each taken out with a weight of its own, and their known cells."""

REVIEWED_ROWS = 2**14
"""Kinds of rows whose leave-one-out scores are kept to calibrate by, at most."""


@record
class LeaveOneOut:
    """Scores of counted rows, each against the sums without it, and how good they are.

    `scores` are of kinds of equal rows, with the weight of all. Rows alone in their class cannot be scored: they are
    left out, and counted.
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

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return paragraphs([str(self)])


@record
class Review:
    """How well rows are predicted, and the scores of their kinds in the order of `key`."""

    card: Scorecard
    scores: Scores
    key: Array  # (n_kinds,)
    n_rows: int
    n_left_out: int

    @classmethod
    def of(cls, scores: Scores, key: Array, n_left_out: int) -> "Review":
        """Sum up the scores of some rows, and their keys (n_rows,)."""
        card = Scorecard.of(scores.log_proba, scores.codes, scores.weight)
        return cls(card, scores, key, len(scores), n_left_out)._by_kind()

    @classmethod
    def of_rows(
        cls, rows: CountedRows, counts: ClassCounts, scored: Scoring, score_weight: Array | None, fold: int
    ) -> "Review":
        """Score rows that were counted, each taken out of the sums; see `BayesClassifier.leave_one_out`."""
        labels = encode_labels(rows.y, counts.classes, counted=True)
        require_table_bytes(
            8 * len(rows.y) * labels.n_classes,
            f"leaving each of {len(rows.y):,} rows out of a model of {labels.n_classes:,} classes",
            "are these classes, and no names of rows? If they are, give fewer rows at a time",
        )
        removed = removed_weight(rows.weight, len(rows.y))
        is_scored = counts.count[labels.codes] > removed
        with rows.named():
            log_proba, known = scored(rows.X, labels, removed)
            key = row_keys(rows, labels, removed, fold)
        weight = rows.weight if score_weight is None else score_weight
        scores = Scores.of(log_proba, labels.codes, weight, known)
        return cls.of(scores.take(is_scored), key[is_scored], int((~is_scored).sum()))

    def __add__(self, other: "Review") -> "Review":
        both = (self, other)
        return Review(
            self.card + other.card,
            _joined([review.scores for review in both]),
            np.concatenate([review.key for review in both]),
            self.n_rows + other.n_rows,
            self.n_left_out + other.n_left_out,
        )._by_kind()

    def _by_kind(self) -> "Review":
        key, first, weight = kinds_of(self.key, self.scores.weight, REVIEWED_ROWS)
        return replace(self, scores=replace(self.scores.take(first), weight=weight), key=key)

    def result(self) -> LeaveOneOut:
        """Give what calibration takes."""
        quality = Quality(self.card.log_loss, self.card.ece, self.card.accuracy) if self.n_rows else None
        return LeaveOneOut(self.scores, quality, self.n_rows, self.n_left_out)


def row_keys(rows: CountedRows, labels: Labels, removed: Array, fold: int) -> Array:
    """Tell rows apart that are scored differently, by cells, class, fold and the weight that leaving out takes."""
    hashes = row_hashes(read_raw(rows.X, "leave_one_out")) + hash_word(fold)
    return hashed(hashes + hashed(state_words(labels.variable)[labels.codes] + hashed(number_words(removed))))


def _joined(parts: list[Scores]) -> Scores:
    return Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in Scores.__annotations__))


def reviewed(review_of: Callable[..., Any]) -> Passes[Any]:
    """Review rows that a model has counted, each against the sums without it, by a pass."""
    review = yield Pass(partial(review_piece, review_of, None), "leaving one out")
    return review.result()


def review_piece(review_of: Callable[..., Any], fold: Fold | None, piece: Piece) -> Any:
    """Score the rows of a piece, or those of a fold that is held out, without themselves; None where there are none.

    `review_of` takes X, y and weights, and of a fold its share of these and its number.
    """
    if fold is None:
        return review_of(*piece[:3])
    rows = CountedRows.of(*piece[:3], fold.cells.model)
    X, y, share, weight = fold.rows(*rows.triple)
    return review_of(X, y, weight, share, fold.number) if len(y) else None


def review_of_batches(batches: Iterable[tuple[Any, ...]] | Examples, review_of: Callable[..., Review]) -> LeaveOneOut:
    """Review rows that come in pieces, by a pass where they are examples of which not all are here."""
    if isinstance(batches, Examples):
        if not batches.fits_into_head:
            found: LeaveOneOut = run_passes(reviewed(review_of), batches)
            return found
        batches = [batches.head[:3]]
    reviews = [review_of(*batch) for batch in batches]
    if not reviews:
        raise DataError("there are no rows to review: the batches are empty")
    return reduce(operator.add, reviews).result()


def review_of_folds(folds: tuple[Fold, ...], reviews: Sequence[Callable[..., Any]]) -> Passes[Any]:
    """Review the rows of each fold by what the others chose: `reviews` are those of the models that they did.

    Without folds the one review is that of all rows.
    """
    if not folds:
        return (yield from reviewed(*reviews))
    of_each = [partial(review_piece, review_of, fold) for fold, review_of in zip(folds, reviews, strict=True)]
    found = yield Pass(partial(side_by_side, of_each), "leaving one out")
    return reduce(plus, found.parts).result()


TRIAL_FOLDS = 2
"""Folds by which the effect of the map is measured."""


@record
class Priors:
    """Log class prior of the scores (n_classes,), and that of the counted rows, of which leave-one-out tells."""

    scored: Array
    counted: Array

    @property
    def to_counted(self) -> Array:
        """What turns scores under a class prior that was given into those under the counted one: (n_classes,)."""
        is_possible = np.isfinite(self.scored)
        return np.subtract(self.counted, self.scored, out=np.zeros(len(self.scored)), where=is_possible)


@record
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

    folds = folds_of(TRIAL_FOLDS, None, scores.codes, np.ones(len(scores), dtype=bool), {}) if len(scores) else []
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


def as_stale(report: CalibrationReport, old: Variable, new: Variable) -> CalibrationReport:
    """Mark a calibration as learned from other rows; a class that it did not know is not shifted by it."""
    found: Any = report.map
    stale = replace(
        report,
        map=replace(found, shift=spread(found.shift, old, new)),
        doubt=replace(report.doubt, known=spread(report.doubt.known, old, new)),
        is_stale=True,
    )
    return stale.in_library(report.library)
