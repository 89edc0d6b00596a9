"""`EngineRows`: what the rows of all engines have in common. An engine says how a function reaches its pieces."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bayeswater.data.sources.rows import Rows, S
from bayeswater.engines.parcels import Parcel, report

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")


class EngineRows(Rows):
    """Rows in the partitions of an engine, which computes them again whenever they are asked for."""

    bytes_moved: int | None = None
    """Bytes of all sums that were sent for the last `sum`, at most: an engine keeps some where they are."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known without reading them."""
        return None

    @property
    def can_be_reread(self) -> bool:
        """Whether rows can be read more than once: an engine computes them again, or has them in its memory."""
        return True

    def sum(self, of: "Callable[[pa.Table], S]", columns: Sequence[str]) -> S:
        """Add up what the function gives for every partition, where the partitions are."""
        parcel = self._parcel(*self._with_a_column(of, columns))
        report(parcel, self.name)
        self.bytes_moved = parcel.n_bytes
        total: S = parcel.opened(self.name)
        return total

    def map(self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: Sequence[str]) -> Any:
        """Give a lazy frame of the engine of what the function gives for every partition."""
        function, read = self._with_a_column(of, columns)
        return self._mapped(function, schema, read)

    def _with_a_column(self, of: "Callable[[pa.Table], T]", columns: Sequence[str]) -> tuple[Any, list[str]]:
        """Give a function of the columns and these; where it asks for none, of one that tells how many rows there are.

        A table of an engine without a column has no rows.
        """
        self.require_columns(columns)
        return (of, list(columns)) if columns else (partial(_without_columns, of=of), self.schema.names[:1])

    def _types(self, columns: Sequence[str]) -> "pa.Schema":
        """Give the types of some columns."""
        import pyarrow as pa

        return pa.schema([self.schema.field(name) for name in columns])

    @abstractmethod
    def _parcel(self, of: "Callable[[pa.Table], S]", columns: list[str]) -> Parcel:
        """Pack the sum of every partition, add the parcels in a tree, and give the last one."""

    @abstractmethod
    def _mapped(self, of: "Callable[[pa.Table], pa.Table]", schema: "pa.Schema", columns: list[str]) -> Any:
        """Apply a function to every partition when it is asked for."""


def _without_columns(table: "pa.Table", of: "Callable[[pa.Table], T]") -> T:
    return of(table.select([]))
