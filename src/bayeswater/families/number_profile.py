"""`NumberProfile`: all sums that a choice of the law of a numeric column can ask for, from one fit.

A histogram and the sums of the whole numbers, which all laws share, and the sums that each candidate takes for itself
(`families.numbers.Candidate`). Those of whichever law is chosen are among them, so nothing has to be counted again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnPieces, DenseTable, column_name
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.families.registry import CANDIDATES
from bayeswater.kernels.number_columns import NumberColumns
from bayeswater.kernels.threads import ordered_map
from bayeswater.statistics import key_counts
from bayeswater.statistics.count_totals import WholeSums
from bayeswater.statistics.key_counts import KeyCounts, Occupied
from bayeswater.statistics.moments import side_by_side
from bayeswater.statistics.statistic import ColumnStatistic, Statistic
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False)
class NumberProfile(Statistic):
    """Sums of the columns of numbers; missing cells are in none of them. `own` are those of the candidates."""

    keys: KeyCounts
    wholes: WholeSums
    own: Mapping[str, ColumnStatistic]

    @classmethod
    def of(cls, matrix: DenseTable | ColumnPieces, labels: Labels, weight: Array | None) -> Self:
        """Sum some rows."""
        most, probed = key_counts.MOST_BUCKETS, key_counts.PROBED
        columns = NumberColumns.of(labels.codes, labels.n_classes, weight, most=most)

        def column_sums(j: int) -> tuple[Any, ...]:
            column = columns.column(matrix.column_pieces(j))
            keys = column.key_cells(most=most, probed=probed)
            return keys, column.whole_sums(), *(candidate.sums(column) for candidate in CANDIDATES)

        keys, wholes, *own = zip(*ordered_map(column_sums, range(matrix.shape[1])), strict=True)
        known = labels.variable, matrix.names
        return cls(
            labels.variable,
            KeyCounts.of_columns(*known, keys),
            WholeSums(*known, *side_by_side(wholes)),
            {
                candidate.family: candidate.gathered(*known, [*side_by_side(sums)], matrix)
                for candidate, sums in zip(CANDIDATES, own, strict=True)
                if sums[0] is not None
            },
        )

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns."""
        return self.wholes.names

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.wholes.n_columns

    @property
    def n_cells(self) -> Array:
        """Weight of the cells that were there: (n_classes, n_columns)."""
        return self.wholes.whole + self.wholes.other

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

    @property
    def _parts(self) -> dict[str, Any]:
        return {"keys": self.keys, "wholes": self.wholes, **self.own}

    def _of_parts(self, parts: Mapping[str, Any], classes: Variable | None = None) -> Self:
        own = {family: parts[family] for family in self.own}
        return replace(self, classes=classes or self.classes, keys=parts["keys"], wholes=parts["wholes"], own=own)

    def beside(self, other: Self) -> Self:
        """Put further columns of the same rows behind these."""
        theirs = other._parts
        return self._of_parts({name: part.beside(theirs[name]) for name, part in self._parts.items()})

    def take(self, columns: Sequence[int]) -> Self:
        """Sums of some columns, in the given order."""
        return self._of_parts({name: part.take(columns) for name, part in self._parts.items()})

    def to_arrays(self) -> dict[str, Array]:
        """Give all sums as arrays named ``part.name``."""
        return {f"{name}.{a}": array for name, part in self._parts.items() for a, array in part.to_arrays().items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NumberProfile):
            return NotImplemented
        return self._parts == other._parts

    __hash__ = None

    def require_cells_within(self, rows: Array, slack: Array) -> None:
        """Refuse sums with more cells in a column than its class has rows."""
        for part in self.own.values():
            part.require_cells_within(rows, slack)

    def scaled(self, factor: float) -> Self:
        """Let every row count `factor` times what it did."""
        return self._of_parts({name: part.scaled(factor) for name, part in self._parts.items()})

    def onto(self, classes: Variable) -> Self:
        """Lay the sums out for other classes."""
        return self._of_parts({name: part.onto(classes) for name, part in self._parts.items()}, classes)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        classes = self.classes.union(other.classes)
        return self.onto(classes), other.onto(classes)

    def _plus(self, other: Self) -> Self:
        theirs = other._parts
        return self._of_parts({name: part + theirs[name] for name, part in self._parts.items()})

    def _minus(self, other: Self, rest: Self | None) -> Self:
        theirs, rests = other._parts, {} if rest is None else rest._parts
        return self._of_parts({name: part.minus(theirs[name], rests.get(name)) for name, part in self._parts.items()})
