"""Leave-one-out over pieces of rows: those of a source, or of batches."""

from dataclasses import dataclass
from typing import Any

from bayeswater.models.held_out import Part
from bayeswater.models.review import LeaveOneOut, Review
from bayeswater.models.streaming.examples import Examples, Piece
from bayeswater.models.streaming.labelled import LabelledRows
from bayeswater.models.streaming.walking import Pass, Walk, walked


def reviewed(model: Any, examples: Examples) -> Walk[LeaveOneOut]:
    """Score rows that a model has counted, each against the sums without it, by a pass."""
    review = yield Pass(Reviewing(model), "leaving one out")
    return review.result()


def review_of(model: Any, examples: LabelledRows) -> LeaveOneOut:
    """Score the rows of a source that a model was fitted to."""
    if examples.fits_into_head:
        found: LeaveOneOut = model.leave_one_out([examples.head[:3]])
        return found
    return walked(reviewed(model, examples), examples)


@dataclass(frozen=True)
class Reviewing:
    """A function of a piece: how its rows, or those of a part that is held out, are scored without themselves."""

    model: Any
    part: Part | None = None

    def __call__(self, piece: Piece) -> Review | None:
        """Score the rows of a piece; None where none is of the part."""
        X, y, weight = self.model._rows_that_count(*piece[:3]).triple
        if self.part is None:
            return self.model._review_of(X, y, weight)
        X, y, share, weight = self.part.rows(X, y, weight)
        return self.model._review_of(X, y, weight, share, self.part.number) if len(y) else None
