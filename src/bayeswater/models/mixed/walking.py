"""A mixed table learned from rows that are read in pieces.

The first rows tell the kinds of columns. One pass counts all rows, and the families that are still open are chosen from
the sums; ``calibrate=True`` takes another, to leave every row out.
"""

from copy import copy
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

from sklearn.base import clone

from bayeswater.data.frames import sparse_columns
from bayeswater.data.reading.column_plan import TEXT, ColumnPlan
from bayeswater.data.reading.counted_rows import CountedRows
from bayeswater.data.reading.raw_table import RawTable, read_raw
from bayeswater.data.variable import Variable
from bayeswater.data.weights import inconsistent_lengths
from bayeswater.estimate.smoothing import columns_of_one_value
from bayeswater.families.number_profile import NumberProfile
from bayeswater.families.numbers import OpenNumbers
from bayeswater.families.planning import NOT_AGREED, plan_columns, warn_of_empty_states, warn_of_left_out
from bayeswater.families.registry import families_of
from bayeswater.models.held_out import CellsOf, Fold, folds_of_rows
from bayeswater.models.mixed.counting import MixedCounting, MixedTotal
from bayeswater.models.mixed.held_out_cuts import chosen_cuts, columns_cut_by_labels, with_cuts
from bayeswater.models.mixed.open_columns import settled, with_text_settled
from bayeswater.models.review import LeaveOneOut, Review, Reviewing, reviewed
from bayeswater.models.streaming.passes import Batches, Examples, Parts, Pass, Piece, SideBySide, Walk, plus
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups

if TYPE_CHECKING:
    from bayeswater.models.mixed.naive_bayes import NaiveBayes

Model = TypeVar("Model", bound="NaiveBayes")


def walk_over_columns(model: Model, examples: Examples, classes: Variable | None = None) -> Walk[Model]:
    """Learn a mixed table: plan it, count it, settle its families, calibrate it; `classes` are declared beforehand."""
    head = examples.head
    cut_by_labels = columns_cut_by_labels(model._settings) if model.calibrate else ()
    with examples.head_named():
        plan, raw = _planned(model, head)
    read = (head.X, raw) if isinstance(examples, Batches) else None  # elsewhere the first rows come again
    folds: tuple[Fold, ...] = ()
    if cut_by_labels:
        cells = CellsOf(type(model).__name__, plan.sources)
        found = yield from folds_of_rows(examples, cells)
        folds = tuple(Fold(cells, found, number, held_out=True) for number in range(found.n_scored))
    total: MixedTotal = yield Pass(
        MixedCounting(clone(model), plan, tuple(sparse_columns(head.X)), cut_by_labels, folds, read),
        then="calibrate=True reads the rows twice" if model.calibrate else "",
    )
    sums = total.sums if classes is None else total.sums.with_classes(classes)
    model._require_prior(sums.classes.n_states)
    for name, shown in total.shown.items():
        if sums.columns.plan[name].family == TEXT:
            sums = with_text_settled(model, sums, [name], *shown)
    model._keep(settled(model, sums, *CountedRows.of(*head[:3], type(model).__name__).triple), head.X, first=True)
    _warn_of_left_out(model.columns_)
    if model.missing != "state":
        warn_of_empty_states(_with_empty_states(model.statistics_.columns))
    if not model.calibrate:
        return model
    profile = sums.columns.groups.get(OpenNumbers.key)
    if isinstance(profile, NumberProfile) and total.choosing is not None:
        return model.calibrate_with((yield from _review_of_folds(model, folds, total.choosing, profile)))
    return model.calibrate_with((yield from reviewed(model._review_of)))


def _planned(model: "NaiveBayes", head: Piece) -> tuple[ColumnPlan, RawTable]:
    """Plan the columns by the first rows."""
    model._require_reading_parameters()
    raw = read_raw(head.X, type(model).__name__)
    if raw.n_rows != len(head.y):
        raise inconsistent_lengths(raw.n_rows, len(head.y))
    return plan_columns(raw, model._settings.given, model.family), raw


def _warn_of_left_out(plan: ColumnPlan) -> None:
    """Name the columns of which no value was found, or none that could be read."""
    later = "read once later rows have one, or at once if you say how"
    unclear = [column for column in plan if column.why == NOT_AGREED]
    for columns, what_to_do in ((plan.open, later), (unclear, "say how to read them")):
        example = f"for example columns={{{columns[0].name!r}: 'categorical'}}" if columns else ""
        warn_of_left_out(columns, f"{what_to_do}, {example}")


def _with_empty_states(sums: ColumnGroups) -> list[str]:
    """Name the columns of one value and holes, in the order of the plan."""
    found: set[str] = set()
    for key, part in families_of(sums.plan).items():
        counts = sums.groups[key]
        if isinstance(counts, CategoryCounts):
            found.update(name for name, is_one in zip(part.names, columns_of_one_value(counts), strict=True) if is_one)
    return [column.name for column in sums.plan if column.name in found]


def _review_of_folds(
    model: "NaiveBayes", folds: tuple[Fold, ...], chosen_by: Parts, profile: NumberProfile
) -> Walk[LeaveOneOut]:
    """Score the rows of each fold by the cuts that the others chose (`models.mixed.held_out_cuts`)."""

    def judge(chosen: NumberProfile | None) -> "NaiveBayes":
        if chosen is None:  # a single row has no others
            return model
        return copy(model)._adopt(with_cuts(model.statistics_, profile, chosen_cuts(chosen, profile), model._settings))

    reviewing = (Reviewing(judge(chosen)._review_of, fold) for fold, chosen in zip(folds, chosen_by.parts, strict=True))
    found = yield Pass(SideBySide(tuple(reviewing)), "leaving one out")
    review: Review = reduce(plus, found.parts)
    return review.result()
