"""Places in rows that are read in pieces: where a piece begins, where reading stopped, how far it has come.

A mark is a place in one file at which decoding can begin; a place names the next row to be read among the rows of all
files, and the last mark before it. Both are whole numbers alone, to be written down and read again.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa


class Mark(NamedTuple):
    """The beginning of a row in a file: how many rows, bytes of text and lines stand before it."""

    row: int = 0
    byte: int = 0
    line: int = 0


BEGINNING = Mark()


class Piece(NamedTuple):
    """Rows of a file that were decoded together, and where the first of them stands."""

    table: "pa.Table"
    mark: Mark


class Place(NamedTuple):
    """What has been read: so many batches and rows in all; the next row stands in this part, behind this mark.

    >>> Place(*[3, 1000, 1, 200, 150, 4096, 151]).mark
    Mark(row=150, byte=4096, line=151)
    """

    n_batches: int = 0
    n_rows: int = 0
    part: int = 0
    part_row: int = 0
    mark_row: int = 0
    mark_byte: int = 0
    mark_line: int = 0

    @property
    def mark(self) -> Mark:
        """The last place before the next row at which decoding can begin."""
        return Mark(self.mark_row, self.mark_byte, self.mark_line)


START = Place()


@dataclass(frozen=True)
class Progress:
    """How far reading has come; totals are None where they are not known before the end."""

    n_rows: int
    total_rows: int | None
    n_bytes: int
    total_bytes: int | None

    @property
    def fraction(self) -> float | None:
        """The share that is done, by rows where their number is known, and else by bytes.

        >>> Progress(n_rows=10, total_rows=40, n_bytes=0, total_bytes=None).fraction
        0.25
        """
        if self.total_rows:
            return self.n_rows / self.total_rows
        return self.n_bytes / self.total_bytes if self.total_bytes else None
