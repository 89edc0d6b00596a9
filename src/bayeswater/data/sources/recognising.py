"""`local_rows`: whatever holds rows on this machine, as `LocalRows`.

Libraries are recognised by the types of what is given and never imported for it: who hands us a frame of polars or a
relation of DuckDB has imported it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayeswater.data.frames import is_frame
from bayeswater.data.sources.column_types import type_named
from bayeswater.data.sources.formats import Format
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.opening import open_source
from bayeswater.data.sources.paths import files_named, is_path
from bayeswater.data.sources.places import Progress
from bayeswater.data.sources.queries import is_dataset, is_query, query_parts
from bayeswater.data.sources.streams import Stream
from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


def holds_rows(source: Any) -> bool:
    """Say whether `local_rows` may find rows in something: no array, whose columns have no names, and no dict.

    >>> holds_rows("part-*.parquet"), holds_rows({"x": [1]}), holds_rows(3)
    (True, False, False)
    """
    if is_path(source) or is_query(source) or hasattr(source, "__arrow_c_stream__") or callable(source):
        return True
    return isinstance(source, Iterable) and not isinstance(source, Mapping) and not hasattr(source, "__array__")


def local_rows(
    source: Any,
    *,
    types: "Mapping[str, pa.DataType | str] | None" = None,
    columns: Sequence[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    format: Format | None = None,
    **reading: Any,
) -> LocalRows:
    """Open rows that may be more than memory holds.

    Parameters
    ----------
    source : one of

        - the name of a file (CSV, TSV, Parquet, Arrow, JSON lines or ARFF), a pattern of names as "part-*.parquet", a
          folder, or a list of them: one table, in the order of the list, and of their names in a pattern or a folder
        - a `pyarrow.dataset.Dataset`, a DuckDB relation, a polars LazyFrame
        - a `pyarrow.Table` or another data frame, a `RecordBatchReader`
        - an iterator of Arrow tables, record batches or frames, which can be read but once, or what gives a new
          iterator each time: a function, or an object that can be iterated over again
    types : Arrow types of columns by name, or words for them: string, number, integer, boolean, date, timestamp
    columns : those to read, by default all
    progress : told after each batch how far reading has come
    format, reading : of files, see `open_source`

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = local_rows([pa.table({"x": [1, 2]}), pa.table({"x": [3]})])
    >>> rows.sum(lambda table: sum(table["x"].to_pylist()), ["x"])
    6
    """
    if isinstance(source, LocalRows):
        return source
    kinds = {name: type_named(kind) if isinstance(kind, str) else kind for name, kind in (types or {}).items()}
    if is_path(source) or are_paths(source):
        given = [source] if is_path(source) else list(source)
        files = [open_source(file, format, types=kinds, **reading) for file in files_named(given)]
        for file in files:
            file.keeps_dictionaries = True
        name = files[0].name if len(files) == 1 else str(source) if is_path(source) else f"{len(files)} files"
        return LocalRows(files, name, columns=columns, progress=progress)
    parts = query_parts(source, kinds) or [_stream(source, kinds)]
    name = parts[0].name if len(parts) == 1 else f"the dataset of {len(parts)} files"
    if is_dataset(source) and columns is None:
        columns = source.schema.names  # its files may have more
    return LocalRows(parts, name, columns=columns, progress=progress)


def are_paths(source: Any) -> bool:
    """Say whether something is a list of names of files."""
    return isinstance(source, Sequence) and len(source) > 0 and all(map(is_path, source))


def _stream(source: Any, types: "Mapping[str, pa.DataType]") -> Stream:
    import pyarrow as pa

    name = f"the {type(source).__name__}"
    if isinstance(source, pa.RecordBatch) or (is_frame(source) and hasattr(source, "__len__")):
        return Stream(name, lambda _: [source], n_rows=len(source), types=types)
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        return Stream(name, lambda _: reader, schema=reader.schema, can_be_reread=False, types=types)
    if isinstance(source, Iterator):
        return Stream("the iterator", lambda _: source, can_be_reread=False, types=types)
    if callable(source):
        return Stream("the function", lambda _: _given_by(source), types=types)
    if holds_rows(source):
        return Stream(name, lambda _: source, types=types)
    raise DataError(f"cannot read rows from a {type(source).__name__}; give files, Arrow tables or an iterator of them")


def _given_by(function: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Call a function where whoever reads expects things to go wrong, and give what it gives."""
    yield from function()
