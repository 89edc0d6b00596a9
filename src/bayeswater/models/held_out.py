"""Leave-one-out scores by which a model on discrete columns can be calibrated honestly.

Leaving a row out of the counts is honest for probabilities. It is not for what the labels of all rows have chosen
beforehand, the cuts of numbers and the structure: on few rows these know the labels by heart. So cuts and structure are
chosen by a part of the rows, all rows are counted, and those are scored, each left out, that had no say in the choice.
Where nothing was chosen by the labels, all rows are scored. The part is drawn at random, the same for the same rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from bayeswater.data.discrete_table import DiscreteTable
from bayeswater.data.labels import Labels
from bayeswater.data.weights import evenly_spaced
from bayeswater.decision.calibration_report import Quality
from bayeswater.decision.scorecard import Scorecard
from bayeswater.decision.scores import Scores
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.scoring import score_blocks
from bayeswater.models.calibrating import REVIEWED_ROWS, LeaveOneOut
from bayeswater.typing import Array

CHOOSING_SHARE = 0.7
"""Share of the rows that choose cuts and structure; the rest is scored."""


def choosing_part(table: DiscreteTable, labels: Labels) -> Array:
    """Mark the rows that choose: (n_rows,), at random, by a seed from the rows themselves."""
    digest = blake2b(digest_size=8)
    for column in table.columns:
        digest.update(np.ascontiguousarray(column).data)
    digest.update(np.ascontiguousarray(labels.codes).data)
    rng = np.random.default_rng(int.from_bytes(digest.digest(), "little"))
    n_rows = len(labels.codes)
    part = np.zeros(n_rows, dtype=bool)
    part[rng.permutation(n_rows)[: round(CHOOSING_SHARE * n_rows)]] = True
    return part


def some_labels(labels: Labels, rows: Array) -> Labels:
    """Labels of the marked rows, among the same classes."""
    codes = labels.codes[rows]
    return replace(labels, codes=codes, count=np.bincount(codes, minlength=labels.n_classes))


def joined(reviews: Sequence[LeaveOneOut]) -> LeaveOneOut:
    """Put the reviews of several batches together."""
    names = ("log_proba", "codes", "weight")
    scores = Scores(*(np.concatenate([getattr(one.scores, name) for one in reviews]) for name in names))
    return _judged(scores, sum(one.n_left_out for one in reviews))


def review(joint: Any, class_count: Array, table: DiscreteTable, labels: Labels, weight: Array | None) -> LeaveOneOut:
    """Score rows that were counted, each against the sums without it; of very many rows, some."""
    kept = evenly_spaced(len(labels.codes), REVIEWED_ROWS) if len(labels.codes) else np.zeros(0, dtype=bool)
    table, labels = table.take(kept), some_labels(labels, kept)
    weight = None if weight is None else weight[kept]
    n_rows = len(labels.codes)
    if not n_rows:
        return _judged(Scores.of(np.zeros((0, len(class_count))), labels.codes, weight), 0)
    removed = removed_weight(weight, n_rows)
    alone = class_count[labels.codes] <= removed
    log_proba = score_blocks(joint.without(table, labels, removed), table, log_posterior)
    return _judged(Scores.of(log_proba, labels.codes, weight).take(~alone), int(alone.sum()))


def _judged(scores: Scores, n_left_out: int) -> LeaveOneOut:
    if not len(scores):
        return LeaveOneOut(scores, None, 0, n_left_out)
    card = Scorecard.of(scores.log_proba, scores.codes, scores.weight)
    return LeaveOneOut(scores, Quality(card.log_loss, card.ece, card.accuracy), len(scores), n_left_out)
