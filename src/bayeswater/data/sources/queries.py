"""Rows behind a query: a dataset of Arrow, a relation of DuckDB, a LazyFrame of polars.

Each is run anew for every pass, with the columns that the pass needs. None of these libraries is imported here: who
hands us a query has imported it.

DuckDB counts groups by itself: how often the cells of each column meet the labels, in one query.

    SELECT label, cells, grouping(cells), count(*) ... GROUP BY GROUPING SETS ((label, cell 1), (label, cell 2), ...)

It counts strings and truths alone: they are categories, of which a row is counted so in a third of the time that it
takes to come here. Whole numbers may have many values, and with many a table of groups takes longer than the rows.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import read_frame
from bayeswater.data.sources.columnar import BUFFER_BYTES, ParquetSource
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.rows import Margin
from bayeswater.data.sources.source import BATCH_ROWS
from bayeswater.data.sources.streams import Stream, marked_table
from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

MOST_COLUMNS = 48
"""Columns that are grouped at once: `grouping` tells them apart by the bits of one number."""

MOST_ENTRIES = 2**20
"""Pairs of cells and labels that are brought here."""


def margins(relation: Any, cells: "Sequence[pa.Field]", label: "pa.Field") -> list[Margin] | None:
    """Count the pairs of the cells of each column and the labels; None where rows are counted sooner one by one."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from duckdb import Error

    if len(cells) > MOST_COLUMNS or not all(_is_category(field) for field in (*cells, label)):
        return None
    names, target = [quoted(field.name) for field in cells], quoted(label.name)
    listed = ", ".join(names)
    asked = f"{target}, {listed}, grouping({listed}), count(*)"
    sets = ", ".join(f"({target}, {name})" for name in names)
    try:
        chosen = relation.project(", ".join(map(_by_bytes, (*cells, label))))
        found = chosen.aggregate(asked, f"GROUPING SETS ({sets})").limit(MOST_ENTRIES + 1).to_arrow_table()
    except Error:  # rows that come one by one say what is wrong with them
        return None
    if found.num_rows > MOST_ENTRIES:
        return None
    left_out, n_rows = found.column(len(names) + 1), found.column(len(names) + 2).cast(pa.int64())
    every = 2 ** len(names) - 1
    margins = []
    for place, field in enumerate(cells):
        own = pc.equal(left_out, every - 2 ** (len(names) - 1 - place))
        labels, column, count = (part.filter(own).combine_chunks() for part in (found[0], found[place + 1], n_rows))
        margins.append(Margin(labels.cast(label.type), column.cast(field.type), np.asarray(count)))
    return margins


def quoted(name: str) -> str:
    """Write the name of a column as SQL does.

    >>> quoted("a b")
    '"a b"'
    """
    return '"' + name.replace('"', '""') + '"'


def _by_bytes(field: "pa.Field") -> str:
    """Ask for a column; of text, whatever collation it has, only equal bytes are one group."""
    import pyarrow as pa

    name = quoted(field.name)
    return f'{name} COLLATE "binary" AS {name}' if pa.types.is_string(field.type) else name


def _is_category(field: "pa.Field") -> bool:
    import pyarrow as pa

    return pa.types.is_string(field.type) or pa.types.is_boolean(field.type)


Types = Mapping[str, "pa.DataType"]


def is_query(source: Any) -> bool:
    """Say whether something is a dataset, a relation or a LazyFrame."""
    return is_dataset(source) or _is_relation(source) or _is_lazy_frame(source)


def query_parts(source: Any, types: Types) -> Sequence[ParquetSource | Stream]:
    """Give the parts of a query; none for whatever is no query."""
    if is_dataset(source):
        return _parquet_files(source, types) or [_scan(source, types)]
    if _is_relation(source):
        return [_relation(source, types)]
    if _is_lazy_frame(source):
        return [_lazy_frame(source, types)]
    return []


# ---------------------------------------------------------------------- datasets


def is_dataset(source: Any) -> bool:
    """Say whether something is a dataset of Arrow."""
    datasets = sys.modules.get("pyarrow.dataset")
    return datasets is not None and isinstance(source, datasets.Dataset)


def _parquet_files(dataset: Any, types: Types) -> list[ParquetSource]:
    """Give the files of a dataset that is nothing but local Parquet files: these are read in less memory than a scan.

    A scan decodes whole groups of rows, and a file may hold all its rows in one.
    """
    import pyarrow.dataset
    import pyarrow.fs

    if (
        not isinstance(dataset, pyarrow.dataset.FileSystemDataset)
        or not isinstance(dataset.format, pyarrow.dataset.ParquetFileFormat)
        or not isinstance(dataset.filesystem, pyarrow.fs.LocalFileSystem)
    ):
        return []
    try:
        fragments = [*dataset.get_fragments()]
    except ValueError:  # a dataset with a filter gives none
        return []
    if any(str(fragment.partition_expression) != "true" for fragment in fragments):
        return []
    files = [ParquetSource(Origin(path), types) for path in dataset.files]
    for file in files:
        file.keeps_dictionaries = True
        own = {field.name: field.type for field in file.schema}
        file.declare(
            {field.name: field.type for field in dataset.schema if own.get(field.name) not in (None, field.type)}
        )
    return files


def _scan(dataset: Any, types: Types) -> Stream:
    import pyarrow.dataset

    def begin(names: Sequence[str]) -> "Iterator[pa.RecordBatch]":
        how = {}
        if isinstance(getattr(dataset, "format", None), pyarrow.dataset.ParquetFileFormat):
            how["fragment_scan_options"] = pyarrow.dataset.ParquetFragmentScanOptions(
                use_buffered_stream=True, buffer_size=BUFFER_BYTES, pre_buffer=False
            )
        scanner = dataset.scanner(
            columns=list(names), batch_size=BATCH_ROWS, batch_readahead=1, fragment_readahead=1, **how
        )
        yield from scanner.to_batches()

    identity = tuple(Origin(path).identity for path in getattr(dataset, "files", ()) if Path(path).is_file())
    return Stream("the dataset", begin, schema=dataset.schema, identity=identity, types=types)


# ---------------------------------------------------------------------- DuckDB


def _is_relation(source: Any) -> bool:
    return type(source).__name__ == "DuckDBPyRelation"


def _relation(relation: Any, types: Types) -> Stream:
    def begin(names: Sequence[str]) -> "Iterator[pa.RecordBatch]":
        chosen = relation.project(", ".join(map(quoted, names)))
        read = chosen.to_arrow_reader if hasattr(chosen, "to_arrow_reader") else chosen.fetch_record_batch
        yield from read(BATCH_ROWS)

    try:
        schema = relation.limit(0).to_arrow_table().schema
    except sys.modules["duckdb"].Error as error:
        raise DataError(
            f"the DuckDB relation cannot be read: {error}; its connection must be open, and its tables there"
        ) from None
    counted = None if types else partial(margins, relation)
    return Stream("the DuckDB relation", begin, schema=schema, identity=None, types=types, margins=counted)


# ---------------------------------------------------------------------- polars


def _is_lazy_frame(source: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(source, polars.LazyFrame)


def _lazy_frame(frame: Any, types: Types) -> Stream:
    if not hasattr(frame, "collect_batches"):
        raise DataError(
            "this version of polars cannot give the rows of a LazyFrame in batches; update it, or write them with "
            "sink_parquet and give the name of the file"
        )

    def begin(names: Sequence[str]) -> Iterator[Any]:
        yield from frame.select(names).collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)

    empty = read_frame(sys.modules["polars"].DataFrame(schema=frame.collect_schema()))
    return Stream("the LazyFrame", begin, schema=marked_table(empty).schema, identity=None, types=types)
