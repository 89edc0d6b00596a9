"""CSV and TSV, read by Arrow block by block.

Cells that Arrow does not read as numbers, truths or dates are read as people write them (`written_cells`).
"""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, NoReturn

from bayeswater.data.column_types import Misfit, said_by_types, spoken
from bayeswater.data.reading.cell_style import MARKS, CellStyle
from bayeswater.data.sources.arrow_csv import CsvForm
from bayeswater.data.sources.cut_rows import MOST_LINES_ABOVE
from bayeswater.data.sources.encodings import (
    UTF_8,
    found_encoding,
    is_utf_8,
    marked_encoding,
    n_mark_bytes,
    n_signs,
    not_in_encoding,
)
from bayeswater.data.sources.layout import Layout, found_layout
from bayeswater.data.sources.odd_rows import (
    RAGGED,
    TAIL_BYTES,
    BadRow,
    end_of_filled,
    footer_of,
    has_empty_row,
    is_drawn,
    ragged_row,
    said_of_last_rows,
    way_to_read,
    without_drawing,
)
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.parts import BEGINNING, NO_STYLES, DecodedPiece, Mark, chosen_fields
from bayeswater.data.sources.prefetch import worked_beside
from bayeswater.data.sources.reading_options import ReadAs, Reading
from bayeswater.data.sources.records import (
    end_of_lines,
    end_of_rows,
    has_blanks_at_edges,
    without_blanks,
    worth_loops,
)
from bayeswater.data.sources.source import BLOCK_BYTES, DECODERS, Source, TypesWidened
from bayeswater.errors import DataError, ParameterError, ReadingWarning, SchemaError, warn_user

if TYPE_CHECKING:
    import pyarrow as pa

INFERRED_BYTES = 2**20
"""The stretch at the beginning in which the types of the columns are looked for."""

MOST_MARKS = 64
"""Bytes in which marks of UTF-8 are looked for."""

LONGEST_ROW = 64 * 2**20
"""Bytes of a row; beyond it the quotes of the file are broken."""

NEWLINE = b"\n"

NO_COMMENTS = b"|".join(re.escape(mark.encode()) for mark in MARKS if mark.startswith("#"))
"""Cells that a row may begin with, as #N/A."""

NO_TEXT = {
    re.compile(rb"\s*<(?:!doctype|html|head|body|table|\?xml)\b", re.I): "a page of HTML or XML",
    re.compile(rb"%PDF-"): "a PDF",
    re.compile(rb"(?s:.{257})ustar"): "a tar archive: unpack it first",
}
"""What files are that are named as text, or unpacked to it."""

MISFIT = re.compile(
    r"In CSV column #(\d+): Row #(\d+): CSV conversion error to .*?: (invalid UTF8|invalid value '(.*)')", re.S
)


class DelimitedSource(Source):
    """Rows of a CSV or TSV file.

    Parameters
    ----------
    origin, types : as for every `Source`
    reading : what is said of the file
    """

    def __init__(
        self, origin: Origin, types: "Mapping[str, pa.DataType] | None" = None, reading: Reading | None = None
    ) -> None:
        super().__init__(origin, types, reading)
        self._decimal, self._quotes = self.reading.decimal or ".", self.reading.quotes
        self._supposed_decimal = self._decimal
        self._told_of_bad_rows = False

    @property
    def has_names(self) -> bool:
        """Whether its columns have names, of a header or given, and are not only counted."""
        return self.reading.header or self.reading.names is not None

    def call_columns(self, names: Sequence[str]) -> None:
        """Give names to columns that are only counted."""
        self.reading = replace(self.reading, names=names)
        self._look_again()

    def suppose(self, known: ReadAs) -> None:
        """Let it be read as other files of the same table are, as far as nothing is said of it."""
        super().suppose(known)
        self._supposed_decimal, self._decimal = self._decimal, self.reading.decimal or "."
        self.__dict__.pop("_encoding", None)
        self._look_again()

    def read_as(self) -> ReadAs:
        """Say what other files of the same table should know of this one, beside its schema."""
        encoding = self.reading.encoding or self.likely
        return ReadAs({}, None if encoding == UTF_8 else encoding, self.reading.written)

    def _look_again(self) -> None:
        """Forget what the beginning of the file says."""
        self._let_go_of("_head", "_beginning", "_first_text", "_layout", "_footer", "_first_types", "schema")

    def _let_go_of(self, *told: str) -> None:
        for name in told or ("_head", "_beginning", "_first_text"):  # of them there may be thousands
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------ what the beginning says

    @cached_property
    def _encoding(self) -> str:
        """The encoding that was named, that a mark tells, or that the first bytes look like."""
        if self.reading.encoding is not None:
            return self.reading.encoding
        head = self._head
        told = marked_encoding(head)
        if told is not None:
            self.note(f"the text is read as {told}, as its first bytes say")
        elif not is_utf_8(head):
            return self._found_encoding(head, 0)
        elif self.likely is not None and not head.isascii():
            self.note(f"the text is UTF-8, and not {self.likely} as the files that the model has learned from")
        return told or UTF_8

    def _found_encoding(self, content: bytes, n_lines: int, n_signs_above: int = 0) -> str:
        """Find the encoding of text that is not UTF-8, behind so many lines."""
        found = found_encoding(content, f"{self.name}: the file", self.expected, self.likely, n_lines, n_signs_above)
        if found != self.likely:  # else it is settled
            other = f" and not as {self.likely}, as the files that the model has learned from" * bool(self.likely)
            self.note(
                f"the text is no UTF-8 and is read as {found}{other}, as it looks; encoding='{found}' says so for sure"
            )
        self.likely = found
        return found

    @cached_property
    def _beginning(self) -> bytes:
        """The first rows, in UTF-8, without the header and what stands above it."""
        rows = self._first_text[self._layout.start :].removesuffix(self._footer if self._is_short else b"")
        delimiter = self.delimiter.encode()
        end = len(rows) if self._is_short else self._end_of_rows(rows, delimiter) or len(rows)
        return self._without_comments(rows[: end_of_filled(rows, end, delimiter)])

    @cached_property
    def _first_text(self) -> bytes:
        """The beginning of the file, in UTF-8."""
        head = self._head
        if not head.strip():
            raise DataError(f"{self.name} is empty; give a file with a header and rows")
        if what := next((what for pattern, what in NO_TEXT.items() if pattern.match(head)), None):
            raise DataError(f"{self.name} is {what}, and not the text of a table")
        text = self._decoded(codecs.getincrementaldecoder(self._encoding)(), head, 0)
        return text[n_mark_bytes(text) :]

    @cached_property
    def _footer(self) -> bytes:
        """Lines below the table, in UTF-8, as far as the end of the file can be seen."""
        seen = self._first_text if self._is_short else self._tail if self._encoding == UTF_8 else b""
        is_table = len(self._layout.used) > 1 and not self._layout.is_drawn
        footer = footer_of(seen, self.delimiter.encode()) if is_table else b""
        if lines := [line for line in map(str.strip, footer.decode(errors="ignore").splitlines()) if line]:
            are = "line below the table is" if len(lines) == 1 else "lines below the table are"
            shown = next((line for line in lines if not is_drawn(line)), lines[0])[:60]
            self.note(f"{len(lines)} {are} left out, from {shown!r}")
        return footer

    @cached_property
    def _head(self) -> bytes:
        """The first bytes of the file."""
        return self.origin.head(INFERRED_BYTES)

    @property
    def _tail(self) -> bytes:
        """The last bytes of the file, where they can be seen."""
        return self.origin.tail(TAIL_BYTES)

    @cached_property
    def _is_short(self) -> bool:
        """Whether the beginning is all of the file."""
        return len(self._head) < INFERRED_BYTES

    @cached_property
    def _layout(self) -> Layout:
        find = partial(
            found_layout, reading=self.reading, is_whole=self._is_short, where=self.name, expected=self.expected
        )
        found = find(self._first_text)
        if found.blanks_before_quotes:
            self._first_text = without_blanks(self._first_text, found.delimiter)
            found = find(self._first_text)
            found = replace(found, blanks_before_quotes=True)
        if found.delimiter == self._decimal != self._supposed_decimal:
            self._decimal = self._supposed_decimal  # other files had a comma there, which this one cannot have
        if found.delimiter == self._decimal:
            raise ParameterError(
                f"{self.name}: {found.delimiter!r} stands between cells, so it cannot stand before decimals too; name "
                "the character between cells, bayeswater.local_rows(source, delimiter=...), or leave out decimal"
            )
        for said in found.notes:
            self.note(said)
        return found

    @property
    def delimiter(self) -> str:
        """The character between cells."""
        return self._layout.delimiter

    def _end_of_rows(self, text: bytes, delimiter: bytes) -> int:
        if not self._quotes:
            return end_of_lines(text)
        return end_of_rows(text, delimiter, use_loop=self._use_loop(text))

    def _use_loop(self, text: bytes) -> bool:
        """Say whether the file is long, by its size, or where it has none by what was read of it at once."""
        return worth_loops(max(self.origin.n_bytes or 0, len(text)))

    @cached_property
    def _first_types(self) -> "dict[str, pa.DataType]":
        """Types of all columns as the first rows look."""
        import pyarrow as pa

        try:
            return self.cells.first_types(self._first_parsed, self.delimiter)
        except pa.ArrowInvalid as error:
            raise self._unparsable(error, 0) from None

    def _first_parsed(self, types: "Mapping[str, pa.DataType | None]", marks: tuple[str, ...]) -> "pa.Table":
        return self._parsed(self._beginning, types, marks)

    def _read_schema(self) -> "pa.Schema":
        kinds = {name: self._first_types[name] for name in self._layout.used}
        all_rows = None if self._is_short or not self.can_be_reread else self._written
        looked_at = {name: kind for name, kind in kinds.items() if name in self._asked or name not in self.types}
        self.cells.find(self._first_parsed, self._beginning, looked_at, self._asked, all_rows)
        tail, encoding = (self._first_text, UTF_8) if self._is_short else (self._tail, self._encoding)
        self._let_go_of()
        if odd := said_of_last_rows(tail.removesuffix(self._footer), encoding, self.delimiter, self._layout.is_drawn):
            self.note(odd)
        for said in self.cells.notes():
            self.note(said)
        return self.cells.schema(kinds | looked_at, self.types)

    def _written(self, names: Sequence[str]) -> "Iterator[pa.Table]":
        """Give columns of all rows as they are written."""
        import pyarrow as pa

        return (self._parsed(block, dict.fromkeys(names, pa.string()), ("",)) for _, block in self._blocks())

    def declare(self, types: "Mapping[str, pa.DataType]", styles: Mapping[str, CellStyle] = NO_STYLES) -> None:
        """Fix the types of columns and how they are written; types that were given before stay as they are."""
        new = {name: style for name, style in styles.items() if name not in self._asked}
        changed = [name for name, style in new.items() if self.cells.style(name) != style]
        self.cells.said |= new
        self.cells.found = {name: found for name, found in self.cells.found.items() if name not in types}
        self.types = {**types, **self.types}
        if "schema" not in self.__dict__:
            return
        kinds = {field.name: field.type for field in self.schema}  # all others stay as they were found
        for name in types:
            self._require_among(name, list(kinds), "column")
        for name in kinds.keys() & changed:
            kinds[name] = self.cells.kind_said(self._first_parsed, name, self._first_types[name])
        self._let_go_of()
        self.schema = self.cells.schema(kinds, self.types)

    # ------------------------------------------------------------------ all rows

    def _read(self, names: list[str], start: Mark) -> Iterator[DecodedPiece]:
        """Read the named columns in their types."""
        import pyarrow as pa

        schema = chosen_fields(self.schema, names)
        chosen = dict(zip(names, schema.types, strict=True))
        chosen |= dict.fromkeys(self._layout.left_out, pa.null())  # they are empty, or else refused
        n_rows, n_left_out = start.row, 0

        def parsed(numbered: tuple[int, bytes]) -> tuple[pa.Table, list[BadRow], bool]:
            bad: list[BadRow] = []
            parse = partial(self._parsed, numbered[1], bad=bad)
            table = self.cells.parsed(parse, chosen).select(names)
            if has_blanks_at_edges(numbered[1], self.delimiter.encode(), use_loop=self._use_loop(numbered[1])):
                table = self.cells.trimmed(table)
            n_cells, mark = len(self._layout.names), self.delimiter.encode()
            has_empty = all(it.null_count for it in table.columns) and has_empty_row(numbered[1], n_cells, mark)
            return self.cells.read(table, schema), list(dict.fromkeys(bad)), has_empty

        try:
            blocks = self._blocks(start.byte)
            of_one = (
                (block, parsed(block)) for block in blocks
            )  # a thread for a short file takes longer than it saves
            for (n_bytes, _), (table, bad, has_empty) in (
                of_one if self._is_short else worked_beside(parsed, blocks, DECODERS)
            ):
                if table.num_rows:
                    yield DecodedPiece(table, Mark(n_rows, n_bytes) if n_rows else BEGINNING)
                n_left_out += self._told_of(bad, n_rows + n_left_out)
                if has_empty:
                    self._tell(
                        f"some rows have nothing but {self.delimiter!r}: they are rows whose cells are all missing; "
                        "take them out if they are none"
                    )
                n_rows += table.num_rows
                del table
        except Misfit as misfit:
            where = f"{self.name}: {self._row(n_rows + n_left_out + misfit.row + 1)}"
            self._refuse(where, misfit.column, misfit.cell, misfit.kind)
        except pa.ArrowInvalid as error:
            self._explain_misfit(error, chosen, n_rows + n_left_out)
            raise self._unparsable(error, n_rows + n_left_out) from None
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
        delimiter, footer, rest = self.delimiter.encode(), self._footer, b""
        n_passed = max(n_passed, self._layout.start)
        for more in self._texts(n_passed):
            rest += more
            if footer and rest.endswith(footer):  # perhaps the end
                continue
            end = end_of_filled(rest, self._end_of_rows(rest, delimiter), delimiter)
            block, rest = rest[:end], rest[end:]
            if block and not block.isspace():
                yield n_passed, self._without_comments(block)
            n_passed += len(block)
            if len(rest) > LONGEST_ROW:
                raise _UnclosedQuote
        rest = rest.removesuffix(footer)
        if rest.strip():
            if self._end_of_rows(rest + b"\n", delimiter) != len(rest) + 1:
                raise _UnclosedQuote
            end = end_of_filled(rest, len(rest), delimiter)
            if n_empty := sum(delimiter in line for line in rest[end:].splitlines()):
                rows = "the last row has" if n_empty == 1 else f"the last {n_empty:,} rows have"
                self._tell(f"{rows} nothing but {self.delimiter!r} and {'is' if n_empty == 1 else 'are'} left out")
            if end:
                yield n_passed, self._without_comments(rest[:end])

    def _tell(self, said: str) -> None:
        """Note what shows only while rows are read, and warn of it, once."""
        if said not in self.notes:
            self.note(said)
            warn_user(f"{self.name}: {said}", ReadingWarning)

    def _without_comments(self, block: bytes) -> bytes:
        """Take out lines that draw a table, or begin as comments do; with quotes, a cell may have such a line."""
        if self._layout.is_drawn:
            block = without_drawing(block)
        comment = self._layout.comment.encode()
        if not comment or comment not in block or b'"' in block:
            return block
        cell = b"(?!(?:%b)[ \t]*%b)" % (NO_COMMENTS, re.escape(self.delimiter.encode()))
        return re.sub(rb"^%b%b.*(?:\r?\n|$)" % (cell, re.escape(comment)), b"", block, flags=re.M)

    def _texts(self, n_passed: int) -> Iterator[bytes]:
        """Read the file piece by piece in UTF-8, behind so many bytes and the mark that some write at the beginning."""
        if self._encoding == UTF_8 and not self._layout.blanks_before_quotes:
            yield from self._raw(n_passed)
            return
        decoder, n_lines, rest = codecs.getincrementaldecoder(self._encoding)(), 0, b""
        for piece in chain(self._raw(0), [b""]):
            text = rest + self._decoded(decoder, piece, n_lines)
            if self._layout.blanks_before_quotes:
                end = NEWLINE if self.delimiter == " " else self.delimiter.encode()  # behind it may be more blanks
                cut = text.rfind(end) if piece else -1
                text, rest = (text[:cut], text[cut:]) if cut > 0 else (text, b"")
                text = without_blanks(text, self.delimiter)
            yield text[n_passed:]
            n_passed = max(n_passed - len(text), 0)
            n_lines += piece.count(NEWLINE)

    def _raw(self, n_passed: int) -> Iterator[bytes]:
        # where the file begins with a mark, bytes are counted from behind it
        n_mark = n_mark_bytes(self.origin.head(MOST_MARKS))
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

    def _parsed(
        self,
        block: bytes,
        types: "Mapping[str, pa.DataType | None]",
        marks: tuple[str, ...] = ("",),
        bad: list[BadRow] | None = None,
    ) -> "pa.Table":
        """Parse columns, or all, of rows in memory; rows of another length that are no error are put into `bad`."""
        form = CsvForm(
            self._layout.names, self.delimiter, self._quotes, self._decimal, self._layout.comment, self.reading.bad_rows
        )
        return form.parsed(block, types, marks, bad)

    def _fitting_schema(self) -> "pa.Schema":
        names = [name for name in self.schema.names if name not in self.types and name not in self.cells.said]
        kinds = {field.name: field.type for field in self.schema}
        return self.cells.schema(kinds | self.cells.fit_all(self._written(names), names, self._decimal), self.types)

    # ------------------------------------------------------------------ what goes wrong

    def _explain_misfit(self, error: Exception, types: "dict[str, pa.DataType]", n_rows: int) -> None:
        """Refuse a cell that does not fit the type of its column, or find a wider type."""
        found = MISFIT.match(str(error))
        if not found:
            return
        name, row = self._layout.names[int(found[1])], self._row(n_rows + int(found[2]))
        if found[4] is None:
            self._find_encoding(f"{row}, column {name!r}")
        where, kind = f"{self.name}: {row}", types[name]
        if name not in self.schema.names:
            raise DataError(
                f"{where} has {found[4]!r} in column {int(found[1]) + 1}, which has no name, and no cells in the first "
                "rows; name the column in the header"
            )
        self._refuse(where, name, found[4], kind)

    def _refuse(self, where: str, name: str, cell: str, kind: "pa.DataType | str") -> NoReturn:
        """Refuse a cell, or find how all cells of its column can be read."""
        if name in self.types or name in self.cells.said:
            raise Misfit.of(where, name, cell, kind, way_to_read(cell, kind, self._decimal)) from None
        style = self.cells.style(name)
        self.cells.refused.add((name, kind if style is None or style.kind == "plain" else str(style)))
        misfit = f"{where}, column {name!r} holds {cell!r}, which is no {spoken(kind)} as the cells before are"
        self._widen(misfit, said_by_types(name), self._fitting_schema)

    def _unparsable(self, error: Exception, n_rows: int) -> DataError:
        found = RAGGED.match(str(error))
        if found:
            row, n_bad = n_rows + int(found[1]), self._count_bad_rows() if self.can_be_reread else 1
            said = ragged_row(found, self.delimiter, n_bad, near_top=row <= MOST_LINES_ABOVE)
            return DataError(f"{self.name}: {self._row(row)} {said}")
        if "Empty CSV" in str(error):
            return DataError(f"{self.name} has no rows; give a file with a header and rows")
        return DataError(f"{self.name}: {error}")

    def _count_bad_rows(self) -> int:
        """Count the rows of another length in the whole file."""
        import pyarrow as pa

        bad: list[BadRow] = []
        reading, self.reading = self.reading, replace(self.reading, bad_rows="skip")
        try:
            for _, block in self._blocks():
                self._parsed(block, {self._layout.names[0]: pa.binary()}, bad=bad)
        except (_UnclosedQuote, DataError):
            pass
        finally:
            self.reading = reading
        return len(bad)

    def _told_of(self, bad: list[BadRow], n_rows: int) -> int:
        """Say once that rows of another length are left out or filled up; give how many are left out."""
        if bad and not self._told_of_bad_rows:
            self._told_of_bad_rows = True  # another row may be the first of a later reading
            done = "are left out" if self.reading.bad_rows == "skip" else "are filled up"
            first = f"{self._row(n_rows + bad[0].number)} on, {bad[0].text[:80]!r}"
            self._tell(f"rows of another length {done}, from {first}")
        return len(bad) if self.reading.bad_rows == "skip" else 0

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
        """Whether the first row has numbers as those below it have, and is perhaps no header."""
        _ = self._first_types  # where the rows cannot be read, that is said first
        return self._layout.begins_with_data

    def _row(self, number: int) -> str:
        n_above = self._layout.n_rows_above
        return f"row {number + n_above}" + f" (the header is row {n_above})" * self.reading.has_header

    def _find_encoding(self, where: str) -> NoReturn:
        """Read text again that turns out not to be UTF-8, in the encoding that it looks like."""
        if self.reading.encoding is not None or not self.can_be_reread:
            raise self._not_in_encoding(where)
        n_lines, n_above, rest = 0, 0, b""
        for piece in self._raw(0):
            other = rest + piece  # whole lines but for the last: a piece may begin within a character
            if not is_utf_8(other):
                break
            n_above += n_signs(other.decode(errors="ignore"))
            n_lines, rest = n_lines + other.count(NEWLINE), other[other.rfind(NEWLINE) + 1 :]
        found = self._found_encoding(other, n_lines, n_above)
        self._look_again()
        self._encoding = found
        raise TypesWidened(f"{self.name}: {where} is not text in {UTF_8}; the file is read again as {found}")

    def _not_in_encoding(self, where: str) -> DataError:
        return DataError(not_in_encoding(f"{self.name}: {where}", self._encoding))


class _UnclosedQuote(Exception):
    """A row that does not end."""
