"""Columns whose empty cells tell the class, which a model that leaves empty cells out does not learn.

A reason for leaving is known of those who left, and of nobody else. Among the cells that are there it tells little or
nothing; that there is one tells all. From the cells of each class k, N_k there and M_k empty, the rule "there: the most
frequent class of these; empty: that of those" makes n - max N_k - max M_k errors.
"""

from collections.abc import Iterator

import numpy as np

from bayeswater.errors import BayesWarning, warn_user
from bayeswater.estimate.smoothing import columns_of_one_value
from bayeswater.families.two_laws import known_cells
from bayeswater.phrases import own_reasons
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

own_reasons(
    {
        "whether column {name} is empty tells the class, but its empty cells are left out of the sum: it has a value "
        "in {a} of {n} rows of {k} and in {b} of {m} of {other}": (
            "列 {name} 是否为空可以说明类别，但空单元格不计入总和：类别 {k} 的 {n} 行中有 {a} 行有值，"
            "类别 {other} 的 {m} 行中有 {b} 行有值"
        ),
        "leave the column out where it is known only afterwards, or count empty cells with missing='state'": (
            "若该列事后才知道，请不读取它；否则用 missing='state' 把空单元格计入"
        ),
    }
)

LEFT_OF_ERRORS = 0.5
"""Share of the errors of the most frequent class that the rule may make and still be told of."""

FEW_CELLS = 20
"""Cells, there or empty, below which chance may have put them so."""


def warn_of_telling_gaps(sums: Sums[ColumnGroups]) -> None:
    """Name the columns that leave out, with their empty cells, what tells the class of most rows."""
    rows, labels = sums.class_count.count, np.asarray(sums.classes.labels).tolist()
    source = {column.name: column.source for column in sums.columns.plan}
    told = set()
    for name, there in _cells_with_gaps(sums.columns):
        there = np.broadcast_to(there, rows.shape)
        empty = np.maximum(rows - there, 0)
        wrong, column = rows.sum() - there.max() - empty.max(), source.get(name, name)
        if (
            column in told  # a date is several columns
            or min(there.sum(), empty.sum()) < FEW_CELLS
            or wrong > LEFT_OF_ERRORS * (rows.sum() - rows.max())
        ):
            continue
        told.add(column)
        most, least = (int(np.argmax(part / np.where(rows > 0, rows, 1))) for part in (there, empty))
        warn_user(
            f"whether column {column!r} is empty tells the class, but its empty cells are left out of the sum: it has "
            f"a value in {there[most]:,.7g} of {rows[most]:,.7g} rows of {labels[most]!r} and in {there[least]:,.7g} "
            f"of {rows[least]:,.7g} of {labels[least]!r}; leave the column out where it is known only afterwards, or "
            "count empty cells with missing='state'",
            BayesWarning,
        )


def _cells_with_gaps(columns: ColumnGroups) -> Iterator[tuple[str, Array]]:
    """Name the columns that leave empty cells out, and the weight of the cells of each class that are there."""
    for group in columns.groups.values():
        part = group.singles if isinstance(group, PairCounts) else group
        is_state: set[str] = set()
        if isinstance(part, CategoryCounts):
            is_one = columns_of_one_value(part)
            is_state.update(variable.name for variable, one in zip(part.schema, is_one, strict=True) if one)
        yield from ((name, there) for name, (there, _) in known_cells(part, part) if name not in is_state)
