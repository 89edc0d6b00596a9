"""Columns of a mixed table whose family is still open, and what opens or closes them.

Numbers are settled by their sums alone, a text by leaving out rows of the first batch that has it. A column that has
been empty so far has no kind: it is planned once a value arrives, and the rows before count as what they were, missing
in it. Their sums need no second look at them: those of a class of N rows are those of one row of weight N.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.labels import CheckedLabels, Labels, encode_labels
from bayeswater.data.reading.column_plan import IGNORED, TEXT, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable, read_raw
from bayeswater.families.choosing import in_order, settle_numbers
from bayeswater.families.family import Settings
from bayeswater.families.planning import Late, replan_open
from bayeswater.families.registry import families_of
from bayeswater.models.mixed.settling_text import rows_to_compare, settle_text
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.mixed.naive_bayes import NaiveBayes


def settled(
    model: "NaiveBayes", sums: Sums[ColumnGroups], X: Any, y: CheckedLabels, weight: Array | None
) -> Sums[ColumnGroups]:
    """Choose the families that are still open; for text, by leaving out rows of the first batch."""
    sums = settle_numbers(sums, model._settings, model.family)
    texts = [column.name for column in sums.columns.plan.of_families(TEXT)]
    return with_text_settled(model, sums, texts, X, y, weight)


def with_text_settled(
    model: "NaiveBayes",
    sums: Sums[ColumnGroups],
    names: Collection[str],
    X: Any,
    y: CheckedLabels,
    weight: Array | None,
) -> Sums[ColumnGroups]:
    """Choose how some texts are read, by leaving out rows of a batch that has them."""
    if not names:
        return sums
    X, y, weight = rows_to_compare(X, y, weight)
    labels = encode_labels(y, sums.classes, counted=True)
    return settle_text(sums, model._settings, X, labels, weight, model.class_alpha, names)


def with_arrived(model: "NaiveBayes", sums: Sums[ColumnGroups], X: Any) -> Sums[ColumnGroups]:
    """Open the columns that were empty so far and have a value in these rows."""
    plan, settings = sums.columns.plan, model._settings
    raw = read_raw(X, settings.model).require_columns(plan.sources, settings.model)
    plan, late = replan_open(plan, raw, settings.given, model.family)
    return with_late_columns(sums, plan, late, settings)


def with_late_columns(sums: Sums[ColumnGroups], plan: ColumnPlan, late: Late, settings: Settings) -> Sums[ColumnGroups]:
    """Lay sums out for a plan in which `late` columns are new: every row so far is missing in them."""
    import pyarrow as pa

    count = sums.class_count.count
    n_classes = len(count)
    empty = RawTable({source: pa.chunked_array([pa.nulls(n_classes)]) for source in late}, n_classes, named=True)
    labels = Labels(sums.classes, np.arange(n_classes), np.ones(n_classes, dtype=np.int64))
    new_plan = ColumnPlan(tuple(column for own in late.values() for column in own if column.family != IGNORED))
    empty = empty.with_dates(new_plan)
    parts, groups = families_of(plan), dict(sums.columns.groups)
    for key, part in families_of(new_plan).items():
        new = part.count(part.encode(empty, None, settings, learning=True), labels, count, settings)
        groups[key] = in_order([groups[key], new], parts[key].names) if key in groups else new
    return replace(sums, columns=ColumnGroups(sums.classes, plan, groups))
