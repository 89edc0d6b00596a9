"""`Reading`: all that can be said of how a file is read; what nobody says is found in the file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from bayeswater.data.reading.style_search import WrittenAs
from bayeswater.data.sources.encodings import known_encoding
from bayeswater.data.sources.paths import Format
from bayeswater.data.sources.records import require_decimal, require_delimiter
from bayeswater.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

BadRows = Literal["error", "skip", "pad"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file is read.

    Parameters
    ----------
    format : one of the names in `Format`; default what the name or the first bytes say, and csv for standard input
    types : Arrow types of columns by name
    delimiter : of CSV, the character between cells; default the one of comma, semicolon, tab and bar that fits
    decimal : of CSV, the character before the decimals of a number, "." or ","; default the one that a column has
    thousands : of CSV, the character between groups of digits: a comma, a point, a blank or an apostrophe
    date_format : of CSV, how all dates are written, as `strptime` has it: "%d/%m/%Y"
    header : whether a row of CSV or of a spreadsheet holds the names; without it columns are called x0, x1, ...
    names : of the columns, where no row holds them
    quotes : whether cells of CSV may stand in quotes; without them a quote is a character like others
    encoding : of CSV and ARFF, as Python names it; default UTF-8, or what the bytes look like
    comment : of CSV, what lines begin with that are no rows; default "#" where such lines stand above the header
    bad_rows : of CSV, what becomes of rows of another length: "error", "skip" (left out, and counted), or "pad" (cells
        that lack at the end are missing, empty ones beyond the last column are dropped)
    missing : of CSV, cells that are missing, besides the usual marks and the empty one; one string is one of them
    missing_only : of CSV, cells that are missing in place of the usual marks
    sheet : of a spreadsheet, the name of the sheet, or its number from 1; default the only one that holds rows
    table, query : of a database, the table to read, or a query that only reads; default the only table
    """

    format: Format | None = None
    types: "Mapping[str, pa.DataType]" = field(default_factory=dict)
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    header: bool = True
    names: Sequence[str] | None = None
    quotes: bool = True
    encoding: str | None = None
    comment: str | None = None
    bad_rows: BadRows = "error"
    missing: str | Iterable[str] | None = None
    missing_only: str | Iterable[str] | None = None
    sheet: str | int | None = None
    table: str | None = None
    query: str | None = None
    written: WrittenAs = field(init=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be, before any file is opened."""
        require_delimiter(self.delimiter, quotes=self.quotes)
        require_decimal("." if self.decimal is None else self.decimal)
        object.__setattr__(self, "written", self._written())
        if self.encoding is not None:
            object.__setattr__(self, "encoding", known_encoding(self.encoding))
        if self.comment is not None and (not self.comment or not isinstance(self.comment, str)):
            raise ParameterError(f"comment is {self.comment!r}; give what lines begin with that are no rows, as '#'")
        if self.bad_rows not in get_args(BadRows):
            raise ParameterError(f"bad_rows is {self.bad_rows!r}; it can be one of {', '.join(get_args(BadRows))}")
        if self.table is not None and self.query is not None:
            raise ParameterError("both a table and a query are given; leave one out")

    def _written(self) -> WrittenAs:
        """What is said of cells."""
        only = None if self.missing_only is None else _words(self.missing_only)
        return WrittenAs(_words(self.missing), only, self.decimal, self.thousands, self.date_format)

    @property
    def has_header(self) -> bool:
        """Whether a row of the file holds the names."""
        return self.header and self.names is None


def _words(given: str | Iterable[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())
