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
        raise ValueError(f"{path} is no option of this verb, nor a file: that would be written ./{path}")


DataFile = Annotated[
    str,
    Parameter(
        name="DATA",
        help="Table to read: CSV, TSV, JSON, ARFF, Parquet, Arrow, Excel, SQLite, DuckDB, SPSS, Stata or SAS; text may "
        "be compressed, or in a zip archive (archive.zip!table.csv). Several files, a folder, or a pattern such as "
        "'part-*.parquet' are read as one table. - is standard input.",
        required=True,
        allow_leading_hyphen=True,  # of the name of standard input
        validator=_no_option,
        negative=(),
    ),
]
"""One of the files of a verb, which may stand anywhere among its options."""

ModelFile = Annotated[str, Parameter(help="Model file, written by `fit` or `save`.")]
Target = Annotated[
    str, Parameter(name=["--target", "-t"], help="Column that holds the class of each row: the one to predict.")
]
BinsOfTarget = Annotated[
    int | None,
    Parameter(
        name="--target-bins",
        validator=Number(gte=2),
        help="Cut a numeric target into this many classes of about equal size.",
    ),
]
MinClassRows = Annotated[
    int | None,
    Parameter(
        name="--min-class-rows",
        validator=Number(gte=1),
        help="Leave out the rows of classes with fewer rows than this.",
    ),
]
AsJson = Annotated[
    bool, Parameter(name="--json", negative=(), show_default=False, help="Print JSON on standard output.")
]
LossFile = Annotated[
    Path | None,
    Parameter(
        name="--loss", help='File of costs: a CSV whose first line is such as "action \\ truth,no,yes", or a TOML file.'
    ),
]

ColumnFamilies = Annotated[
    list[str] | None,
    Parameter(
        name="--column",
        help="Family of a column, such as age=binned: auto, categorical, bernoulli, gaussian, lognormal, poisson, "
        "negative_binomial, beta, von_mises (with its period: hour=von_mises:24), binned, mdl (bins whose cuts "
        "separate the classes), text, multinomial, complement, marks or ignored.",
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
        Format of the data, if the file name does not show it; standard input is CSV by default.
    types
        Type of a column, such as zip=string; one of string, number, integer, boolean, date, timestamp.
    missing
        Further mark of a missing cell, beside the usual ones: an empty cell, NA, N/A, null, None, ?, - and such.
    missing_only
        Mark of a missing cell, instead of the usual ones.
    delimiter
        Character between the cells of a CSV; found from the file by default.
    decimal
        Decimal sign of a CSV: a point, or a comma as in 1234,5; found from the cells of a column by default.
    thousands
        Sign between groups of digits in a CSV: a comma, a point, a blank or an apostrophe.
    date_format
        Format of all dates of a CSV, such as %d/%m/%Y; found from the cells of a column by default.
    header
        Whether the first row of a CSV holds the column names; without them columns are x0, x1, ...
    names
        Column names of a CSV without a header, such as age,job,income.
    quotes
        Whether cells of a CSV may be quoted; with --no-quotes a quote is an ordinary character.
    encoding
        Encoding of CSV and ARFF, such as gbk or latin-1; found from the bytes by default.
    comment
        Sign that begins a comment line of a CSV; by default # if such lines stand above the header.
    bad_rows
        Rows of a CSV with another number of cells: an error, left out, or filled up with missing cells.
    sheet
        Name or number of the sheet to read, if several sheets of a spreadsheet have cells.
    table
        Table of a database to read, if it has several.
    query
        SELECT over the tables of a database, instead of one table.
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
