"""The layout of delimited text, found in its first rows: what parts cells, where the rows begin, names of columns.

Most rows have as many cells as the table has columns. Above them may stand lines with fewer: a title, a note, blank
lines, comments, ``sep=;`` as Excel writes it. They are passed over where the row behind them looks like a header: most
of its cells are words. Else the first row is the header, and rows of another length are refused.

A header has one name fewer than rows have cells where every row ends in a delimiter, or begins with its name, as R
writes it. Lines that only draw a table, as databases and SAP print it, are no rows.
"""

import csv
import io
import operator
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, takewhile
from typing import Literal, NamedTuple

from bayeswater.data.reading.cell_style import MARKS
from bayeswater.data.sources.odd_rows import is_drawn
from bayeswater.data.sources.reading_options import Reading
from bayeswater.data.sources.records import BAR, DELIMITERS, RARE, without_blanks
from bayeswater.errors import DataError, SchemaError
from bayeswater.records import record

SNIFFED_ROWS = 100
"""Rows by which the layout is found."""

SNIFFED_BYTES = 2**15
"""Bytes that are looked at first; more where they hold fewer rows."""

MOST_SAID = 20
"""Names of columns that a note lists, at most."""

MOST_LINES_ABOVE = 20
"""Lines among which the header is looked for."""

COMMENT = "#"
"""What lines above the header begin with that are comments for sure."""

NUMBER = re.compile(r"[-+(]?\s*\W?\s*\d[\d\s.,:/'-]*(?:[eE][-+]?\d+)?\s*[%)\w]{0,2}\W?")
"""What begins and ends as a number, an amount or a date does."""

PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
"""What a name is that is a number."""

YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
"""What a number may be among names below a note."""

FEW_STEPS = 10
"""Between two names that are whole numbers: they count something, years for one."""

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

FAR_APART = re.compile(r"\s{2,}")
"""What stands between names of columns that stand below one another."""

WORD = re.compile(r'"[^"]*"|\S+')
"""What stands between blanks."""

TORN = re.compile(r'[;,\t|~^\\]"|"\s*$')
"""A quote behind what may part cells, or before it can be a part of one, or at the end of a cell."""

IMPORT_ID = '{"ImportId"'
"""What the cells of the third header row of Qualtrics begin with."""

LEAST_STATES, MOST_STATES = 20, 10
"""Rows from which on, and different cells up to which, a column that repeats its cells shows a row that is none."""

LEAST_BELOW = 2
"""Rows below a second header by which it is told from a row."""

SEPARATOR_LINE = re.compile(r"\ufeff?sep=(.)\r?\n", re.I)
"""The first line by which Excel tells the delimiter."""


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


class _Row(NamedTuple):
    """Cells of a row, and the byte it ends at."""

    cells: list[str]
    end: int

    @property
    def n_filled(self) -> int:
        return sum(bool(cell.strip()) for cell in self.cells)


class _Dialect(NamedTuple):
    """How text is cut into cells, the rows that come of it, and how well they fit one table."""

    delimiter: str
    skips_blanks: bool
    rows: list[_Row]
    width: int
    score: tuple[float, ...]


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
    dialects, told = _sniffed(text[:SNIFFED_BYTES], reading, is_whole and len(text) <= SNIFFED_BYTES)
    if len(dialects[0].rows) <= SNIFFED_ROWS and len(text) > SNIFFED_BYTES:  # long rows
        dialects, told = _sniffed(text, reading, is_whole)
    layout = _cut_layout(dialects[0], bool(told), reading, where, expected)
    if _lacks(layout, expected):
        others = (_cut_layout(dialect, bool(told), reading, where, expected) for dialect in dialects[1:])
        layout = next((other for other in others if not _lacks(other, expected)), layout)
    said = [BY_BACKSLASH] * (b'\\"' in text[:SNIFFED_BYTES] and reading.quotes)
    said += _said_of_rows(text, dialects[0].rows, layout)
    return replace(layout, notes=(*layout.notes, *said))


def _said_of_rows(text: bytes, rows: Sequence[_Row], layout: Layout) -> list[str]:
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


def _cut_layout(dialect: _Dialect, told: bool, reading: Reading, where: str, expected: Collection[str]) -> Layout:
    """Find the layout of text that is cut into cells."""
    comment = reading.comment or COMMENT
    rows = dialect.rows[1:] if told and len(dialect.rows) > 1 else dialect.rows
    body = _body(rows, comment, dialect.delimiter) or rows
    if not body:
        raise DataError(f"{where} has no rows; give a file with a header and rows")
    layout = _laid_out(rows, body, dialect.width, reading, where, expected)
    is_before = [row for row in rows if row.end < layout.start] if reading.has_header else rows[: rows.index(body[0])]
    if dialect.width == 1 and reading.delimiter is None and _are_parted_by_blanks(body):
        layout = replace(layout, notes=(*layout.notes, BY_BLANKS))
    has_comments = reading.comment is not None or any(_is_comment(row, comment) for row in is_before)
    draws = any(_draws(row, dialect.delimiter) for row in rows)
    return replace(
        layout,
        delimiter=dialect.delimiter,
        blanks_before_quotes=dialect.skips_blanks,
        n_rows_above=layout.n_rows_above + len(dialect.rows) - len(rows),
        start=layout.start or (rows is not dialect.rows and dialect.rows[0].end),
        comment=comment if has_comments else "",
        is_drawn=draws,
        notes=(
            *layout.notes,
            *[f"lines that begin with {comment!r} are no rows"] * has_comments,
            *["lines that draw the table are no rows"] * draws,
        ),
    )


def sheet_layout(rows: Iterable[list[str]], reading: Reading, where: str, expected: Collection[str] = ()) -> Layout:
    """Find the layout of a sheet, whose rows are of one length: `start` is the number of the first row of the table."""
    first = [_Row(row, n + 1) for n, row in enumerate(islice(rows, SNIFFED_ROWS))]
    return _laid_out(first, first, len(first[0].cells), reading, where, expected)


def _laid_out(
    rows: list[_Row], body: list[_Row], width: int, reading: Reading, where: str, expected: Collection[str]
) -> Layout:
    """Find header and names; `body` are the rows that are no comments."""
    if not reading.has_header:
        above = rows[: rows.index(body[0])]
        return _named(rows, _Row([], above[-1].end if above else 0), body, [], reading, where, expected)
    layout = _named(rows, *_with_header(rows, body, width, reading), reading, where, expected)
    if _lacks(layout, expected):
        others = (_named(rows, *known, reading, where, expected) for known in _headers(body, expected))
        layout = next((other for other in others if not _lacks(other, expected)), layout)
    return layout


def _headers(body: list[_Row], expected: Collection[str]) -> Iterator[tuple[_Row, list[_Row], list[str]]]:
    """Give what may be the header, one row or two, and hold some expected names; the rows below; what is said."""
    for place, row in enumerate(body[:MOST_LINES_ABOVE]):
        said, below = _passed_over(body[:place]), body[place + 1 :]
        if not {*map(str.strip, row.cells)}.isdisjoint(expected):
            yield row, below, said
        if below and not {*(names := _joined(row.cells, below[0].cells))}.isdisjoint(expected):
            yield _with_names_of_index(names, below[0].end, below[1:], said)


def _named(
    rows: list[_Row],
    header: _Row,
    body: list[_Row],
    said: list[str],
    reading: Reading,
    where: str,
    expected: Collection[str],
) -> Layout:
    """Name the columns, whose rows stand below the header."""
    start, written = header.end, [cell.strip() for cell in header.cells]
    raw, of_rows = _columns(written, body, reading, where, expected)
    n_first, n_last = _n_unnamed(raw, body)
    are = "column at the end is" if n_last == 1 else "columns at the end are"
    names, renamed = own_names(raw, range(n_first, len(raw) - n_last))
    is_data = bool(written) and _is_perhaps_data(written, body)
    shown = ", ".join(map(repr, written[:5]))
    way_out = "if it is none, say bayeswater.local_rows(source, header=False)"
    said += [f"the first row is read as a header, {shown}; {way_out}"] * is_data
    return Layout(
        names=tuple(names),
        left_out=(*names[:n_first], *names[len(raw) - n_last :]),
        n_rows_above=sum(row.end <= start for row in rows),
        start=start,
        header=tuple(written),
        notes=(*said, *of_rows, *[f"{n_last} empty {are} left out"] * bool(n_last), *renamed),
        begins_with_data=is_data,
    )


# ---------------------------------------------------------------------- what parts cells


def _sniffed(text: bytes, reading: Reading, is_whole: bool) -> tuple[list[_Dialect], re.Match[str] | None]:
    """Cut the first rows of a text, and find the line by which Excel tells how."""
    decoded = text.decode(errors="ignore")
    told = SEPARATOR_LINE.match(decoded)
    return _dialects(decoded, reading, told[1] if told and reading.delimiter is None else None, is_whole), told


def _dialects(text: str, reading: Reading, told: str | None, is_whole: bool) -> list[_Dialect]:
    """Cut the first rows by each delimiter; the one by which they are most alike comes first."""
    given = reading.delimiter or told
    there = [delimiter for delimiter in DELIMITERS if delimiter in text or delimiter == DELIMITERS[0]]
    found = [
        _cut(text, delimiter, skips_blanks, reading, is_whole)
        for delimiter in ([given] if given else there)
        for skips_blanks in ((False, True) if reading.quotes and f'{delimiter} "' in text else (False,))
    ]
    if given == " " or (not given and max(dialect.width for dialect in found) == 1):
        shorter = without_blanks(text.encode(), " ").decode()
        by_blanks = [_cut(text, " ", False, reading, is_whole)] * (not given)
        by_blanks += [_cut(shorter, " ", True, reading, is_whole)] * (shorter != text)
        are_tables = [bool(given) or _is_table(one, reading.comment or COMMENT, text) for one in by_blanks]
        found += [one if fits else one._replace(score=(-1.0,)) for one, fits in zip(by_blanks, are_tables, strict=True)]
    return sorted(found, key=lambda dialect: dialect.score, reverse=True)  # the first among equals stays so


def _cut(text: str, delimiter: str, skips_blanks: bool, reading: Reading, is_whole: bool) -> _Dialect:
    """Cut rows into cells; the width of the table is that of most rows from the first of this width on."""
    rows = list(_rows(text, delimiter, skips_blanks, reading.quotes))
    comment = reading.comment or COMMENT
    body = _body(rows, comment, delimiter)
    if not (is_whole and len(rows) <= SNIFFED_ROWS) and len(body) > 1:
        body = body[:-1]  # it may be cut off
    widths = [len(row.cells) for row in body]
    times = Counter(width for width in widths if width > 1)
    if not times:
        return _Dialect(delimiter, skips_blanks, rows, 1, (0.0, 0, 0.0, 1, 0))
    most = max(times.values())
    width = next(width for width in widths if times[width] == most)
    first = widths.index(width)
    share = times[width] / (len(widths) - first)
    n_torn = sum(map(_is_torn, body[first:])) if '"' in text else 0
    if (first and delimiter in RARE) or 2 * n_torn > len(body) - first:
        return _Dialect(delimiter, skips_blanks, rows, 1, (0.0, 0, 0.0, 1, 0))
    if first > MOST_LINES_ABOVE or share < 0.5 or (first and len(widths) - first < 2):
        return _Dialect(delimiter, skips_blanks, rows, 1, (0.0, 0, share, 1, 0))
    # blanks before quotes are skipped only if that makes rows more alike, or takes quotes off
    n_quoted = sum(cell.startswith(' "') for row in body for cell in row.cells) if ' "' in text else 0
    return _Dialect(delimiter, skips_blanks, rows, width, (round(share, 1), -first, share, -n_quoted, width))


def _rows(text: str, delimiter: str, skips_blanks: bool, quotes: bool) -> Iterator[_Row]:
    n_bytes = n_rows = 0

    def lines() -> Iterator[str]:
        nonlocal n_bytes
        for line in io.StringIO(text, newline=""):
            n_bytes += len(line.encode())
            yield line

    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    try:
        for cells in csv.reader(lines(), delimiter=delimiter, quoting=quoting, skipinitialspace=skips_blanks):
            if cells:
                yield _Row(cells, n_bytes)
                n_rows += 1
            if n_rows > SNIFFED_ROWS:
                return
    except csv.Error:  # a cell too long for any table: not this delimiter, or a quote left open
        return


def _is_table(dialect: _Dialect, comment: str, text: str) -> bool:
    """Say whether rows cut at blanks are all of one length and hold numbers.

    The header of R has one name fewer, but then rows have numbers, or names are in quotes: Ann Lee has two names. Below
    a single name, 12 kg or a date with its time is one cell.
    """
    header, *below = _body(dialect.rows, comment, dialect.delimiter) or [_Row([], 0)]
    if below and len(below[-1].cells) < dialect.width:  # it may be cut off
        below = below[:-1]
    if dialect.width == 1 or not below or any(len(row.cells) != dialect.width for row in below):
        return False
    are_numbers = [_are_numbers(_cells_of(below, place)) for place in range(dialect.width)]
    n_more = dialect.width - len(header.cells)
    are_of_r = are_numbers[0] or text.startswith('"')
    return any(are_numbers) and (n_more == 0 or (n_more == 1 and are_of_r and len(header.cells) > 1))


def _are_parted_by_blanks(rows: Sequence[_Row]) -> bool:
    """Say whether each line has the same number of words, R's names perhaps one fewer, or the names stand far apart."""
    names = rows[0].cells[0].strip()
    n_words = {len(WORD.findall(row.cells[0])) for row in rows[1:]}
    n_names = len(WORD.findall(names))
    n_more = n_words.pop() - n_names if len(n_words) == 1 else -1
    return len(rows) > 1 and ((n_more in (0, 1) and n_names + n_more > 2) or len(FAR_APART.split(names)) > 2)


def _is_torn(row: _Row) -> bool:
    """Say whether a cell holds but one of two quotes, behind what may part cells, or begins with but one."""
    return any(
        (cell.count('"') % 2 and TORN.search(cell)) or (cell.startswith("'") and not cell.endswith("'", 1))
        for cell in row.cells
    )


def _is_comment(row: _Row, comment: str) -> bool:
    is_name = row.cells[0].strip() == comment and row.n_filled == len(row.cells) > 1  # of the first column: a number
    is_cell = len(row.cells) > 1 and row.cells[0].strip() in MARKS  # as #N/A
    return row.cells[0].startswith(comment) and not (is_name or is_cell)


def _draws(row: _Row, delimiter: str) -> bool:
    """Say whether a line only draws a table whose cells stand between bars or blanks."""
    return delimiter in (BAR, " ") and is_drawn(delimiter.join(row.cells))


def _body(rows: list[_Row], comment: str, delimiter: str) -> list[_Row]:
    """Give the rows that are no comments and draw nothing."""
    return [row for row in rows if not _is_comment(row, comment) and not _draws(row, delimiter)]


# ---------------------------------------------------------------------- the header


def _with_header(
    rows: list[_Row], body: list[_Row], width: int, reading: Reading
) -> tuple[_Row, list[_Row], list[str]]:
    """Give the header, the rows below it, and what is said of those above it; comments are no part of `body`."""
    first, comment = rows.index(body[0]), reading.comment or COMMENT
    if first and len(rows[first - 1].cells) == width and _is_header_in_comment(rows[first - 1], body[0], comment):
        name, *others = rows[first - 1].cells
        return _Row([name.removeprefix(comment).strip() or name, *others], rows[first - 1].end), body, []
    n_used = min(_n_used(body), width)
    # a header may lack one name, as R writes it, but two short lines are none
    are_short = len(body[0].cells) < width - 1 or all(len(row.cells) < width for row in body[:2])
    place = 0
    while place < min(MOST_LINES_ABOVE, len(body) - 1) and (
        _is_note(body[place], width, n_used) or (are_short and len(body[place].cells) < width)
    ):
        place += 1
    if not place or not _is_header(body[place], body[place + 1 :], n_used):
        return _without_second(body[0], body[1:], [], reading)
    header, below = body[place], body[place + 1 :]
    names = _joined(body[place - 1].cells, header.cells)
    if len({*filter(None, map(str.strip, header.cells))}) < header.n_filled and len({*names}) == len(names):
        place, header = place - 1, _Row(names, header.end)
        return _without_second(header, below, [*_passed_over(body[:place]), OF_TWO_ROWS], reading)
    return _without_second(header, below, _passed_over(body[:place]), reading)


OF_TWO_ROWS = "the header has two rows, which are joined to names of columns"


def _passed_over(above: Sequence[_Row]) -> list[str]:
    """Say which lines stand above the header; blank ones are no news."""
    shown = next((" ".join(filter(None, row.cells))[:60] for row in above if row.n_filled), "")
    are = "line above the header is" if len(above) == 1 else "lines above the header are"
    return [f"{len(above)} {are} passed over, from {shown!r}"] if shown else []


def _joined(above: Sequence[str], below: Sequence[str]) -> list[str]:
    """Join names that stand over several columns, with blanks behind them, to those of the columns."""
    over, names = "", []
    for place, name in enumerate(map(str.strip, below)):
        over = (above[place].strip() if place < len(above) else "") or over
        names.append(f"{over} {name}".strip())
    return names


def _without_second(
    header: _Row, below: list[_Row], said: list[str], reading: Reading
) -> tuple[_Row, list[_Row], list[str]]:
    """Pass over units or questions below the names: words, where two columns have nothing but numbers below them.

    It is a row like others where such a column is said to be text.
    """
    second = [cell.strip() for cell in below[0].cells] if below else []
    if found := _survey(header, second, below):
        header, below, told = found
        return header, below, [*said, told]
    if len(below) <= LEAST_BELOW or any(cell in MARKS or _is_number(cell) for cell in second if cell):
        return header, below, said
    of_numbers = [bool(cell) and _are_numbers(_cells_of(below[1:], place)) for place, cell in enumerate(second)]
    joined = _joined(header.cells, second)
    is_over = len({*filter(None, map(str.strip, header.cells))}) < header.n_filled and len({*joined}) == len(joined)
    if sum(of_numbers) < (1 if is_over else min(2, sum(map(bool, second)))) or not any(of_numbers):
        return header, below, [*said, *_unlike_others(second, below[1:])]
    if all(second) and header.n_filled < len(second):  # what stands above it is a note as wide as the table
        return _Row(below[0].cells, below[0].end), below[1:], [*said, *_passed_over([header])]
    names = [name.strip() for name, is_one in zip(header.cells, of_numbers, strict=False) if is_one]
    if any(str((reading.types or {}).get(name)) == "string" for name in names):
        return header, below, said
    if is_over:
        return _with_names_of_index(joined, below[0].end, below[1:], said)
    shown = " ".join(filter(None, second))[:60]
    told = f"the row below the header, {shown!r}, has units or questions, as it looks, and is passed over; if it is a "
    told += f"row, say types={{{names[0]!r}: 'string'}}"
    return _Row(header.cells, below[0].end), below[1:], [*said, told]


def _with_names_of_index(
    names: list[str], end: int, below: list[_Row], said: list[str]
) -> tuple[_Row, list[_Row], list[str]]:
    """Take the names of its index from a row of their own, where pandas has written one below two rows of names."""
    first = [cell.strip() for cell in below[0].cells]
    if any(first) and len(first) == len(names) and all(map(operator.xor, map(bool, names), map(bool, first))):
        names, end, below = [name or cell for name, cell in zip(names, first, strict=True)], below[0].end, below[1:]
    return _Row(names, end), below, [*said, OF_TWO_ROWS]


def _survey(header: _Row, second: list[str], below: list[_Row]) -> tuple[_Row, list[_Row], str] | None:
    """Know the header rows of survey tools: Qualtrics has questions and ids, SurveyMonkey one name for several answers.

    Below the latter stand the answers, and nothing where the header names a column of another kind.
    """
    for n, row in enumerate(below[:2], start=1):
        if row.n_filled and all(cell.strip().startswith(IMPORT_ID) for cell in row.cells if cell.strip()):
            rows = "row below the header has" if n == 1 else "2 rows below the header have"
            return _Row(header.cells, row.end), below[n:], f"the {rows} questions and ids of Qualtrics: passed over"
    names = [name.strip() for name in header.cells]
    groups = [place for place, name in enumerate(names) if not name]
    is_one = bool(groups) and len(names) == len(second) and names[0] and all(second[place] for place in groups)
    if not is_one or all(second) or any(map(_is_number, filter(None, second))):
        return None
    if not any(not cell and all(_cells_of(below[1:], place)) for place, cell in enumerate(second)):
        return None
    begun = {place - 1 for place in groups} | {*groups}
    joined = _joined(names, [cell if place in begun else "" for place, cell in enumerate(second)])
    return _Row(joined, below[0].end), below[1:], OF_TWO_ROWS


def _unlike_others(second: list[str], below: Sequence[_Row]) -> list[str]:
    """Say that the first row may be none: each of its cells is the only one of its kind where others repeat theirs."""
    columns = [_cells_of(below, place) for place in range(len(second))]
    repeated = [len({*cells}) <= MOST_STATES for cells in columns]
    is_none = len(below) >= LEAST_STATES and sum(repeated) > 1
    if not is_none or any(not cell or cell in cells for cell, cells in zip(second, columns, strict=True)):
        return []
    shown = " ".join(second)[:60]
    return [f"the row below the header, {shown!r}, is unlike all others; if it has questions or units, take it out"]


def _cells_of(rows: Sequence[_Row], place: int) -> list[str]:
    """Give the cells of a column."""
    return [row.cells[place].strip() for row in rows if place < len(row.cells)]


def _are_numbers(cells: Sequence[str]) -> bool:
    """Say whether all cells are numbers or missing, and most are there."""
    there = [cell for cell in cells if cell and cell not in MARKS]
    return 2 * len(there) > len(cells) and all(map(_is_number, there))


def _is_perhaps_data(header: Sequence[str], below: Sequence[_Row]) -> bool:
    """Tell numbers that are cells of a row from those that count columns or years, as 1, 2, 3 and 2019, 2020.

    Words are cells, too, where each of them is there again in the rows below, but for a header that is there twice.
    """
    columns = (_cells_of(below, place) for place in range(len(header)))
    if len(below) > LEAST_BELOW and all(map(_is_cell_of, header, columns)):
        return True
    plain = {place: name for place, name in enumerate(header) if PLAIN.fullmatch(name)}
    numbers = [name for place, name in plain.items() if _are_numbers(_cells_of(below, place))]
    if any(not name.isdigit() for name in numbers):
        return True
    steps = {int(second) - int(first) for first, second in pairwise(numbers)}
    step = steps.pop() if len(steps) == 1 else 0
    return len(numbers) > 1 and not (step and (len(numbers) > 2 or abs(step) <= FEW_STEPS))


def _is_cell_of(name: str, cells: Sequence[str]) -> bool:
    """Say whether a column has a cell like its name, and no numbers but for such cells."""
    return name in filter(None, cells) and not _are_numbers([cell for cell in cells if cell != name])


def _is_header_in_comment(row: _Row, below: _Row, comment: str) -> bool:
    """Tell names in a comment, as numpy.savetxt writes them, from a note: no blank before them, or numbers below."""
    return any(map(_is_number, below.cells)) or not row.cells[0].removeprefix(comment)[:1].isspace()


def _n_used(rows: Sequence[_Row]) -> int:
    """Count the columns up to the last one with a cell."""
    n_used = 0
    for cells, _ in rows:
        if len(cells) > n_used:
            n_used = next((n for n in range(len(cells), n_used, -1) if cells[n - 1].strip()), n_used)
    return n_used


def _is_note(row: _Row, width: int, n_used: int) -> bool:
    """Tell a line that is no part of the table: one cell where rows have several, or no more than half of the cells."""
    few = 2 * row.n_filled < n_used or (n_used > 3 and 2 * row.n_filled == n_used)
    return len(row.cells) <= width and (few or len(row.cells) == 1 < width)


def _is_header(row: _Row, below: Sequence[_Row], n_used: int) -> bool:
    """Tell names of columns, below a note, from cells: most are words, of two columns one has numbers below it."""
    filled = [cell for cell in row.cells if cell.strip()]
    n_words = sum(not _is_number(cell) for cell in filled)
    if all(YEAR.fullmatch(cell.strip()) for cell in filled if _is_number(cell)):
        n_words = len(filled)
    if 2 * len(filled) < n_used or 2 * n_words < len(filled):
        return False
    under = below[0].cells if below else []
    return n_used > 2 or any(_is_number(cell) > _is_number(name) for name, cell in zip(row.cells, under, strict=False))


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None


# ---------------------------------------------------------------------- columns


def _columns(
    written: list[str], body: list[_Row], reading: Reading, where: str, expected: Collection[str]
) -> tuple[list[str], list[str]]:
    """Give the names of all columns as they are written or given, "" for those without one."""
    if not reading.has_header:
        n_columns = len(body[0].cells)
        given = list(reading.names or ())
        lacking = n_columns - len(given)
        at_end = all(not cell.strip() for row in body for cell in row.cells[len(given) :])
        if given and lacking and not (lacking > 0 and at_end):
            raise SchemaError(
                f"{where}: {len(given)} names are given for {n_columns} columns ({', '.join(given)}); "
                "give each column a name, in their order"
            )
        return given + [""] * lacking, []
    longer = [row for row in body if len(row.cells) == len(written) + 1]
    if len(longer) < max(len(body), 1 if "x0" in expected else 2) or len(written) < 2 or not all(written):
        return written, []
    if all(not row.cells[-1].strip() for row in longer):
        return [*written, ""], []
    if any('\\"' in cell for row in longer for cell in row.cells):  # a cell is torn at a quote
        return written, []
    if len({row.cells[0] for row in longer}) == len(longer) and 2 * sum(map(_is_torn, longer)) < len(longer):
        return ["", *written], ["the first cell of each row has no name in the header; it is read as one of the row"]
    return written, []


def _n_unnamed(names: list[str], body: list[_Row]) -> tuple[int, int]:
    """Count the columns at either edge without a name and without a cell in the first rows."""
    if not any(names):
        return 0, 0
    n_first, n_last = [len([*takewhile(operator.not_, side)]) for side in (names, reversed(names))]
    n_before = min([next((n for n, cell in enumerate(row.cells) if cell.strip()), n_first) for row in body], default=0)
    return min(n_first, n_before), min(n_last, max(len(names) - _n_used(body), 0))


def own_names(written: Sequence[str], said: range) -> tuple[list[str], list[str]]:
    """Give every column a name of its own, and say which of some places got another than is written.

    >>> own_names(["a", "", "a"], range(3))
    (['a', 'x1', 'a_2'], ["columns are renamed: 'a' (column 3) is 'a_2'; column 2 has no name and is 'x1'"])
    """
    taken, names = set(filter(None, written)), []
    has_names = any(written)
    seen: Counter[str] = Counter()
    twice, nameless = [], []
    for place, name in enumerate(written):
        seen[name] += 1
        own = name
        if not name:
            own = _free(f"x{place}", taken)
            if has_names and place in said:
                nameless.append(f"column {place + 1} has no name and is {own!r}")
        elif seen[name] > 1:
            own = _free(f"{name}_{seen[name]}", taken)
            twice.append(f"{name!r} (column {place + 1}) is {own!r}")
        taken.add(own)
        names.append(own)
    renamed = [_some(told) for told in (twice, nameless) if told]
    return names, [f"columns are renamed: {'; '.join(renamed)}"] if renamed else []


def _some(told: list[str]) -> str:
    return ", ".join(told[:MOST_SAID]) + f" and {len(told) - MOST_SAID:,} more" * (len(told) > MOST_SAID)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
