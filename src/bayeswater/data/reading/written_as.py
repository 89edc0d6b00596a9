"""`WrittenAs`: what a user says of the cells of a file."""

from bayeswater.data.reading.cell_style import ALWAYS_MISSING, MARKS
from bayeswater.data.reading.written_dates import compiled_format
from bayeswater.errors import ParameterError
from bayeswater.records import record

NUMBERS = [(".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'")]
"""What stands before decimals and between groups; the first that fits is taken."""


@record
class WrittenAs:
    """What a user says of the cells of a file; nothing, where it is None or empty.

    `missing` are marks besides the usual ones, `missing_only` those in their place; `decimal`, `thousands` and
    `date_format` hold for all columns.
    """

    missing: tuple[str, ...] = ()
    missing_only: tuple[str, ...] | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.missing and self.missing_only is not None:
            raise ParameterError("missing adds to the marks of missing cells, and missing_only replaces them; give one")
        if self.thousands is not None and self.thousands not in {gap for _, gap in NUMBERS}:
            raise ParameterError(f"thousands is {self.thousands!r}; give a comma, a point, a blank or an apostrophe")
        if self.thousands is not None and self.thousands == self.decimal:
            raise ParameterError(f"{self.decimal!r} stands before decimals and between thousands; give two characters")
        if self.date_format is not None:
            compiled_format(self.date_format)

    @property
    def marks(self) -> tuple[str, ...]:
        """Cells that may be missing."""
        return (*MARKS, *self.missing) if self.missing_only is None else self.missing_only

    @property
    def always_missing(self) -> tuple[str, ...]:
        """Those that are missing wherever they stand."""
        return (*ALWAYS_MISSING, *self.missing) if self.missing_only is None else self.missing_only


NOTHING_WRITTEN = WrittenAs()
"""Of one who says nothing."""
