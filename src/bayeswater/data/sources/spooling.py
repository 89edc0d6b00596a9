"""`spooled`: rows that can be read but once, laid down in a temporary file that can be read again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.parts import chosen_fields
from bayeswater.data.sources.recognising import local_rows
from bayeswater.data.sources.source import TypesWidened
from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def spooled(source: Any, columns: Sequence[str] | None = None) -> Iterator[LocalRows]:
    """Lay rows down in a temporary Parquet file, which is deleted at the end, and give those.

    Parameters
    ----------
    source : what `local_rows` takes; read once, or used up where it can be read but once
    columns : those that are needed, by default all

    Raises
    ------
    DataError
        Where the file cannot be written, for example on a full disk.

    Examples
    --------
    >>> import pyarrow as pa
    >>> once = iter([pa.table({"x": [1, 2]}), pa.table({"x": [3]})])
    >>> with spooled(once) as rows:
    ...     [rows.sum(lambda table: table.num_rows, ["x"]) for _ in range(2)]
    [3, 3]
    """
    rows = local_rows(source)
    names = list(rows.schema.names if columns is None else columns)
    with TemporaryDirectory(prefix="bayeswater-") as folder:
        path = Path(folder) / "rows.parquet"
        try:
            while True:
                with suppress(TypesWidened):  # written anew in the wider types
                    _write(rows, names, path)
                    break
        except OSError as error:
            raise DataError(
                f"cannot lay down the rows of {rows.name} in {folder!r}: {error.strerror or error}; make room there, "
                "or name another folder in the environment variable TMPDIR"
            ) from error
        again = local_rows(path, progress=rows.progress)
        again.name = rows.name
        yield again


def _write(rows: LocalRows, names: list[str], path: Path) -> None:
    import pyarrow.parquet

    schema = chosen_fields(rows.schema, names)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd", compression_level=1) as file:
        for table in rows.map(_unchanged, schema, names):
            file.write_table(table)
            del table


def _unchanged(table: "pa.Table") -> "pa.Table":
    return table
