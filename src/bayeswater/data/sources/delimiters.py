"""The character between cells: one that is named is checked, and where none is it is recognised by the first rows.

Blocks of a file are cut and parsed as bytes, in which only characters of ASCII are a byte each, and no part of another
character.
"""

import csv
import io
from typing import Any, Literal

from bayeswater.errors import ParameterError

DELIMITERS = ",;\t"
"""What may stand between cells where nothing is said of it; the first wins among equals."""

SNIFFED_ROWS = 100
"""Rows by which the delimiter is recognised."""


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


def recognised_delimiter(text: str, *, quotes: bool = True) -> str:
    r"""Recognise the character between cells: the one that cuts most rows into as many cells as the first.

    >>> recognised_delimiter("a;b\n1,5;2\n")
    ';'
    """
    best, best_score = DELIMITERS[0], (0.0, 1)
    for delimiter in DELIMITERS:
        widths = _widths(text, delimiter, csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)
        if not widths or widths[0] < 2:
            continue
        score = (widths.count(widths[0]) / len(widths), widths[0])
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _widths(text: str, delimiter: str, quoting: Literal[0, 3]) -> list[int]:
    widths = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting):
            widths.append(len(row))
            if len(widths) > SNIFFED_ROWS:
                break
    except csv.Error:  # a cell too long for any table: not this delimiter, or a quote left open
        pass
    return [width for width in (widths[:-1] or widths) if width]  # the last row may be cut off
