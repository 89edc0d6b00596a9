"""`LocalRows`: rows of files and streams on this machine, read once for each question in bounded memory.

Rows are decoded in the thread that asks, while a thread of our own works on the batch before. Batches are cut by a rule
of the rows alone (`cutting`) and their results are added in order, so that a sum of floats has the same bits whatever
the files, the pieces and the number of threads are, and also where it was stopped and taken up again. What `head` has
decoded of files is not decoded again by a sum of the same columns: reading goes on behind it.
"""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, reduce
from hashlib import sha256
from itertools import chain
from os import getpid
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bayeswater.data.reading.cell_style import CellStyle
from bayeswater.data.reading.cell_styles import style_of
from bayeswater.data.row_places import rows_named
from bayeswater.data.sources.cutting import BATCH_BYTES, GRID_ROWS, Batch, PartPiece, cut_batches, one_table
from bayeswater.data.sources.delimited import DelimitedSource
from bayeswater.data.sources.parts import (
    BEGINNING,
    NO_STYLES,
    START,
    DecodedPiece,
    Place,
    Progress,
    SourcePart,
    agreed_schema,
    chosen_fields,
    conformed,
    require_in_all,
    with_missing_columns,
)
from bayeswater.data.sources.prefetch import worked_beside
from bayeswater.data.sources.reading_options import AS_FOUND, ReadAs
from bayeswater.data.sources.rows import HEAD_ROWS, Margin, Rows, S
from bayeswater.data.sources.source import Source, TypesWidened, batch_rows
from bayeswater.data.sources.streams import Stream
from bayeswater.data.sources.written_cells import agree_on_styles
from bayeswater.errors import DataError, ReadingWarning, warn_user

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

IDENTIFYING_ROWS = 100
"""Rows by which a stream is known again."""

PART_DIGITS = 16
"""Of the hash of a part: there may be thousands of them."""


class Fingerprint(NamedTuple):
    """Words that change: one with how rows are read, and one for each part with what it holds."""

    reading: str
    parts: tuple[str, ...]


class LocalRows(Rows):
    """Rows of one or several parts that are one table.

    Parameters
    ----------
    parts : files and streams; `local_rows` opens them
    name : what errors call all of them
    columns : those to read, by default all; the parts may have others that differ
    progress : called after each batch with how far reading has come
    """

    def __init__(
        self,
        parts: Sequence[SourcePart],
        name: str,
        *,
        columns: Sequence[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.parts, self.name, self.progress = list(parts), name, progress
        self._columns = columns
        self._lock = Lock()  # of what follows: threads may read the same rows at once
        self._kept: list[PartPiece] = []  # the first rows, as `head` has read them, and the rest of them
        self._rest: Generator[PartPiece, None, None] | None = None
        self._kept_as: tuple[list[str], int] = [], 0  # columns, and the process whose files are open
        self._is_used_up = False
        self._told: set[str] = set()
        self._absent: list[str] = []
        self.expect(columns or ())
        self._seen: dict[tuple[str, ...], list[object]] = {}
        self.n_parts_seen = 0
        """Parts, from the first on, of which `head` has shown rows."""

    # ------------------------------------------------------------------ what is known before any row is read

    @cached_property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns; where a cell far down does not fit its type, `sum` and `map` say so."""
        import pyarrow as pa

        if len(self.parts) > 1:
            texts = [
                p for p in self.parts if isinstance(p, DelimitedSource) or (isinstance(p, Source) and p.types_strings)
            ]
            agree_on_styles(texts, [part.schema for part in self.parts if part not in texts])
        schema = agreed_schema(self.parts, self._columns)
        for name in self._absent:
            schema = schema.append(pa.field(name, pa.null()))
        for said in self.notes:
            if said not in self._told:
                self._told.add(said)
                warn_user(said, ReadingWarning)
        return schema

    @property
    def notes(self) -> list[str]:
        """What was found out about the files that a person should know, each thing once."""
        of_note: dict[str, list[str]] = {}
        for part in self.parts:
            for said in part.notes if isinstance(part, Source) else ():
                of_note.setdefault(said, []).append(part.name)
        others = (f" and {len(names) - 1:,} more" * (len(names) > 1) for names in of_note.values())
        return [f"{names[0]}{more}: {said}" for (said, names), more in zip(of_note.items(), others, strict=True)]

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where all parts tell it."""
        return _total(part.n_rows for part in self.parts)

    @property
    def n_bytes(self) -> int | None:
        """Size of all files, where it is known."""
        return _total(part.n_bytes for part in self.parts)

    @property
    def can_be_reread(self) -> bool:
        """Whether the rows can be read more than once."""
        return all(part.can_be_reread for part in self.parts)

    def expect(self, names: Sequence[str]) -> None:
        """Say which columns the files have to have, before they are looked at: so their encoding may be told."""
        for part in self.parts:
            if isinstance(part, Source):
                part.expected = names

    def suppose(self, known: ReadAs) -> None:
        """Let files be read as others of the same table, before they are looked at, as far as nothing is said."""
        if known != AS_FOUND:
            for part in self.parts:
                if isinstance(part, Source):
                    part.suppose(known)
            self.__dict__.pop("schema", None)

    def read_as(self) -> ReadAs:
        """Say how the files are read, for others of the same table."""
        styles = {field.name: style for field in self.schema if (style := style_of(field)) is not None}
        told = [part.read_as() for part in self.parts if isinstance(part, Source)]
        return reduce(ReadAs.merged, told, ReadAs(styles))

    def let_absent(self, names: Sequence[str]) -> Sequence[str]:
        """Let columns be missing in all rows of JSON, which need not write them, and name them; one has to be there."""
        own = {name for part in self.parts for name in part.schema.names}
        if not all(part.may_lack_columns for part in self.parts) or not own.intersection(names):
            return ()
        before, self._absent = self._absent, [name for name in names if name not in own]
        if self._absent != before:
            self._columns = None if self._columns is None else [name for name in self._columns if name in own]
            self.__dict__.pop("schema", None)
            warn_user(f"{self.name}: no row has {', '.join(map(repr, self._absent[:5]))}: not known", ReadingWarning)
        return self._absent

    def require_in_all_parts(self, name: str) -> None:
        """Refuse files of which some lack a column, also those in which a column that is not there is missing."""
        require_in_all(name, self.parts)

    def declare(self, types: "Mapping[str, pa.DataType]", styles: Mapping[str, CellStyle] = NO_STYLES) -> None:
        """Fix the types of columns, and how they are written; what was given before stays as it is."""
        for part in self.parts:
            lacks = set(types).difference(part.schema.names) if part.may_lack_columns else ()
            part.declare({name: kind for name, kind in types.items() if name not in lacks}, styles)
        self.__dict__.pop("schema", None)
        if self.can_be_reread:
            self._let_go()

    def keep_words(self, besides: Collection[str] = ()) -> None:
        """Leave words for true and false as they are written, where a state is known by its name."""
        styles = {field.name: style for field in self.schema if (style := style_of(field)) is not None}
        truths = [name for name, style in styles.items() if style.kind == "truth" and name not in besides]
        words = {name: styles[name].plain for name in truths}
        if words:
            self.declare({}, words)

    def fingerprint(self, columns: Sequence[str]) -> Fingerprint:
        """Give words that change with the columns and how batches are cut, and with each file, its size and its time.

        Rows that are in no files are known by the first of them.

        Raises
        ------
        DataError
            Where the rows may come in another order each time.
        """
        rule = (batch_rows(len(columns)), BATCH_BYTES, GRID_ROWS)
        kinds = [(name, str(self.schema.field(name).type)) for name in columns]
        identities = [part.identity for part in self.parts]
        first = [] if all(identities) else self._first_rows(tuple(columns))
        return Fingerprint(_hashed((rule, kinds, first)), tuple(_hashed(each)[:PART_DIGITS] for each in identities))

    def _first_rows(self, columns: tuple[str, ...]) -> list[object]:
        """Give the first rows; where they can be read but once, they are remembered."""
        if columns not in self._seen or self.can_be_reread:
            self._seen[columns] = self.head(columns, IDENTIFYING_ROWS).to_pylist()
        return self._seen[columns]

    # ------------------------------------------------------------------ the rows

    def head(self, columns: Sequence[str], n_rows: int = HEAD_ROWS) -> "pa.Table":
        """Give the first rows, however they are divided into pieces; a later `sum` or `map` has them again."""
        self.require_columns(columns)
        if self.can_be_reread:
            self._let_go()
            rest = self._read(columns, START)
            with self._widening():
                found = _first(rest, n_rows)
            if all(isinstance(part, Source) for part in self.parts):
                self._let_go(found, rest, columns)  # a query would hold its cursor while it waits for the next reading
            else:
                rest.close()
        else:
            self._require_unread()
            if self._rest is None:
                self._look_ahead(n_rows)
                self._rest = self._read(self.schema.names, START)
            missing = n_rows - sum(part.piece.table.num_rows for part in self._kept)
            with self._widening():
                self._kept += _first(self._rest, missing)
            found = self._kept
        if not found:
            return self.schema.empty_table().select(columns)
        self.n_parts_seen = max(self.n_parts_seen, found[-1].part + 1)
        return one_table([part.piece.table.select(columns) for part in found]).slice(0, n_rows)

    def sum(
        self,
        of: "Callable[[pa.Table], S]",
        columns: Sequence[str],
        *,
        start: tuple[Place, S] | None = None,
        after: Callable[[Place, S], None] | None = None,
    ) -> S:
        """Add up what the function gives for every batch, in their order.

        Parameters
        ----------
        of : from an Arrow table to what is added; called in a thread of its own, one batch after the other
        columns : that the tables have
        start : a place that `after` was called with, and the sum of all before it
        after : called after each batch with where reading stands, and the sum so far

        Raises
        ------
        DataError
            Where there are no rows, where a part cannot be read, and where rows that can be read only once were read.
        TypesWidened
            Where a cell did not fit the type of its column: `schema` has a wider one now; begin again, from `head` on.
        """
        place, total = start or (START, None)
        with closing(self._worked_on(of, columns, place)) as results:
            for batch, part in results:
                total = part if total is None else total + part
                place = batch.place
                del batch, part
                if after is not None:
                    after(place, total)
        if total is None:
            raise DataError(f"{self.name} has no rows; give a file with rows")
        return total

    def map(
        self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: Sequence[str]
    ) -> "Iterator[pa.Table]":
        """Give what the function makes of each batch, when it is asked for; a batch is read while one is written.

        Where a row has more cells in the answer than in the source, batches have so many fewer rows.
        """
        with closing(self._worked_on(of, columns, START, len(schema))) as results:
            for batch, table in results:
                del batch
                yield table if table.schema.equals(schema) else table.select(schema.names).cast(schema)
                del table

    def margins(self, columns: Sequence[str], target: str) -> list[Margin] | None:
        """Let a query count how often cells meet the labels, where it is all there is to read and can."""
        only = self.parts[0] if len(self.parts) == 1 else None
        found = only.margins(columns, target) if isinstance(only, Stream) else None
        if found and self.progress is not None:
            self.progress(self._progress(int(found[0].n_rows.sum()), 0))
        return found

    # ------------------------------------------------------------------ how they are read

    def _worked_on(
        self, of: "Callable[[pa.Table], T]", columns: Sequence[str], start: Place, n_answers: int = 0
    ) -> "_Results[T]":
        self.require_columns(columns)
        n_rows = start.n_rows
        read = columns or self.schema.names[:1]  # without a column there are no rows

        def work(batch: Batch) -> T:
            with rows_named(batch.stretches):
                return of(batch.table if columns else batch.table.select([]))

        with closing(self._begun(read, start)) as pieces:
            batches = cut_batches(pieces, batch_rows(max(len(columns), n_answers)), start)
            with closing(worked_beside(work, batches)) as results:
                for batch, result in results:
                    n_rows += batch.table.num_rows
                    yield batch, result
                    del result
                    if self.progress is not None:
                        self.progress(self._progress(n_rows, batch.place.part))
                    del batch

    def _progress(self, n_rows: int, part: int) -> Progress:
        n_bytes = sum(part.n_bytes or 0 for part in self.parts[:part]) + self.parts[part].bytes_read
        return Progress(n_rows, self.n_rows, n_bytes, self.n_bytes)

    def _begun(self, columns: Sequence[str], start: Place) -> Generator[PartPiece, None, None]:
        """Begin to read the columns, or go on behind the first rows where `head` has read them."""
        with self._lock:
            if not self.can_be_reread:
                self._require_unread()
                self._is_used_up = True
            kept, rest, is_same = self._kept, self._rest, start == START and self._kept_as == (list(columns), getpid())
            self._kept, self._rest = [], None
        if rest is not None and self.can_be_reread and not is_same:
            rest.close()
            kept, rest = [], None
        if rest is None:
            if not self.can_be_reread:
                self._look_ahead(min(HEAD_ROWS, batch_rows(len(self.schema))))
            rest = self._read(columns, start)
        kept.reverse()  # taken from the end, so that none is held longer than it is needed
        with self._widening(), closing(rest):
            for part, name, piece in chain(iter(lambda: kept.pop() if kept else None, None), rest):
                yield PartPiece(part, name, piece._replace(table=piece.table.select(columns)))
                del piece

    def __getstate__(self) -> dict[str, object]:
        """Leave the first rows and their open files behind, where they can be read again."""
        state = self.__dict__ | ({"_kept": [], "_rest": None} if self.can_be_reread else {})
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        """Have a lock of its own."""
        self.__dict__.update(state, _lock=Lock())

    def _let_go(
        self,
        kept: Sequence[PartPiece] = (),
        rest: Generator[PartPiece, None, None] | None = None,
        columns: Sequence[str] = (),
    ) -> None:
        """Forget the first rows that were kept, for others or for none, and close their files."""
        with self._lock:
            before = self._rest
            self._kept, self._rest, self._kept_as = list(kept), rest, (list(columns), getpid())
        if before is not None:
            before.close()

    def _read(self, columns: Sequence[str], start: Place) -> Generator[PartPiece, None, None]:
        return _read_parts(self.parts, columns, chosen_fields(self.schema, columns), start)

    @contextmanager
    def _widening(self) -> Iterator[None]:
        """Agree on types anew where a cell did not fit."""
        try:
            yield
        except TypesWidened:
            self.__dict__.pop("schema", None)
            _ = self.schema  # in the wider type, if the other parts agree
            raise

    def _look_ahead(self, n_rows: int) -> None:
        """Let rows that come but once show their types, as far as they are kept anyway."""
        for part in self.parts:
            if isinstance(part, Stream):
                part.look_ahead(n_rows)
        self.__dict__.pop("schema", None)

    def _require_unread(self) -> None:
        if self._is_used_up:
            raise DataError(
                f"{self.name} can be read only once, and was read before; give what can be read again (a file, a list, "
                "a function that begins anew), say columns=... so that one pass is enough, or write the rows to a "
                "temporary file: with bayeswater.spooled(source) as rows"
            )


_Results = Generator[tuple[Batch, T], None, None]


def _read_parts(
    parts: Sequence[SourcePart], columns: Sequence[str], schema: "pa.Schema", start: Place
) -> Generator[PartPiece, None, None]:
    """Read the parts one after the other, in the types that all agree on.

    It knows no `LocalRows`, which may hold it: a ring of both would be left to the garbage collector, and that may end
    it within a thread that is about to start, where to wait for other threads is to wait for ever.
    """
    for number in range(start.part, len(parts)):
        part = parts[number]
        own = [name for name in columns if name in part.schema.names] or None  # all, for their number
        for table, mark in part.pieces(own, start.mark if number == start.part else BEGINNING):
            table = conformed(with_missing_columns(table, schema), schema, part.name, mark.row)
            yield PartPiece(number, part.name, DecodedPiece(table, mark))
            del table


def _first(pieces: Iterator[PartPiece], n_rows: int) -> list[PartPiece]:
    """Take pieces until they have so many rows."""
    found: list[PartPiece] = []
    while n_rows > 0 and (piece := next(pieces, None)) is not None:
        found.append(piece)
        n_rows -= piece.piece.table.num_rows
    return found


def _hashed(said: object) -> str:
    return sha256(repr(said).encode()).hexdigest()


def _total(numbers: Iterable[int | None]) -> int | None:
    known = list(numbers)
    return None if None in known else sum(known)  # type: ignore[arg-type]
