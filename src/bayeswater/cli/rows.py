"""Rows of a file with their labels, batch by batch, as models take them in.

A model speaks of row 7 of the rows it was handed, counted from 0; `named` says which row of which file that is, counted
from 1 and without the header.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bayeswater.cli.progress import shown
from bayeswater.cli.words import say
from bayeswater.errors import BayesError, DataError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.data.sources.source import Source


ROW = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\brow (?P<row>\d+)\b""")
"""A row in a message; what stands in quotes is a name or a value, and comes first so that no row is found in it."""

WORTH_TELLING = 2**28
"""Bytes of a table from which on it is said that it is held in memory."""


class LabelledRows:
    """Pairs (X, y) of Arrow tables and labels; rows without a label are left out and counted.

    Parameters
    ----------
    source : the file
    target : name of the column of labels
    columns : names of the columns of X
    """

    def __init__(self, source: "Source", target: str, columns: Sequence[str]) -> None:
        source.require_column(target, "target column")
        self.source, self.target, self.columns = source, target, list(columns)
        self.n_rows = self.n_unlabelled = 0
        self._first: int | None = None  # number of the first row that is in somebody's hands

    def read(self, what: str) -> "Iterator[tuple[pa.Table, pa.ChunkedArray]]":
        """Read all rows once."""
        self.n_rows = self.n_unlabelled = 0
        n_seen = 0
        for table in shown(self.source, what, [*self.columns, self.target]):
            first, n_seen = n_seen + 1, n_seen + table.num_rows
            known = table.column(self.target).is_valid()
            table = table.filter(known) if table.column(self.target).null_count else table
            self.n_unlabelled += n_seen - first + 1 - table.num_rows
            self.n_rows += table.num_rows
            if table.num_rows:
                self._first, self._last, self._labelled = first, n_seen, known
                yield table.select(self.columns), table.column(self.target)
            self._first = None
            del table
        if not self.n_rows:
            raise self._nothing_to_read()

    def whole(self, what: str) -> "tuple[pa.Table, pa.ChunkedArray]":
        """Read all rows at once, for models that look at them more than once; types that do not hold are widened."""
        import pyarrow as pa

        from bayeswater.data.sources.source import TypesWidened

        self.source.keeps_dictionaries = True
        while True:
            try:
                with self.named():
                    parts = list(self.read(what))
            except TypesWidened as change:
                say(f"note: {change}", "yellow")
                continue
            X = pa.concat_tables([X for X, _ in parts])
            if X.nbytes >= WORTH_TELLING:
                say(f"note: all rows are held in memory at once, {X.nbytes / 1e6:,.0f} MB", "yellow")
            return X, pa.chunked_array([chunk for _, y in parts for chunk in y.chunks])

    def say_what_was_left_out(self) -> None:
        """Mention rows without a label, if there were any."""
        if self.n_unlabelled:
            n, column = self.n_unlabelled, self.target
            say(f"note: {n:,} row{' has' if n == 1 else 's have'} no value in {column!r} and were left out", "yellow")

    @contextmanager
    def named(self) -> Iterator[None]:
        """Give errors of a model that has some of these rows in hand the name of the file and their numbers."""
        try:
            yield
        except BayesError as error:
            if self._first is None:
                raise
            raise _in_rows(error, self.source.name, self._first, self._last, self._place) from error

    def _place(self, row: int) -> int:
        """Find the place in the batch of a row that a model was handed: those without a label it never saw."""
        import pyarrow.compute as pc

        return int(pc.indices_nonzero(self._labelled)[row].as_py())

    def _nothing_to_read(self) -> DataError:
        if self.n_unlabelled:
            return DataError(f"{self.source.name}: no row has a value in {self.target!r}; is it the right column?")
        return DataError(f"{self.source.name} has no rows; give a file with a header and rows")


@contextmanager
def named_rows(name: str, first: int, last: int) -> Iterator[None]:
    """Give errors of a model the name of the file and the numbers of the rows that it was handed."""
    try:
        yield
    except BayesError as error:
        raise _in_rows(error, name, first, last) from error


def _in_rows(
    error: BayesError, name: str, first: int, last: int, place: Callable[[int], int] = lambda row: row
) -> BayesError:
    """Put the name of the file and the numbers of its rows before an error, and into it."""

    def numbered(found: re.Match[str]) -> str:
        row = found["row"]
        return found[0] if row is None or int(row) > last - first else f"row {first + place(int(row))}"

    return type(error)(f"{name}, rows {first:,} to {last:,}: {ROW.sub(numbered, str(error))}")


def first_rows(source: "Source", columns: Sequence[str], n_rows: int) -> "pa.Table":
    """Read the first rows of a file, and no more of it than that needs."""
    import pyarrow as pa

    found: list[pa.Table] = []
    for table in source.batches(columns):
        found.append(table.slice(0, n_rows - sum(part.num_rows for part in found)))
        if sum(part.num_rows for part in found) == n_rows:
            break
    if not found:
        raise DataError(f"{source.name} has no rows; give a file with a header and rows")
    return pa.concat_tables(found)


def keep_as_written(source: "Source", added: list[str]) -> None:
    """Read columns that are kept beside the answers as they are written, where no type was declared for them."""
    import pyarrow as pa

    from bayeswater.data.sources.delimited import DelimitedSource

    clash = [name for name in source.schema.names if name in added]
    if clash:
        raise SchemaError(f"{source.name} has a column {clash[0]!r} of its own; rename it, or leave --keep out")
    if isinstance(source, DelimitedSource):
        source.declare(dict.fromkeys(source.schema.names, pa.string()))
