"""Options on how a file is read, the same for every verb, and the rows they lead to."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from bayeswater.data.sources.paths import Format
from bayeswater.records import record

if TYPE_CHECKING:
    from bayeswater.data.sources.local_rows import LocalRows


def _no_option(_: Any, path: str) -> None:
    if path.startswith("-") and path != "-":
        raise ValueError(f"{path} is no option of this verb; a file of that name is written ./{path}")


DataFile = Annotated[
    str,
    Parameter(
        name="DATA",
        help="CSV, TSV, JSON, ARFF, also compressed or in a zip archive (archive.zip!table.csv); Parquet, Arrow, "
        "Excel, SQLite, DuckDB, SPSS, Stata, SAS; - reads standard input. Several files, a pattern as "
        "'part-*.parquet' or a folder are read as one table.",
        required=True,
        allow_leading_hyphen=True,  # of the name of standard input
        validator=_no_option,
        negative=(),
    ),
]
"""One of the files of a verb, which may stand anywhere among its options."""

ModelFile = Annotated[str, Parameter(help="File that `fit` or `save` wrote.")]
Target = Annotated[str, Parameter(name=["--target", "-t"], help="Column that holds the class of each row.")]
BinsOfTarget = Annotated[
    int | None,
    Parameter(
        name="--target-bins",
        validator=Number(gte=2),
        help="Cut a target of amounts into so many classes, with about as many rows each.",
    ),
]
MinClassRows = Annotated[
    int | None,
    Parameter(
        name="--min-class-rows",
        validator=Number(gte=1),
        help="Leave out rows of classes that have fewer rows than this.",
    ),
]
AsJson = Annotated[
    bool, Parameter(name="--json", negative=(), show_default=False, help="Print JSON on standard output.")
]
LossFile = Annotated[
    Path | None,
    Parameter(name="--loss", help='File of costs: a CSV that begins with "action \\ truth,no,yes", or a TOML file.'),
]

ColumnFamilies = Annotated[
    list[str] | None,
    Parameter(
        name="--column",
        help="Family of a column, as age=binned: auto, categorical, bernoulli, gaussian, lognormal, poisson, "
        "negative_binomial, beta, von_mises (with its period: hour=von_mises:24), binned, text, multinomial, "
        "complement, marks, ignored; mdl is binned where that tells the classes apart.",
    ),
]

ModelName = Literal[
    "naive-bayes",
    "weighted-naive-bayes",
    "gaussian-diagonal",
    "gaussian-shared",
    "gaussian-full",
    "spode",
    "tan",
    "aode",
    "weighted-aode",
    "a2de",
    "kdb",
    "skdb",
    "ensemble",
]
"""Names of the models of the ladder (`models.kinds`)."""

Preset = Literal["balanced", "generative", "best"]
"""Presets of an ensemble (`learning.members.presets`)."""


READING = Group("Reading", sort_key=10)


@Parameter(name="*", group=READING)
@record(kw_only=True)
class ReadingOptions:
    """How the data are read.

    Parameters
    ----------
    format
        What the data are, where their name does not tell; standard input is CSV by default.
    types
        Type of a column, as zip=string; one of string, number, integer, boolean, date, timestamp.
    missing
        Cell that means missing, besides the empty one and the usual marks, such as NA, N/A, null, None, ? and -.
    missing_only
        Cell that means missing in place of the usual marks.
    delimiter
        The character between cells of a CSV; by default a comma, a semicolon, a tab or a bar, as they fit.
    decimal
        The character before the decimals of a number in a CSV: a point, or a comma as in 1234,5; by default as the
        cells of a column tell.
    thousands
        The character between groups of digits in a CSV: a comma, a point, a blank or an apostrophe.
    date_format
        How all dates of a CSV are written, as %d/%m/%Y; by default as all cells of a column tell.
    header
        Whether the first row of a CSV holds the names; without it columns are x0, x1, ...
    names
        Names of the columns of a CSV without a header, as age,job,income.
    quotes
        Whether cells of a CSV may stand in quotes; without, a quote is a character like others.
    encoding
        Encoding of CSV and ARFF, such as gbk or latin-1; by default UTF-8, or what the bytes look like.
    comment
        What lines of a CSV begin with that are no rows; by default # where such lines stand above the header.
    bad_rows
        What becomes of rows of a CSV that have another length: an error, left out, or filled up with missing cells.
    sheet
        Name or number of a sheet of a spreadsheet, where several have cells.
    table
        Table of a database, where it has several.
    query
        SELECT over the tables of a database, in the place of a table.
    """

    format: Format | None = None
    types: Annotated[list[str] | None, Parameter(name="--type")] = None
    missing: Annotated[list[str] | None, Parameter(allow_leading_hyphen=True)] = None
    missing_only: Annotated[list[str] | None, Parameter(allow_leading_hyphen=True)] = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    header: bool = True
    names: str | None = None
    quotes: bool = True
    encoding: str | None = None
    comment: str | None = None
    bad_rows: Literal["error", "skip", "pad"] = "error"
    sheet: str | None = None
    table: str | None = None
    query: str | None = None

    def open_rows(self, paths: list[str], columns: list[str] | None = None) -> "LocalRows":
        """Open files that are one table, of which some columns are read, or all; those of a pipe come but once."""
        from bayeswater.data.sources.recognising import local_rows

        return local_rows(paths, columns=columns, **self._options())

    @contextmanager
    def rows(self, paths: list[str], columns: list[str] | None = None) -> "Iterator[LocalRows]":
        """Open files that are one table and read more than once; a pipe is laid down in a temporary file first."""
        from bayeswater.data.sources.laid_down import laid_down

        with laid_down(paths) as files:
            yield files.named(self.open_rows(files.paths, columns))

    def _options(self) -> dict[str, Any]:
        """Give the options as those who open files take them."""
        import pyarrow as pa

        from bayeswater.data.column_types import as_types
        from bayeswater.data.sources.records import require_decimal, require_delimiter

        # Arrow would handle Ctrl-C itself while it parses a block, and lose one that comes at the end of it.
        pa.enable_signal_handlers(False)
        delimiter = {"tab": "\t", "\\t": "\t"}.get(self.delimiter or "", self.delimiter)
        require_delimiter(delimiter, quotes=self.quotes, named="--delimiter")
        require_decimal("." if self.decimal is None else self.decimal, named="--decimal")
        return {
            "format": self.format,
            "types": as_types(self.types or ()),
            "delimiter": delimiter,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "date_format": self.date_format,
            "header": self.header,
            "names": None if self.names is None else next(csv.reader([self.names])),
            "quotes": self.quotes,
            "encoding": self.encoding,
            "comment": self.comment,
            "bad_rows": self.bad_rows,
            "sheet": self.sheet,
            "table": self.table,
            "query": self.query,
            "missing": self.missing,
            "missing_only": self.missing_only,
        }


AS_USUAL = ReadingOptions()
"""Reading by what the file says of itself."""
