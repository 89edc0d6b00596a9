"""Rows of delimited text that are unlike the others: of another length, empty, comments, and totals at the end."""

import csv
import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bayeswater.data.reading.cell_style import WAY_OUT
from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

TOTALS = re.compile(
    r"(grand |gran |sub|summa |suma )?\s*-?totals?( general| geral|: .*)?|total général|gesamt(summe|ergebnis)?|summe|"
    r"ergebnis|sums?|somme|suma|totale( generale)?|totaal|totalt|razem|celkem|összesen|yhteensä|итого|всего|toplam|"
    r"averages?|means?|合计|总计|小计|总和|合計|總計|総計|합계",
    re.I,
)
"""What a row of totals begins with."""


STARS = ("*", "**")
"""What stands in the place of a name in a row of sums."""

RAGGED = re.compile(r"CSV parse error: Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.S)
"""How Arrow words it."""

DRAWN = r"[-+|=: \t]*(?:---|===)[-+|=: \t]*|\(\d+ rows?(?: affected)?\)|\d+ rows? (?:in set|selected).*"
"""A line that draws a table, as databases, SAP and Markdown do, or counts its rows."""

LAST_ROWS, LEAST_FILLED = 4, 3
"""Rows at the end among which totals are looked for, and those beside which one looks odd."""

IN_QUOTES = re.compile(rb'"[^"]*"')

NUMBER = re.compile(r"[-+(]?\W?[\d.,' ]*\d\W*")
"""What totals look like."""

MOST_BELOW = 20
"""Lines below a table."""

LINE_END = re.compile(rb"\r?\n|\r")

TAIL_BYTES = 2**14
"""The stretch at the end in which the last row is looked for."""


class BadRow(NamedTuple):
    """The number of a row in its block, from 1 on, and its text."""

    number: int
    text: str


class BadRows:
    """What Arrow asks about rows of another length: comments are passed over, others refused or gathered."""

    def __init__(self, comment: str, bad_rows: str) -> None:
        self._comment, self._is_refused = comment, bad_rows == "error"
        self.found: list[BadRow] = []

    def __call__(self, row: Any) -> str:
        """Say what becomes of a row."""
        if self._comment and row.text.startswith(self._comment):
            return "skip"
        if self._is_refused:
            return "error"
        self.found.append(BadRow(row.number or 0, row.text))
        return "skip"


def padded(block: bytes, n_cells: int, delimiter: str, *, quotes: bool) -> bytes:
    r"""Give short rows the cells that they lack, empty, and take empty ones beyond the last column off long rows.

    >>> padded(b"1,2\n3\n4,5,,\n", 2, ",", quotes=True)
    b'1,2\n3,\n4,5\n'
    """
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    out = io.StringIO(newline="")
    written = csv.writer(
        out, delimiter=delimiter, quoting=quoting, quotechar='"' if quotes else None, lineterminator="\n"
    )
    try:
        for row in csv.reader(io.StringIO(block.decode(), newline=""), delimiter=delimiter, quoting=quoting):
            if row:
                while len(row) > n_cells and not row[-1].strip():
                    row.pop()
                written.writerow(row + [""] * (n_cells - len(row)))
    except csv.Error as error:
        raise DataError(
            f"rows cannot be filled up: {error}; correct them, or leave them out: bad_rows='skip'"
        ) from None
    return out.getvalue().encode()


def is_drawn(line: str) -> bool:
    """Say whether a line only draws a table.

    >>> is_drawn("+----+------+"), is_drawn("| --- | :-- |"), is_drawn("(2 rows)"), is_drawn("-- | --")
    (True, True, True, False)
    """
    return re.fullmatch(DRAWN, line.strip()) is not None


def without_drawing(block: bytes) -> bytes:
    """Take out lines that only draw a table."""
    return re.sub(rb"^[ \t]*(?:%b)[ \t]*(?:\r?\n|$)" % DRAWN.encode(), b"", block, flags=re.M)


def end_of_filled(text: bytes, end: int, delimiter: bytes) -> int:
    r"""Find the end of the last row that has a cell, in whole rows up to a place.

    >>> end_of_filled(b"1,2,\n,,\n,,\n", 11, b","), end_of_filled(b",,\n", 3, b",")
    (5, 0)
    """
    nothing, begin = delimiter + b" \t\r\n\f\x1a", max(end - TAIL_BYTES, 0)
    filled = begin + len(text[begin:end].rstrip(nothing))
    if filled == begin:  # more than is looked at first
        filled = len(text[:end].rstrip(nothing))
    line_end = LINE_END.search(text, filled, end)
    return 0 if not filled else line_end.end() if line_end else end


def footer_of(text: bytes, delimiter: bytes) -> bytes:
    r"""Give the lines below a table: behind a blank line or one that is drawn, none is cut into cells.

    >>> footer_of(b"Ann,3\nBob,4\n\nSource: our own\n", b","), footer_of(b'Ann,"x\n\ny"\n', b",")
    (b'\nSource: our own\n', b'')
    """
    lines = text[-TAIL_BYTES:].splitlines(keepends=True)
    place = len(lines)
    while place and delimiter not in IN_QUOTES.sub(b"", lines[place - 1]):
        place -= 1
    below = lines[place:]
    first = b"".join(below[:1]).decode(errors="ignore").strip()
    is_table = place > 1 and not any(line.count(b'"') % 2 for line in (lines[place - 1], *below))
    is_footer = is_table and len(below) <= MOST_BELOW and (not first or is_drawn(first))
    return b"".join(below) if is_footer and any(map(bytes.strip, below)) else b""


def has_empty_row(block: bytes, n_cells: int, delimiter: bytes) -> bool:
    """Say whether a row of a block, of so many cells, has nothing but what parts them."""
    row = delimiter * (n_cells - 1)
    is_first = block.startswith((row + b"\n", row + b"\r\n"))
    return n_cells > 1 and (is_first or b"\n%b\n" % row in block or b"\n%b\r\n" % row in block)


def said_of_last_rows(tail: bytes, encoding: str, delimiter: str, in_drawing: bool = False) -> str:
    r"""Say that a text seems to end in totals or a note.

    >>> said_of_last_rows(b"Ann,3\nBob,4\nTotal,7\n", "utf-8", ",")
    "the last row, 'Total,7', looks like totals; take it out if it is no row of the table"
    """
    lines = tail[-TAIL_BYTES:].decode(encoding, errors="ignore").rstrip(f"{delimiter} \t\r\n").splitlines()
    lines = [line for line in lines if not (in_drawing and is_drawn(line))][-LAST_ROWS:]
    return said_of_rows([*csv.reader(lines, delimiter=delimiter)], lines)


def said_of_rows(rows: Sequence[Sequence[str]], shown: Sequence[str]) -> str:
    """Say it of the last rows: the last one of totals, behind which there may be notes, or else a note."""
    both = zip(reversed(rows), reversed(shown), strict=False)
    filled = [([*map(str.strip, row)], repr(text.strip()[:60])) for row, text in both if any(map(str.strip, row))]
    for place, (row, text) in enumerate(filled):
        if is_total(row):
            which = "a row near the end" if place else "the last row"
            return f"{which}, {text}, looks like totals; take it out if it is no row of the table"
    if len(filled) < LEAST_FILLED:
        return ""
    (last, text), *before = filled
    least = min(sum(map(bool, row)) for row, _ in before)
    if len(rows) == LAST_ROWS and sum(map(bool, last)) == 1 and least > 2 and any(map(str.isalpha, last[0])):
        return f"the last row, {text}, looks like a note; take it out if it is no row of the table"
    are_named = not last[0] and all(row[0] for row, _ in before)
    if are_named and least > 2 and all(NUMBER.fullmatch(cell) for cell in last[1:] if cell):
        return f"the last row, {text}, has numbers alone and may be totals; take it out if so"
    return ""


def said_of_sums(rows: Sequence[Sequence[str]]) -> str:
    """Say that some rows are sums of those above them: one of their cells is a star or such a word.

    >>> said_of_sums([["A", "1"], ["A", "2"], ["*", "3"], ["B", "4"]])
    "1 of the first rows, as '* 3', is a sum of those above it; take such rows out"
    """
    words = {cell for row in rows for cell in row if not cell[-1:].isdigit()}
    names = {word for word in words if word.strip() in STARS or TOTALS.fullmatch(word.strip())}
    above: list[Sequence[str]] = []
    found: list[Sequence[str]] = []
    last = max((n for n, row in enumerate(rows) if names and all(row)), default=0)
    for row in rows[:last]:
        if not names.isdisjoint(row) and len(above) > 1 and any(map(_is_sum, row, zip(*above, strict=False))):
            found, above = [*found, row], []
        else:
            above.append(row)
    shown = " ".join(found[0])[:60] if found else ""
    are, them = ("is a sum", "it") if len(found) == 1 else ("are sums", "them")
    return f"{len(found)} of the first rows, as {shown!r}, {are} of those above {them}; take such rows out" * bool(
        found
    )


def _is_sum(cell: str, above: Sequence[str]) -> bool:
    try:
        total, *parts = (float(one.replace(",", "")) for one in (cell, *above))
    except ValueError:
        return False
    return total != 0 and abs(total - sum(parts)) < 1e-9 * abs(total)


def is_total(cells: Sequence[str]) -> bool:
    """Say whether a row looks like totals: such a word, and beside it nothing but numbers."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    begins_so = len(cells) > 1 and filled and TOTALS.fullmatch(filled[0].rstrip(":").strip()) is not None
    return bool(begins_so) and not any(map(str.isalpha, "".join(filled[1:])))


def way_to_read(cell: str, kind: "pa.DataType | str", decimal: str) -> str:
    """Say what to do about a cell that is not of the type that its column has to have."""
    import pyarrow as pa

    if isinstance(kind, str) and re.search(r"\d", cell):  # a value, which would be lost among the missing ones
        return WAY_OUT
    other = {".": ",", ",": "."}[decimal]
    is_number = isinstance(kind, pa.DataType) and pa.types.is_floating(kind)
    if is_number and re.fullmatch(rf"[-+]?\d+[{other}]\d+", cell.strip()):
        return f"read the file {'with' if other == ',' else 'without'} decimal=','"
    return f"correct the cell, or name what stands for missing with bayeswater.local_rows(source, missing=[{cell!r}])"


def ragged_row(found: re.Match[str], delimiter: str, n_bad: int, *, near_top: bool) -> str:
    """Say what is wrong with the first of so many rows of another length, and what to do."""
    expected, there, text = int(found[2]), int(found[3]), found[4]
    if n_breaks := text.count("\n") * (text.count('"') % 2):
        return (
            f"begins a cell in quotes that does not end, {n_breaks:,} lines on: {text[:80]!r}; close the quote, or say "
            "bayeswater.local_rows(source, quotes=False) if quotes are characters like others"
        )
    way_out = (
        f"quote cells that hold {delimiter!r}, or name another character between cells with "
        "bayeswater.local_rows(source, delimiter=...)"
    )
    if '\\"' in text:
        way_out = 'write quotes within cells twice, as "", and not behind a backslash'
    elif text.startswith("#"):
        way_out = "if such lines are no rows, say bayeswater.local_rows(source, comment='#')"
    elif "\f" in text and not text.strip():
        way_out = "it is the sign of a new page, and no row: take it out"
    elif text.startswith("'"):
        way_out = 'write double quotes around cells, "x, y", in the place of single ones'
    elif there == expected + 1 and text.rstrip().endswith(delimiter):
        way_out = f"take the {delimiter!r} off its end, or add one to the end of the header"
    elif there > expected and near_top:
        way_out = f"take out the lines above it if it is the header; else {way_out}"
    cells = f"{there} cell{'' if there == 1 else 's'} and not {expected}"
    can_be_filled = there < expected or text.rstrip().rstrip(delimiter).count(delimiter) < expected
    filling = ", or fill them up with bad_rows='pad'" * can_be_filled
    return (
        f"has {cells}{f', as the first of {n_bad:,} rows' * (n_bad > 1)}: {text[:80]!r}; {way_out}; or leave such rows "
        f"out with bayeswater.local_rows(source, bad_rows='skip'){filling}"
    )
