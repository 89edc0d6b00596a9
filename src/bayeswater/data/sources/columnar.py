"""Parquet and Arrow IPC: files of columns that know their types."""

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from bayeswater.data.frames import STORED
from bayeswater.data.sources.column_types import cast_columns
from bayeswater.data.sources.source import BATCH_CELLS, BATCH_ROWS, BLOCK_BYTES, Source
from bayeswater.errors import DataError
from bayeswater.kernels.threads import one_ahead

if TYPE_CHECKING:
    import pyarrow as pa

ARROW_FILE = b"ARROW1"
"""First bytes of an Arrow IPC file; a stream has none of its own."""

PARQUET = b"PAR1"
"""First bytes of a Parquet file."""

CODED_BYTES = 4
"""Bytes a value takes in a file below which a column of strings is stored as a dictionary of few labels."""

BUFFER_BYTES = 2**20
"""What is read of one Parquet column at once: a group of rows may be larger than memory."""


class ColumnarSource(Source):
    """A file whose columns have types; those asked for are cast to."""

    def _read_schema(self) -> "pa.Schema":
        import pyarrow as pa

        stored = self._stored_schema()
        return pa.schema([field.with_type(self.types.get(field.name, field.type)) for field in stored])

    @abstractmethod
    def _stored_schema(self) -> "pa.Schema":
        """Names and types of the columns as the file has them."""

    def _as_asked(self, batches: "Iterator[pa.RecordBatch]", names: list[str]) -> "Iterator[pa.Table]":
        n_rows = 0
        for table in _of_length(batches, _batch_rows(names)):
            yield cast_columns(table.select(names), self.types, self.name, n_rows)
            n_rows += table.num_rows
            del table


def _batch_rows(names: list[str]) -> int:
    """Rows of a batch: whole blocks of them, so many that several threads can count it."""
    return BATCH_ROWS * max(1, BATCH_CELLS // (BATCH_ROWS * max(len(names), 1)))


def _of_length(batches: "Iterator[pa.RecordBatch]", n_rows: int) -> "Iterator[pa.Table]":
    """Put short batches together and cut long ones: a file may hold all rows in one."""
    import pyarrow as pa

    pieces: list[pa.RecordBatch] = []
    missing = n_rows
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            pieces.append(batch.slice(start, missing))
            start += pieces[-1].num_rows
            missing -= pieces[-1].num_rows
            if not missing:
                table = pa.Table.from_batches(pieces)
                pieces, missing = [], n_rows
                yield table
                del table
        del batch
    if pieces:
        yield pa.Table.from_batches(pieces)


class ParquetSource(ColumnarSource):
    """Rows of a Parquet file."""

    def _stored_schema(self) -> "pa.Schema":
        return self._file.schema_arrow

    @cached_property
    def _file(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet

        if not self.can_be_reread:
            raise DataError(
                f"{self.name}: a Parquet file is read from its end, so not from a pipe; give the file itself"
            )
        try:
            return pyarrow.parquet.ParquetFile(str(self.origin.path), pre_buffer=False, buffer_size=BUFFER_BYTES)
        except pa.ArrowInvalid as error:
            raise DataError(f"{self.name} is no whole Parquet file: {str(error).splitlines()[0]}") from None

    def _coded_columns(self) -> list[str]:
        """Columns of strings that the file stores as a dictionary with few bytes a value."""
        import pyarrow as pa

        metadata, found = self._file.metadata, []
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        place = {metadata.schema.column(j).path: j for j in range(metadata.num_columns)}
        for field in self._file.schema_arrow:
            if pa.types.is_string(field.type) and field.name in place and field.name not in self.types:
                chunks = [group.column(place[field.name]) for group in groups]
                if sum(c.total_uncompressed_size for c in chunks) < CODED_BYTES * sum(c.num_values for c in chunks):
                    found.append(field.name)
        return found

    @property
    def n_rows(self) -> int | None:
        """Number of rows."""
        return self._file.metadata.num_rows

    def _read(self, names: list[str]) -> "Iterator[pa.Table]":
        import pyarrow.parquet

        coded = [name for name in self._coded_columns() if name in names] if self.keeps_dictionaries else []
        file = self._file
        if coded:
            file = pyarrow.parquet.ParquetFile(
                str(self.origin.path), pre_buffer=False, buffer_size=BUFFER_BYTES, read_dictionary=coded
            )
        tables = self._as_asked(file.iter_batches(_batch_rows(names), columns=names), names)
        return one_ahead(map(partial(_marked, coded=coded), tables))


def _marked(table: "pa.Table", coded: list[str]) -> "pa.Table":
    """Mark columns as dictionaries by storage alone."""
    for name in coded:
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place).with_metadata(STORED), table.column(place))
    return table


class ArrowSource(ColumnarSource):
    """Rows of an Arrow IPC file or stream."""

    _fraction_read = 0.0

    @cached_property
    def _is_file(self) -> bool:
        return self.origin.head(len(ARROW_FILE)) == ARROW_FILE

    def _stored_schema(self) -> "pa.Schema":
        import pyarrow as pa

        if self._is_file:
            return self._open_file().schema
        try:
            return pa.ipc.open_stream(self.origin.head(BLOCK_BYTES)).schema
        except pa.ArrowInvalid as error:
            raise DataError(f"{self.name} is no Arrow file or stream: {str(error).splitlines()[0]}") from None

    def _open_file(self) -> Any:
        import pyarrow as pa

        if not self.can_be_reread:
            raise DataError(
                f"{self.name}: an Arrow file is read from its end; give the file itself, or an Arrow stream"
            )
        return pa.ipc.open_file(pa.memory_map(str(self.origin.path)))

    @property
    def bytes_read(self) -> int:
        """How far the batches that are being read have come."""
        return int(self._fraction_read * (self.n_bytes or 0)) if self._is_file else super().bytes_read

    def _read(self, names: list[str]) -> "Iterator[pa.Table]":
        return self._as_asked(self._file_batches() if self._is_file else self._stream_batches(), names)

    def _file_batches(self) -> "Iterator[pa.RecordBatch]":
        file = self._open_file()
        for i in range(file.num_record_batches):
            self._fraction_read = i / file.num_record_batches
            yield file.get_batch(i)
        self._fraction_read = 1.0

    def _stream_batches(self) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        with self.origin.open() as file, pa.ipc.open_stream(file) as reader:
            yield from reader
