"""Rows from whatever a user gives: files of any format, queries, streams, and rows kept on disk.

`open_source` opens a file of any format, recognised by its name or its first bytes, as a `Source` of batches.
`local_rows` takes whatever holds rows on this machine, as `LocalRows`. `spooled` lays rows that can be read but once
down in a temporary file that can be read again.

Libraries are recognised by the types of what is given and never imported for it: who hands us a frame of polars or a
relation of DuckDB has imported it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

from bayeswater.data.column_types import type_named
from bayeswater.data.frames import is_frame
from bayeswater.data.sources.arff import ArffSource
from bayeswater.data.sources.columnar import ARROW_FILE, PARQUET, ArrowSource, ParquetSource
from bayeswater.data.sources.delimited import DelimitedSource
from bayeswater.data.sources.encodings import CONTROL, LOOKED_AT, marked_encoding
from bayeswater.data.sources.json_lines import JsonLinesSource
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.parts import Progress, chosen_fields
from bayeswater.data.sources.paths import COMPRESSED, FORMAT_OF_SUFFIX, Format, files_named, is_path
from bayeswater.data.sources.queries import is_dataset, is_query, query_parts
from bayeswater.data.sources.reading_options import Reading, reading_with
from bayeswater.data.sources.source import Source, TypesWidened, errors_named
from bayeswater.data.sources.streams import Stream
from bayeswater.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

DUCKDB = bytes(8) + b"DUCK"
"""How a file of DuckDB begins, behind eight bytes of any kind: .db is the ending of many."""


OBJECTS = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"[^"]*"\s*:')
"""How JSON begins that is named as text."""


def open_source(
    path: str | Path, format: Format | None = None, *, standard_input: BinaryIO | None = None, **reading: Any
) -> Source:
    r"""Open a file for reading in batches; nothing but its beginning is read.

    Parameters
    ----------
    path : name of the file, or ``-`` for standard input; ``archive.zip!table.csv`` is a file in an archive
    format, reading : how it is read, see `Reading`
    standard_input : a binary file to read in place of `sys.stdin`

    Examples
    --------
    >>> import io
    >>> source = open_source("-", standard_input=io.BytesIO(b"age,income\n39,low\n50,high\n"))
    >>> source.schema.names
    ['age', 'income']
    >>> [table.num_rows for table in source.batches()]
    [2]
    """
    how, origin = reading_with(format=format, **reading), Origin(path, standard_input)
    types, chosen = how.types, format or _recognised_format(origin)
    how.require_of(chosen, origin.name)
    match chosen:
        case "parquet":
            return ParquetSource(origin, types)
        case "arrow":
            return ArrowSource(origin, types)
        case "jsonl":
            return JsonLinesSource(origin, types, how)
        case "arff":
            return ArffSource(origin, types, encoding=how.encoding)
        case "excel" | "sqlite" | "duckdb" | "spss" | "stata" | "sas" as other:
            return _of_library(other, origin, how)
        case "tsv" if how.delimiter is None and (format or b"\t" in origin.head(LOOKED_AT)):
            return DelimitedSource(origin, types, replace(how, delimiter="\t"))
        case _:
            return DelimitedSource(origin, types, how)


def _of_library(format: str, origin: Origin, how: Reading) -> Source:
    """Open a file that another library reads; what reads it is imported for few, and takes time."""
    if format == "excel":
        from bayeswater.data.sources.spreadsheets import SpreadsheetSource

        return SpreadsheetSource(origin, how.types, how)
    if format in ("sqlite", "duckdb"):
        from bayeswater.data.sources.databases import DuckdbSource, SqliteSource

        is_duck = format == "duckdb" or (origin.can_be_reread and origin.head(len(DUCKDB)).endswith(DUCKDB[8:]))
        return (DuckdbSource if is_duck else SqliteSource)(origin, how.types, how)
    from bayeswater.data.sources.statistics_files import StatisticsSource

    return StatisticsSource(origin, how.types)


def _recognised_format(origin: Origin) -> Format:
    suffixes = [suffix.lower() for suffix in Path(origin.table_name).suffixes] if origin.path else []
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix == ".xls" and origin.path and _is_text(origin.path):
        return "csv"
    if FORMAT_OF_SUFFIX.get(suffix, "csv") != "csv":
        return FORMAT_OF_SUFFIX[suffix]
    first = b""  # of a damaged file, as is said where it is read; of a pipe it is said here, for it is read once
    with suppress(OSError, EOFError) if origin.can_be_reread else errors_named(origin):
        first = origin.head(LOOKED_AT)
    if OBJECTS.match(first):
        return "jsonl"
    if suffix in FORMAT_OF_SUFFIX:
        return "csv"
    if first.startswith(PARQUET):
        return "parquet"
    if first.startswith(ARROW_FILE):
        return "arrow"
    if suffix:
        raise DataError(
            f"{origin.name}: the ending {suffix!r} names no format; say which it is with "
            f"bayeswater.local_rows(source, format=...): {', '.join(get_args(Format))}"
        )
    return "csv"


def _is_text(path: Path) -> bool:
    """Tell text that a program has named as a spreadsheet; a page of HTML is none."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(LOOKED_AT)
    is_page = head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    return bool(head) and not is_page and (marked_encoding(head) is not None or CONTROL.search(head) is None)


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
    **reading: Any,
) -> LocalRows:
    """Open a table, also one larger than memory, and say how it is read.

    Parameters
    ----------
    source : one of

        - the name of a file of any format, a pattern of names such as ``"part-*.parquet"``,
          a folder, or a list of them: one table, in the order of the list, and of their names in a pattern or a folder
        - a `pyarrow.dataset.Dataset`, a DuckDB relation, a polars LazyFrame
        - a `pyarrow.Table` or another data frame, a `RecordBatchReader`
        - an iterator of Arrow tables, record batches or frames, which can be read only once, or what gives a new
          iterator each time: a function, or an object that can be iterated over again
    types : dict, optional
        Types of columns by name: Arrow types, or the words string, number, integer, boolean, date, timestamp.
    columns : list of str, optional
        Columns to read; default all.
    progress : function, optional
        It is called after each batch with how far reading has come.
    **reading : options of `Reading`
        How files are read: format, delimiter, header, names, encoding, missing, bad_rows, sheet and others. The page
        "From a file to a model" explains them.

    Returns
    -------
    LocalRows
        Rows that are read in pieces, as often as they are asked for.

    Raises
    ------
    DataError
        Where the source is nothing that has rows.

    See Also
    --------
    read_table : Read a file into memory, in the same way as `fit` and the command line.
    spooled : Write rows to a temporary Parquet file, which is deleted at the end, and open it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = local_rows([pa.table({"x": [1, 2]}), pa.table({"x": [3]})])
    >>> rows.sum(lambda table: sum(table["x"].to_pylist()), ["x"])
    6
    """
    if reading and not (is_path(source) or are_paths(source)):
        what = "rows that are open already" if isinstance(source, LocalRows) else f"a {type(source).__name__}"
        raise ParameterError(
            f"{', '.join(reading)}: this tells how a file is read, and the source is {what}; leave it out and change "
            "the cells themselves, or give the name of the file"
        )
    if isinstance(source, LocalRows):
        return source
    kinds = {name: type_named(kind) if isinstance(kind, str) else kind for name, kind in (types or {}).items()}
    if is_path(source) or are_paths(source):
        given = [source] if is_path(source) else list(source)
        files = [open_source(file, types=kinds, **reading) for file in files_named(given)]
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


@contextmanager
def spooled(source: Any, columns: Sequence[str] | None = None) -> Iterator[LocalRows]:
    """Write rows to a temporary Parquet file, which is deleted at the end, and open it.

    Parameters
    ----------
    source : rows
        What `local_rows` takes. It is read once.
    columns : list of str, optional
        Columns that are needed; default all.

    Yields
    ------
    LocalRows
        The rows of the temporary file.

    Raises
    ------
    DataError
        Where the file cannot be written, for example on a full disk.

    See Also
    --------
    local_rows : Open a table, also one larger than memory, and say how it is read.

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
                f"cannot store the rows of {rows.name} in {folder!r}: {error.strerror or error}; make room there, "
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
