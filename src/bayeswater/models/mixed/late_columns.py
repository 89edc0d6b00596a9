"""Columns that are empty in the first batches of a table, and have values later.

Such a column has no kind until a value arrives. Then it is planned, and the rows before count as what they were:
missing in it. Their sums need no second look at them: those of a class of N rows are those of one row of weight N.
"""

from collections.abc import Sequence

import numpy as np

from bayeswater.data.column_plan import Column, ColumnPlan
from bayeswater.data.labels import Labels
from bayeswater.data.raw_table import RawTable
from bayeswater.models.mixed.parts.grouping import parts_of
from bayeswater.models.mixed.parts.part import Settings
from bayeswater.models.mixed.settling import in_order
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import Sums


def with_late_columns(
    sums: Sums[ColumnGroups], plan: ColumnPlan, late: Sequence[Column], settings: Settings
) -> Sums[ColumnGroups]:
    """Lay sums out for a plan in which `late` columns are new: every row so far is missing in them."""
    import pyarrow as pa

    count = sums.class_count.count
    n_classes = len(count)
    empty = RawTable({column.source: pa.chunked_array([pa.nulls(n_classes)]) for column in late}, n_classes, named=True)
    labels = Labels(sums.classes, np.arange(n_classes), np.ones(n_classes, dtype=np.int64))
    new_plan = ColumnPlan(tuple(late))
    empty = empty.with_dates(new_plan)
    parts, groups = parts_of(plan), dict(sums.columns.groups)
    for key, part in parts_of(new_plan).items():
        new = part.count(part.encode(empty, None, settings, learning=True), labels, count, settings)
        groups[key] = in_order([groups[key], new], parts[key].names) if key in groups else new
    return Sums(sums.class_count, ColumnGroups(sums.classes, plan, groups))
