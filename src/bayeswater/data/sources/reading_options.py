"""`Reading`: all that can be said of how a file is read; what nobody says is found in the file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from bayeswater.data.reading.cell_style import CellStyle
from bayeswater.data.reading.cell_styles import style_of_document
from bayeswater.data.reading.column_plan import require_same_unit
from bayeswater.data.reading.written_as import NOTHING_WRITTEN, WrittenAs
from bayeswater.data.sources.encodings import known_encoding
from bayeswater.data.sources.paths import Format
from bayeswater.data.sources.records import require_decimal, require_delimiter
from bayeswater.errors import ParameterError, nearest_names
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

BadRows = Literal["error", "skip", "pad"]


@record(kw_only=True)
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

    def require_of(self, format: Format, name: str) -> None:
        """Refuse the choice of a sheet or table from a file that has none: other rows would be read than are meant."""
        databases = ("sqlite", "duckdb")
        for option, formats in {"sheet": ("excel",), "table": databases, "query": databases}.items():
            if getattr(self, option) is not None and format not in formats:
                raise ParameterError(
                    f"{name} is read as {format}, and {option} is for {' and '.join(formats)}; leave {option} out"
                )

    def like(self, written: WrittenAs) -> "Reading":
        """Take over what is said of the cells of other files, where nothing is said here."""
        names = ("decimal", "thousands", "date_format")
        own: dict[str, Any] = {name: getattr(self, name) or getattr(written, name) for name in names}
        if not self.missing and self.missing_only is None:
            own |= {"missing": written.missing, "missing_only": written.missing_only}
        return replace(self, **own)


def reading_with(**options: Any) -> Reading:
    """Take options by name; one that there is not is an error in the call, told with the nearest name."""
    known = [option.name for option in fields(Reading) if option.init]
    for name in options:
        if name not in known:
            raise TypeError(f"there is no option {name!r} of reading; {nearest_names(name, known)}")
    return Reading(**options)


@record
class ReadAs:
    """How the files were read that a model has learned from: later ones are read alike, where nothing is said of them.

    Delimiters, headers and all else that is about the shape of one file are found anew in each.

    Parameters
    ----------
    styles : how cells are written, by column, for models that have no plan of their columns
    encoding : of text that is not UTF-8 and does not say of itself what it is
    written : what was said of cells
    """

    styles: Mapping[str, CellStyle] = field(default_factory=dict)
    encoding: str | None = None
    written: WrittenAs = NOTHING_WRITTEN

    def merged(self, other: "ReadAs") -> "ReadAs":
        """Add what only the other knows; refuse columns of another unit."""
        for name in self.styles.keys() & other.styles.keys():
            require_same_unit(name, self.styles[name], other.styles[name])
        written = other.written if self.written == NOTHING_WRITTEN else self.written
        return ReadAs({**other.styles, **self.styles}, self.encoding or other.encoding, written)

    def document(self) -> dict[str, Any]:
        """Give it for JSON."""
        told = {name: getattr(self.written, name) for name in WRITTEN}
        marks = {name: list(value) if isinstance(value, tuple) else value for name, value in told.items() if value}
        styles = {name: style.document() for name, style in self.styles.items()}
        return {"styles": styles, "encoding": self.encoding, "written": marks}


WRITTEN = ("missing", "missing_only", "decimal", "thousands", "date_format")

AS_FOUND = ReadAs()
"""Of a model that has learned from no file, or of whose files nothing was said."""


def read_as_of_document(document: Any) -> ReadAs:
    """Make it of what was written down; refuse what none could be.

    >>> read_as_of_document(ReadAs(encoding="gbk").document()).encoding
    'gbk'
    """
    if not isinstance(document, dict) or document.keys() != {"styles", "encoding", "written"}:
        raise TypeError("how files are read is told by styles, an encoding and what is written")
    styles, encoding, written = document["styles"], document["encoding"], document["written"]
    if not (isinstance(styles, dict) and isinstance(written, dict) and written.keys() <= {*WRITTEN}):
        raise TypeError("styles and what is written are told by name")
    said: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in written.items()}
    words = [word for value in said.values() for word in (value if isinstance(value, tuple) else (value,))]
    if not all(isinstance(word, str) for word in (*words, *styles, *([] if encoding is None else [encoding]))):
        raise TypeError("how files are read is told in words")
    if any(isinstance(said.get(name, ()), tuple) != name.startswith("missing") for name in said):
        raise TypeError("marks of missing cells are a list, and all else is one word")
    if said.get("decimal", ".") not in (".", ","):
        raise ValueError("numbers are not written so")
    own = {name: style_of_document(style) for name, style in styles.items()}
    return ReadAs(own, None if encoding is None else known_encoding(encoding), WrittenAs(**said))


def _words(given: str | Iterable[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())
