"""Rows in memory, cut into pieces at will: the simplest `Rows` there can be."""

import pickle
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import pyarrow as pa

from bayeswater.data.sources.rows import HEAD_ROWS, Rows
from bayeswater.errors import DataError


class Pieces(Rows):
    """Tables, of which the function of a sum may see the pieces in any order.

    Parameters
    ----------
    tables : of one schema
    once : whether they can be read but once
    order : the order in which pieces are added; default as they stand
    """

    def __init__(self, tables: Sequence[pa.Table], *, once: bool = False, order: Sequence[int] | None = None) -> None:
        self.tables, self.once, self.name = list(tables), once, "the pieces"
        self.order = range(len(self.tables)) if order is None else order
        self.columns_read: list[list[str]] = []

    @property
    def schema(self) -> pa.Schema:
        return self.tables[0].schema

    @property
    def n_rows(self) -> int:
        return sum(table.num_rows for table in self.tables)

    @property
    def can_be_reread(self) -> bool:
        return not self.once

    @property
    def n_passes(self) -> int:
        return len(self.columns_read)

    def head(self, columns: Sequence[str], n_rows: int = HEAD_ROWS) -> pa.Table:
        return pa.concat_tables(self.tables).select(list(columns)).slice(0, n_rows)

    def sum(self, of: Any, columns: Sequence[str]) -> Any:
        if self.n_passes and not self.can_be_reread:
            raise DataError("the pieces were read before")
        self.columns_read.append(list(columns))
        of = pickle.loads(pickle.dumps(of))  # as on its way to a worker
        found = [pickle.dumps(of(table.select(list(columns)))) for table in self.tables]
        return reduce(add, [pickle.loads(found[place]) for place in self.order])

    def map(self, of: Any, schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.Table]:
        of = pickle.loads(pickle.dumps(of))
        for table in self.tables:
            yield of(table.select(list(columns))).cast(schema)
