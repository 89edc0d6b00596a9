"""Errors about rows are told with the file the rows stand in and their numbers there.

Whoever works on a batch of rows speaks of row 7 of it, counted from 0; a person is told row 8 of a file, counted from 1
and without the header.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from bayeswater.errors import BayesError
from bayeswater.typing import Array


class Stretch(NamedTuple):
    """Consecutive rows of one part: its name, how many rows stand before them, and how many they are."""

    name: str
    n_before: int
    n_rows: int


ROW = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\brow (?P<row>\d+)\b""")
"""A row in a message; what stands in quotes is a name or a value, and comes first so that no row is found in it."""


@contextmanager
def rows_named(stretches: Sequence[Stretch]) -> Iterator[None]:
    """Give errors the names of the files and the numbers of the rows that were worked on."""
    try:
        yield
    except BayesError as error:
        if not any(stretch.n_rows for stretch in stretches):
            raise
        said = ROW.sub(lambda row: _numbered(row, stretches), str(error))
        raise type(error)(f"{where(stretches)}: {said}") from error
    except Exception as error:
        error.add_note(f"while working on {where(stretches)}")
        raise


@contextmanager
def original_rows(kept: Array) -> Iterator[None]:
    """Give errors that speak of a row the place it has among all: who works on them sees only those that are `kept`."""
    try:
        yield
    except BayesError as error:
        if kept.all():
            raise
        places = np.flatnonzero(kept)

        def placed(found: re.Match[str]) -> str:
            row = found["row"]
            return found[0] if row is None or int(row) >= len(places) else f"row {places[int(row)]}"

        raise type(error)(ROW.sub(placed, str(error))) from error


@contextmanager
def rows_among(start: int, n_rows: int, n_all: int) -> Iterator[None]:
    """Give errors about a part of some rows the place that a row has among all of them."""
    kept = np.zeros(n_all, dtype=bool)
    kept[start : start + n_rows] = True
    with original_rows(kept):
        yield


def where(stretches: Sequence[Stretch]) -> str:
    """Say which rows are meant.

    >>> where([Stretch("a.csv", 100, 50), Stretch("b.csv", 0, 10)])
    'a.csv, rows 101 to 150, b.csv, rows 1 to 10'
    """
    shown = stretches if len(stretches) <= 3 else (stretches[0], stretches[-1])
    return (", " if shown is stretches else " up to ").join(map(_of_stretch, shown))


def _of_stretch(stretch: Stretch) -> str:
    first, last = stretch.n_before + 1, stretch.n_before + stretch.n_rows
    return f"{stretch.name}, " + (f"row {first:,}" if first == last else f"rows {first:,} to {last:,}")


def _numbered(found: re.Match[str], stretches: Sequence[Stretch]) -> str:
    if found["row"] is None:
        return found[0]
    row = int(found["row"])
    for name, n_before, n_rows in stretches:
        if row < n_rows:
            return f"row {n_before + row + 1}" + (f" of {name}" if len(stretches) > 1 else "")
        row -= n_rows
    return found[0]
