"""What parts the cells of delimited text: of all characters that may, the one that makes rows most alike."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from bayeswater.data.sources.cut_rows import COMMENT, MOST_LINES_ABOVE, Row, are_numbers, body_of, cells_of, is_torn
from bayeswater.data.sources.reading_options import Reading
from bayeswater.data.sources.records import DELIMITERS, RARE, without_blanks

SNIFFED_ROWS = 100
"""Rows by which the layout is found."""

FAR_APART = re.compile(r"\s{2,}")
"""What stands between names of columns that stand below one another."""

WORD = re.compile(r'"[^"]*"|\S+')
"""What stands between blanks."""

SEPARATOR_LINE = re.compile(r"\ufeff?sep=(.)\r?\n", re.I)
"""The first line by which Excel tells the delimiter."""


class TextCut(NamedTuple):
    """How text is cut into cells, the rows that come of it, and how well they fit one table."""

    delimiter: str
    skips_blanks: bool
    rows: list[Row]
    width: int
    score: tuple[float, ...]


def sniffed(text: bytes, reading: Reading, is_whole: bool) -> tuple[list[TextCut], re.Match[str] | None]:
    """Cut the first rows of a text, and find the line by which Excel tells how."""
    decoded = text.decode(errors="ignore")
    told = SEPARATOR_LINE.match(decoded)
    return _dialects(decoded, reading, told[1] if told and reading.delimiter is None else None, is_whole), told


def _dialects(text: str, reading: Reading, told: str | None, is_whole: bool) -> list[TextCut]:
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


def _cut(text: str, delimiter: str, skips_blanks: bool, reading: Reading, is_whole: bool) -> TextCut:
    """Cut rows into cells; the width of the table is that of most rows from the first of this width on."""
    rows = list(_rows(text, delimiter, skips_blanks, reading.quotes))
    comment = reading.comment or COMMENT
    body = body_of(rows, comment, delimiter)
    if not (is_whole and len(rows) <= SNIFFED_ROWS) and len(body) > 1:
        body = body[:-1]  # it may be cut off
    widths = [len(row.cells) for row in body]
    times = Counter(width for width in widths if width > 1)
    if not times:
        return TextCut(delimiter, skips_blanks, rows, 1, (0.0, 0, 0.0, 1, 0))
    most = max(times.values())
    width = next(width for width in widths if times[width] == most)
    first = widths.index(width)
    share = times[width] / (len(widths) - first)
    n_torn = sum(map(is_torn, body[first:])) if '"' in text else 0
    if (first and delimiter in RARE) or 2 * n_torn > len(body) - first:
        return TextCut(delimiter, skips_blanks, rows, 1, (0.0, 0, 0.0, 1, 0))
    if first > MOST_LINES_ABOVE or share < 0.5 or (first and len(widths) - first < 2):
        return TextCut(delimiter, skips_blanks, rows, 1, (0.0, 0, share, 1, 0))
    # blanks before quotes are skipped only if that makes rows more alike, or takes quotes off
    n_quoted = sum(cell.startswith(' "') for row in body for cell in row.cells) if ' "' in text else 0
    return TextCut(delimiter, skips_blanks, rows, width, (round(share, 1), -first, share, -n_quoted, width))


def _rows(text: str, delimiter: str, skips_blanks: bool, quotes: bool) -> Iterator[Row]:
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
                yield Row(cells, n_bytes)
                n_rows += 1
            if n_rows > SNIFFED_ROWS:
                return
    except csv.Error:  # a cell too long for any table: not this delimiter, or a quote left open
        return


def _is_table(dialect: TextCut, comment: str, text: str) -> bool:
    """Say whether rows cut at blanks are all of one length and hold numbers.

    The header of R has one name fewer, but then rows have numbers, or names are in quotes: Ann Lee has two names. Below
    a single name, 12 kg or a date with its time is one cell.
    """
    header, *below = body_of(dialect.rows, comment, dialect.delimiter) or [Row([], 0)]
    if below and len(below[-1].cells) < dialect.width:  # it may be cut off
        below = below[:-1]
    if dialect.width == 1 or not below or any(len(row.cells) != dialect.width for row in below):
        return False
    are_of_numbers = [are_numbers(cells_of(below, place)) for place in range(dialect.width)]
    n_more = dialect.width - len(header.cells)
    are_of_r = are_of_numbers[0] or text.startswith('"')
    return any(are_of_numbers) and (n_more == 0 or (n_more == 1 and are_of_r and len(header.cells) > 1))


def are_parted_by_blanks(rows: Sequence[Row]) -> bool:
    """Say whether each line has the same number of words, R's names perhaps one fewer, or the names stand far apart."""
    names = rows[0].cells[0].strip()
    n_words = {len(WORD.findall(row.cells[0])) for row in rows[1:]}
    n_names = len(WORD.findall(names))
    n_more = n_words.pop() - n_names if len(n_words) == 1 else -1
    return len(rows) > 1 and ((n_more in (0, 1) and n_names + n_more > 2) or len(FAR_APART.split(names)) > 2)
