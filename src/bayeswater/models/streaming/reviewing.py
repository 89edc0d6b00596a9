"""Leave-one-out over pieces of rows that have no order: quality over all rows, and scores of some to calibrate by.

Which rows these are is decided by a hash of their scores, and of equal ones by how many there are in a piece: a fair
sample, the same whatever the order of the pieces.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.mixing import mixed, number_words, row_words
from bayeswater.data.weights import take_rows
from bayeswater.decision.calibration_report import Quality
from bayeswater.decision.scorecard import Scorecard
from bayeswater.decision.scores import Scores
from bayeswater.models.calibrating import REVIEWED_ROWS, LeaveOneOut, joined_scores
from bayeswater.models.streaming.examples import Examples, Piece
from bayeswater.models.streaming.labelled import LabelledRows
from bayeswater.models.streaming.walking import Pass, Walk, walked
from bayeswater.typing import Array


def reviewed(model: Any, examples: Examples, held_out: Callable[[Any], Array] | None = None) -> Walk[LeaveOneOut]:
    """Score rows that a model has counted, each against the sums without it; of pieces without an order, by a pass.

    `held_out` marks the rows of a table that are scored; default all.
    """
    if examples.in_order is not None:
        return model.leave_one_out(examples.in_order)
    found = yield Pass(Reviewing(model, held_out), "leaving one out")
    return found.told()


def review_of(model: Any, examples: LabelledRows) -> LeaveOneOut:
    """Score the rows of a source that a model was fitted to."""
    if examples.fits_into_head:
        found: LeaveOneOut = model.leave_one_out([examples.head[:3]])
        return found
    return walked(reviewed(model, examples), examples)


@dataclass(frozen=True)
class Reviewing:
    """A function of a piece: how its rows are scored without themselves."""

    model: Any
    held_out: Callable[[Any], Array] | None = None

    def __call__(self, piece: Piece) -> "Review":
        """Score the rows of a piece."""
        model = self.model
        X, flat, weight = model._rows_that_count(*piece[:3]).triple
        if self.held_out is not None:
            rest = self.held_out(X)
            if not rest.any():
                return Review.of_none(len(model.classes_))
            X, flat, weight = take_rows(X, rest), flat[rest], None if weight is None else weight[rest]
        scores, n_left_out = model._scores_of(X, flat, weight)
        return Review.of(scores, n_left_out)


@dataclass(frozen=True)
class Review:
    """How well rows are told, scores of some of them in the order of their `key`, and how many rows there were."""

    card: Scorecard
    scores: Scores
    key: Array
    n_rows: int
    n_left_out: int

    @classmethod
    def of(cls, scores: Scores, n_left_out: int) -> "Review":
        """Sum up the scores of some rows."""
        card = Scorecard.of(scores.log_proba, scores.codes, scores.weight)
        return cls(card, *_first(scores, _keys(scores)), len(scores), n_left_out)

    @classmethod
    def of_none(cls, n_classes: int) -> "Review":
        """No rows."""
        return cls.of(Scores.of(np.zeros((0, n_classes)), np.zeros(0, dtype=np.int64)), 0)

    def __add__(self, other: "Review") -> "Review":
        scores, key = joined_scores([self.scores, other.scores]), np.concatenate([self.key, other.key])
        return Review(
            self.card + other.card,
            *_first(scores, key),
            self.n_rows + other.n_rows,
            self.n_left_out + other.n_left_out,
        )

    def told(self) -> LeaveOneOut:
        """Give what calibration takes."""
        quality = Quality(self.card.log_loss, self.card.ece, self.card.accuracy) if self.n_rows else None
        return LeaveOneOut(self.scores, quality, self.n_rows, self.n_left_out)


def _keys(scores: Scores) -> Array:
    """Hashes of rows (n_rows,), other ones for each of some equal rows."""
    words = row_words(map(number_words, (*scores.log_proba.T, scores.codes, scores.weight)), len(scores))
    order = np.argsort(words, kind="stable")
    begins = np.ones(len(words), dtype=bool)
    begins[1:] = words[order][1:] != words[order][:-1]
    copy = np.arange(len(words)) - np.flatnonzero(begins)[np.cumsum(begins) - 1]
    words[order] += copy.astype(np.uint64)
    return mixed(words)


def _first(scores: Scores, key: Array) -> tuple[Scores, Array]:
    """Take the rows of least key, no more than a calibration looks at."""
    order = np.argsort(key, kind="stable")[:REVIEWED_ROWS]
    return scores.take(order), key[order]
