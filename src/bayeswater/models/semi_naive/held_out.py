"""Leave-one-out scores by which a model on discrete columns can be calibrated honestly.

Leaving a row out of the counts is honest for probabilities. It is not for what the labels of all rows have chosen
beforehand, the cuts of numbers and the structure: on few rows these know the labels by heart. So the rows are dealt
into three parts. Those of one part are scored, each left out of the counts of all rows, by cuts and structure that the
other two parts chose; of few rows every part in turn, of many the first alone, which is enough of them then. Where
nothing was chosen by the labels, all rows are scored.

Rows are dealt out one by one in the order of their class and of a hash of their cells, so the order of the table does
not matter, every class is spread over the parts, and a row of weight w gives each part what w equal rows would.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.discrete_table import DiscreteTable
from bayeswater.data.mixing import number_words, row_words, state_words
from bayeswater.data.raw_table import RawTable
from bayeswater.data.weights import evenly_spaced
from bayeswater.decision.calibration_report import Quality
from bayeswater.decision.scorecard import Scorecard
from bayeswater.decision.scores import Scores
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.scoring import score_blocks
from bayeswater.models.calibrating import REVIEWED_ROWS, LeaveOneOut, joined_scores
from bayeswater.models.semi_naive.state_rows import StateRows
from bayeswater.typing import Array

PARTS = 3
"""Parts that rows are dealt into: one is scored, the others choose."""

CROSS_FITTED_ROWS = 5000
"""Rows up to which every part is scored in turn; a third of more rows settles a temperature well enough."""


def row_hashes(table: DiscreteTable, raw: RawTable) -> Array:
    """Hash the cells of each row: categories by their label, numbers by their value before they were cut: (n_rows,)."""
    dated = raw.with_dates(table.plan)
    return row_words(
        (
            number_words(dated.numbers(column.name)) if column.family == "binned" else state_words(variable)[codes]
            for column, variable, codes in zip(table.plan.used, table.coded.schema, table.columns, strict=True)
        ),
        table.shape[0],
    )


@dataclass(frozen=True)
class Dealt:
    """Rows in parts; a row of weight over 1 may be in several, with a share of its weight in each."""

    row: Array  # (n_pieces,), in the order of the table
    part: Array  # (n_pieces,), 0 .. PARTS - 1
    weight: Array  # (n_pieces,)
    n_equal: float  # rows of weight 1 that were dealt out

    def in_turn(self) -> list[Array]:
        """Mark the pieces to be scored (n_pieces,), part by part: all that hold any, or of many the first."""
        parts = [self.part == k for k in range(PARTS if self.n_equal <= CROSS_FITTED_ROWS else 1)]
        return [part for part in parts if part.any()]


def dealt(hashes: Array, codes: Array, weight: Array | None) -> Dealt:
    """Deal rows out one by one in the order of class and hash, each as often as its weight says.

    >>> pieces = dealt(np.array([5, 9, 7]), np.array([0, 0, 0]), np.array([1.0, 1.0, 4.0]))
    >>> list(zip(pieces.row.tolist(), pieces.part.tolist(), pieces.weight.tolist()))
    [(0, 0, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 1, 2.0), (2, 2, 1.0)]
    """
    weight = np.ones(len(codes)) if weight is None else weight
    n_equal = np.ceil(weight)  # a row of weight 4 is dealt out as four, one of 0.4 as one
    order = np.lexsort((hashes, codes))
    first = np.empty(len(codes))
    first[order] = np.cumsum(n_equal[order] % PARTS) - n_equal[order] % PARTS
    before = (np.arange(PARTS) - first[:, None]) % PARTS  # equal rows before the first one that goes to each part
    times = np.maximum((n_equal[:, None] - before + PARTS - 1) // PARTS, 0)  # (n_rows, PARTS)
    row, part = np.nonzero(times)
    return Dealt(row, part, times[row, part] * (weight / n_equal)[row], float(n_equal.sum()))


def joined(reviews: Sequence[LeaveOneOut]) -> LeaveOneOut:
    """Put the reviews of several batches together."""
    return _judged(joined_scores([one.scores for one in reviews]), sum(one.n_left_out for one in reviews))


def review(joint: Any, class_count: Array, rows: StateRows) -> LeaveOneOut:
    """Score rows that were counted, each against the sums without it; of very many rows, some."""
    if not len(rows):
        return _judged(Scores.of(np.zeros((0, len(class_count))), rows.labels.codes, rows.weight), 0)
    rows = rows.take(evenly_spaced(len(rows), REVIEWED_ROWS))
    alone = rows.alone(class_count)
    log_proba = score_blocks(joint.without(rows.table, rows.labels, rows.removed), rows.table, log_posterior)
    return _judged(Scores.of(log_proba, rows.labels.codes, rows.weight).take(~alone), int(alone.sum()))


def _judged(scores: Scores, n_left_out: int) -> LeaveOneOut:
    if not len(scores):
        return LeaveOneOut(scores, None, 0, n_left_out)
    card = Scorecard.of(scores.log_proba, scores.codes, scores.weight)
    return LeaveOneOut(scores, Quality(card.log_loss, card.ece, card.accuracy), len(scores), n_left_out)
