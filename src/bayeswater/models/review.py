"""Leave-one-out scores of counted rows, added up piece by piece: quality over all rows, and rows to calibrate by.

Equal rows are one kind with the weight of all, and kinds stand in the order of a hash of their cells. Of more kinds
than a calibration looks at, those of least hash are kept: a fair sample. A kind that is among the least of all rows is
among the least of its piece, so the sample is the same for any order of rows and any division into pieces.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.reading.counted_rows import CountedRows
from bayeswater.data.reading.raw_table import read_raw
from bayeswater.data.reading.row_hashes import hash_word, hashed, number_words, row_hashes, state_words
from bayeswater.decision.calibration_choice import Quality
from bayeswater.decision.scorecard import Scorecard
from bayeswater.decision.scores import Scores
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.limits import require_table_bytes
from bayeswater.models.held_out import Fold
from bayeswater.models.streaming.labelled import LabelledRows
from bayeswater.models.streaming.passes import Pass, Piece, Walk, walked
from bayeswater.statistics.sums import ClassCounts
from bayeswater.typing import Array

Scoring = Callable[[Any, Labels, Array], tuple[Array, Array]]
"""Log-probabilities (n_rows, n_classes) of rows, each taken out with a weight of its own, and their known cells."""

REVIEWED_ROWS = 2**14
"""Kinds of rows whose leave-one-out scores are kept to calibrate by, at most."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Review:
    """How well rows are told, and the scores of their kinds in the order of `key`."""

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
            hashes = row_hashes(read_raw(rows.X, "leave_one_out")) + hash_word(fold)
        weight = rows.weight if score_weight is None else score_weight
        scores = Scores.of(log_proba, labels.codes, weight, known)
        key = row_keys(hashes, labels, removed)
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
        key, first, kind = np.unique(self.key, return_index=True, return_inverse=True)
        kept = slice(0, REVIEWED_ROWS)
        weight = np.bincount(kind, self.scores.weight, len(key))
        scores = replace(self.scores.take(first[kept]), weight=weight[kept])
        return Review(self.card, scores, key[kept], self.n_rows, self.n_left_out)

    def result(self) -> LeaveOneOut:
        """Give what calibration takes."""
        quality = Quality(self.card.log_loss, self.card.ece, self.card.accuracy) if self.n_rows else None
        return LeaveOneOut(self.scores, quality, self.n_rows, self.n_left_out)


def _joined(parts: list[Scores]) -> Scores:
    return Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in Scores.__annotations__))


def row_keys(hashes: Array, labels: Labels, removed: Array) -> Array:
    """Tell rows apart that are scored differently, by cells, class and the weight that leaving out takes: (n_rows,)."""
    return hashed(hashes + hashed(state_words(labels.variable)[labels.codes] + hashed(number_words(removed))))


def reviewed(review_of: Callable[..., Review]) -> Walk[LeaveOneOut]:
    """Score rows that a model has counted, each against the sums without it, by a pass."""
    review = yield Pass(Reviewing(review_of), "leaving one out")
    return review.result()


def review_of_source(model: Any, examples: LabelledRows) -> LeaveOneOut:
    """Score the rows of a source that a model was fitted to."""
    if examples.fits_into_head:
        return model.leave_one_out([examples.head[:3]])
    return walked(reviewed(model._review_of), examples)


@dataclass(frozen=True)
class Reviewing:
    """A function of a piece: how its rows, or those of a fold that is held out, are scored without themselves."""

    review_of: Callable[..., Review]  # of X, y, weights, and of a fold its share of these and its number
    fold: Fold | None = None

    def __call__(self, piece: Piece) -> Review | None:
        """Score the rows of a piece; None where none is of the fold."""
        if self.fold is None:
            return self.review_of(*piece[:3])
        rows = CountedRows.of(*piece[:3], self.fold.cells.model)
        X, y, share, weight = self.fold.rows(*rows.triple)
        return self.review_of(X, y, weight, share, self.fold.number) if len(y) else None
