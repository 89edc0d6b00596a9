"""CSV and TSV, read by Arrow block by block.

Blanks around a cell are no part of it. A cell is missing where it is empty or one of the markers in `MISSING`; other
markers are named in their place. ``None`` and ``?`` are not among them: too often they are values.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from bayeswater.data.column_types import (
    Misfit,
    are_whole,
    candidate_types,
    fits,
    said_by_types,
    without_digits,
)
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.parts import BEGINNING, DecodedPiece, Mark
from bayeswater.data.sources.prefetch import worked_beside
from bayeswater.data.sources.records import (
    end_of_lines,
    end_of_rows,
    has_blanks_at_edges,
    recognised_delimiter,
    require_decimal,
    require_delimiter,
    worth_loops,
)
from bayeswater.data.sources.source import BLOCK_BYTES, DECODERS, Source
from bayeswater.errors import DataError, ParameterError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells that are missing, besides the empty one."""

INFERRED_BYTES = 2**20
"""The stretch at the beginning in which the types of the columns are looked for."""

LONGEST_ROW = 64 * 2**20
"""Bytes of a row; beyond it the quotes of the file are broken."""

MOST_LINES_ABOVE = 20
"""Rows among which one with more cells than the first may be the header, below a title or a note."""

NEWLINE = b"\n"

ENCODING_OF_MARK = {
    codecs.BOM_UTF32_LE: "utf-32",  # before that of UTF-16, which it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Encodings that tell themselves by their first bytes, such as those of Excel's "Unicode text"."""

LONG_NUMBER = re.compile(rb"(?<![\d.])\d{16}")
"""How a whole number begins that may be too long for a float64."""

MISFIT = re.compile(
    r"In CSV column #(\d+): Row #(\d+): CSV conversion error to .*?: (invalid UTF8|invalid value '(.*)')", re.S
)
RAGGED = re.compile(r"CSV parse error: Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.S)


class DelimitedSource(Source):
    """Rows of a CSV or TSV file.

    Parameters
    ----------
    origin, types : as for every `Source`
    delimiter : the character between cells; recognised where it is None
    decimal : the character before the decimals of a number, "." or ","
    header : whether the first row holds the names; without it columns are called x0, x1, ...
    names : of the columns, where no row holds them
    quotes : whether cells may stand in quotes; without them a quote is a character like others
    encoding : as Python names it
    missing : cells that are missing, besides the empty one; one string is one of them
    """

    def __init__(
        self,
        origin: Origin,
        types: "Mapping[str, pa.DataType] | None" = None,
        *,
        delimiter: str | None = None,
        decimal: str = ".",
        header: bool = True,
        names: Sequence[str] | None = None,
        quotes: bool = True,
        encoding: str = "utf-8",
        missing: str | Iterable[str] = MISSING,
    ) -> None:
        super().__init__(origin, types)
        require_delimiter(delimiter, quotes=quotes)
        require_decimal(decimal)
        self._given_delimiter, self._header, self._quotes = delimiter, header and names is None, quotes
        self._names = names
        self._decimal = decimal
        self._missing = ("", *([missing] if isinstance(missing, str) else missing))
        self._named_encoding = known_encoding(encoding)
        self._refused: set[tuple[str, pa.DataType]] = set()

    @property
    def has_names(self) -> bool:
        """Whether its columns have names, of a header or given, and are not only counted."""
        return self._header or self._names is not None

    def call_columns(self, names: Sequence[str]) -> None:
        """Give names to columns that are only counted."""
        self._names = names
        self.__dict__.pop("schema", None)

    # ------------------------------------------------------------------ what the beginning says

    @cached_property
    def _encoding(self) -> str:
        """The encoding that was named; where it is UTF-8, a mark at the beginning that this never has tells another."""
        head = self.origin.head(len(codecs.BOM_UTF32))
        told = next((name for mark, name in ENCODING_OF_MARK.items() if head.startswith(mark)), None)
        return told if told and self._named_encoding == "utf-8" else self._named_encoding

    @cached_property
    def _beginning(self) -> bytes:
        """The first rows, in UTF-8."""
        head = self.origin.head(INFERRED_BYTES)
        if not head.strip():
            raise DataError(f"{self.name} is empty; give a file with a header and rows")
        text = self._decoded(codecs.getincrementaldecoder(self._encoding)(), head, 0).removeprefix(codecs.BOM_UTF8)
        end = len(text) if len(head) < INFERRED_BYTES else self._end_of_rows(text, self._delimiter_in(text))
        return text[: end or None]

    @cached_property
    def delimiter(self) -> str:
        """The character between cells."""
        return self._delimiter_in(self._beginning).decode()

    def _delimiter_in(self, text: bytes) -> bytes:
        found = self._given_delimiter or recognised_delimiter(text.decode(errors="ignore"), quotes=self._quotes)
        if found == self._decimal:
            raise ParameterError(
                f"{self.name}: {found!r} stands between cells, so it cannot stand before decimals too; name the "
                "character between cells, bayeswater.local_rows(source, delimiter=...), or leave out decimal"
            )
        return found.encode()

    def _end_of_rows(self, text: bytes, delimiter: bytes) -> int:
        if not self._quotes:
            return end_of_lines(text)
        return end_of_rows(text, delimiter, use_loop=self._use_loop(text))

    def _use_loop(self, text: bytes) -> bool:
        """Say whether the file is long, by its size, or where it has none by what was read of it at once."""
        return worth_loops(max(self.origin.n_bytes or 0, len(text)))

    @cached_property
    def _first_schema(self) -> "pa.Schema":
        """Names as they stand in the file (with blanks around them, twice, or none), types as the first rows look."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            schema = self._parsed(self._beginning, {}, []).schema
        except pa.ArrowInvalid as error:
            raise self._unparsable(error, 0) from None
        floats = [field.name for field in schema if pa.types.is_floating(field.type)]
        if not floats or not LONG_NUMBER.search(self._beginning) or len(set(schema.names)) < len(schema):
            return schema
        written = self._parsed(self._beginning, dict.fromkeys(floats, pa.string()), [])
        for name in floats:
            cells = pc.utf8_trim_whitespace(written.column(name).drop_null())
            if are_whole(cells) and len(without_digits(cells)) > 1:
                schema = schema.set(schema.get_field_index(name), pa.field(name, pa.string()))
        return schema

    @property
    def _raw_names(self) -> list[str]:
        return self._first_schema.names

    def _read_schema(self) -> "pa.Schema":
        import pyarrow as pa

        fields = list(self._first_schema)
        self.__dict__.pop("_beginning", None)  # it has told all it can, and there may be thousands of files
        names = self._given_names(len(fields)) or [
            self._clean_name(field.name, place) for place, field in enumerate(fields)
        ]
        kinds = (pa.string() if pa.types.is_binary(field.type) else field.type for field in fields)
        return pa.schema([(name, self.types.get(name, kind)) for name, kind in zip(names, kinds, strict=True)])

    def _given_names(self, n_columns: int) -> list[str]:
        if self._names is not None and len(self._names) != n_columns:
            raise SchemaError(
                f"{self.name}: {len(self._names)} names are given for {n_columns} columns ({', '.join(self._names)}); "
                "give each column a name, in their order"
            )
        return list(self._names or ())

    def _clean_name(self, raw: str, place: int) -> str:
        return (raw.strip() if self._header else "") or f"x{place}"

    # ------------------------------------------------------------------ all rows

    def _read(self, names: list[str], start: Mark) -> Iterator[DecodedPiece]:
        return self._typed({name: self.schema.field(name).type for name in names}, start)

    def _typed(self, types: "dict[str, pa.DataType]", start: Mark) -> Iterator[DecodedPiece]:
        """Read the named columns in the given types."""
        import pyarrow as pa

        raw = dict(zip(self.schema.names, self._raw_names, strict=True))
        chosen = {raw[name]: kind for name, kind in types.items()}
        n_rows = start.row + (self._header and start != BEGINNING)  # with the header, as a spreadsheet counts

        def parsed(numbered: tuple[int, tuple[int, bytes]]) -> pa.Table:
            number, (_, block) = numbered
            has_header = self._header and not number and start == BEGINNING
            table = self._parsed(block, chosen, [] if has_header else self._raw_names)
            return self._cleaned(table.rename_columns(list(types)), block)

        try:
            for (_, (n_bytes, _)), table in worked_beside(parsed, enumerate(self._blocks(start.byte)), DECODERS):
                if table.num_rows:
                    yield DecodedPiece(table, Mark(n_rows - self._header, n_bytes) if n_rows else BEGINNING)
                n_rows += table.num_rows + (self._header and not n_rows)
                del table
        except pa.ArrowInvalid as error:
            self._explain_misfit(error, types, n_rows)
            raise self._unparsable(error, n_rows) from None
        except _UnclosedQuote:
            raise DataError(
                f"{self.name}: a row after {self._row(n_rows)} does not end: a quote is opened and never closed; close "
                "it, or say bayeswater.local_rows(source, quotes=False) if quotes are characters like others"
            ) from None

    def _blocks(self, n_passed: int = 0) -> Iterator[tuple[int, bytes]]:
        """Read whole rows, some megabytes at once, in UTF-8, and how many bytes stand before; so many are passed over.

        Blocks are read and cut here, and parsed out of memory: a thread of Arrow that waits for a pipe could not be
        interrupted.
        """
        delimiter, rest = self.delimiter.encode(), b""
        for more in self._texts(n_passed):
            rest += more
            end = self._end_of_rows(rest, delimiter)
            block, rest = rest[:end], rest[end:]
            if block and not block.isspace():
                yield n_passed, block
            n_passed += len(block)
            if len(rest) > LONGEST_ROW:
                raise _UnclosedQuote
        if rest.strip():
            if self._end_of_rows(rest + b"\n", delimiter) != len(rest) + 1:
                raise _UnclosedQuote
            yield n_passed, rest

    def _texts(self, n_passed: int) -> Iterator[bytes]:
        """Read the file piece by piece in UTF-8, behind so many bytes and the mark that some write at the beginning."""
        if self._encoding == "utf-8":
            yield from self._raw(n_passed)
            return
        decoder, n_lines = codecs.getincrementaldecoder(self._encoding)(), 0
        for piece in chain(self._raw(0), [b""]):
            text = self._decoded(decoder, piece, n_lines)
            yield text[n_passed:]
            n_passed = max(n_passed - len(text), 0)
            n_lines += piece.count(NEWLINE)

    def _raw(self, n_passed: int) -> Iterator[bytes]:
        # where the file begins with a mark, bytes are counted from behind it
        n_mark = len(codecs.BOM_UTF8) if self.origin.head(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0
        with self.origin.open(n_mark + n_passed) as file:
            while piece := file.read(BLOCK_BYTES):
                yield piece

    def _decoded(self, decoder: codecs.IncrementalDecoder, content: bytes, n_lines: int) -> bytes:
        """Turn bytes of the file into UTF-8; no bytes are the end of the file."""
        try:
            return decoder.decode(content, final=not content).encode()
        except UnicodeError as error:  # without a place where a mark of UTF-16 is missing
            n_before = error.object.count(NEWLINE, 0, error.start) if isinstance(error, UnicodeDecodeError) else 0
            raise self._not_in_encoding(f"line {n_lines + n_before + 1}") from None

    def _parsed(self, block: bytes, types: "dict[str, pa.DataType]", names: list[str]) -> "pa.Table":
        """Parse a block that is in memory, with its own header where no names are given.

        Without threads of Arrow, since blocks are parsed side by side, and only so are rows numbered in errors.
        """
        import pyarrow as pa
        import pyarrow.csv

        reading = pyarrow.csv.ReadOptions(
            use_threads=False,
            block_size=len(block) + 1,
            column_names=names,
            autogenerate_column_names=not (names or self._header),
        )
        parsing = pyarrow.csv.ParseOptions(
            delimiter=self.delimiter, quote_char='"' if self._quotes else False, newlines_in_values=self._quotes
        )
        converting = pyarrow.csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=list(self._missing),
            strings_can_be_null=True,
            decimal_point=self._decimal,
        )
        return pyarrow.csv.read_csv(pa.BufferReader(block), reading, parsing, converting)

    def _cleaned(self, table: "pa.Table", block: bytes) -> "pa.Table":
        """Take the blanks off strings, and the missing ones among those that had some out."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not has_blanks_at_edges(block, self.delimiter.encode(), use_loop=self._use_loop(block)):
            return table
        missing = pa.array(self._missing)
        for place, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                trimmed = pc.utf8_trim_whitespace(table.column(place))
                present = pc.if_else(pc.is_in(trimmed, value_set=missing), None, trimmed)
                table = table.set_column(place, field, present)
        return table

    def _fitting_schema(self) -> "pa.Schema":
        import pyarrow as pa

        possible = {
            name: [kind for kind in candidate_types() if (name, kind) not in self._refused]
            for name in self.schema.names
            if name not in self.types
        }
        empty, whole = set(possible), set(possible)
        long: dict[str, set[str]] = {name: set() for name in possible}
        for table, _ in self._typed(dict.fromkeys(possible, pa.string()), BEGINNING):
            for name, kinds in possible.items():
                cells = table.column(name).drop_null()
                if len(cells):
                    empty.discard(name)
                    if not are_whole(cells):
                        whole.discard(name)
                    if name in whole and len(long[name]) < 2:
                        long[name] |= without_digits(cells)
                    possible[name] = [kind for kind in kinds if fits(self._with_points(cells, kind), kind)]
        found = {name: pa.null() if name in empty else kinds[0] for name, kinds in possible.items()}
        found |= {name: pa.string() for name in whole if len(long[name]) > 1 and pa.types.is_floating(found[name])}
        return pa.schema([(name, found.get(name, self.types.get(name))) for name in self.schema.names])

    def _with_points(self, cells: "pa.ChunkedArray", kind: "pa.DataType") -> "pa.ChunkedArray":
        """Write numbers as Arrow does in memory."""
        import pyarrow as pa
        import pyarrow.compute as pc

        is_other = self._decimal != "." and pa.types.is_floating(kind)
        return pc.replace_substring(cells, pattern=self._decimal, replacement=".") if is_other else cells

    # ------------------------------------------------------------------ what goes wrong

    def _explain_misfit(self, error: Exception, types: "dict[str, pa.DataType]", n_rows: int) -> None:
        """Refuse a cell that does not fit the type of its column, or find a wider type."""
        found = MISFIT.match(str(error))
        if not found:
            return
        name, row = self.schema.names[int(found[1])], self._row(n_rows + int(found[2]))
        if found[4] is None:
            raise self._not_in_encoding(f"{row}, column {name!r}")
        where, kind = f"{self.name}: {row}", types[name]
        if name in self.types:
            raise Misfit.of(where, name, found[4], kind, self._way_to_read(found[4], kind))
        self._refused.add((name, kind))
        misfit = f"{where}, column {name!r} holds {found[4]!r}, which is no {kind} as the cells before are"
        self._widen(misfit, said_by_types(name), self._fitting_schema)

    def _way_to_read(self, cell: str, kind: "pa.DataType") -> str:
        """Say what to do about a cell that is not of the type that its column has to have."""
        import pyarrow as pa

        other = {".": ",", ",": "."}[self._decimal]
        if pa.types.is_floating(kind) and re.fullmatch(rf"[-+]?\d+[{other}]\d+", cell.strip()):
            return f"read the file {'with' if other == ',' else 'without'} decimal=','"
        return (
            f"correct the cell, or name what stands for missing with bayeswater.local_rows(source, missing=[{cell!r}])"
        )

    def _unparsable(self, error: Exception, n_rows: int) -> DataError:
        found = RAGGED.match(str(error))
        if found:
            row, expected, there, text = int(found[1]), int(found[2]), int(found[3]), found[4]
            way_out = (
                f"quote cells that hold {self.delimiter!r}, or name another character between cells with "
                "bayeswater.local_rows(source, delimiter=...)"
            )
            if there == expected + 1 and text.rstrip().endswith(self.delimiter):
                way_out = f"take the {self.delimiter!r} off its end, or add one to the end of the header"
            elif there > expected and n_rows + row <= MOST_LINES_ABOVE:
                way_out = f"take out the lines above it if it is the header; else {way_out}"
            lengths = f"has {_cells(there)} and not {expected}"
            return DataError(f"{self.name}: {self._row(n_rows + row)} {lengths}: {text[:80]!r}; {way_out}")
        if "Empty CSV" in str(error):
            return DataError(f"{self.name} has no rows; give a file with a header and rows")
        return DataError(f"{self.name}: {error}")

    def _require_among(self, name: str, names: Sequence[str], what: str) -> None:
        if len(names) == 1 and name in names[0] and name != names[0]:
            raise SchemaError(
                f"{self.name}: there is no {what} {name!r}, but one column {names[0]!r}; name the character between "
                "cells with bayeswater.local_rows(source, delimiter=...)"
            )
        try:
            super()._require_among(name, names, what)
        except SchemaError as error:
            if not self.begins_with_data:
                raise
            raise SchemaError(
                f"{error}; if the first row is no header, say bayeswater.local_rows(source, header=False)"
            ) from None

    @property
    def begins_with_data(self) -> bool:
        """Whether the first row has a fraction or a negative number for a name, and is perhaps no header."""
        return self._header and any(re.fullmatch(r"-?\d*\.\d+|-\d+", name) for name in map(str.strip, self._raw_names))

    def _row(self, number: int) -> str:
        return f"row {number} (the header is row 1)" if self._header else f"row {number}"

    def _not_in_encoding(self, where: str) -> DataError:
        return DataError(
            f"{self.name}: {where} is not text in {self._encoding}; name the encoding of the file, for example "
            "bayeswater.local_rows(source, encoding='gbk') (Chinese), shift_jis (Japanese) or cp1252 (Western Windows)"
        )


class _UnclosedQuote(Exception):
    """A row that does not end."""


def known_encoding(encoding: str) -> str:
    """Give the name of an encoding as Python spells it."""
    try:
        "".encode(encoding)  # hex and rot13, too, are names of codecs, but not of text
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError, ValueError):  # a NUL in the name is a ValueError
        raise ParameterError(
            f"there is no encoding {encoding!r}; give one that Python knows, such as utf-8 or gbk"
        ) from None


def _cells(n: int) -> str:
    return f"{n} cell{'' if n == 1 else 's'}"
