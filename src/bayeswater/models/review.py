"""Leave-one-out scores of counted rows, added up piece by piece: quality over all rows, and rows to calibrate by.

Equal rows are one kind with the weight of all, and kinds stand in the order of a hash of their cells. Of more kinds
than a calibration looks at, those of least hash are kept: a fair sample. A kind that is among the least of all rows is
among the least of its piece, so the sample is the same for any order of rows and any division into pieces.
"""

from dataclasses import dataclass, replace

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.mixing import mixed, number_words, state_words
from bayeswater.decision.calibration_report import Quality
from bayeswater.decision.scorecard import Scorecard
from bayeswater.decision.scores import Scores
from bayeswater.typing import Array

REVIEWED_ROWS = 2**14
"""Kinds of rows whose leave-one-out scores are kept to calibrate by, at most."""


@dataclass(frozen=True)
class LeaveOneOut:
    """Scores of counted rows, each against the sums without it, and how good they are.

    `scores` are of kinds of equal rows, with the weight of all. Rows alone in their class cannot be judged: they are
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
    return mixed(hashes + mixed(state_words(labels.variable)[labels.codes] + mixed(number_words(removed))))
