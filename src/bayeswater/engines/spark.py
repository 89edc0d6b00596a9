"""`SparkRows`: a Spark DataFrame, classic or Connect, whose partitions are counted and predicted on the executors.

A sum is a `mapInArrow` that gives one row for each partition, its number and the parcel of its sum. Small parcels come
to the driver as they are; large ones are added on the executors by further rounds of `mapInArrow`, until few are left.
Parcels are added in the order of the numbers of their partitions, so a sum of floats is the same in every run over the
same partitions.

What Spark can count by itself as groups it does, and no row leaves it: a row that goes through `mapInArrow` costs more
than all that is counted of it. Margins: each row becomes one for every column, its place and its cell, and these are
grouped with the label: one pass. Spreads: sums and sums of squares about a pivot, zero or the first row, grouped by
partition and label, so that their order and with it their bits are the same in every run:

    mean = pivot + sum / n        scatter = square - sum^2 / n

Inside, columns are called c0, c1, ...: Spark takes a dot in a name for a field of a struct.
"""

import logging
import pickle
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC
from functools import cached_property, partial
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeswater.data.frames import require_own_names
from bayeswater.data.sources.rows import HEAD_ROWS, Margin, S, Spread
from bayeswater.engines.engine_rows import (
    FAN_IN,
    EngineRows,
    Parcel,
    errors_found,
    errors_named,
    in_types,
    mapped,
    packed,
    together,
)
from bayeswater.kernels.threads import BLOCK_ROWS

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
    asked = ["count(1) AS n", *(f"sum({d}) AS s{d}" for d in each), *(f"sum({d} * {d}) AS q{d}" for d in each)]
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


T = TypeVar("T", Margin, Spread)

NUMBERED = "piece int, content binary"
"""Rows that workers give: the number of a partition, and its parcel."""

SMALL_BYTES = 2**16
"""Size of parcels that come straight to the driver, which adds them sooner than Spark plans a tree."""

FEW_PARCELS = 2**10
"""Number of parcels that may do so: 64 MB at most."""


class SparkRows(EngineRows):
    """Rows of a Spark DataFrame."""

    name = "the Spark DataFrame"

    def __init__(self, frame: Any) -> None:
        require_own_names(frame.columns)
        self._frame = frame

    @cached_property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns; instants are in the zone of the session."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_type
        from pyspark.sql.types import TimestampType

        instant = pa.timestamp("us", self._frame.sparkSession.conf.get("spark.sql.session.timeZone"))
        kinds = {field.name: field.dataType for field in self._frame.schema}
        return pa.schema(
            [
                (name, instant if isinstance(kind, TimestampType) else to_arrow_type(kind))
                for name, kind in kinds.items()
            ]
        )

    def head(self, columns: Sequence[str], n_rows: int = HEAD_ROWS) -> "pa.Table":
        """Give the first rows: of the first partition, and of as many more as it takes."""
        import pyarrow as pa

        self.require_columns(columns)
        types = self._types(columns)
        with errors_found():
            rows = self._selected(columns).take(n_rows)  # by Spark alone: Python workers would read whole partitions
        cells = zip(*rows, strict=True) if rows else ([] for _ in types)
        return pa.table([_column(column, field.type) for column, field in zip(cells, types, strict=True)], schema=types)

    def _mapped(self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: list[str]) -> Any:
        """Give a lazy Spark DataFrame of what the function gives."""
        from pyspark.sql.pandas.types import from_arrow_schema

        plain = _plain(schema)
        answers = partial(_answers, of=of, schema=plain, types=self._types(columns), name=self.name)
        return self._selected(columns).mapInArrow(answers, from_arrow_schema(plain))

    def margins(self, columns: Sequence[str], target: str) -> list[Margin] | None:
        """Let Spark count how often the cells of each column meet the labels."""
        return self._grouped(margins, columns, target)

    def spreads(self, columns: Sequence[str], target: str, *, about_first: bool) -> list[Spread] | None:
        """Let Spark sum numbers within each label, partition by partition."""

        def found(frame: Any, types: "pa.Schema") -> list[Spread] | None:
            first = self.head(columns, 1) if about_first else None
            if first is None:
                return spreads(frame, types, [0.0] * len(columns))
            return spreads(frame, types, [cells[0].as_py() for cells in first.columns]) if first.num_rows else None

        return self._grouped(found, columns, target)

    def _grouped(self, of: "Callable[[Any, pa.Schema], list[T] | None]", columns: Sequence[str], target: str) -> Any:
        named = [*columns, target]
        self.require_columns(named)
        try:
            found = of(self._selected(named), self._types(named))
        except _spark_errors():  # rows that are counted one by one say what is wrong with them, and where
            logging.getLogger(__name__).info("%s: Spark could not count groups", self.name, exc_info=True)
            return None
        if found is not None:
            self.bytes_moved = sum(group.nbytes for group in found)
            logging.getLogger(__name__).info("%s: groups that Spark counted, %d bytes", self.name, self.bytes_moved)
        return found

    def _parcel(self, of: "Callable[[pa.Table], S]", columns: list[str]) -> Parcel:
        count = partial(_counted, of=of, types=self._types(columns), name=self.name)
        parcels = self._selected(columns).mapInArrow(count, NUMBERED).persist()  # larger ones are asked for twice
        try:
            with errors_found():
                is_small = f"length(content) <= {SMALL_BYTES} AND piece < {FEW_PARCELS}"
                small = f"CASE WHEN {is_small} THEN content END AS content"
                last = parcels.selectExpr("piece", small).collect()
                if any(row["content"] is None for row in last):
                    last = _in_a_tree(parcels, len(last)).collect()
        finally:
            parcels.unpersist()
        return together([pickle.loads(row["content"]) for row in sorted(last)])

    def _selected(self, columns: Sequence[str]) -> Any:
        quoted = ["`" + name.replace("`", "``") + "`" for name in columns]
        return self._frame.selectExpr(*(f"{name} AS c{place}" for place, name in enumerate(quoted)))


def _spark_errors() -> tuple[type[Exception], ...]:
    """Give what Spark itself raises; classic sessions are reached through py4j."""
    from pyspark.errors import PySparkException

    gateway = sys.modules.get("py4j.protocol")
    return (PySparkException,) if gateway is None else (PySparkException, gateway.Py4JError)


def _in_a_tree(parcels: Any, n_parcels: int) -> Any:
    """Add parcels on the executors, about `FAN_IN` at a time, until so few are left that the driver may add them."""
    while n_parcels > FAN_IN:
        n_parcels = ceil(n_parcels / FAN_IN)
        parcels = parcels.repartition(n_parcels, "piece").mapInArrow(_joined, NUMBERED)
    return parcels


def _counted(
    batches: "Iterable[pa.RecordBatch]", of: "Callable[[pa.Table], Any]", types: "pa.Schema", name: str
) -> "Iterator[pa.RecordBatch]":
    number, where = _place(name)
    with errors_named(where):
        yield _row(number, packed(of, _tables(batches, types)))


def _joined(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    parcels = sorted(row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True))
    if parcels:
        yield _row(parcels[0][0], together([pickle.loads(content) for _, content in parcels]))


def _column(cells: Sequence[Any], kind: "pa.DataType") -> "pa.Array":
    """Make a column of Python objects; instants come without a zone, by the clock of this machine."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.tz is not None:
        cells = [None if cell is None else cell.astimezone(UTC) for cell in cells]
    return pa.array(cells, kind)


def _answers(
    batches: "Iterable[pa.RecordBatch]",
    of: "Callable[[pa.Table], pa.Table]",
    schema: "pa.Schema",
    types: "pa.Schema",
    name: str,
) -> "Iterator[pa.RecordBatch]":
    _, where = _place(name)
    with errors_named(where):
        for table in _tables(batches, types):
            yield from mapped(of, table, schema).to_batches()


def _tables(batches: "Iterable[pa.RecordBatch]", types: "pa.Schema") -> "Iterator[pa.Table]":
    """Gather batches, which Spark makes small, into tables worth a call, with the names and types of the frame."""
    import pyarrow as pa

    def table() -> pa.Table:
        return in_types(pa.Table.from_batches(waiting).rename_columns(types.names), types)

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(batch.num_rows for batch in waiting) >= BLOCK_ROWS:
            yield table()
            waiting = []
    if waiting:
        yield table()


def _place(name: str) -> tuple[int, str]:
    from pyspark import TaskContext

    context = TaskContext.get()
    number = context.partitionId() if context is not None else 0
    return number, f"{name}, partition {number}"


def _row(number: int, parcel: Parcel) -> "pa.RecordBatch":
    import pyarrow as pa

    columns = [pa.array([number], pa.int32()), pa.array([pickle.dumps(parcel)], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["piece", "content"])


def _plain(schema: "pa.Schema") -> "pa.Schema":
    """Give types that Spark has: labels instead of a dictionary, signed integers that hold the unsigned ones."""
    import pyarrow as pa

    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20)}
    kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in schema]
    return pa.schema([(name, wider.get(kind, kind)) for name, kind in zip(schema.names, kinds, strict=True)])
