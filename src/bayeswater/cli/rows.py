"""Rows of data files as verbs take them: the files, all rows at once, pieces of few rows, cells as they are written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayeswater.errors import SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.data.sources.local_rows import LocalRows
    from bayeswater.data.sources.source import Source
    from bayeswater.models.streaming.examples import Piece
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


def few_rows(n_rows: int, n_classes: int) -> Iterator[tuple[int, int]]:
    """Part rows so that the answers for those of a part need little room: where each begins, and how many they are.

    >>> list(few_rows(100_000, 2))
    [(0, 65536), (65536, 34464)]
    """
    n_at_once = max(1, min(MOST_ROWS, MOST_CELLS // n_classes))
    return ((start, min(n_at_once, n_rows - start)) for start in range(0, n_rows, n_at_once))


@contextmanager
def rows_among(start: int, n_rows: int, n_all: int) -> Iterator[None]:
    """Give errors about a part of some rows the place that a row has among all of them."""
    import numpy as np

    from bayeswater.models.streaming.labelled import places_told

    with places_told((np.arange(n_all) >= start) & (np.arange(n_all) < start + n_rows)):
        yield


@dataclass(frozen=True)
class _Whole:
    """Rows of pieces, one below the other."""

    X: "pa.Table"
    y: "pa.Table"

    @classmethod
    def of(cls, piece: "Piece") -> "_Whole":
        import pyarrow as pa

        return cls(piece.X, pa.table({"y": piece.y}))

    def __add__(self, other: "_Whole") -> "_Whole":
        from bayeswater.data.sources.cutting import one_table

        return _Whole(one_table([self.X, other.X]), one_table([self.y, other.y]))


def whole(examples: "LabelledRows") -> "tuple[pa.Table, pa.ChunkedArray]":
    """Read all rows that have a label at once, for models that hold them; types that do not hold are widened."""
    from bayeswater.cli.words import say
    from bayeswater.data.sources.source import TypesWidened
    from bayeswater.errors import BayesWarning, warn_user
    from bayeswater.models.streaming.fitting import warn_of_unlabelled

    examples.under_way = "reading"
    while True:
        try:
            found: _Whole = examples.sum(_Whole.of)
            break
        except TypesWidened as change:
            warn_user(str(change), BayesWarning)
            examples.begin_anew()
    if examples.n_unlabelled:
        warn_of_unlabelled(examples.n_unlabelled, examples.target)
    if found.X.nbytes >= WORTH_TELLING:
        say(f"note: all rows are held in memory at once, {found.X.nbytes / 1e6:,.0f} MB", "yellow")
    return found.X, found.y.column("y")


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
