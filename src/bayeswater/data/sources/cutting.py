"""Batches: rows of many pieces, cut anew where the data say and not where the pieces end.

A batch has a fixed number of rows, whole blocks of them, so that several threads can count it and results do not depend
on how the rows are divided into files and pieces. Long texts end it earlier: at the first line of a grid of rows at
which its texts take more than `BATCH_BYTES`. That too is a rule of the rows alone.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayeswater.data.row_places import Stretch
from bayeswater.data.sources.parts import START, DecodedPiece, Mark, Place
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 2**26
"""Bytes of text in a batch from which on it is ended at the next line of the grid."""

GRID_ROWS = 2**10
"""Rows between two lines of the grid."""


@record
class Batch:
    """Rows that are worked on together, where they come from, and the place behind them."""

    table: "pa.Table"
    stretches: tuple[Stretch, ...]
    place: Place


class PartPiece(NamedTuple):
    """A piece of a part, of which the number and the name are told."""

    part: int
    name: str
    piece: DecodedPiece


def cut_batches(pieces: Iterable[PartPiece], n_rows: int, start: Place = START) -> Iterator[Batch]:
    """Cut pieces into batches of so many rows, from a place on.

    Parameters
    ----------
    pieces : in the order of the rows; those before `start` may be left out
    n_rows : rows of a batch
    start : the place behind an earlier batch
    """
    batch = _Growing(n_rows, start)
    for part, name, (table, mark) in pieces:
        if part < start.part:
            continue
        done = max(start.part_row - mark.row, 0) if part == start.part else 0
        while done < table.num_rows:
            done += batch.take(table, done, part, name, mark)
            if batch.is_full:
                yield batch.finished()
                batch = _Growing(n_rows, batch.place)
        del table
    if batch.tables:
        yield batch.finished()


class _Growing:
    """A batch to which rows are added."""

    def __init__(self, n_rows: int, place: Place) -> None:
        self.missing, self.place = n_rows, place
        self.tables: list[pa.Table] = []
        self.stretches: list[Stretch] = []
        self.n_rows = self.n_bytes = 0

    @property
    def is_full(self) -> bool:
        return not self.missing or (self.n_bytes >= BATCH_BYTES and self.n_rows % GRID_ROWS == 0)

    def take(self, table: "pa.Table", done: int, part: int, name: str, mark: Mark) -> int:
        """Take rows of a table behind those that are done, and say how many."""
        rows = table.slice(done, self.missing)
        n_bytes = text_bytes(rows)
        if self.n_bytes + n_bytes >= BATCH_BYTES:
            rows = rows.slice(0, GRID_ROWS - self.n_rows % GRID_ROWS)
            n_bytes = text_bytes(rows)
        self.tables.append(rows)
        self.stretches.append(Stretch(name, mark.row + done, rows.num_rows))
        self.n_bytes += n_bytes
        self.n_rows += rows.num_rows
        self.missing -= rows.num_rows
        row = mark.row + done + rows.num_rows
        self.place = Place(self.place.n_batches, self.place.n_rows + rows.num_rows, part, row, *mark)
        return rows.num_rows

    def finished(self) -> Batch:
        self.place = self.place._replace(n_batches=self.place.n_batches + 1)
        return Batch(one_table(self.tables), tuple(_joined(self.stretches)), self.place)


def text_bytes(table: "pa.Table") -> int:
    """Count the bytes of texts: from where the first one begins in memory to where the last one ends."""
    import pyarrow as pa

    total = 0
    for column in table.columns:
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        width = np.int32 if pa.types.is_string(column.type) else np.int64
        for chunk in column.chunks:
            if len(chunk):
                ends = np.frombuffer(chunk.buffers()[1], dtype=width)
                total += int(ends[chunk.offset + len(chunk)] - ends[chunk.offset])
    return total


def one_table(tables: "list[pa.Table]") -> "pa.Table":
    """Put tables one below the other; a column that is a dictionary by storage in some of them alone is written out."""
    import pyarrow as pa

    if any(not table.schema.equals(tables[0].schema) for table in tables):
        for place, kind in enumerate(tables[0].schema.types):
            kinds = {table.schema.field(place).type for table in tables}
            if len(kinds) > 1:
                kind = next(kind for kind in kinds if not pa.types.is_dictionary(kind))
                tables = [_written_out(table, place, kind) for table in tables]
    return pa.concat_tables(tables)


def _written_out(table: "pa.Table", place: int, kind: "pa.DataType") -> "pa.Table":
    import pyarrow as pa

    return table.set_column(place, pa.field(table.column_names[place], kind), table.column(place).cast(kind))


def _joined(stretches: list[Stretch]) -> Iterator[Stretch]:
    """Put stretches together that follow each other in one part."""
    last: Stretch | None = None
    for stretch in stretches:
        if last is not None and last.name == stretch.name and last.n_before + last.n_rows == stretch.n_before:
            last = last._replace(n_rows=last.n_rows + stretch.n_rows)
        else:
            if last is not None:
                yield last
            last = stretch
    if last is not None:
        yield last
