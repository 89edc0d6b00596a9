"""`NumberProfile`: all sums that a choice of the family of a numeric column can ask for, from one fit.

Moments of the values and of their logarithms, sums of the whole numbers, and a histogram. The sums of whichever family
is chosen are among them, so nothing has to be counted again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnPieces, DenseTable, column_name
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.number_columns import NumberColumns
from bayeswater.kernels.threads import ordered_map
from bayeswater.statistics import key_counts
from bayeswater.statistics.key_counts import KeyCounts
from bayeswater.statistics.moments import Moments, side_by_side
from bayeswater.statistics.occupied import Occupied
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.whole_sums import WholeSums
from bayeswater.typing import Array

PARTS = ("moments", "logs", "wholes", "keys")


@dataclass(frozen=True, eq=False)
class NumberProfile(Statistic):
    """Sums of the columns of numbers; missing cells are in none of them.

    `logs` are moments of the logarithms of the cells over 0.
    """

    moments: Moments
    logs: Moments
    wholes: WholeSums
    keys: KeyCounts

    @classmethod
    def of(cls, matrix: DenseTable | ColumnPieces, labels: Labels, weight: Array | None) -> Self:
        """Sum some rows."""
        most, probed = key_counts.MOST_BUCKETS, key_counts.PROBED
        columns = NumberColumns.of(labels.codes, labels.n_classes, weight, most=most)

        def column_sums(j: int) -> tuple[Any, ...]:
            column = columns.column(matrix.column_pieces(j))
            keys = column.key_cells(most=most, probed=probed)
            return column.moments(), column.log_moments(), column.whole_sums(), keys

        moments, logs, wholes, keys = zip(*ordered_map(column_sums, range(matrix.shape[1])), strict=True)
        known = labels.variable, matrix.names
        return cls(
            labels.variable,
            Moments(*known, *side_by_side(moments)).compact().with_faint(matrix),
            Moments(*known, *side_by_side(logs)).compact(),
            WholeSums(*known, *side_by_side(wholes)),
            KeyCounts.of_columns(*known, keys),
        )

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns."""
        return self.moments.names

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.moments.n_columns

    def column_name(self, j: int) -> str:
        """Name of a column."""
        return column_name(self.names, j)

    def is_whole(self, j: int) -> bool:
        """Whether all values of a column are whole numbers from 0 on."""
        return not self.wholes.other[:, j].any()

    def occupied(self, j: int) -> Occupied:
        """Where a column has values."""
        histogram = self.keys.of_column(j)
        return Occupied(histogram.first, histogram.last, histogram.pooled, is_whole=self.is_whole(j))

    def binned(self, j: int, cuts: tuple[float, ...]) -> Array:
        """Count the cells of a column in bins (n_bins, n_classes): bin i holds cuts[i - 1] <= x < cuts[i].

        No cut may part the values of one bucket: the histogram cannot tell them apart.
        """
        occupied, limits = self.occupied(j), np.asarray(cuts, dtype=np.float64)
        place = np.searchsorted(limits, occupied.first, side="right")
        until = np.searchsorted(limits, occupied.last, side="right")
        parted = np.flatnonzero(place < until)
        if len(parted):
            raise StatisticsError(
                f"the cut {limits[place[parted[0]]]} of column {self.column_name(j)!r} parts the values from "
                f"{occupied.first[parted[0]]} to {occupied.last[parted[0]]}, which were counted together; take cuts "
                "that were made from this profile, or count the column with its cuts"
            )
        return self.keys.of_column(j).grouped(place, len(limits) + 1)

    def beside(self, other: Self) -> Self:
        """Put further columns of the same rows behind these."""
        return replace(self, **{part: getattr(self, part).beside(getattr(other, part)) for part in PARTS})

    def take(self, columns: Sequence[int]) -> Self:
        """Sums of some columns, in the given order."""
        return replace(self, **{part: getattr(self, part).take(columns) for part in PARTS})

    def to_arrays(self) -> dict[str, Array]:
        """Give all sums as arrays named ``part.name``."""
        return {f"{part}.{name}": array for part in PARTS for name, array in getattr(self, part).to_arrays().items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NumberProfile):
            return NotImplemented
        return all(getattr(self, part) == getattr(other, part) for part in PARTS)

    __hash__ = None

    def require_cells_within(self, rows: Array, slack: Array) -> None:
        """Refuse sums with more cells in a column than its class has rows."""
        self.moments.require_cells_within(rows, slack)

    def scaled(self, factor: float) -> Self:
        """Let every row count `factor` times what it did."""
        return replace(self, **{part: getattr(self, part).scaled(factor) for part in PARTS})

    def onto(self, classes: Variable) -> Self:
        """Lay the sums out for other classes."""
        return replace(self, classes=classes, **{part: getattr(self, part).onto(classes) for part in PARTS})

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        classes = self.classes.union(other.classes)
        return self.onto(classes), other.onto(classes)

    def _plus(self, other: Self) -> Self:
        return replace(self, **{part: getattr(self, part) + getattr(other, part) for part in PARTS})

    def _minus(self, other: Self, rest: Self | None) -> Self:
        parts = {
            part: getattr(self, part).minus(getattr(other, part), None if rest is None else getattr(rest, part))
            for part in PARTS
        }
        return replace(self, **parts)
