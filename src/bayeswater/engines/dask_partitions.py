"""The partition of a Dask DataFrame or the chunk of a Dask Array, as an Arrow table in the types of all of them.

Numbers are taken as they are: to look for NaN in a column takes longer than to count it. A column that begins with NaN
is read as all others are, since it may have no value at all.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import read_frame
from bayeswater.data.matrix import STRIP_ROWS, column_name
from bayeswater.engines.pieces import in_types
from bayeswater.errors import SchemaError, nearest_names
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
