"""Parquet and Arrow IPC: files of columns that know their types."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from bayeswater.data.column_types import cast_columns, plain_type, without_views
from bayeswater.data.frames import STORED
from bayeswater.data.sources.parts import DecodedPiece, Mark
from bayeswater.data.sources.source import BLOCK_BYTES, Source, batch_rows
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


PIECE_BYTES = 2**26
"""What the texts of a piece of a Parquet file may take in memory, roughly."""

PROBED_ROWS = 2**10
"""Rows that show how long the texts are."""


class ColumnarSource(Source):
    """A file whose columns have types; those asked for are cast to."""

    def _read_schema(self) -> "pa.Schema":
        import pyarrow as pa

        stored = self._stored_schema()
        return pa.schema([field.with_type(self.types.get(field.name, plain_type(field.type))) for field in stored])

    @abstractmethod
    def _stored_schema(self) -> "pa.Schema":
        """Names and types of the columns as the file has them."""

    def _as_asked(
        self, batches: "Iterator[pa.RecordBatch]", names: list[str], n_before: int, n_rows: int
    ) -> Iterator[DecodedPiece]:
        """Give batches, before which so many rows stand, in tables of so many rows and the types that are asked for."""
        for table in _of_length(batches, n_rows):
            yield DecodedPiece(
                cast_columns(without_views(table.select(names)), self.types, self.name, n_before), Mark(n_before)
            )
            n_before += table.num_rows
            del table


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
        return self._footer[1]

    @cached_property
    def _footer(self) -> "tuple[Any, pa.Schema]":
        """What the end of the file says; the file is not left open, there may be thousands of them."""
        with self._open_file() as file:
            return file.metadata, file.schema_arrow

    def _open_file(self, **how: Any) -> Any:
        import pyarrow as pa
        import pyarrow.parquet

        if not self.can_be_reread:
            raise DataError(
                f"{self.name}: a Parquet file is read from its end, so not from a pipe; give the file itself"
            )
        try:
            return pyarrow.parquet.ParquetFile(str(self.origin.path), pre_buffer=False, buffer_size=BUFFER_BYTES, **how)
        except pa.ArrowInvalid as error:
            raise DataError(f"{self.name} is not a complete Parquet file: {str(error).splitlines()[0]}") from None

    def _coded_columns(self) -> list[str]:
        """Columns of strings that the file stores as a dictionary with few bytes a value."""
        import pyarrow as pa

        (metadata, schema), found = self._footer, []
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        place = {metadata.schema.column(j).path: j for j in range(metadata.num_columns)}
        for field in schema:
            if pa.types.is_string(field.type) and field.name in place and field.name not in self.types:
                chunks = [group.column(place[field.name]) for group in groups]
                if sum(c.total_uncompressed_size for c in chunks) < CODED_BYTES * sum(c.num_values for c in chunks):
                    found.append(field.name)
        return found

    @property
    def n_rows(self) -> int | None:
        """Number of rows."""
        return self._footer[0].num_rows

    def batches(self, columns: Sequence[str] | None = None) -> "Iterator[pa.Table]":
        """Give all rows, or the named columns of them; the next table is decoded while one is worked on."""
        return one_ahead(super().batches(columns))

    def _read(self, names: list[str], start: Mark) -> Iterator[DecodedPiece]:
        coded = [name for name in self._coded_columns() if name in names] if self.keeps_dictionaries else []
        groups, n_before = self._groups_from(start.row)
        with self._open_file(metadata=self._footer[0], read_dictionary=coded) as file:
            n_rows = min(batch_rows(len(names)), int(PIECE_BYTES / self._row_bytes(file, groups, names, coded)) + 1)
            batches = file.iter_batches(n_rows, groups, columns=names)
            for piece in self._as_asked(batches, names, n_before, n_rows):
                yield _stored(piece, coded)
                del piece

    def _row_bytes(self, file: Any, groups: list[int], names: list[str], coded: list[str]) -> float:
        """Say how many bytes the texts of a row take: as they are stored, or as the first ones are in memory.

        Both, since a file may store a long text but once.
        """
        import pyarrow as pa

        texts = [
            name for name in names if name not in coded and not pa.types.is_primitive(self.schema.field(name).type)
        ]
        first = next(file.iter_batches(PROBED_ROWS, groups, columns=texts), None) if texts else None
        if first is None:
            return 1.0
        metadata = self._footer[0]
        chunks = [metadata.row_group(i).column(j) for i in groups for j in range(metadata.num_columns)]
        stored = sum(c.total_uncompressed_size for c in chunks if c.path_in_schema.split(".")[0] in texts)
        return max(1.0, stored / metadata.num_rows, first.nbytes / first.num_rows)

    def _groups_from(self, row: int) -> tuple[list[int], int]:
        """Name the groups of rows from that with this row on, and say how many rows stand before them."""
        metadata = self._footer[0]
        n_before = n_groups = 0
        while n_groups < metadata.num_row_groups:
            n_rows = metadata.row_group(n_groups).num_rows
            if n_before + n_rows > row:
                break
            n_before, n_groups = n_before + n_rows, n_groups + 1
        return list(range(n_groups, metadata.num_row_groups)), n_before


def _stored(piece: DecodedPiece, coded: list[str]) -> DecodedPiece:
    """Mark columns as dictionaries by storage alone."""
    table = piece.table
    for name in coded:
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place).with_metadata(STORED), table.column(place))
    return piece._replace(table=table)


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

    def _read(self, names: list[str], start: Mark) -> Iterator[DecodedPiece]:
        batches = self._file_batches() if self._is_file else self._stream_batches()
        n_rows = 0
        for batch in batches:
            if n_rows + batch.num_rows > start.row:
                yield from self._as_asked(chain([batch], batches), names, n_rows, batch_rows(len(names)))
                return
            n_rows += batch.num_rows

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
