"""Groups that Spark counts by itself: a row that goes through `mapInArrow` costs more than all that is counted of it.

Margins: each row becomes one for every column, its place and its cell, and these are grouped with the label: one pass.
Spreads: sums and sums of squares about a pivot, zero or the first row, grouped by partition and label, so that their
order and with it their bits are the same in every run:

    mean = pivot + sum / n        scatter = square - sum^2 / n
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.sources.groups import Margin, Spread

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ENTRIES = 2**20
"""Pairs of cells and labels that are brought to the driver."""

MOST_COLUMNS = 48
"""Columns that are grouped at once. Spreads have two fields each, of a hundred for which Spark compiles a query, and
margins make a row for every column: forty of them cost what sending the row to Python does."""


def margins(frame: Any, types: "pa.Schema") -> list[Margin] | None:
    """Count the pairs of the cells of each column and the labels, the last column, in a frame of columns c0, c1, ...

    None where there are too many columns, and where a type has no margins: those of numbers with fractions have as
    many entries as there are rows.
    """
    import pyarrow as pa

    *kinds, label = types.types
    slots = [_slot(kind) for kind in kinds]
    if len(kinds) > MOST_COLUMNS or None in slots or not _is_label(label):
        return None
    used = sorted({slot for slot in slots if slot is not None})
    pairs = ", ".join(
        f"{place}, " + ", ".join(f"CAST({f'c{place}' if slot == own else 'NULL'} AS {slot})" for slot in used)
        for place, own in enumerate(slots)
    )
    names = [f"cell_{slot}" for slot in used]
    long = frame.selectExpr(_label_of(types), f"stack({len(kinds)}, {pairs}) AS (place, {', '.join(names)})")
    found: dict[int, list[Any]] = defaultdict(list)
    rows = long.groupBy("label", "place", *names).count().limit(MOST_ENTRIES + 1).collect()
    if len(rows) > MOST_ENTRIES:  # row by row, where a column of too many categories is named before memory is full
        return None
    for row in rows:
        found[row["place"]].append(row)
    return [
        Margin(
            pa.array([row["label"] for row in found[place]], label, from_pandas=True),  # NaN is no label
            pa.array([row[f"cell_{slots[place]}"] for row in found[place]], kind),
            np.array([row["count"] for row in found[place]], dtype=np.int64),
        )
        for place, kind in enumerate(kinds)
    ]


def spreads(frame: Any, types: "pa.Schema", pivot: Sequence[Any]) -> list[Spread] | None:
    """Sum numbers within each label, the last column, in every partition of a frame of columns c0, c1, ...

    None where there are too many columns, types that are no numbers, or cells that are missing or not finite.
    """
    import pyarrow as pa

    *kinds, label = types.types
    n_columns = len(kinds)
    if n_columns > MOST_COLUMNS or not all(map(_is_number, kinds)) or not _is_label(label):
        return None
    begin = np.array([cell if cell is not None and np.isfinite(cell) else 0.0 for cell in pivot], dtype=np.float64)
    away = [  # a null as NaN, which the sums then are: what is never null, Spark sums without looking
        f"coalesce(CAST(c{place} AS DOUBLE), DOUBLE('NaN')) - DOUBLE('{cell!r}') AS d{place}"
        for place, cell in enumerate(begin.tolist())
    ]
    each = [f"d{place}" for place in range(n_columns)]
    asked = [
        "count(1) AS n",
        *(f"sum({d}) AS s{d}" for d in each),
        *(f"sum({d} * {d}) AS q{d}" for d in each),
    ]
    from pyspark.sql import functions

    apart = frame.selectExpr("spark_partition_id() AS piece", _label_of(types), *away)
    rows = apart.groupBy("piece", "label").agg(*map(functions.expr, asked)).collect()
    pieces: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        pieces[row["piece"]].append(row)
    found = []
    for _, some in sorted(pieces.items()):
        n = np.array([row["n"] for row in some], dtype=np.int64)
        total = np.array([[row[f"s{d}"] for d in each] for row in some], dtype=np.float64)
        square = np.array([[row[f"q{d}"] for d in each] for row in some], dtype=np.float64)
        if not (np.isfinite(total).all() and np.isfinite(square).all()):
            return None
        shift = total / n[:, None]
        scatter = np.where(n[:, None] > 1, np.maximum(square - shift * total, 0.0), 0.0)  # one row has no scatter
        labels = pa.array([row["label"] for row in some], label, from_pandas=True)
        found.append(Spread(labels, n, begin + shift, scatter, np.where(n[:, None] > 1, square, 0.0)))
    return found


def _label_of(types: "pa.Schema") -> str:
    """Ask for the last column as the label; text as plain strings, since a collation may take two for one."""
    import pyarrow as pa

    label = f"c{len(types) - 1}"
    return f"{f'CAST({label} AS STRING)' if pa.types.is_string(types.types[-1]) else label} AS label"


def _slot(kind: "pa.DataType") -> str | None:
    """Name the type of Spark in which cells are grouped, None for those that have no few values."""
    import pyarrow as pa

    if pa.types.is_string(kind):
        return "STRING"
    if pa.types.is_boolean(kind):
        return "BOOLEAN"
    return "BIGINT" if pa.types.is_integer(kind) else None


def _is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _is_label(kind: "pa.DataType") -> bool:
    return _is_number(kind) or _slot(kind) is not None
