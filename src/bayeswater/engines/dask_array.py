"""`DaskArrayRows`: a Dask Array as a table of columns x0, x1, ..., whose chunks of rows are the partitions.

Chunks are counted as they are. A frame is made of them for answers alone: Dask would hash and copy every chunk for it.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayeswater.data.matrix import column_name
from bayeswater.engines.dask import DaskRows
from bayeswater.engines.dask_partitions import is_native
from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


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
