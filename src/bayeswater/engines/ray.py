"""`RayRows`: a Ray Dataset, whose blocks are counted and predicted by tasks of Ray as they stream by.

A sum is a `map_batches` over whole blocks that gives one row for each, the parcel of its sum, and a tree of tasks that
add parcels. Blocks are kept in their order, so a sum of floats is the same in every run over the same blocks. Ray gives
blocks no numbers: an error names a block by its first row.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from bayeswater.data.frames import require_own_names
from bayeswater.data.sources.rows import HEAD_ROWS, S
from bayeswater.engines.engine_rows import (
    EngineRows,
    Parcel,
    errors_found,
    errors_named,
    first_rows,
    in_a_tree,
    in_types,
    mapped,
    packed,
    together,
)

if TYPE_CHECKING:
    import pyarrow as pa

WHOLE_BLOCKS: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": None, "zero_copy_batch": True}
"""How blocks are handed to a function: as one Arrow table each, where they are."""


class RayRows(EngineRows):
    """Rows of a Ray Dataset."""

    name = "the Ray Dataset"

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    @cached_property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns; null where Ray knows no Arrow type."""
        import pyarrow as pa

        found = self._dataset.schema()
        if found is None:  # no block has a row
            return pa.schema([])
        require_own_names(found.names)
        kinds = [kind if isinstance(kind, pa.DataType) else pa.null() for kind in found.types]
        return pa.schema(list(zip(found.names, kinds, strict=True)))

    def head(self, columns: Sequence[str], n_rows: int = HEAD_ROWS) -> "pa.Table":
        """Give the first rows, in the order of the blocks."""
        self.require_columns(columns)
        types = self._types(columns)
        with _in_order(self._dataset), errors_found():
            batches = self._selected(columns).limit(n_rows).iter_batches(batch_format="pyarrow", batch_size=None)
            tables = [in_types(batch, types) for batch in batches]
        return first_rows(tables, types, n_rows)

    def _mapped(self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: list[str]) -> Any:
        """Give a lazy Ray Dataset of what the function gives."""
        answers = partial(_answers, of=of, types=self._types(columns), schema=schema, name=self.name)
        return self._selected(columns).map_batches(answers, **WHOLE_BLOCKS)

    def _parcel(self, of: "Callable[[pa.Table], S]", columns: list[str]) -> Parcel:
        import ray

        count = partial(_packed, of=of, types=self._types(columns), name=self.name)
        with _in_order(self._dataset), errors_found():
            parcels = self._selected(columns).map_batches(count, **WHOLE_BLOCKS).to_arrow_refs()
            join = ray.remote(_joined)
            last = in_a_tree(parcels, lambda some: join.remote(*some)) if parcels else None
            return _opened(() if last is None else (ray.get(last),))

    def _selected(self, columns: Sequence[str]) -> Any:
        return self._dataset.select_columns(list(columns))


def _packed(block: "pa.Table", of: "Callable[[pa.Table], Any]", types: "pa.Schema", name: str) -> "pa.Table":
    with errors_named(_where(block, name)):
        return _table(packed(of, [in_types(block, types)]))


def _answers(
    block: "pa.Table", of: "Callable[[pa.Table], pa.Table]", types: "pa.Schema", schema: "pa.Schema", name: str
) -> "pa.Table":
    with errors_named(_where(block, name)):
        return mapped(of, in_types(block, types), schema)


def _joined(*tables: "pa.Table") -> "pa.Table":
    return _table(_opened(tables))


def _opened(tables: "Sequence[pa.Table]") -> Parcel:
    return together([pickle.loads(content.as_py()) for table in tables for content in _contents(table)])


def _contents(table: "pa.Table") -> Any:
    return table["parcel"] if table.num_rows else ()  # blocks without rows give a table without columns


def _table(parcel: Parcel) -> "pa.Table":
    import pyarrow as pa

    return pa.table({"parcel": pa.array([pickle.dumps(parcel)], pa.large_binary())})


def _where(block: "pa.Table", name: str) -> str:
    first = block.slice(0, 1).to_pylist()
    return f"{name}, the block of {block.num_rows} rows that begins with {str(first[0])[:200]}" if first else name


@contextmanager
def _in_order(dataset: Any) -> Iterator[None]:
    """Let Ray keep the order of the blocks while it computes, and then as it was set."""
    options = dataset.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        yield
    finally:
        options.preserve_order = before
