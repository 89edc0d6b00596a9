"""CSV files as they come: cut, doubled, re-encoded, half of another table, saved by a spreadsheet and mailed."""

import gzip
from collections.abc import Callable

import numpy as np

Rng = np.random.Generator
CELLS = [
    "",
    " ",
    "NA",
    "nan",
    "-",
    "?",
    "#N/A",
    "inf",
    "-1e400",
    "1e308",
    "0",
    "007",
    "1,5",
    "1.234.567,8",
    "TRUE",
    "2024-02-30",
]
CELLS += [
    "27 Aug 1912",
    "12:61",
    "0001-01-01",
    "9999-12-31",
    "\u00a0",
    "\ufeff",
    "蓝",
    "😀",
    "a\0b",
    "\x1a",
    "=1+1",
    "'",
    '"',
    '""',
    '"a',
]
CELLS += [
    'a"b',
    '"a\nb"',
    '"a,b"',
    "x" * 5000,
    "[bold]x[/bold]",
    "{0}",
    "%d",
    "\\N",
    "\x1b[31m",
    "1e5",
    "0x1F",
    "１２",
    "٣",
    "-0",
]


def mangled(rng: Rng, content: bytes) -> bytes:
    """A sound CSV with one to four things wrong."""
    text = content.decode()
    for _ in range(rng.integers(1, 5)):
        text = CHANGES[rng.integers(len(CHANGES))](rng, text)
    return written(rng, text)


def _in_lines(change: Callable[[Rng, list[str]], None]) -> Callable[[Rng, str], str]:
    def changed(rng: Rng, text: str) -> str:
        lines = text.split("\n")
        change(rng, lines)
        return "\n".join(lines)

    return changed


def _in_cells(change: Callable[[Rng, list[list[str]]], None]) -> Callable[[Rng, str], str]:
    def changed(rng: Rng, text: str) -> str:
        table = [line.split(",") for line in text.split("\n")]
        change(rng, table)
        return "\n".join(",".join(row) for row in table)

    return changed


@_in_cells
def odd_cells(rng: Rng, table: list[list[str]]) -> None:
    for _ in range(rng.integers(1, 6)):
        row = table[rng.integers(len(table))]
        row[rng.integers(len(row))] = CELLS[rng.integers(len(CELLS))]


@_in_cells
def odd_column(rng: Rng, table: list[list[str]]) -> None:
    """A column of one odd cell, of several, or of nothing."""
    place, several = int(rng.integers(len(table[0]))), rng.choice(CELLS, rng.integers(1, 4))
    for row in table[1:]:
        if place < len(row):
            row[place] = "" if rng.random() < 0.3 else str(rng.choice(several))


@_in_cells
def ragged(rng: Rng, table: list[list[str]]) -> None:
    for _ in range(rng.integers(1, 4)):
        row = table[rng.integers(len(table))]
        if rng.random() < 0.5:
            row.append(CELLS[rng.integers(len(CELLS))])
        else:
            row.pop()
            row.extend([""] * (not row))


@_in_cells
def empty_columns(rng: Rng, table: list[list[str]]) -> None:
    for row in table:
        row.extend([""] * int(1 + (len(table) % 3)))


@_in_cells
def names(rng: Rng, table: list[list[str]]) -> None:
    """A name twice, none, one with blanks, or an odd one."""
    header = table[0]
    header[rng.integers(len(header))] = str(rng.choice([header[0], "", " age ", *CELLS]))


@_in_lines
def lines(rng: Rng, lines: list[str]) -> None:
    """Blank lines, notes above the header, a line of totals, the header twice, no header, a line that is cut."""
    at = int(rng.integers(len(lines)))
    match rng.integers(7):
        case 0:
            lines.insert(at, "")
        case 1:
            lines.insert(0, "# written by hand")
        case 2:
            lines.append("Total,,,,,")
        case 3:
            lines.insert(at, lines[0])
        case 4:
            del lines[0]
        case 5:
            lines[at] = lines[at][: int(rng.integers(len(lines[at]) + 1))]
        case 6:
            del lines[int(rng.integers(1, 4)) :]


@_in_lines
def characters(rng: Rng, lines: list[str]) -> None:
    at = int(rng.integers(len(lines)))
    place = int(rng.integers(len(lines[at]) + 1))
    lines[at] = (
        lines[at][:place]
        + str(rng.choice(['"', "'", ",", ";", "\t", "\0", "\r", "\u2028", "\x0c"]))
        + lines[at][place:]
    )


def delimiter(rng: Rng, text: str) -> str:
    return text.replace(",", str(rng.choice([";", "\t", "|", ", ", " "])))


CHANGES = (odd_cells, odd_cells, odd_column, odd_column, ragged, empty_columns, names, lines, characters, delimiter)


def written(rng: Rng, text: str) -> bytes:
    """Bytes of the text in one of the ways that programs write them."""
    match rng.integers(14):
        case 0:
            return text.encode("utf-8-sig")
        case 1:
            return text.encode("utf-16")
        case 2:
            return text.encode("latin-1", "replace")
        case 3:
            return text.replace("\n", "\r\n").encode()
        case 4:
            return text.replace("\n", "\r").encode()
        case 5:
            return text.rstrip("\n").encode()
        case 6:
            return text.encode("gbk", "replace")
        case 7 if rng.random() < 0.3:
            return gzip.compress(text.encode())[: -int(rng.integers(1, 20))]
        case 8 if rng.random() < 0.2:
            return b""
    return text.encode()
