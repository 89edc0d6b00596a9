"""Rows of Dask: frames and arrays, whose partitions are counted and predicted by the workers that hold them.

A partition of a frame or a chunk of an array is read as an Arrow table in the types of all of them. Numbers are taken
as they are: to look for NaN in a column takes longer than to count it. A column that begins with NaN is read as all
others are, since it may have no value at all.

`DaskRows` is a Dask DataFrame. The graph of a sum is one task for each partition and a tree of additions, computed by
whatever scheduler is set: threads of this process, or the client of a cluster. Neighbours are added in the order of the
partitions, so a sum of floats is the same in every run.

Types are those of the frame's meta. Where it knows none (columns of objects, categories that are not known yet), the
first rows show them. Predictions keep the index and the divisions of the frame.

`DaskArrayRows` is a Dask Array as a table of columns x0, x1, ..., whose chunks of rows are the partitions. Chunks are
counted as they are. A frame is made of them for answers alone: Dask would hash and copy every chunk for it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from bayeswater.data.frames import read_frame, require_own_names
from bayeswater.data.matrix import STRIP_ROWS, column_name
from bayeswater.data.sources.rows import HEAD_ROWS, S
from bayeswater.engines.engine_rows import (
    EngineRows,
    Parcel,
    errors_named,
    first_rows,
    in_a_tree,
    in_types,
    mapped,
    packed,
    together,
)
from bayeswater.errors import BayesError, DataError, SchemaError, nearest_names
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa


def partition_table(partition: Any, types: "pa.Schema") -> "pa.Table":
    """Read the columns of a partition that have types, in these.

    Raises
    ------
    SchemaError
        Where it lacks one of them, whatever the frame promised.
    DataError
        Where a cell does not fit its type.
    """
    table = _chunk(partition) if isinstance(partition, np.ndarray) else _frame(partition)
    for name in types.names:
        if name not in table.column_names:
            raise SchemaError(f"there is no column {name!r}; {nearest_names(name, table.column_names)}")
    return in_types(table.select(types.names), types)


def is_native(kind: Any) -> bool:
    """Say whether cells of a dtype are numbers that Arrow takes as they are."""
    return isinstance(kind, np.dtype) and kind.kind in "iuf" and kind.isnative and kind.itemsize <= 8


def _frame(partition: Any) -> "pa.Table":
    columns = partition.items() if len(partition) else ()
    numbers = {name: cells.to_numpy() for name, cells in columns if is_native(cells.dtype)}
    if not numbers:
        return read_frame(partition).table
    others = [name for name in partition.columns if name not in numbers]
    read: Any = read_frame(partition[others]).table if others else {}
    return _table({name: numbers[name] if name in numbers else read[name] for name in partition.columns})


def _chunk(chunk: Array) -> "pa.Table":
    names = [column_name(None, j) for j in range(chunk.shape[1])]
    if not is_native(chunk.dtype) or isinstance(chunk, np.ma.MaskedArray):  # pandas puts NaN for what is masked
        import pandas as pd

        return read_frame(pd.DataFrame(chunk, columns=names)).table
    columns = np.empty(chunk.shape[::-1], dtype=chunk.dtype)
    for rows in row_blocks(len(chunk), STRIP_ROWS):  # what is read stays in the cache until all columns have it
        columns[:, rows] = chunk[rows].T
    return _table(dict(zip(names, columns, strict=True)))


def _table(columns: Mapping[str, Any]) -> "pa.Table":
    import pyarrow as pa

    def begins_without(cells: Any) -> bool:
        return isinstance(cells, np.ndarray) and len(cells) > 0 and cells[0] != cells[0]

    return pa.table(
        {name: pa.array(cells, from_pandas=True) if begins_without(cells) else cells for name, cells in columns.items()}
    )


ROWS_FOR_TYPES = 1000
"""Rows that show the types which the meta of a frame leaves open."""


class DaskRows(EngineRows):
    """Rows of a Dask DataFrame; columns whose names are no strings are called x0, x1, ..., as those of an array."""

    name = "the Dask DataFrame"

    def __init__(self, frame: Any) -> None:
        require_own_names(frame.columns)
        if not all(isinstance(label, str) for label in frame.columns):
            frame = frame.rename(columns={label: column_name(None, j) for j, label in enumerate(frame.columns)})
        self._frame = frame

    @cached_property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns; null where neither the meta nor the first rows show a type."""
        import pyarrow as pa

        meta = self._frame._meta
        schema = pa.Schema.from_pandas(meta, preserve_index=False).remove_metadata()
        unclear = [name for name, kind in meta.dtypes.items() if _is_open(kind)]
        if not unclear:
            return schema
        shown = self._first_rows(pa.schema([(name, pa.null()) for name in unclear]), ROWS_FOR_TYPES).schema
        return pa.schema([shown.field(field.name) if field.name in unclear else field for field in schema])

    def head(self, columns: Sequence[str], n_rows: int = HEAD_ROWS) -> "pa.Table":
        """Give the first rows: of the first partition, and of as many more as it takes."""
        self.require_columns(columns)
        return self._first_rows(self._types(columns), n_rows)

    def _mapped(self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: list[str]) -> Any:
        """Give a lazy Dask DataFrame of what the function gives, with the index and the divisions of this one."""
        frame = self._selected(columns)
        apply = partial(_mapped, of=of, types=self._types(columns), schema=schema, name=self.name)
        return frame.map_partitions(apply, meta=_meta(schema, frame._meta.index), transform_divisions=False)

    def _parcel(self, of: "Callable[[pa.Table], S]", columns: list[str]) -> Parcel:
        from dask.delayed import delayed

        run = f"bayeswater-{uuid4().hex}"  # keys of their own: no scheduler takes an older sum for this one
        counting = partial(_counted, of=of, types=self._types(columns))
        function = delayed(counting, name=f"{run}-function", pure=False, traverse=False)  # sent once to each worker
        count, join = delayed(_called, pure=False), delayed(_joined, pure=False)
        partitions = self._partitions(columns)
        parcels = [
            count(function, partition, self._where(number), dask_key_name=f"{run}-partition-{number}")
            for number, partition in enumerate(partitions)
        ]
        (parcel,) = self._computed([in_a_tree(parcels, lambda some: join(*some))], partitions)
        return parcel

    def _partitions(self, columns: Sequence[str]) -> list[Any]:
        """Give what `partition_table` reads, one for each partition, with at least these columns."""
        partitions: list[Any] = self._selected(columns).to_delayed()
        return partitions

    def _selected(self, columns: Sequence[str]) -> Any:
        """Leave columns out where there are others, so that they are not even read; else pandas would copy them all."""
        return self._frame if set(columns) == set(self._frame.columns) else self._frame[list(columns)]

    def _first_rows(self, types: "pa.Schema", n_rows: int) -> "pa.Table":
        """Read the first partition, then three times as many in all, until the rows are enough."""
        from dask.delayed import delayed

        partitions, read = self._partitions(types.names), delayed(_first, pure=False)
        tables: list[pa.Table] = []
        first, stop = 0, 1
        while first < len(partitions) and sum(table.num_rows for table in tables) < n_rows:
            some = partitions[first:stop]
            numbered = enumerate(some, start=first)
            tasks = [read(partition, types, self._where(number), n_rows) for number, partition in numbered]
            tables += self._computed(tasks, some, first)
            first, stop = stop, 3 * stop
        return first_rows(tables, types, n_rows)

    def _computed(self, tasks: list[Any], partitions: Sequence[Any], first: int = 0) -> tuple[Any, ...]:
        """Compute what was made of partitions, the first of which has a number; name the one that cannot be."""
        from dask.base import compute

        try:
            found: tuple[Any, ...] = compute(*tasks)
        except BayesError:
            raise  # it names the partition
        except Exception as error:
            failing = _first_failing(partitions) if _may_be_asked_again(error) else None
            where = self.name if failing is None else self._where(first + failing)
            raise DataError(f"{where} could not be computed: {type(error).__name__}: {error}") from error
        return found

    def _where(self, number: int) -> str:
        return f"{self.name}, partition {number}"


def _called(function: Callable[..., Parcel], partition: Any, where: str) -> Parcel:
    return function(partition, where)


def _counted(partition: Any, where: str, *, of: "Callable[[pa.Table], Any]", types: "pa.Schema") -> Parcel:
    with errors_named(where):
        return packed(of, [partition_table(partition, types)])


def _joined(*parcels: Parcel) -> Parcel:
    return together(parcels)


def _first(partition: Any, types: "pa.Schema", where: str, n_rows: int) -> "pa.Table":
    with errors_named(where):
        return partition_table(partition.iloc[:n_rows] if hasattr(partition, "iloc") else partition[:n_rows], types)


def _mapped(
    partition: Any,
    *,
    of: "Callable[[pa.Table], pa.Table]",
    types: "pa.Schema",
    schema: "pa.Schema",
    name: str,
    partition_info: dict[str, Any] | None = None,
) -> Any:
    where = name if partition_info is None else f"{name}, partition {partition_info['number']}"
    with errors_named(where):
        frame = mapped(of, partition_table(partition, types), schema).to_pandas()
    frame.index = partition.index
    return frame


def _meta(schema: "pa.Schema", index: Any) -> Any:
    """Make the empty frame that says what all partitions look like; categories are known when they are computed."""
    from dask.dataframe.utils import clear_known_categories

    frame = schema.empty_table().to_pandas()
    frame.index = index[:0]
    return clear_known_categories(frame, dtype_backend=None)


def _is_open(kind: Any) -> bool:
    """Say whether a dtype tells nothing of the cells: objects, and categories that are not known yet."""
    from dask.dataframe.dispatch import is_categorical_dtype
    from dask.dataframe.utils import UNKNOWN_CATEGORIES

    is_categorical = bool(is_categorical_dtype(kind))
    return UNKNOWN_CATEGORIES in kind.categories if is_categorical else bool(kind == "object")


def _may_be_asked_again(error: Exception) -> bool:
    """Say whether the partition that failed may be looked for: one that killed its workers would kill more of them."""
    return type(error).__name__ != "KilledWorker"


def _first_failing(partitions: "Sequence[Any]") -> int | None:
    """Find the first partition that cannot be computed, by halving, in the time of one pass; None if all can be now."""
    from dask.base import compute
    from dask.delayed import delayed

    size = delayed(len, pure=False)

    def fails(some: "Sequence[Any]") -> bool:
        try:
            compute(*(size(partition) for partition in some))
        except Exception:
            return True
        return False

    low, high = 0, len(partitions)  # those before `low` can be computed, and one before `high` cannot
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(partitions[low:middle]) else (middle, high)
    return low if fails(partitions[low:high]) else None


class DaskArrayRows(DaskRows):
    """Rows of a Dask Array."""

    name = "the Dask Array"

    def __init__(self, array: Any) -> None:
        if array.ndim != 2:
            raise DataError(
                f"Expected 2D array, got {array.ndim}D array instead: the Dask Array has the shape {array.shape}; "
                "give a table of rows and columns, for example X.reshape(-1, 1)"
            )
        self._array = array.rechunk({1: -1})  # all columns of a row in one chunk

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where all chunks know theirs: it is NaN where they do not."""
        n_rows = self._array.shape[0]
        return None if n_rows != n_rows else int(n_rows)

    @cached_property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns."""
        import pyarrow as pa

        if is_native(self._array.dtype):
            return pa.schema([(name, pa.from_numpy_dtype(self._array.dtype)) for name in self._names])
        return super().schema

    @property
    def _names(self) -> list[str]:
        return [column_name(None, j) for j in range(self._array.shape[1])]

    @cached_property
    def _frame(self) -> Any:
        import dask.dataframe as dd

        return dd.from_dask_array(self._array, columns=self._names)

    def _partitions(self, columns: Sequence[str]) -> list[Any]:
        chunks: list[Any] = self._array.to_delayed().ravel().tolist()
        return chunks
