"""Rows of delimited text, cut into cells, and what these look like: numbers, comments, lines that draw the table."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from bayeswater.data.reading.cell_style import MARKS
from bayeswater.data.sources.odd_rows import is_drawn
from bayeswater.data.sources.records import BAR

MOST_LINES_ABOVE = 20
"""Lines among which the header is looked for."""

DRAWN_BETWEEN = (BAR, " ")
"""What may part the cells of a table that lines draw."""

COMMENT = "#"
"""What lines above the header begin with that are comments for sure."""

NUMBER = re.compile(r"[-+(]?\s*\W?\s*\d[\d\s.,:/'-]*(?:[eE][-+]?\d+)?\s*[%)\w]{0,2}\W?")
"""What begins and ends as a number, an amount or a date does."""

TORN = re.compile(r'[;,\t|~^\\]"|"\s*$')
"""A quote behind what may part cells, or before it can be a part of one, or at the end of a cell."""


class Row(NamedTuple):
    """Cells of a row, and the byte it ends at."""

    cells: list[str]
    end: int

    @property
    def n_filled(self) -> int:
        """Count the cells that are not blank."""
        return sum(bool(cell.strip()) for cell in self.cells)


def cells_of(rows: Sequence[Row], place: int) -> list[str]:
    """Give the cells of a column."""
    return [row.cells[place].strip() for row in rows if place < len(row.cells)]


def are_numbers(cells: Sequence[str]) -> bool:
    """Say whether all cells are numbers or missing, and most are there."""
    there = [cell for cell in cells if cell and cell not in MARKS]
    return 2 * len(there) > len(cells) and all(map(is_number, there))


def is_number(cell: str) -> bool:
    """Say whether a cell looks like a number, an amount or a date."""
    return NUMBER.fullmatch(cell.strip()) is not None


def n_used_of(rows: Sequence[Row]) -> int:
    """Count the columns up to the last one with a cell."""
    n_used = 0
    for cells, _ in rows:
        if len(cells) > n_used:
            n_used = next((n for n in range(len(cells), n_used, -1) if cells[n - 1].strip()), n_used)
    return n_used


def is_comment(row: Row, comment: str) -> bool:
    """Tell comments from rows whose first cell begins so: #N/A, or the name of the column that numbers rows."""
    if not row.cells[0].startswith(comment):
        return False
    is_name = row.cells[0].strip() == comment and row.n_filled == len(row.cells) > 1  # of the first column: a number
    is_cell = len(row.cells) > 1 and row.cells[0].strip() in MARKS  # as #N/A
    return not (is_name or is_cell)


def has_drawing(rows: list[Row], delimiter: str) -> bool:
    """Say whether a line only draws a table whose cells stand between bars or blanks."""
    return delimiter in DRAWN_BETWEEN and any(is_drawn(delimiter.join(row.cells)) for row in rows)


def body_of(rows: list[Row], comment: str, delimiter: str) -> list[Row]:
    """Give the rows that are no comments and draw nothing."""
    rows = [row for row in rows if not is_comment(row, comment)]
    return [row for row in rows if not has_drawing([row], delimiter)] if delimiter in DRAWN_BETWEEN else rows


def is_torn(row: Row) -> bool:
    """Say whether a cell holds but one of two quotes, behind what may part cells, or begins with but one."""
    return any(
        (cell.count('"') % 2 and TORN.search(cell)) or (cell.startswith("'") and not cell.endswith("'", 1))
        for cell in row.cells
    )
