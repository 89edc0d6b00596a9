"""A table of states in memory, reviewed by rows that had no say in cuts and structure.

Where the labels chose nothing, all rows are scored, each left out of the counts. Where they did, rows are dealt into
parts (`models.semi_naive.held_out`), and those of one part are scored by what the others choose.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.raw_table import RawTable
from bayeswater.models.calibrating import LeaveOneOut
from bayeswater.models.semi_naive.discrete_encoding import code_columns, read_columns
from bayeswater.models.semi_naive.discrete_planning import recut
from bayeswater.models.semi_naive.held_out import Dealt, dealt, joined, review, row_hashes
from bayeswater.models.semi_naive.state_rows import StateRows
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.semi_naive.discrete_classifier import DiscreteClassifier


def honest_review(model: "DiscreteClassifier", X: Any, rows: StateRows) -> LeaveOneOut:
    """Score the rows of a fit, read as they came (`X`) and as the model codes them."""
    if not model._was_chosen_by_labels:
        return review(model._joint(), model.class_count_, rows)
    raw = read_columns(X, model._settings.model)
    pieces = dealt(row_hashes(rows.table, raw), rows.labels.codes, rows.weight)
    return joined([_review_of(model, raw, rows, pieces, part) for part in pieces.in_turn()])


def _review_of(
    model: "DiscreteClassifier", raw: RawTable, rows: StateRows, pieces: Dealt, scored: Array
) -> LeaveOneOut:
    """Score the marked pieces of rows (n_pieces,) by cuts and structure that the others choose."""
    settings, part = model._settings, scored if scored.all() else ~scored  # a single row has no others
    share = np.bincount(pieces.row[part], weights=pieces.weight[part], minlength=raw.n_rows)
    choosing, is_weighted = share > 0, rows.weight is not None
    labels, weight = rows.labels.take(choosing), share[choosing] if is_weighted else None
    plan = recut(model.columns_, raw, choosing, labels, weight, settings, model.discretize)
    table = code_columns(raw, plan, None, settings, learning=True)
    every = StateRows(table.take(pieces.row), rows.labels.take(pieces.row), pieces.weight if is_weighted else None)
    return review(_joint_chosen_by(model, every, every.take(part)), model.class_count_, every.take(scored))


def _joint_chosen_by(model: "DiscreteClassifier", rows: StateRows, chosen_by: StateRows) -> Any:
    """Give the joint of all rows, with the structure that a part of them chooses."""
    sums = model._sums_of_rows(chosen_by)
    structure = model._chosen(sums, chosen_by)
    if structure is None:
        structure = model._structure(sums)
    return model._read_with(model._sums_like(sums, rows), structure)
