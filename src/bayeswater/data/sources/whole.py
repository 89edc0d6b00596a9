"""`whole_table`: all rows of a source as one table in memory, for what looks at its rows many times.

How large the table will be is forecast as soon as some rows are read, from their bytes and the share of the source that
they are; more than `limits.HELD_BYTES` is refused then. Where nobody knows how much is to come (a stream, a frame of an
engine), it is refused as soon as that much has come.

The types of text are told by its first rows. Where a later cell does not fit, the rows are read again.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from bayeswater.data.sources.cutting import one_table
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.parts import Place, Progress
from bayeswater.data.sources.rows import Rows
from bayeswater.data.sources.source import TypesWidened
from bayeswater.errors import BayesWarning, warn_user
from bayeswater.limits import require_held_bytes
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")


def in_types_that_fit(read: Callable[[], T]) -> T:
    """Give what comes of reading rows; where a cell does not fit its type, again in a wider one, with a warning."""
    while True:
        try:
            return read()
        except TypesWidened as change:
            warn_user(str(change), BayesWarning)


def whole_table(rows: Rows, columns: Sequence[str] | None, holder: str, way_out: str) -> "pa.Table":
    """Read the rows of a source at once; where a cell does not fit its type, in a wider one, with a warning.

    Parameters
    ----------
    rows : of any kind
    columns : those to read; None for all, also those that come late in JSON
    holder : for a message, what needs all of them: "BayesEnsemble"
    way_out : for a message, what else can be done

    Raises
    ------
    ResourceLimitError
        Where they take more memory than the limit.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from bayeswater.data.sources.recognising import local_rows
    >>> rows = local_rows([pa.table({"x": [1, 2]}), pa.table({"x": [3]})])
    >>> whole_table(rows, ["x"], "", "")["x"].to_pylist()
    [1, 2, 3]
    """
    room = HeldTables(rows.name, holder, way_out)

    def read() -> Held:
        names = rows.schema.names if columns is None else columns
        return _watched(rows, names, room) if isinstance(rows, LocalRows) else rows.sum(room, names)

    return one_table(list(in_types_that_fit(read).tables))


@record
class HeldTables:
    """A function of a table that holds it, as long as there is room for all of them."""

    name: str
    holder: str
    way_out: str

    def __call__(self, table: "pa.Table") -> "Held":
        """Hold a table; one that is too large by itself is refused where it lies, before it travels."""
        self.require(table.nbytes, "the rows")
        return Held((table,), table.nbytes, self)

    def require(self, n_bytes: float, which: str) -> None:
        """Refuse rows that take so many bytes, if these are too many."""
        require_held_bytes(
            n_bytes, f"{which} of {self.name}, which {self.holder} needs in memory at once,", self.way_out
        )


@record
class Held:
    """Tables one below the other, and their bytes."""

    tables: "tuple[pa.Table, ...]"
    n_bytes: int
    room: HeldTables

    def __add__(self, other: "Held") -> "Held":
        n_bytes = self.n_bytes + other.n_bytes
        self.room.require(n_bytes, "the rows read so far")
        return Held(self.tables + other.tables, n_bytes, self.room)


def _watched(rows: LocalRows, columns: Sequence[str], room: HeldTables) -> Held:
    """Hold rows, and forecast after each batch what all of them will take."""
    forecast = MemoryForecast(room, rows.progress)
    before, rows.progress = rows.progress, forecast
    try:
        return rows.sum(room, columns, after=forecast.after)
    finally:
        rows.progress = before


class MemoryForecast:
    """Takes note of the bytes held and of how far reading has come, and refuses what will be too much.

    Parameters
    ----------
    room : how much there is
    progress : called with how far reading has come
    """

    def __init__(self, room: HeldTables, progress: Callable[[Progress], None] | None) -> None:
        self.room, self.progress = room, progress
        self.n_bytes = 0

    def after(self, place: Place, held: Held) -> None:
        """Take note of what is held after a batch."""
        self.n_bytes = held.n_bytes

    def __call__(self, progress: Progress) -> None:
        """Forecast what all rows will take."""
        if progress.fraction:
            self.room.require(self.n_bytes / progress.fraction, "the rows")
        if self.progress is not None:
            self.progress(progress)
