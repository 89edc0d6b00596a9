"""`KeyCounts`: a histogram of every column of numbers, fine enough to cut bins from, that is itself a sum.

The leading bits of a float name its bucket (see `kernels.key_cells`): numbers in one bucket differ by less than a
thousandth, whatever the unit, and no bucket depends on the data. So histograms of any rows can be added and subtracted.
Whole numbers of up to 2048 have buckets of their own.

Only what occurs is kept, as a sorted list of cells: column, bucket and class in one whole number.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnMatrix, DenseTable, column_name
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.cell_counts import count_cells
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.key_cells import LOWEST, N_BUCKETS, bucket_edges, key_cells
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array


@dataclass(frozen=True)
class ColumnHistogram:
    """The cells of one column, in the order of its buckets."""

    bucket: Array  # (n_buckets,): those that occur
    place: Array  # (n_cells,): where among them the bucket of a cell stands
    code: Array  # (n_cells,): class
    count: Array  # (n_cells,)
    n_classes: int

    @cached_property
    def pooled(self) -> Array:
        """Weight of each bucket over all classes: (n_buckets,)."""
        return np.bincount(self.place, weights=self.count, minlength=len(self.bucket))

    def class_sums(self, of_bucket: Array) -> Array:
        """Sum a number (n_buckets,) that belongs to a bucket over the rows of every class: (n_classes,)."""
        return np.bincount(self.code, weights=self.count * of_bucket[self.place], minlength=self.n_classes)

    def grouped(self, group: Array, n_groups: int) -> Array:
        """Counts (n_groups, n_classes) when each bucket belongs to a group (n_buckets,)."""
        cell = group[self.place] * self.n_classes + self.code
        flat = np.bincount(cell, weights=self.count, minlength=n_groups * self.n_classes)
        return flat.astype(self.count.dtype).reshape(n_groups, self.n_classes)


@dataclass(frozen=True, eq=False)
class KeyCounts(Statistic):
    """Counts (n_cells,) of the cells (n_cells,) that occur, in rising order: int64, or float64 for fractional weights.

    A cell is ``(column * N_BUCKETS + bucket - LOWEST) * n_classes + class``.
    """

    names: tuple[str, ...] | None
    n_columns: int
    cell: Array
    count: Array

    @classmethod
    def of(cls, matrix: DenseTable, labels: Labels, weight: Array | None) -> Self:
        """Count some rows, column by column; missing cells are in no bucket."""
        n_rows, n_columns = matrix.shape
        n_classes = labels.n_classes
        use_loop = worth_compiling(n_rows * n_columns)
        kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64

        def column_cells(j: int) -> tuple[Array, Array]:
            blocks = (
                (
                    key_cells(_column_block(matrix, j, rows), labels.codes[rows], n_classes, use_loop=use_loop),
                    None if weight is None else weight[rows],
                )
                for rows in row_blocks(n_rows)
            )
            cell, count = count_cells(blocks, kind, use_loop=use_loop)
            return cell + j * N_BUCKETS * n_classes, count

        columns = list(ordered_map(column_cells, range(n_columns)))
        cell, count = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        return cls(labels.variable, matrix.names, n_columns, cell, count)

    def of_column(self, j: int) -> ColumnHistogram:
        """Cells of one column."""
        width = N_BUCKETS * self.n_classes
        own = slice(*np.searchsorted(self.cell, [j * width, (j + 1) * width]).tolist())
        bucket, code = np.divmod(self.cell[own] - j * width, self.n_classes)
        bucket += LOWEST
        is_new = np.diff(bucket, prepend=LOWEST - 1) > 0
        return ColumnHistogram(bucket[is_new], np.cumsum(is_new) - 1, code, self.count[own], self.n_classes)

    def onto(self, classes: Variable) -> Self:
        """Lay the counts out for other classes."""
        if classes.states == self.classes.states:
            return replace(self, classes=classes)
        kept, place = self.classes.shared_codes(classes)
        code_of = np.full(self.n_classes, -1)
        code_of[kept] = place
        bucket, code = np.divmod(self.cell, self.n_classes)
        known = code_of[code] >= 0
        cell = bucket[known] * classes.n_states + code_of[code[known]]
        order = np.argsort(cell, kind="stable")
        return replace(self, classes=classes, cell=cell[order], count=self.count[known][order])

    def scaled(self, factor: float) -> Self:
        """Let every row count `factor` times what it did."""
        return replace(self, count=self.count * factor)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        if (self.n_columns, self.names) != (other.n_columns, other.names):
            raise StatisticsError(
                f"columns {self._columns()} here, {other._columns()} there: their histograms cannot be combined"
            )
        classes = self.classes.union(other.classes)
        return self.onto(classes), other.onto(classes)

    def _plus(self, other: Self) -> Self:
        cell, mine, theirs = self._same_cells(other)
        return replace(self, cell=cell, count=mine + theirs)

    def _minus(self, other: Self, rest: Self | None) -> Self:
        cell, mine, theirs = self._same_cells(other)
        count = replace(self, cell=cell, count=mine)._taken_away("count", mine, theirs)
        remains = count > 0
        return replace(self, cell=cell[remains], count=count[remains])

    def _same_cells(self, other: Self) -> tuple[Array, Array, Array]:
        """All cells of both, and the counts of each there."""
        place = np.searchsorted(self.cell, other.cell)
        known = np.zeros(len(place), dtype=bool)
        within = place < len(self.cell)
        known[within] = self.cell[place[within]] == other.cell[within]
        cell = np.insert(self.cell, place[~known], other.cell[~known])
        mine = np.insert(self.count, place[~known], 0)
        theirs = np.zeros(len(cell), dtype=other.count.dtype)
        theirs[place + np.cumsum(~known) - ~known] = other.count  # behind the new cells that were put in before them
        return cell, mine, theirs

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        rest, k = divmod(int(self.cell[place]), self.n_classes)
        j, bucket = divmod(rest, N_BUCKETS)
        value = float(bucket_edges(np.array([bucket + LOWEST]))[0])
        return f"the count of {column_name(self.names, j)!r} near {value:.4g} in class {self.classes.states[k]!r}"

    def _columns(self) -> list[str]:
        return [column_name(self.names, j) for j in range(min(self.n_columns, 10))]


def _column_block(matrix: DenseTable, j: int, rows: slice) -> Array:
    """Some rows of one column in float64: a view where they are so already."""
    column = matrix.columns[j][rows] if isinstance(matrix, ColumnMatrix) else matrix.values[rows, j]
    return column.astype(np.float64, copy=False)
