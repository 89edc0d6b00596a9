"""`EngineRows`: what the rows of all engines have in common. An engine says how a function reaches its pieces."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bayeswater.data.sources.rows import Rows, S
from bayeswater.engines.parcels import Parcel, report

if TYPE_CHECKING:
    import pyarrow as pa


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
        self.require_columns(columns)
        if columns:
            parcel = self._parcel(of, list(columns))
        else:  # without a column there are no rows
            parcel = self._parcel(partial(_without_columns, of=of), self.schema.names[:1])
        report(parcel, self.name)
        self.bytes_moved = parcel.n_bytes
        total: S = parcel.opened(self.name)
        return total

    def _types(self, columns: Sequence[str]) -> "pa.Schema":
        """Give the types of some columns."""
        import pyarrow as pa

        return pa.schema([self.schema.field(name) for name in columns])

    @abstractmethod
    def _parcel(self, of: "Callable[[pa.Table], S]", columns: list[str]) -> Parcel:
        """Pack the sum of every partition, add the parcels in a tree, and give the last one."""


def _without_columns(table: "pa.Table", of: "Callable[[pa.Table], S]") -> S:
    return of(table.select([]))
