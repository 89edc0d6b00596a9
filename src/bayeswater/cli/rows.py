"""Rows of data files as verbs take them: the files, all rows at once, pieces of few rows, cells as they are written."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bayeswater.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.data.sources.local_rows import LocalRows
    from bayeswater.data.sources.source import Source
    from bayeswater.models.streaming.labelled import LabelledRows


WORTH_TELLING = 2**28
"""Bytes of a table from which on it is said that it is held in memory."""

MOST_ROWS = 2**16
MOST_CELLS = 2**22
"""Rows that are answered at once, and probabilities of them."""


def files_of(rows: "LocalRows") -> "list[Source]":
    """Give the files that rows are read from."""
    from bayeswater.data.sources.source import Source

    return [part for part in rows.parts if isinstance(part, Source)]


def say_if_headless(rows: "LocalRows") -> None:
    """Say that a first row is read as a header which looks like the others."""
    from bayeswater.cli.words import say
    from bayeswater.data.sources.delimited import DelimitedSource

    for file in files_of(rows):
        if isinstance(file, DelimitedSource) and file.begins_with_data:
            read = f"{file.name}: the first row is read as a header, {', '.join(map(repr, file.schema.names[:5]))}"
            say(f"warning: {read}; if it is none, say --no-header", "yellow")
            return


def require_other_files(rows: "LocalRows", *outputs: Path | None) -> None:
    """Refuse to write a file over one of those that the rows are read from, under whatever name."""
    for output in outputs:
        if output is None or not output.is_file():
            continue
        for path in (file.origin.path for file in files_of(rows)):
            if path is not None and path.is_file() and output.samefile(path):
                raise ParameterError(f"{str(output)!r} holds the data, and would be written over; name another file")


def few_rows(n_rows: int, n_classes: int) -> Iterator[tuple[int, int]]:
    """Part rows so that the answers for those of a part need little room: where each begins, and how many they are.

    >>> list(few_rows(100_000, 2))
    [(0, 65536), (65536, 34464)]
    """
    n_at_once = max(1, min(MOST_ROWS, MOST_CELLS // n_classes))
    return ((start, min(n_at_once, n_rows - start)) for start in range(0, n_rows, n_at_once))


def whole(examples: "LabelledRows", holder: str) -> "tuple[pa.Table, pa.ChunkedArray]":
    """Read all rows that have a label at once, for what holds them; say so where they are many."""
    from bayeswater.models.streaming.fitting import whole_rows

    found = whole_rows(examples, holder, "leave out columns with --ignore, or take a model that is counted in pieces")
    say_what_is_held(found.X)
    return found.X, found.y


def say_what_is_held(table: "pa.Table") -> None:
    """Say that a large table is in memory."""
    from bayeswater.cli.words import say

    if table.nbytes >= WORTH_TELLING:
        say(f"note: all rows are held in memory at once, {table.nbytes / 1e6:,.0f} MB", "yellow")


def keep_as_written(source: "Source", added: list[str]) -> None:
    """Read columns that are kept beside the answers as they are written, where no type was declared for them."""
    import pyarrow as pa

    from bayeswater.data.sources.delimited import DelimitedSource

    clash = [name for name in source.schema.names if name in added]
    if clash:
        raise SchemaError(f"{source.name} has a column {clash[0]!r} of its own; rename it, or leave --keep out")
    source.keeps_dictionaries = False  # some batches would have dictionaries, and others not
    if isinstance(source, DelimitedSource):
        source.declare(dict.fromkeys(source.schema.names, pa.string()))
