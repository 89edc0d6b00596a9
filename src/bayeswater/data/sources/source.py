"""`Source`: the rows of a file as a stream of tables, each of a few megabytes, of one schema.

The types of a text file are found in its first megabyte. Where a later cell does not fit them, the types that fit all
rows are looked for once, and `TypesWidened` says that the batches have to be read again from the start.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from bayeswater.data.frames import require_own_names
from bayeswater.data.reading.cell_styles import CellStyle
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.parts import BEGINNING, NO_STYLES, DecodedPiece, Mark
from bayeswater.data.sources.reading_options import AS_FOUND, ReadAs
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
    """

    def __init__(self, origin: Origin, types: "Mapping[str, pa.DataType] | None" = None) -> None:
        self.origin = origin
        self.types = dict(types or {})
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
        with self._errors_named():
            self._first_identity = self.origin.identity
            schema = self._read_schema()
        try:
            require_own_names(schema.names)
        except SchemaError as error:
            raise SchemaError(f"{self.name}: {error}") from None
        for name in self.types:
            self._require_among(name, schema.names, "column")
        return schema

    def declare(self, types: "Mapping[str, pa.DataType]", styles: Mapping[str, CellStyle] = NO_STYLES) -> None:
        """Fix the types of columns; those that were given before stay as they are.

        Only a file of text needs the styles: what another holds as strings is read by the plan of a model.
        """
        self.types = {**types, **self.types}
        self.__dict__.pop("schema", None)

    def suppose(self, known: ReadAs) -> None:
        """Let it be read as other files of the same table are, as far as nothing is said of it."""
        self.likely = known.encoding

    def read_as(self) -> ReadAs:
        """Say what other files of the same table should know of this one, beside its schema."""
        return AS_FOUND

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
            with self._errors_named():
                piece = next(pieces, None)
            if piece is None:
                self._require_unchanged()
                return
            yield piece
            del piece

    def _require_unchanged(self) -> None:
        """Refuse a file that was written to since its columns were looked at: it would give half of each state."""
        with self._errors_named():
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
    def _errors_named(self) -> Iterator[None]:
        """Give what goes wrong below the name of the file."""
        import pyarrow as pa

        try:
            yield
        except DataError:
            raise
        except (pa.ArrowException, OSError, EOFError) as error:
            if isinstance(error, OSError) and error.errno:
                raise self.origin.unreadable(error) from None
            raise DataError(
                f"{self.name}: {_in_brief(error)}; is the file complete, and is its format as named?"
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
