"""`SparkRows`: a Spark DataFrame, classic or Connect, whose partitions are counted and predicted on the executors.

A sum is a `mapInArrow` that gives one row for each partition, its number and the parcel of its sum. Small parcels come
to the driver as they are; large ones are added on the executors by further rounds of `mapInArrow`, until few are left.
Parcels are added in the order of the numbers of their partitions, so a sum of floats is the same in every run over the
same partitions. What Spark can count by itself as groups it does (`spark_groups`), and no row leaves it.

Inside, columns are called c0, c1, ...: Spark takes a dot in a name for a field of a struct.
"""

import logging
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC
from functools import cached_property, partial
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from bayeswater.data.frames import require_own_names
from bayeswater.data.sources.groups import Margin, Spread
from bayeswater.data.sources.rows import HEAD_ROWS, S
from bayeswater.engines.engine_rows import EngineRows
from bayeswater.engines.parcels import FAN_IN, Parcel, mapped, packed, together
from bayeswater.engines.pieces import in_types
from bayeswater.engines.remote_errors import errors_found, errors_named
from bayeswater.engines.spark_groups import margins, spreads
from bayeswater.kernels.threads import BLOCK_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

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
