"""Columns of a mixed table whose family is still open, and what opens or closes them.

Numbers are settled by their sums alone, a text by leaving out rows of the first batch that has it. A column that has
been empty so far is opened by the first rows with a value in it.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from bayeswater.data.column_plan import TEXT
from bayeswater.data.labels import encode_labels
from bayeswater.data.raw_table import read_raw
from bayeswater.data.weights import evenly_spaced, take_rows
from bayeswater.models.mixed import counting
from bayeswater.models.mixed.late_columns import with_late_columns
from bayeswater.models.mixed.planning import replan_open
from bayeswater.models.mixed.settling import settle_numbers, settle_text
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import Sums

if TYPE_CHECKING:
    from bayeswater.models.mixed.naive_bayes import NaiveBayes


def settled(model: "NaiveBayes", sums: Sums[ColumnGroups], X: Any, y: Any, weight: Any) -> Sums[ColumnGroups]:
    """Choose the families that are still open; for text, by leaving out rows of the first batch."""
    sums = settle_numbers(sums, model._settings, model.family)
    texts = [column.name for column in sums.columns.plan.of_families(TEXT)]
    return with_text_settled(model, sums, texts, X, y, weight)


def with_text_settled(
    model: "NaiveBayes", sums: Sums[ColumnGroups], names: Collection[str], X: Any, y: Any, weight: Any
) -> Sums[ColumnGroups]:
    """Choose how some texts are read, by leaving out rows of a batch that has them."""
    if not names:
        return sums
    X, flat, weight = model._rows_that_count(X, y, weight)
    compared = evenly_spaced(len(flat), counting.COMPARED_ROWS)
    labels = encode_labels(flat[compared], sums.classes, counted=True)
    rows = take_rows(X, compared), labels, None if weight is None else weight[compared]
    return settle_text(sums, model._settings, *rows, model.class_alpha, names)


def with_arrived(model: "NaiveBayes", sums: Sums[ColumnGroups], X: Any, y: Any, weight: Any) -> Sums[ColumnGroups]:
    """Open the columns that were empty so far and have a value in these rows."""
    plan, settings = sums.columns.plan, model._settings
    kept, _, _ = model._rows_that_count(X, y, weight)
    raw = read_raw(kept, settings.model).require_columns(plan.sources, settings.model)
    plan, arrived = replan_open(plan, raw, settings.given, model.family)
    return with_late_columns(sums, plan, arrived, settings)
