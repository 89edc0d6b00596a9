"""`SparkRows`: a Spark DataFrame, classic or Connect, whose partitions are counted and predicted on the executors.

A sum is a `mapInArrow` that gives one row for each partition, its number and the parcel of its sum. Small parcels come
to the driver as they are; large ones are added on the executors by further rounds of `mapInArrow`, until few are left.
Parcels are added in the order of the numbers of their partitions, so a sum of floats is the same in every run over the
same partitions.

Inside, columns are called c0, c1, ...: Spark takes a dot in a name for a field of a struct.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from math import ceil
from typing import TYPE_CHECKING, Any

from bayeswater.data.frames import require_own_names
from bayeswater.data.sources.rows import HEAD_ROWS, S
from bayeswater.engines.engine_rows import EngineRows
from bayeswater.engines.parcels import FAN_IN, Parcel, mapped, packed, together
from bayeswater.engines.pieces import first_rows, in_types
from bayeswater.engines.remote_errors import errors_found, errors_named
from bayeswater.kernels.threads import BLOCK_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

NUMBERED = "piece int, content binary"
"""Rows that workers give: the number of a partition, and bytes."""

SMALL_BYTES = 2**16
"""Size of parcels that come straight to the driver, which adds them sooner than Spark plans a tree."""

FEW_PARCELS = 2**10
"""Number of parcels that may do so: 64 MB at most."""

READ_ON = 2**20
"""Rows that are read of a partition though fewer are wanted: Spark ends a worker that leaves rows unread, and the next
task would have to load all its libraries again, which takes longer than to read so many rows."""


class SparkRows(EngineRows):
    """Rows of a Spark DataFrame."""

    name = "the Spark DataFrame"

    def __init__(self, frame: Any) -> None:
        require_own_names(frame.columns)
        self._frame = frame

    @cached_property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        return pa.schema([field.with_nullable(True) for field in to_arrow_schema(self._frame.schema)])

    def head(self, columns: Sequence[str], n_rows: int = HEAD_ROWS) -> "pa.Table":
        """Give the first rows: of the first partition, and of as many more as it takes."""
        import pyarrow as pa

        self.require_columns(columns)
        firsts = self._numbered(partial(_first_rows, types=self._types(columns), n_rows=n_rows), columns)
        n_pieces = 1
        while True:
            with errors_found():
                pieces = firsts.take(n_pieces)  # runs the partitions in their order, and no more than it takes
            tables = [pa.ipc.open_stream(row["content"]).read_all() for row in sorted(pieces)]
            if sum(table.num_rows for table in tables) >= n_rows or len(pieces) < n_pieces:
                return first_rows(tables, self._types(columns), n_rows)
            n_pieces *= FAN_IN

    def map(self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: Sequence[str]) -> Any:
        """Give a lazy Spark DataFrame of what the function gives."""
        from pyspark.sql.pandas.types import from_arrow_schema

        self.require_columns(columns)
        plain = _plain(schema)
        answers = partial(_answers, of=of, schema=plain, types=self._types(columns), name=self.name)
        return self._selected(columns).mapInArrow(answers, from_arrow_schema(plain))

    def _parcel(self, of: "Callable[[pa.Table], S]", columns: list[str]) -> Parcel:
        parcels = self._numbered(partial(_packed, of=of), columns).persist()  # larger ones are asked for twice
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

    def _numbered(self, give: "Callable[..., bytes]", columns: Sequence[str]) -> Any:
        """Make a frame of one row for each partition: its number, and the bytes that a function gives for it."""
        numbered = partial(_numbered, give=give, types=self._types(columns), name=self.name)
        return self._selected(columns).mapInArrow(numbered, NUMBERED)

    def _selected(self, columns: Sequence[str]) -> Any:
        quoted = ["`" + name.replace("`", "``") + "`" for name in columns]
        return self._frame.selectExpr(*(f"{name} AS c{place}" for place, name in enumerate(quoted)))


def _in_a_tree(parcels: Any, n_parcels: int) -> Any:
    """Add parcels on the executors, about `FAN_IN` at a time, until so few are left that the driver may add them."""
    while n_parcels > FAN_IN:
        n_parcels = ceil(n_parcels / FAN_IN)
        parcels = parcels.repartition(n_parcels, "piece").mapInArrow(_joined, NUMBERED)
    return parcels


def _numbered(
    batches: "Iterable[pa.RecordBatch]", give: "Callable[..., bytes]", types: "pa.Schema", name: str
) -> "Iterator[pa.RecordBatch]":
    number, where = _place(name)
    with errors_named(where):
        yield _row(number, give(_tables(batches, types)))


def _packed(tables: "Iterable[pa.Table]", of: "Callable[[pa.Table], Any]") -> bytes:
    return pickle.dumps(packed(of, tables))


def _joined(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    parcels = sorted(row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True))
    if parcels:
        yield _row(parcels[0][0], pickle.dumps(together([pickle.loads(content) for _, content in parcels])))


def _first_rows(tables: "Iterable[pa.Table]", types: "pa.Schema", n_rows: int) -> bytes:
    import pyarrow as pa

    found, n_read, sink = [], 0, pa.BufferOutputStream()
    for table in tables:
        found += [table.slice(0, n_rows - n_read)] if n_read < n_rows else []
        n_read += table.num_rows
        if n_read >= max(n_rows, READ_ON):
            break
    with pa.ipc.new_stream(sink, types) as stream:
        for table in found:
            stream.write_table(table)
    return bytes(sink.getvalue())


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


def _row(number: int, content: bytes) -> "pa.RecordBatch":
    import pyarrow as pa

    columns = [pa.array([number], pa.int32()), pa.array([content], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["piece", "content"])


def _plain(schema: "pa.Schema") -> "pa.Schema":
    """Give types that Spark has: labels instead of a dictionary, signed integers that hold the unsigned ones."""
    import pyarrow as pa

    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20)}
    kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in schema]
    return pa.schema([(name, wider.get(kind, kind)) for name, kind in zip(schema.names, kinds, strict=True)])
