"""Where the rows of a CSV end: at line breaks that stand in no quotes.

A quote opens a cell only at its beginning; inside, two of them stand for one. Where all quotes of a block are at the
edges of cells, a line break ends a row if the number of quotes before it is even. A quote elsewhere (5" of pipe) makes
the cells be followed one by one, which is ten times slower and needed for few files.
"""

import re
from functools import cache

import numpy as np

QUOTE = ord('"')

BLANKS = [bytes([byte]) for byte in range(128) if chr(byte).isspace() and byte not in b"\r\n"]
"""Blanks of ASCII, apart from those that end a line."""


def end_of_rows(block: bytes, delimiter: bytes) -> int:
    r"""Find the end of the last whole row of a block that begins with one; 0 if it has none.

    >>> end_of_rows(b'a,b\n1,"x\ny"\n2,"z\n', b",")
    12
    """
    if b'"' not in block:
        return end_of_lines(block, len(block))
    cells = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(cells == QUOTE)
    is_edge = np.zeros(256, dtype=bool)
    is_edge[[*delimiter, *b'\r\n"']] = True
    opening = quotes[::2]
    if not is_edge[cells[opening[opening > 0] - 1]].all():
        return _followed(delimiter).match(block).end()  # type: ignore[union-attr]
    end = len(block)
    while end := end_of_lines(block, end):
        if np.searchsorted(quotes, end) % 2 == 0:
            return end
        end -= 1
    return 0


def has_blanks_at_edges(block: bytes, delimiter: bytes) -> bool:
    r"""Say whether a cell may begin or end with a blank; also where other blanks than those of ASCII may be there.

    >>> has_blanks_at_edges(b"1,New York\n", b","), has_blanks_at_edges(b"1, Rome\n", b",")
    (False, True)
    """
    if not block.isascii():
        return True
    for blank in BLANKS:
        if blank in block and blank != delimiter:
            edges = [edge for edge in (delimiter, b'"', b"\r", b"\n") if edge != blank]
            if any(edge + blank in block or blank + edge in block for edge in edges):
                return True
            if block.startswith(blank) or block.endswith(blank):
                return True
    return False


def end_of_lines(block: bytes, stop: int) -> int:
    """Find the end of the last line before `stop`; a carriage return at the very end may be half of a line break."""
    newline = block.rfind(b"\n", 0, stop)
    if newline >= 0:
        return newline + 1
    return block.rfind(b"\r", 0, min(stop, len(block) - 1)) + 1


@cache
def _followed(delimiter: bytes) -> re.Pattern[bytes]:
    """Match whole rows, cell by cell."""
    d = re.escape(delimiter)
    cell = rb'(?:"(?:[^"]++|"")*+"[^%b\r\n]*+|[^"%b\r\n][^%b\r\n]*+)?+' % (d, d, d)
    return re.compile(rb"(?:(?:%b%b)*+%b(?:\r\n|\n|\r(?=[^\n])))*+" % (cell, d, cell))
