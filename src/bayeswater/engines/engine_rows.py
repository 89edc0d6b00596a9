"""`EngineRows`: what the rows of all engines have in common. An engine says how a function reaches its pieces.

An error in a piece gets the name of the piece, and the caller gets the error itself back.

The rows of a piece are read in the types that all pieces have. Engines promise types and do not always keep them: a
partition without a single value may have another type, and every partition may have a dictionary of its own. Labels are
aligned where sums are added, so dictionaries may differ; only the type of their labels is made the same.

A `Parcel` is the sum of some pieces, on its way from one process to another. Every engine does the same three things: a
worker packs the sum of its piece, workers add parcels in a tree of fan-in 8, and the caller opens the last one. A piece
without rows makes an empty parcel, so no function ever sees one. What a piece gives depends on its rows alone, and a
parcel goes into exactly one other: a task that is lost and run again counts once.

The bytes of all parcels are added up on the way: no engine moves more than that for a sum.
"""

import logging
import pickle
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

from bayeswater.data.column_types import cast_columns
from bayeswater.data.sources.rows import Rows, S
from bayeswater.errors import BayesError, DataError
from bayeswater.kernels.threads import threads
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

RAISED = re.compile(r"^bayeswater\.errors\.(\w+): (.*?)(?=\n SQLSTATE|\n\n|\Z)", re.MULTILINE | re.DOTALL)
"""An error of ours in the text of a traceback, which is all that comes back from the workers of some engines."""


@contextmanager
def errors_named(where: str) -> Iterator[None]:
    """Give what goes wrong in a piece the name of the piece."""
    try:
        yield
    except MemoryError:
        raise  # not the fault of the rows: an engine may have a larger worker
    except BayesError as error:
        raise type(error)(f"{where}: {error}") from error
    except Exception as error:
        raise DataError(f"{where}: {type(error).__name__}: {error}") from error


@contextmanager
def errors_found() -> Iterator[None]:
    """Raise again what one of our functions raised on a worker; what an engine says of its own troubles stays."""
    try:
        yield
    except BayesError:
        raise
    except Exception as error:
        raised = RAISED.findall(str(error))
        if not raised:
            raise
        name, message = raised[-1]
        kinds = {kind.__name__: kind for kind in BayesError.__subclasses__()}
        raise kinds.get(name, BayesError)(message.strip()) from error


def in_types(table: "pa.Table", types: "pa.Schema") -> "pa.Table":
    """Bring the columns into types; those of type null are open and stay as they are.

    Raises
    ------
    DataError
        Where a cell does not fit: with its row in the piece, its column, and the fix.
    """
    import pyarrow as pa

    wanted = {field.name: field.type for field in types if not pa.types.is_null(field.type)}
    for place, name in enumerate(table.column_names):
        column, kind = table.column(place), wanted.get(name)
        if kind is None or not (pa.types.is_dictionary(kind) and pa.types.is_dictionary(column.type)):
            continue
        del wanted[name]
        if column.type.value_type != kind.value_type:
            table = table.set_column(place, name, _with_labels(column, kind.value_type))
    return cast_columns(table, wanted, "by the types of the frame", 0)


def _with_labels(column: "pa.ChunkedArray", kind: "pa.DataType") -> "pa.ChunkedArray":
    import pyarrow as pa

    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(kind), ordered=chunk.type.ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, kind, column.type.ordered))


def first_rows(tables: "list[pa.Table]", types: "pa.Schema", n_rows: int) -> "pa.Table":
    """Join the first rows of pieces, whose dictionaries may differ, into one table."""
    import pyarrow as pa

    some = [table for table in tables if table.num_rows] or [types.empty_table()]
    return pa.concat_tables(some, promote_options="permissive").slice(0, n_rows).unify_dictionaries()


FAN_IN = 8
"""Parcels that are made into one: 1000 pieces take four steps, and no worker waits for more than eight others."""

Item = TypeVar("Item")


@record
class Parcel:
    """A sum as bytes; None where there were no rows. `n_bytes` counts this one and all that went into it."""

    content: bytes | None
    n_rows: int
    n_bytes: int
    n_pieces: int

    @classmethod
    def of(cls, content: Any, n_rows: int, parts: "Sequence[Parcel]" = ()) -> "Parcel":
        """Pack a sum, made of other parcels or of one piece."""
        packed = None if content is None else pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL)
        n_bytes = len(packed or b"") + sum(part.n_bytes for part in parts)
        return cls(packed, n_rows, n_bytes, sum(part.n_pieces for part in parts) or 1)

    def opened(self, name: str) -> Any:
        """Give the sum; refuse one over no rows."""
        if self.content is None:
            raise DataError(f"{name} has no rows: all of its {self.n_pieces} partition(s) are empty; give it some rows")
        return pickle.loads(self.content)


def packed(of: "Callable[[pa.Table], Any]", tables: "Iterable[pa.Table]") -> Parcel:
    """Add up what a function gives for the tables of one piece, on one thread: an engine runs a task on every core."""
    total, n_rows = None, 0
    with threads(1):
        for table in tables:
            if table.num_rows:
                part = of(table)
                total = part if total is None else total + part
                n_rows += table.num_rows
    return Parcel.of(total, n_rows)


def together(parcels: Sequence[Parcel]) -> Parcel:
    """Add up parcels, in their order.

    >>> parts = [Parcel.of(1, n_rows=10), Parcel.of(None, n_rows=0), Parcel.of(2, n_rows=20)]
    >>> whole = together(parts)
    >>> whole.opened("a frame"), whole.n_rows, whole.n_pieces
    (3, 30, 3)
    """
    contents = (pickle.loads(parcel.content) for parcel in parcels if parcel.content is not None)
    first = next(contents, None)
    total = None if first is None else reduce(add, contents, first)
    return Parcel.of(total, sum(parcel.n_rows for parcel in parcels), parcels)


def in_a_tree(items: Sequence[Item], join: Callable[[Sequence[Item]], Item]) -> Item:
    """Join items, `FAN_IN` neighbours at a time, until there is one.

    >>> in_a_tree(range(100), sum)
    4950
    """
    while len(items) > 1:
        items = [join(items[first : first + FAN_IN]) for first in range(0, len(items), FAN_IN)]
    return items[0]


def mapped(of: "Callable[[pa.Table], pa.Table]", table: "pa.Table", schema: "pa.Schema") -> "pa.Table":
    """Apply a function to a piece; one without rows gives none, and no function sees it."""
    if not table.num_rows:
        return schema.empty_table()
    with threads(1):
        return of(table).cast(schema)


def report(parcel: Parcel, name: str) -> None:
    """Tell how much was counted, and what had to travel for it."""
    logging.getLogger(__name__).info(
        "%s: %d rows in %d partitions, %d bytes of sums", name, parcel.n_rows, parcel.n_pieces, parcel.n_bytes
    )


T = TypeVar("T")


class EngineRows(Rows):
    """Rows in the partitions of an engine, which computes them again whenever they are asked for."""

    bytes_moved: int | None = None
    """Bytes of all sums that were sent for the last `sum`, at most: an engine keeps some where they are."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known without reading them."""
        return None

    @property
    def can_be_reread(self) -> bool:
        """Whether rows can be read more than once: an engine computes them again, or has them in its memory."""
        return True

    def sum(self, of: "Callable[[pa.Table], S]", columns: Sequence[str]) -> S:
        """Add up what the function gives for every partition, where the partitions are."""
        parcel = self._parcel(*self._with_a_column(of, columns))
        report(parcel, self.name)
        self.bytes_moved = parcel.n_bytes
        total: S = parcel.opened(self.name)
        return total

    def map(self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: Sequence[str]) -> Any:
        """Give a lazy frame of the engine of what the function gives for every partition."""
        function, read = self._with_a_column(of, columns)
        return self._mapped(function, schema, read)

    def _with_a_column(self, of: "Callable[[pa.Table], T]", columns: Sequence[str]) -> tuple[Any, list[str]]:
        """Give a function of the columns and these; where it asks for none, of one that tells how many rows there are.

        A table of an engine without a column has no rows.
        """
        self.require_columns(columns)
        return (of, list(columns)) if columns else (partial(_without_columns, of=of), self.schema.names[:1])

    def _types(self, columns: Sequence[str]) -> "pa.Schema":
        """Give the types of some columns."""
        import pyarrow as pa

        return pa.schema([self.schema.field(name) for name in columns])

    @abstractmethod
    def _parcel(self, of: "Callable[[pa.Table], S]", columns: list[str]) -> Parcel:
        """Pack the sum of every partition, add the parcels in a tree, and give the last one."""

    @abstractmethod
    def _mapped(self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: list[str]) -> Any:
        """Apply a function to every partition when it is asked for."""


def _without_columns(table: "pa.Table", of: "Callable[[pa.Table], T]") -> T:
    return of(table.select([]))
