"""Records of delimited text: what parts its cells, and where a record may end.

Blocks of a file are cut and parsed as bytes, in which only characters of ASCII are a byte each, and no part of another
character.

The rows of a CSV end at line breaks that stand in no quotes. A quote opens a cell only at its beginning; inside, two of
them stand for one. A quote elsewhere (5" of pipe) is a character like others. The bytes of a long file are followed by
compiled loops (``kernels.text_bytes``), ten times as fast and of the same answers.
"""

import re
from functools import cache
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.text_bytes import has_blank_beside_edge, last_row_end, steps_of
from bayeswater.typing import Array

RARE = "~^"
"""What seldom stands between cells, and elsewhere may stand before numbers: it must be in the first line."""

BAR = "|"
DELIMITERS = f",;\t{BAR}{RARE}\x01\x1f"
"""What may stand between cells where nothing is said of it; the first wins among equals."""


def require_delimiter(delimiter: Any, *, quotes: bool, named: str = "delimiter") -> None:
    """Refuse what cannot stand between cells; `named` is what a person calls the parameter."""
    taken = "\0\r\n" + '"' * quotes
    is_one = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    if delimiter is not None and (not is_one or delimiter in taken):
        raise ParameterError(
            f"{named} is {delimiter!r}; give one character of ASCII that is no quote and no end of a line, such as ';' "
            "or a tab"
        )


def require_decimal(decimal: Any, *, named: str = "decimal") -> None:
    """Refuse what does not stand before decimals."""
    if decimal not in (".", ","):
        raise ParameterError(f"{named} is {decimal!r}; give a point or a comma")


BYTES_OF_CELL = 8
"""Of a usual cell, which tells whether a loop is worth the time to load it."""

BLANKS = bytes(byte for byte in range(128) if chr(byte).isspace() and byte not in b"\r\n")
"""Blanks of ASCII, apart from those that end a line."""


def worth_loops(n_bytes: int) -> bool:
    """Say whether a file of this size is one whose bytes go to the compiled loops."""
    return worth_compiling(n_bytes // BYTES_OF_CELL)


def end_of_rows(block: bytes, delimiter: bytes, *, use_loop: bool) -> int:
    r"""Find the end of the last whole row of a block that begins with one; 0 if it has none.

    >>> end_of_rows(b'a,b\n1,"x\ny"\n2,"z\n', b",", use_loop=False)
    12
    """
    if b'"' not in block:
        return end_of_lines(block)
    if use_loop:
        whole = len(block) - block.endswith(b"\r")  # a carriage return at the very end may be half of a line break
        return int(last_row_end(np.frombuffer(block, np.uint8, whole), _steps(delimiter)))
    return _rows(delimiter).match(block).end()  # type: ignore[union-attr]


def end_of_lines(block: bytes) -> int:
    """Find the end of the last line; a carriage return at the very end may be half of a line break."""
    return max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - 1)) + 1


def has_blanks_at_edges(block: bytes, delimiter: bytes, *, use_loop: bool) -> bool:
    r"""Say whether a cell may begin or end with a blank; also where other blanks than those of ASCII may be there.

    >>> [has_blanks_at_edges(row, b",", use_loop=False) for row in (b"1,New York\n", b"1, Rome\n")]
    [False, True]
    """
    kinds, ends = _kinds(delimiter), block[:1] + block[-1:]
    if b" " in ends.translate(kinds) or not (ends if use_loop else block).isascii():
        return True
    if use_loop:
        return bool(has_blank_beside_edge(np.frombuffer(block, np.uint8), np.uint8(ord(delimiter))))
    found = block.translate(kinds)
    return b", " in found or b" ," in found


def without_blanks(text: bytes, delimiter: str) -> bytes:
    r"""Take out the blanks between a delimiter and a quote that opens a cell; where they part cells, all but one.

    >>> without_blanks(b'1, "x, y", 2', ","), without_blanks(b' 1   2.5\t"a  b" \n', " ")
    (b'1,"x, y", 2', b'1 2.5 "a  b"\n')
    """
    if delimiter == " ":
        text = re.sub(rb'("[^"]*")|[ \t]+', lambda found: found[1] or b" ", text)
        return re.sub(rb"^ | (?=\r?$)", b"", text, flags=re.M)
    mark = re.escape(delimiter.encode())
    return re.sub(rb'%b +"(?!"[^%b\r\n])' % (mark, mark), delimiter.encode() + b'"', text)


@cache
def _steps(delimiter: bytes) -> Array:
    return steps_of(delimiter)


@cache
def _kinds(delimiter: bytes) -> bytes:
    """Give for each byte a comma if it is an edge of cells, a blank if it is one, or else an x."""
    edges = {*delimiter, *b'"\r\n'}
    return bytes(ord("," if byte in edges else " " if byte in BLANKS else "x") for byte in range(256))


@cache
def _rows(delimiter: bytes) -> re.Pattern[bytes]:
    """Match whole rows, cell by cell."""
    d = re.escape(delimiter)
    cell = rb'(?:"(?:[^"]++|"")*+"[^%b\r\n]*+|[^"%b\r\n][^%b\r\n]*+)?+' % (d, d, d)
    return re.compile(rb"(?:(?:%b%b)*+%b(?:\r\n|\n|\r(?=[^\n])))*+" % (cell, d, cell))
