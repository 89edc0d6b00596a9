"""`SourcePart`: a file or a stream that `LocalRows` reads; the schema that several agree on, and places in their rows.

Rows are read in pieces. A mark is a place in one file at which decoding can begin; a place names the next row to be
read among the rows of all files, and the last mark before it. Both are whole numbers alone, to be written down and read
again.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from bayeswater.data.column_types import cast_columns, said_by_types, wider_type, with_fractions
from bayeswater.data.frames import STORED
from bayeswater.data.reading.cell_style import STYLE_KEY, CellStyle
from bayeswater.errors import SchemaError, nearest_names
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa


class Mark(NamedTuple):
    """The beginning of a row in a file: how many rows, bytes of text and lines stand before it."""

    row: int = 0
    byte: int = 0
    line: int = 0


BEGINNING = Mark()


class DecodedPiece(NamedTuple):
    """Rows of a file that were decoded together, and where the first of them stands."""

    table: "pa.Table"
    mark: Mark


class Place(NamedTuple):
    """What has been read: so many batches and rows in all; the next row stands in this part, behind this mark.

    >>> Place(*[3, 1000, 1, 200, 150, 4096, 151]).mark
    Mark(row=150, byte=4096, line=151)
    """

    n_batches: int = 0
    n_rows: int = 0
    part: int = 0
    part_row: int = 0
    mark_row: int = 0
    mark_byte: int = 0
    mark_line: int = 0

    @property
    def mark(self) -> Mark:
        """The last place before the next row at which decoding can begin."""
        return Mark(self.mark_row, self.mark_byte, self.mark_line)


START = Place()

NO_STYLES: Mapping[str, CellStyle] = MappingProxyType({})
"""Of columns of which nobody says how they are written."""


@record
class Progress:
    """How far reading has come; totals are None where they are not known before the end."""

    n_rows: int
    total_rows: int | None
    n_bytes: int
    total_bytes: int | None

    @property
    def fraction(self) -> float | None:
        """The share that is done, by rows where their number is known, and else by bytes.

        >>> Progress(n_rows=10, total_rows=40, n_bytes=0, total_bytes=None).fraction
        0.25
        """
        if self.total_rows:
            return self.n_rows / self.total_rows
        return self.n_bytes / self.total_bytes if self.total_bytes else None


class SourcePart(Protocol):
    """Rows that are read one piece after the other: a `Source`, or a stream of Arrow tables."""

    @property
    def name(self) -> str:
        """What errors call it."""

    @property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns; types may grow wider while rows are read."""

    @property
    def may_lack_columns(self) -> bool:
        """Whether a column that it does not have is one of which all its cells are missing."""

    @property
    def can_be_reread(self) -> bool:
        """Whether `pieces` may be called again."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known without reading them."""

    @property
    def n_bytes(self) -> int | None:
        """Size, where it is known."""

    @property
    def bytes_read(self) -> int:
        """How many bytes have been read of it."""

    @property
    def identity(self) -> tuple[object, ...]:
        """What is different where the rows may be different; nothing where only the rows themselves tell."""

    def declare(self, types: "Mapping[str, pa.DataType]", styles: Mapping[str, CellStyle] = NO_STYLES) -> None:
        """Fix the types of columns, and how they are written where they are text."""

    def pieces(self, columns: Sequence[str] | None = None, start: Mark = BEGINNING) -> Iterator[DecodedPiece]:
        """Give the rows from a place on, or from all."""


def agreed_schema(parts: Sequence[SourcePart], columns: Sequence[str] | None) -> "pa.Schema":
    """Give the columns of all parts, or those named, in types that hold the cells of each.

    Raises
    ------
    SchemaError
        Where a column is missing in a part, or no type holds its cells in two of them.
    """
    import pyarrow as pa

    names = list(dict.fromkeys(name for part in parts for name in part.schema.names) if columns is None else columns)
    types: dict[str, pa.DataType] = {}
    styles: dict[str, dict[bytes, bytes]] = {}
    giver: dict[str, str] = {}
    for part in parts:
        of_part = {field.name: field.type for field in part.schema}
        told = {f.name: f.metadata for f in part.schema if f.metadata and STYLE_KEY in f.metadata}
        styles = {**told, **styles}
        for name in names:
            if name not in of_part:
                continue
            wider = wider_type(types.get(name, of_part[name]), of_part[name])
            if wider is None:
                raise SchemaError(
                    f"column {name!r} holds {types[name]} in {giver[name]} and {of_part[name]} in {part.name}; bring "
                    f"the files into agreement, or {said_by_types(name)}"
                )
            if wider != types.get(name):
                types[name], giver[name] = wider, part.name
    _require_everywhere(names, parts, giver)
    return pa.schema([pa.field(name, types[name], metadata=styles.get(name)) for name in names])


def _require_everywhere(names: Sequence[str], parts: Sequence[SourcePart], giver: Mapping[str, str]) -> None:
    """Refuse a column that a part lacks which may not, with the name of one that has it."""
    for part in parts:
        own = part.schema.names
        for name in names:
            if name not in own and name not in giver:
                raise SchemaError(f"{part.name}: there is no column {name!r}; {nearest_names(name, own)}")
            if name not in own and not part.may_lack_columns:
                raise _missing(part.name, name, giver[name])


def require_in_all(name: str, parts: Sequence[SourcePart]) -> None:
    """Refuse parts of which some lack a column, also those that may lack others."""
    lacking = next((part for part in parts if name not in part.schema.names), None)
    if lacking is not None:
        raise _missing(lacking.name, name, next(part.name for part in parts if name in part.schema.names))


def _missing(lacking: str, name: str, giver: str) -> SchemaError:
    return SchemaError(
        f"{lacking} has no column {name!r}, which {giver} has; several files are one table: give all of them the same "
        "columns, or name those to read with bayeswater.local_rows(source, columns=[...])"
    )


def with_missing_columns(table: "pa.Table", schema: "pa.Schema") -> "pa.Table":
    """Put columns without a value in the place of those that a table lacks."""
    import pyarrow as pa

    if table.column_names == schema.names:
        return table
    own = {name: table.column(name) for name in table.column_names}
    cells = [own.get(field.name, pa.nulls(table.num_rows, field.type)) for field in schema]
    return pa.table(cells, pa.schema([table.schema.field(f.name) if f.name in own else f for f in schema]))


def chosen_fields(schema: "pa.Schema", names: Sequence[str]) -> "pa.Schema":
    """Give the part of a schema that is about some columns, in their order."""
    import pyarrow as pa

    return pa.schema([schema.field(name) for name in names])


def conformed(table: "pa.Table", schema: "pa.Schema", where: str, first_row: int) -> "pa.Table":
    """Bring a table into the types of a schema with the same columns; a dictionary by storage alone may stay one."""
    import pyarrow as pa

    if table.schema.equals(schema):
        return table
    changed = {}
    for place, (field, wanted) in enumerate(zip(table.schema, schema, strict=True)):
        if field.type == wanted.type or field.metadata == STORED:
            continue
        if pa.types.is_integer(field.type) and pa.types.is_floating(wanted.type):
            table = table.set_column(place, wanted, with_fractions(table.column(place), wanted, where))
        else:
            changed[field.name] = wanted.type
    return cast_columns(table, changed, where, first_row)
