"""Groups that DuckDB counts by itself: how often the cells of each column meet the labels, in one query.

    SELECT label, cells, grouping(cells), count(*) ... GROUP BY GROUPING SETS ((label, cell 1), (label, cell 2), ...)

Strings and truths alone: they are categories, of which a row is counted so in a third of the time that it takes to come
here. Whole numbers may have many values, and with many a table of groups takes longer than the rows.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.sources.groups import Margin

if TYPE_CHECKING:
    import pyarrow as pa

MOST_COLUMNS = 48
"""Columns that are grouped at once: `grouping` tells them apart by the bits of one number."""

MOST_ENTRIES = 2**20
"""Pairs of cells and labels that are brought here."""


def margins(relation: Any, cells: "Sequence[pa.Field]", label: "pa.Field") -> list[Margin] | None:
    """Count the pairs of the cells of each column and the labels; None where rows are counted sooner one by one."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from duckdb import Error

    if len(cells) > MOST_COLUMNS or not all(_is_category(field) for field in (*cells, label)):
        return None
    names, target = [quoted(field.name) for field in cells], quoted(label.name)
    listed = ", ".join(names)
    asked = f"{target}, {listed}, grouping({listed}), count(*)"
    sets = ", ".join(f"({target}, {name})" for name in names)
    try:
        chosen = relation.project(", ".join(map(_by_bytes, (*cells, label))))
        found = chosen.aggregate(asked, f"GROUPING SETS ({sets})").limit(MOST_ENTRIES + 1).to_arrow_table()
    except Error:  # rows that come one by one say what is wrong with them
        return None
    if found.num_rows > MOST_ENTRIES:
        return None
    left_out, n_rows = found.column(len(names) + 1), found.column(len(names) + 2).cast(pa.int64())
    every = 2 ** len(names) - 1
    margins = []
    for place, field in enumerate(cells):
        own = pc.equal(left_out, every - 2 ** (len(names) - 1 - place))
        labels, column, count = (part.filter(own).combine_chunks() for part in (found[0], found[place + 1], n_rows))
        margins.append(Margin(labels.cast(label.type), column.cast(field.type), np.asarray(count)))
    return margins


def quoted(name: str) -> str:
    """Write the name of a column as SQL does.

    >>> quoted("a b")
    '"a b"'
    """
    return '"' + name.replace('"', '""') + '"'


def _by_bytes(field: "pa.Field") -> str:
    """Ask for a column; of text, whatever collation it has, only equal bytes are one group."""
    import pyarrow as pa

    name = quoted(field.name)
    return f'{name} COLLATE "binary" AS {name}' if pa.types.is_string(field.type) else name


def _is_category(field: "pa.Field") -> bool:
    import pyarrow as pa

    return pa.types.is_string(field.type) or pa.types.is_boolean(field.type)
