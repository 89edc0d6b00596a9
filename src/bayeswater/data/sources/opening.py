"""`open_source`: a file of any format, recognised by its name or its first bytes, as a `Source` of batches."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, get_args

from bayeswater.data.sources.arff import ArffSource
from bayeswater.data.sources.columnar import ARROW_FILE, PARQUET, ArrowSource, ParquetSource
from bayeswater.data.sources.delimited import MISSING, DelimitedSource
from bayeswater.data.sources.formats import COMPRESSED, FORMAT_OF_SUFFIX, Format
from bayeswater.data.sources.json_lines import JsonLinesSource
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.source import Source
from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


def open_source(
    path: str | Path,
    format: Format | None = None,
    *,
    types: "Mapping[str, pa.DataType] | None" = None,
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool = True,
    names: Sequence[str] | None = None,
    quotes: bool = True,
    encoding: str = "utf-8",
    missing: Iterable[str] | None = None,
    standard_input: BinaryIO | None = None,
) -> Source:
    r"""Open a file for reading in batches; nothing but its beginning is read.

    Parameters
    ----------
    path : name of the file, or ``-`` for standard input
    format : one of csv, tsv, parquet, arrow (file or stream), jsonl, arff; by default what the name or the first bytes
        say, and csv for standard input. Text and Arrow streams may be compressed by gzip, zstd, bz2 or lz4.
    types : Arrow types of columns by name
    delimiter, decimal, header, names, quotes, missing : of CSV, see `DelimitedSource`
    encoding : of CSV and ARFF
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
    origin = Origin(path, standard_input)
    match format or _recognised_format(origin):
        case "parquet":
            return ParquetSource(origin, types)
        case "arrow":
            return ArrowSource(origin, types)
        case "jsonl":
            return JsonLinesSource(origin, types)
        case "arff":
            return ArffSource(origin, types, encoding=encoding)
        case delimited:
            return DelimitedSource(
                origin,
                types,
                delimiter="\t" if delimited == "tsv" and delimiter is None else delimiter,
                decimal=decimal,
                header=header,
                names=names,
                quotes=quotes,
                encoding=encoding,
                missing=MISSING if missing is None else missing,
            )


def _recognised_format(origin: Origin) -> Format:
    if origin.path is None:
        return "csv"
    suffixes = [suffix.lower() for suffix in origin.path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix in FORMAT_OF_SUFFIX:
        return FORMAT_OF_SUFFIX[suffix]
    if origin.can_be_reread:
        first = origin.head(len(ARROW_FILE))
        if first.startswith(PARQUET):
            return "parquet"
        if first == ARROW_FILE:
            return "arrow"
    if suffix:
        raise DataError(
            f"{origin.name}: the ending {suffix!r} names no format; say which it is with "
            f"bayeswater.local_rows(source, format=...): {', '.join(get_args(Format))}"
        )
    return "csv"
