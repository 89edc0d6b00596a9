"""Columns of numbers whose law is left open while their rows are summed, and the laws among which it is chosen.

Beside a histogram and the sums of the whole numbers, each law that may turn out to be that of a column adds the sums
that it needs (`Candidate`): together they are a `NumberProfile`. Then every candidate answers with its evidence, the
probability of the values averaged over a prior of the parameters, a function of these sums; and the sums of whichever
wins are those that it took, so that nothing has to be counted again.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnPieces, DenseTable, column_name
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.number_columns import NumberColumns
from bayeswater.kernels.threads import ordered_map
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.statistics import key_counts
from bayeswater.statistics.count_totals import WholeSums
from bayeswater.statistics.key_counts import ColumnHistogram, KeyCounts, Occupied
from bayeswater.statistics.moments import side_by_side
from bayeswater.statistics.statistic import ColumnStatistic, Statistic
from bayeswater.typing import Array

own_reasons({"no values": "没有值", "one value only, {n}": "只有一个值，{n}", "negative numbers": "有负数"})


@record
class OpenColumn:
    """Column j of a profile; `n_bins` is the number of bins, where it was given, and `options` what else was."""

    profile: "NumberProfile"
    j: int
    n_bins: int | None = None
    options: tuple[tuple[str, float], ...] = ()

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.profile.column_name(self.j)

    @cached_property
    def histogram(self) -> ColumnHistogram:
        """Weights of every class in every bucket of values."""
        return self.profile.keys.of_column(self.j)

    @cached_property
    def occupied(self) -> Occupied:
        """Where the values are."""
        return self.profile.occupied(self.j)

    @cached_property
    def n(self) -> Array:
        """Weight of the values of each class: (n_classes,)."""
        return self.profile.n_cells[:, self.j]

    def own(self, family: str) -> Any:
        """Sums that a law took of the column alone."""
        return self.profile.own[family].take([self.j])

    def binned(self, cuts: tuple[float, ...]) -> Array:
        """Count the values in bins: (n_bins, n_classes)."""
        return self.profile.binned(self.j, cuts)

    @property
    def nothing_to_learn(self) -> str | None:
        """Say why no law is better than another, if none is."""
        if not self.n.any():
            return "no values"
        if len(self.occupied.first) == 1 and self.occupied.are_values:
            return f"one value only, {self.occupied.first[0]:.6g}"
        return None


@record
class Weighed:
    """Log-evidence of a law; of bins with their cuts, and how these are called."""

    log_evidence: float
    cuts: tuple[float, ...] | None = None
    title: str | None = None


class Candidate(ABC):
    """A law among which that of a column of numbers is chosen."""

    family: ClassVar[str]
    title: ClassVar[str]
    """How it is called in the reason for a choice."""

    is_density: ClassVar[bool] = False
    """Whether it has no value twice."""

    has_no_origin: ClassVar[bool] = False
    """Whether it is the same wherever zero is: so are days, of which the first is arbitrary."""

    is_last: ClassVar[bool] = False
    """Whether it has so many parameters that every other law is simpler."""

    def sums(self, column: Any) -> tuple[Array, ...] | None:
        """Sum a column (of `kernels.number_columns`): arrays (n_classes,); None where the histogram is enough."""
        return None

    def gathered(
        self, classes: Variable, names: tuple[str, ...] | None, sums: Sequence[Array], matrix: DenseTable | ColumnPieces
    ) -> ColumnStatistic:
        """Make the statistic of the sums (n_classes, n_columns) of all columns of a matrix."""
        raise AssertionError("this law takes no sums of its own")

    def why_not(self, column: OpenColumn, *, alone: bool) -> str | None:
        """Say why values cannot follow the law, if they cannot; `alone` says that there is no other candidate.

        A law that nobody expects there, since few columns can follow it, says "" beside others: it is not mentioned.
        """
        return None

    def refusals(
        self, column: OpenColumn, others: Collection["Candidate"], refused: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Say which others are `refused` and why, where what the values are for this law rules them out."""
        return refused

    @abstractmethod
    def weighed(self, column: OpenColumn) -> Weighed:
        """Log-evidence of the values; -inf where a float64 cannot hold it."""

    def settled(self, column: OpenColumn, cuts: tuple[float, ...] | None, class_count: Array) -> Statistic:
        """Give the sums of the column, once it follows this law."""
        found: Statistic = column.own(self.family)
        return found


@record(eq=False)
class NumberProfile(Statistic):
    """Sums of the columns of numbers; missing cells are in none of them. `own` are those of the candidates."""

    keys: KeyCounts
    wholes: WholeSums
    own: Mapping[str, ColumnStatistic]

    @classmethod
    def of(
        cls,
        matrix: DenseTable | ColumnPieces,
        labels: Labels,
        weight: Array | None,
        candidates: Sequence[Candidate],
    ) -> Self:
        """Sum some rows, for the laws among which will be chosen."""
        most, probed = key_counts.MOST_BUCKETS, key_counts.PROBED
        columns = NumberColumns.of(labels.codes, labels.n_classes, weight, most=most)

        def column_sums(j: int) -> tuple[Any, ...]:
            column = columns.column(matrix.column_pieces(j))
            keys = column.key_cells(most=most, probed=probed)
            return keys, column.whole_sums(), *(candidate.sums(column) for candidate in candidates)

        keys, wholes, *own = zip(*ordered_map(column_sums, range(matrix.shape[1])), strict=True)
        known = labels.variable, matrix.names
        return cls(
            labels.variable,
            KeyCounts.of_columns(*known, keys),
            WholeSums(*known, *side_by_side(wholes)),
            {
                candidate.family: candidate.gathered(*known, [*side_by_side(sums)], matrix)
                for candidate, sums in zip(candidates, own, strict=True)
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

    def hstack(self, other: Self) -> Self:
        """Put further columns of the same rows behind these."""
        theirs = other._parts
        return self._of_parts({name: part.hstack(theirs[name]) for name, part in self._parts.items()})

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
