"""`Source`: the rows of a file as a stream of tables, each of a few megabytes, of one schema.

The types of a text file are found in its first megabyte. Where a later cell does not fit them, the types that fit all
rows are looked for once, and `TypesWidened` says that the batches have to be read again from the start. Strings of
JSON, databases and spreadsheets are read as those of text are (`types_strings`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NoReturn

from bayeswater.data.column_types import Misfit, cast_columns, said_by_types, spoken
from bayeswater.data.frames import require_own_names
from bayeswater.data.reading.cell_style import WAY_OUT, CellStyle
from bayeswater.data.reading.known_labels import holds_numbers
from bayeswater.data.reading.style_search import StyleFound
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.parts import BEGINNING, NO_STYLES, DecodedPiece, Mark
from bayeswater.data.sources.reading_options import ReadAs, Reading
from bayeswater.data.sources.written_cells import WrittenCells
from bayeswater.errors import DataError, SchemaError, nearest_names

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 4 * 2**20
"""Bytes of text that are read at once."""

DECODERS = 4
"""Blocks of text that are decoded at once, at most: each takes several times its bytes."""

BATCH_ROWS = 2**16
"""Rows of a batch where the format counts rows."""

BATCH_CELLS = 2**23
"""Cells of a batch at most; a batch of several blocks of rows can be counted by several threads."""


class TypesWidened(DataError):
    """A cell did not fit the type its column had so far: the source has found a wider one, and must be read again."""


class Source(ABC):
    """Rows of a file in batches.

    Parameters
    ----------
    origin : where the bytes come from
    types : Arrow types of columns by name; the others keep the type of the file, or the one their cells look like
    reading : what is said of the file
    """

    types_strings = False
    """Whether strings of its pieces are read as people write them, once they have come."""

    def __init__(
        self, origin: Origin, types: "Mapping[str, pa.DataType] | None" = None, reading: Reading | None = None
    ) -> None:
        self.origin = origin
        self.types = dict(types or {})
        self._asked = dict(self.types)  # by a user, not by a model
        self.reading = Reading() if reading is None else reading
        self.cells = WrittenCells(self.reading.written)
        self.keeps_dictionaries = False
        """Whether strings that a file stores as a dictionary come as one (marked as such), which is faster to count."""
        self.notes: list[str] = []
        """What was found out about the file that a person should know."""
        self.expected: Sequence[str] = ()
        """Columns that it has to have, by which an encoding is known that is not UTF-8."""
        self.likely: str | None = None
        """Encoding of other files of the same table, where it is not UTF-8; then that which is found in this one."""

    def note(self, said: str) -> None:
        """Take note of something, once."""
        if said not in self.notes:
            self.notes.append(said)

    @cached_property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns."""
        with errors_named(self.origin):
            self._first_identity = self.origin.identity
            schema = self._read_schema()
            if self.types_strings:
                schema = self._with_styles(schema)
        try:
            require_own_names(schema.names)
        except SchemaError as error:
            raise SchemaError(f"{self.name}: {error}") from None
        for name in self.types:
            self._require_among(name, schema.names, "column")
        return schema

    def declare(self, types: "Mapping[str, pa.DataType]", styles: Mapping[str, CellStyle] = NO_STYLES) -> None:
        """Fix the types of columns and how they are written; types that were given before stay as they are.

        What a file of stored columns holds as strings is read by the plan of a model.
        """
        self.cells.said |= {name: style for name, style in styles.items() if name not in self._asked}
        self.types = {**types, **self.types}
        self.cells.found = {name: found for name, found in self.cells.found.items() if name not in self._numbers}
        self.__dict__.pop("schema", None)

    @property
    def _numbers(self) -> "dict[str, pa.DataType]":
        """Columns that have to be numbers: strings among them are such, and no codes."""
        return {name: kind for name, kind in self.types.items() if holds_numbers(kind)}

    def suppose(self, known: ReadAs) -> None:
        """Let it be read as other files of the same table are, as far as nothing is said of it."""
        self.likely, self.reading = known.encoding, self.reading.like(known.written)
        said, self.cells = self.cells.said, WrittenCells(self.reading.written)
        self.cells.said = said
        self.__dict__.pop("schema", None)

    def read_as(self) -> ReadAs:
        """Say what other files of the same table should know of this one, beside its schema."""
        return ReadAs(written=self.reading.written)

    def suggest(self, name: str, style: CellStyle) -> bool:
        """Read a column as other files of the same table are written; say whether no cell is against it so far."""
        import pyarrow as pa

        if (name, str(style)) in self.cells.refused or not self._can_be_read_as(name, style):
            return False
        self.cells.found[name] = replace(self.cells.found.get(name) or StyleFound(style), style=style, doubt="")
        kinds = {field.name: field.type for field in self.schema}
        self.schema = self.cells.schema(kinds | {name: pa.string()}, self.types)
        return True

    def _can_be_read_as(self, name: str, style: CellStyle) -> bool:
        """Say whether cells are written, or else numbers where numbers are written: no style makes dates of them."""
        import pyarrow as pa

        kind = self.schema.field(name).type
        if not self.types_strings or self.cells.style(name) is not None or pa.types.is_null(kind):
            return True
        return style.kind == "number" and (pa.types.is_integer(kind) or pa.types.is_floating(kind))

    def batches(self, columns: Sequence[str] | None = None) -> "Iterator[pa.Table]":
        """Give all rows, or the named columns of them, table by table; a pipe gives them only once.

        Raises
        ------
        DataError
            Where the file cannot be read for what it should be: with its name, the row, and the fix.
        TypesWidened
            Where the types had to change; the next call reads all rows with the new ones.
        """
        for piece in self.pieces(columns):
            yield piece.table
            del piece  # not to be held while the next one is read

    def pieces(self, columns: Sequence[str] | None = None, start: Mark = BEGINNING) -> Iterator[DecodedPiece]:
        """Give rows as `batches` does, each table with the place it begins at; from such a place on, or from all."""
        names = list(self.schema.names if columns is None else columns)
        known = set(self.schema.names)
        for name in names:
            if name not in known:
                self.require_column(name)
        self._require_unchanged()
        pieces = self._read(names, start)
        while True:
            with errors_named(self.origin):
                piece = next(pieces, None)
            if piece is None:
                self._require_unchanged()
                return
            yield self._typed(piece) if self.types_strings else piece
            del piece

    # ------------------------------------------------------------------ strings of files that are no text

    def _with_styles(self, stored: "pa.Schema", *, in_all: bool = False) -> "pa.Schema":
        """Find how strings are written, in the first rows, or in all where these leave doubt, or where it is said."""
        import pyarrow as pa

        strings = [field.name for field in stored if pa.types.is_string(field.type)]
        new = [name for name in strings if self.cells.style(name) is None]
        if new:
            asked = {**self._asked, **self._numbers}
            first = None if in_all else self._first_strings(new)
            self.cells.find_in_strings(new, first, self._strings if self.can_be_reread else None, asked)
            for said in self.cells.notes():
                self.note(said)
        return self.cells.schema({field.name: field.type for field in stored}, self.types)

    def _first_strings(self, names: list[str]) -> "pa.Table":
        """Give columns of the first rows as they are stored."""
        import pyarrow as pa

        with closing(self._strings(names)) as tables:
            return next(tables, pa.table({name: pa.array([], pa.string()) for name in names}))

    def _strings(self, names: list[str]) -> "Generator[pa.Table]":
        """Give columns of all rows as they are stored."""
        for piece in self._read(names, BEGINNING):
            yield piece.table

    def _typed(self, piece: DecodedPiece) -> DecodedPiece:
        """Read the strings of a piece by the styles of their columns."""
        try:
            strings = self.cells.read(self.cells.trimmed(piece.table), self.schema)
        except Misfit as misfit:
            name, row = misfit.column, f"{self.name}: row {piece.mark.row + misfit.row + 1}"
            if name in self.cells.said or name in self.types:
                raise Misfit.of(row, name, misfit.cell, misfit.kind, WAY_OUT) from None
            kind = spoken(misfit.kind)
            told = f"{row}, column {name!r} holds {misfit.cell!r}, which is no {kind} as the cells before are"
            self.cells.refused.add((name, str(self.cells.style(name))))
            self._widen(told, said_by_types(name), partial(self._fitting_all, name))
        return piece._replace(table=cast_columns(strings, self.types, self.name, piece.mark.row))

    def _fitting_all(self, name: str) -> "pa.Schema":
        """Find how a column of strings is written in all rows."""
        import pyarrow as pa

        del self.cells.found[name]
        kinds = {field.name: field.type for field in self.schema} | {name: pa.string()}
        return self._with_styles(pa.schema(kinds.items()), in_all=True)

    def _require_unchanged(self) -> None:
        """Refuse a file that was written to since its columns were looked at: it would give half of each state."""
        with errors_named(self.origin):
            if self.origin.identity != self._first_identity:
                raise DataError(
                    f"{self.name} has changed since it was opened, in size or in time; wait until it is written, and "
                    "open it again"
                )

    def require_column(self, name: str, what: str = "column") -> None:
        """Refuse a name that no column has, with the nearest ones."""
        self._require_among(name, self.schema.names, what)

    def _require_among(self, name: str, names: Sequence[str], what: str) -> None:
        if name not in names:
            raise SchemaError(f"{self.name}: there is no {what} {name!r}; {nearest_names(name, names)}")

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.origin.name

    @property
    def may_lack_columns(self) -> bool:
        """Whether a column that the file does not have is one of which all its cells are missing."""
        return False

    @property
    def can_be_reread(self) -> bool:
        """Whether `batches` may be called again."""
        return self.origin.can_be_reread

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where the file says it."""
        return None

    @property
    def n_bytes(self) -> int | None:
        """Size of the file, where it is known."""
        return self.origin.n_bytes

    @property
    def bytes_read(self) -> int:
        """How far the batches that are being read have come in the file."""
        return self.origin.bytes_read

    @property
    def identity(self) -> tuple[object, ...]:
        """Name, size and time of the file: what is different where its rows may be different."""
        return self.origin.identity

    @abstractmethod
    def _read_schema(self) -> "pa.Schema":
        """Find names and types, without using up any rows."""

    @abstractmethod
    def _read(self, names: list[str], start: Mark) -> Iterator[DecodedPiece]:
        """Read columns that exist, in this order, from a place on that an earlier piece began at."""

    def _widen(self, misfit: str, way_out: str, fitting_schema: "Callable[[], pa.Schema]") -> NoReturn:
        """Look for types that fit all rows, once; refuse where the rows cannot be read again."""
        if not self.can_be_reread:
            raise DataError(f"{misfit}, and {self.name} cannot be read again from the start; {way_out}")
        self.schema = fitting_schema()
        raise TypesWidened(f"{misfit}; the column is read again in a type that fits all of its cells")


@contextmanager
def errors_named(origin: Origin) -> Iterator[None]:
    """Give what goes wrong below the name of the file."""
    import pyarrow as pa

    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno:
            raise origin.unreadable(error) from None
        raise DataError(
            f"{origin.name}: {_in_brief(error)}; is the file complete, and is its format as named?"
        ) from None


def batch_rows(n_columns: int) -> int:
    """Say how many rows a batch has: whole blocks of them, so many that several threads can count it.

    A very wide table has less than a block in a batch, a power of two.

    >>> batch_rows(20) // 2**16, batch_rows(10_000)
    (6, 512)
    """
    n_rows = max(1, BATCH_CELLS // max(n_columns, 1))
    return n_rows - n_rows % BATCH_ROWS if n_rows >= BATCH_ROWS else 1 << n_rows.bit_length() - 1


def _in_brief(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
