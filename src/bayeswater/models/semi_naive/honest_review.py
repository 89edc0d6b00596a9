"""A table of states in memory, reviewed by rows that had no say in cuts and structure.

Where the labels chose nothing, all rows are scored, each left out of the counts. Where they did, rows are dealt into
parts (`models.semi_naive.held_out`), and those of one part are scored by what the others choose.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.discrete_table import DiscreteTable
from bayeswater.data.labels import Labels
from bayeswater.data.raw_table import RawTable
from bayeswater.models.calibrating import LeaveOneOut
from bayeswater.models.semi_naive.discrete_encoding import code_columns, read_columns
from bayeswater.models.semi_naive.discrete_planning import recut
from bayeswater.models.semi_naive.held_out import Dealt, dealt, joined, review, row_hashes, some_labels
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.semi_naive.discrete_classifier import DiscreteClassifier


def honest_review(
    model: "DiscreteClassifier", X: Any, table: DiscreteTable, labels: Labels, weight: Array | None
) -> LeaveOneOut:
    """Score the rows of a fit, read as they came (`X`) and as the model codes them (`table`)."""
    if not model._was_chosen_by_labels:
        return review(model._joint(), model.class_count_, table, labels, weight)
    raw = read_columns(X, model._settings.model)
    pieces = dealt(row_hashes(table, raw), labels.codes, weight)
    return joined([_review_of(model, raw, labels, pieces, part, weight is not None) for part in pieces.in_turn()])


def _review_of(
    model: "DiscreteClassifier", raw: RawTable, labels: Labels, pieces: Dealt, scored: Array, is_weighted: bool
) -> LeaveOneOut:
    """Score the marked pieces of rows (n_pieces,) by cuts and structure that the others choose."""
    settings, part = model._settings, scored if scored.all() else ~scored  # a single row has no others
    chooses = np.bincount(pieces.row[part], weights=pieces.weight[part], minlength=raw.n_rows)
    rows = chooses > 0
    own = chooses[rows] if is_weighted else None
    plan = recut(model.columns_, raw, rows, some_labels(labels, rows), own, settings, model.discretize)
    table = code_columns(raw, plan, None, settings, learning=True).take(pieces.row)
    labels, weight = some_labels(labels, pieces.row), pieces.weight if is_weighted else None
    joint = _joint_chosen_by(model, part, table, labels, weight)
    own = None if weight is None else weight[scored]
    return review(joint, model.class_count_, table.take(scored), some_labels(labels, scored), own)


def _joint_chosen_by(
    model: "DiscreteClassifier", part: Array, table: DiscreteTable, labels: Labels, weight: Array | None
) -> Any:
    """Give the joint of all rows, with the structure that a part of them chooses."""
    rows, of_part = table.take(part), some_labels(labels, part)
    weight_of_part = None if weight is None else weight[part]
    sums = model._sums_of_table(rows, of_part, weight_of_part)
    structure = model._chosen(sums, rows, of_part, weight_of_part)
    if structure is None:
        structure = model._structure(sums)
    return model._read_with(model._sums_like(sums, table, labels, weight), structure)
