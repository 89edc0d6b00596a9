"""`Rows`: a table that is read in pieces, wherever it lies: in files, behind a query, on the workers of an engine.

All that learning asks of a table is a sum over its rows, and all that predicting asks is a function of them. So a place
where rows lie has to know two things: how to add up what a function gives for each piece, and how to apply a function
to each piece. The pieces stay where they are; only sums travel. A place that speaks a language of queries counts some
groups by itself (`Margin`, `Spread`): no row has to come to us for them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from bayeswater.errors import SchemaError, nearest_names
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa


@record
class Margin:
    """How often the cells of a column meet the labels: one entry for each pair that occurs, either may be null."""

    labels: "pa.Array"
    cells: "pa.Array"
    n_rows: Array  # (n_pairs,)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries."""
        return int(self.labels.nbytes + self.cells.nbytes + self.n_rows.nbytes)


@record
class Spread:
    """Mean and scatter of numbers within each label, in one partition; no cell is missing.

    `square` is the sum of squares that the scatter is what remains of: how many digits it has lost.
    """

    labels: "pa.Array"
    n_rows: Array  # (n_labels,)
    mean: Array  # (n_labels, n_columns)
    scatter: Array
    square: Array

    @property
    def nbytes(self) -> int:
        """Bytes of all sums."""
        return int(
            self.labels.nbytes + self.n_rows.nbytes + self.mean.nbytes + self.scatter.nbytes + self.square.nbytes
        )


HEAD_ROWS = 2**16
"""Rows by which a plan is made that cannot wait for all of them."""


class Addable(Protocol):
    """What pieces give: it can be added, and the sum of all pieces does not depend on their order."""

    def __add__(self, other: Any, /) -> Self: ...


S = TypeVar("S", bound=Addable)


class Rows(ABC):
    """Rows in pieces.

    Functions that are handed in take the rows of a piece as an Arrow table and may be called in other threads,
    processes or machines: they must be picklable, and must give the same for the same rows.
    """

    name: str
    """What errors call it: the name of a file, or what kind of frame it is."""

    @property
    @abstractmethod
    def schema(self) -> "pa.Schema":
        """Names and types of all columns."""

    @property
    @abstractmethod
    def n_rows(self) -> int | None:
        """Number of rows, where it is known without reading them."""

    @property
    @abstractmethod
    def can_be_reread(self) -> bool:
        """Whether `sum` and `map` may be asked more than once."""

    def require_columns(self, columns: Sequence[str]) -> None:
        """Refuse a name that no column has, with the nearest ones."""
        names = self.schema.names
        for name in sorted(set(columns).difference(names)):
            raise SchemaError(f"{self.name}: there is no column {name!r}; {nearest_names(name, names)}")

    def let_absent(self, names: Sequence[str]) -> Sequence[str]:
        """Let columns be missing in all rows, where the format need not write cells that are not known; name them."""
        return ()

    def require_in_all_parts(self, name: str) -> None:
        """Refuse a column that a part of the rows does not have, where parts may differ."""
        self.require_columns([name])

    @abstractmethod
    def head(self, columns: Sequence[str], n_rows: int = HEAD_ROWS) -> "pa.Table":
        """Give the first rows, however they are divided into pieces; a later `sum` has them again."""

    @abstractmethod
    def sum(self, of: "Callable[[pa.Table], S]", columns: Sequence[str]) -> S:
        """Add up what the function gives for every piece, each counted exactly once.

        An error of the function that speaks of ``row 7`` means the eighth row of the table it was given; the name of
        the piece and the number of the row in it are put in its place, where they are known.

        Raises
        ------
        DataError
            Where there are no rows, where a piece cannot be read, and where rows that can be read only once were read
            before: with the name of the piece and the fix.
        """

    def margins(self, columns: Sequence[str], target: str) -> list[Margin] | None:
        """Count how often cells of each column meet the labels, where the place can do that by itself, else None."""
        return None

    def spreads(self, columns: Sequence[str], target: str, *, about_first: bool) -> list[Spread] | None:
        """Sum numbers within each label, partition by partition, where the place can do that by itself, else None.

        Squares are taken about zero, or about the first row, which keeps the digits of what lies far from zero.
        """
        return None

    @abstractmethod
    def map(self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: Sequence[str]) -> Any:
        """Apply a function to every piece when it is asked for; the tables it gives have this schema.

        Files give an iterator of Arrow tables, an engine a lazy frame of its own.
        """
