"""`Parcel`: the sum of some pieces, on its way from one process to another.

Every engine does the same three things: a worker packs the sum of its piece, workers add parcels in a tree of fan-in 8,
and the caller opens the last one. A piece without rows makes an empty parcel, so no function ever sees one. What a
piece gives depends on its rows alone, and a parcel goes into exactly one other: a task that is lost and run again
counts once.

The bytes of all parcels are added up on the way: no engine moves more than that for a sum.
"""

import logging
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

from bayeswater.errors import DataError
from bayeswater.kernels.threads import threads

if TYPE_CHECKING:
    import pyarrow as pa

FAN_IN = 8
"""Parcels that are made into one: 1000 pieces take four steps, and no worker waits for more than eight others."""

Item = TypeVar("Item")


@dataclass(frozen=True)
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
