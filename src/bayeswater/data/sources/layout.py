"""The layout of delimited text, found in its first rows: what parts cells, where the rows begin, names of columns.

Most rows have as many cells as the table has columns (`dialects`). Above them may stand lines with fewer, among them
``sep=;`` as Excel writes it (`headers`). Else the first row is the header, and rows of another length are refused.
Lines that only draw a table, as databases and SAP print it, are no rows.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from bayeswater.data.sources.cut_rows import COMMENT, MOST_LINES_ABOVE, Row, body_of, has_drawing, is_comment
from bayeswater.data.sources.dialects import SNIFFED_ROWS, TextCut, are_parted_by_blanks, sniffed
from bayeswater.data.sources.headers import (
    LEAST_BELOW,
    is_perhaps_data,
    joined_names,
    n_unnamed,
    own_names,
    passed_over,
    with_header,
    with_names_of_index,
    written_names,
)
from bayeswater.data.sources.odd_rows import said_of_sums
from bayeswater.data.sources.reading_options import Reading
from bayeswater.errors import DataError
from bayeswater.records import record

SNIFFED_BYTES = 2**15
"""Bytes that are looked at first; more where they hold fewer rows."""

BY_BLANKS = "each line is one cell; if blanks stand between cells, say bayeswater.local_rows(source, delimiter=' '), "
BY_BLANKS += "or, where columns stand below one another, save the table as CSV"

BY_BACKSLASH = 'a backslash stands before quotes within cells, and stays there: write such quotes twice, as ""'

BY_SIGN = "each line is one cell; if {} stands between cells, say bayeswater.local_rows(source, delimiter={!r})"

SIGNS = re.compile(r"[^\w\s\"'.,?!()-]+")
"""What may stand between cells, and in no word."""

BEHIND_BLANK_LINE = "a blank line stands above {!r}; if another table begins there, take it out"

BLANK_LINE = re.compile(rb"\n\r?\n|\r\r")

FEW_BLANK_LINES = 2
"""Between rows, which may part tables; more are a habit."""

IN_SINGLE_QUOTES = "cells stand in single quotes, which are part of them; write double quotes in their place"


@record
class Layout:
    """Where the rows of a text begin, and what their columns are called.

    Parameters
    ----------
    names : of all columns, each its own
    left_out : columns at the edges that have neither a name nor, in the first rows, a cell
    n_rows_above : rows above the first one of the table, the header among them
    start : bytes above the first row of the table
    header : cells of the header as they are written; empty without one
    notes : what a person should know of it
    delimiter : the character between cells
    blanks_before_quotes : whether blanks stand between a delimiter and a cell in quotes
    comment : what lines begin with that are no rows; "" where there are none
    begins_with_data : whether the header has numbers as the rows below it have, and is perhaps none
    is_drawn : whether some lines only draw the table
    """

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    n_rows_above: int
    start: int
    header: tuple[str, ...]
    notes: tuple[str, ...]
    delimiter: str = ""
    blanks_before_quotes: bool = False
    comment: str = ""
    begins_with_data: bool = False
    is_drawn: bool = False

    @property
    def used(self) -> dict[str, int]:
        """The columns that are read, and the place of each."""
        return {name: place for place, name in enumerate(self.names) if name not in self.left_out}


def found_layout(
    text: bytes, reading: Reading, *, is_whole: bool, where: str, expected: Collection[str] = ()
) -> Layout:
    r"""Find the layout of a text of whole rows; `is_whole` says that it is all there is.

    Where the names of columns are `expected`, of a model, they tell the header if the rows do not: of few rows all may
    look alike.

    >>> layout = found_layout(b"Sales 2023\n\nname;sum;sum;;\nAnn;1;2;;\n", Reading(), is_whole=True, where="")
    >>> layout.delimiter, [*layout.used], len(layout.left_out), layout.start
    (';', ['name', 'sum', 'sum_2'], 2, 27)
    """
    dialects, told = sniffed(text[:SNIFFED_BYTES], reading, is_whole and len(text) <= SNIFFED_BYTES)
    if len(dialects[0].rows) <= SNIFFED_ROWS and len(text) > SNIFFED_BYTES:  # long rows
        dialects, told = sniffed(text, reading, is_whole)
    layout = _cut_layout(dialects[0], bool(told), reading, where, expected)
    if _lacks(layout, expected):
        others = (_cut_layout(dialect, bool(told), reading, where, expected) for dialect in dialects[1:])
        layout = next((other for other in others if not _lacks(other, expected)), layout)
    said = [BY_BACKSLASH] * (b'\\"' in text[:SNIFFED_BYTES] and reading.quotes)
    said += _said_of_rows(text, dialects[0].rows, layout)
    return replace(layout, notes=(*layout.notes, *said))


def _said_of_rows(text: bytes, rows: Sequence[Row], layout: Layout) -> list[str]:
    """Say what may be wrong with the first rows: another table behind a blank line, quotes of another kind."""
    below = [row for row in rows if row.end > layout.start]
    said = []
    if BLANK_LINE.search(text, layout.start, rows[-1].end):
        alike = [(one, row) for one, row in pairwise(below) if len(one.cells) == len(row.cells)]
        begun = [row for one, row in alike if text[one.end : row.end].startswith((b"\n", b"\r"))]
        shown = layout.delimiter.join(begun[0].cells)[:60] if begun else ""
        said += [BEHIND_BLANK_LINE.format(shown)] * (0 < len(begun) <= FEW_BLANK_LINES)
    if b"'" in text[: rows[-1].end]:
        cells = [cell.strip() for row in below for cell in row.cells]
        quoted = sum(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells)
        said += [IN_SINGLE_QUOTES] * (2 * quoted > len(cells))
    if len(layout.names) == 1 and len(rows) > LEAST_BELOW:
        signs = [SIGNS.findall(row.cells[0]) for row in rows]
        common = next((one for one in signs[0] if len({own.count(one) for own in signs}) == 1), "")
        said += [BY_SIGN.format(repr(common), common[:1])] * bool(common)
    return said


def _lacks(layout: Layout, expected: Collection[str]) -> bool:
    return not layout.used.keys() >= {*expected}


def _cut_layout(dialect: TextCut, told: bool, reading: Reading, where: str, expected: Collection[str]) -> Layout:
    """Find the layout of text that is cut into cells."""
    comment = reading.comment or COMMENT
    rows = dialect.rows[1:] if told and len(dialect.rows) > 1 else dialect.rows
    body = body_of(rows, comment, dialect.delimiter) or rows
    if not body:
        raise DataError(f"{where} has no rows; give a file with a header and rows")
    layout = _laid_out(rows, body, dialect.width, reading, where, expected)
    is_before = [row for row in rows if row.end < layout.start] if reading.has_header else rows[: rows.index(body[0])]
    if dialect.width == 1 and reading.delimiter is None and are_parted_by_blanks(body):
        layout = replace(layout, notes=(*layout.notes, BY_BLANKS))
    has_comments = reading.comment is not None or any(is_comment(row, comment) for row in is_before)
    is_drawn = has_drawing(rows, dialect.delimiter)
    return replace(
        layout,
        delimiter=dialect.delimiter,
        blanks_before_quotes=dialect.skips_blanks,
        n_rows_above=layout.n_rows_above + len(dialect.rows) - len(rows),
        start=layout.start or (rows is not dialect.rows and dialect.rows[0].end),
        comment=comment if has_comments else "",
        is_drawn=is_drawn,
        notes=(
            *layout.notes,
            *[f"lines that begin with {comment!r} are no rows"] * has_comments,
            *["lines that draw the table are no rows"] * is_drawn,
        ),
    )


def sheet_layout(rows: Iterable[list[str]], reading: Reading, where: str, expected: Collection[str] = ()) -> Layout:
    """Find the layout of a sheet, whose rows are of one length: `start` is the number of the first row of the table."""
    first = [Row(row, n + 1) for n, row in enumerate(islice(rows, SNIFFED_ROWS))]
    return _laid_out(first, first, len(first[0].cells), reading, where, expected)


def _laid_out(
    rows: list[Row], body: list[Row], width: int, reading: Reading, where: str, expected: Collection[str]
) -> Layout:
    """Find header and names; `body` are the rows that are no comments."""
    if not reading.has_header:
        above = rows[: rows.index(body[0])]
        return _named(rows, Row([], above[-1].end if above else 0), body, [], reading, where, expected)
    layout = _named(rows, *with_header(rows, body, width, reading), reading, where, expected)
    if _lacks(layout, expected):
        others = (_named(rows, *known, reading, where, expected) for known in _headers(body, expected))
        layout = next((other for other in others if not _lacks(other, expected)), layout)
    return layout


def _headers(body: list[Row], expected: Collection[str]) -> Iterator[tuple[Row, list[Row], list[str]]]:
    """Give what may be the header, one row or two, and hold some expected names; the rows below; what is said."""
    for place, row in enumerate(body[:MOST_LINES_ABOVE]):
        said, below = passed_over(body[:place]), body[place + 1 :]
        if not {*map(str.strip, row.cells)}.isdisjoint(expected):
            yield row, below, said
        if below and not {*(names := joined_names(row.cells, below[0].cells))}.isdisjoint(expected):
            yield with_names_of_index(names, below[0].end, below[1:], said)


def _named(
    rows: list[Row],
    header: Row,
    body: list[Row],
    said: list[str],
    reading: Reading,
    where: str,
    expected: Collection[str],
) -> Layout:
    """Name the columns, whose rows stand below the header."""
    start, written = header.end, [cell.strip() for cell in header.cells]
    raw, of_rows = written_names(written, body, reading, where, expected)
    n_first, n_last = n_unnamed(raw, body)
    are = "column at the end is" if n_last == 1 else "columns at the end are"
    names, renamed = own_names(raw, range(n_first, len(raw) - n_last))
    is_data = bool(written) and is_perhaps_data(written, body)
    shown = ", ".join(map(repr, written[:5]))
    way_out = "if it is none, say bayeswater.local_rows(source, header=False)"
    said += [f"the first row is read as a header, {shown}; {way_out}"] * is_data
    if sums := said_of_sums([row.cells for row in body]):
        said.append(sums)
    return Layout(
        names=tuple(names),
        left_out=(*names[:n_first], *names[len(raw) - n_last :]),
        n_rows_above=sum(row.end <= start for row in rows),
        start=start,
        header=tuple(written),
        notes=(*said, *of_rows, *[f"{n_last} empty {are} left out"] * bool(n_last), *renamed),
        begins_with_data=is_data,
    )
