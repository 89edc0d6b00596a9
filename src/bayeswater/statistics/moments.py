"""`Moments`: weight, mean and scatter of every column within every class.

Merged by the formula of Chan, Golub and LeVeque (1979), and taken apart by its inverse:

    weight = weight_a + weight_b
    mean   = mean_a + (mean_b - mean_a) weight_b / weight
    scatter = scatter_a + scatter_b + (mean_b - mean_a)^2 weight_a weight_b / weight

Subtraction cancels digits. Where more than eight would be lost it is refused, and the class is to be recounted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnPieces, DenseTable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.moments import LEAST, class_moments, gone_squares, squared
from bayeswater.kernels.number_columns import NumberColumns
from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.threads import block_map, ordered_map, row_blocks
from bayeswater.records import record
from bayeswater.statistics import key_counts
from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.typing import Array

DIGITS_KEPT = 1e-8
"""A scatter that shrinks below this share of what is subtracted has lost eight of its sixteen digits."""


class LostDigits(StatisticsError):
    """A subtraction of moments that would lose more than eight digits."""


@record(eq=False)
class Moments(ColumnStatistic):
    """First and second moments, in float64.

    `weight` is (n_classes, 1) as long as no cell was missing, else (n_classes, n_columns); int64 where all weights
    were whole. `mean` and `scatter` are (n_classes, n_columns).
    """

    weight: Array
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, matrix: DenseTable, labels: Labels, weight: Array | None, *, skip_missing: bool) -> "Moments":
        """Sum some rows; with `skip_missing`, over the cells that are there."""
        n_rows, n_columns = matrix.shape
        skip_missing = skip_missing and matrix.dtype.kind == "f"
        use_loop = worth_compiling(n_rows * n_columns)
        whole = weight is None or weight.dtype.kind == "i"

        def block_moments(rows: slice) -> Moments:
            w = None if weight is None else weight[rows]
            n, mean, scatter = class_moments(
                matrix.block(rows),
                labels.codes[rows],
                w,
                labels.n_classes,
                skip_missing=skip_missing,
                use_loop=use_loop,
            )
            return cls(labels.variable, matrix.names, n.astype(np.int64) if whole else n, mean, scatter).compact()

        blocks = block_map(block_moments, row_blocks(n_rows), together=use_loop)
        total = next(blocks)
        for part in blocks:
            total = total._plus(part)
        return total.with_faint(matrix) if matrix.dtype == np.float64 else total

    @classmethod
    def of_numbers(cls, matrix: DenseTable, labels: Labels, weight: Array | None, is_log: Sequence[bool]) -> Self:
        """Sum the cells that are there, of some columns their logarithms: to the bits of a `NumberProfile`."""
        columns = NumberColumns.of(labels.codes, labels.n_classes, weight, most=key_counts.MOST_BUCKETS)

        def column_moments(j: int) -> tuple[Array, ...]:
            column = columns.column(matrix.column_pieces(j), with_cells=False, with_logs=is_log[j])
            return column.log_moments() if is_log[j] else column.moments()

        found = list(ordered_map(column_moments, range(matrix.shape[1])))
        return cls(labels.variable, matrix.names, *side_by_side(found)).compact().with_faint(matrix)

    def compact(self) -> Self:
        """Keep one weight for all columns where no cell was missing."""
        first = self.weight[:, :1]
        return replace(self, weight=first.copy()) if (self.weight == first).all() else self

    def with_faint(self, matrix: DenseTable | ColumnPieces) -> Self:
        """Let scatter be over zero where the values of these rows differ, but their squares are gone."""
        gone = gone_squares(self.mean, self.scatter, matrix.column_pieces)
        if not gone:
            return self
        scatter = self.scatter.copy()
        scatter[:, gone] = np.where(np.broadcast_to(self.weight, scatter.shape)[:, gone] > 0, LEAST, 0.0)
        return replace(self, scatter=scatter)

    @property
    def cells(self) -> Array:
        """Weight of the cells that were there."""
        return self.weight

    def scaled(self, factor: float) -> Self:
        """Let every row count `factor` times what it did; the means stay."""
        return replace(self, weight=self.weight * factor, scatter=self.scatter * factor)

    def pooled(self) -> tuple[Array, Array, Array]:
        """Weight, mean and scatter of each column over all classes together: (n_columns,) each."""
        return self._pooled

    @cached_property
    def _pooled(self) -> tuple[Array, Array, Array]:
        n = np.broadcast_to(self.weight, self.mean.shape).astype(np.float64)
        weight = n.sum(axis=0)
        if self.n_classes == 1:
            return weight, self.mean[0], self.scatter[0]
        pivot = self.mean[n.argmax(axis=0), np.arange(n.shape[1])]  # relative to it a constant column stays constant
        with np.errstate(over="ignore", invalid="ignore"):  # the model looks at the sums and names the column
            away = np.where(n > 0, self.mean - pivot, 0.0)
            shift = (n * away).sum(axis=0) / np.where(weight > 0, weight, 1.0)
            scatter = (self.scatter + squared(away - shift, n)).sum(axis=0)
        return weight, pivot + shift, scatter

    def _plus(self, other: Self) -> Self:
        weight = self.weight + other.weight
        share = other.weight / np.where(weight > 0, weight, 1)
        both = (self.weight > 0) & (other.weight > 0)
        with np.errstate(over="ignore", invalid="ignore"):  # the model looks at the sums and names the cell
            apart = np.where(both, other.mean - self.mean, 0.0)
            return replace(
                self,
                weight=weight,
                mean=np.where(self.weight > 0, self.mean + apart * share, other.mean),
                scatter=self.scatter + other.scatter + squared(apart, self.weight * share),
            )

    def _minus(self, other: Self, rest: Self | None) -> Self:
        weight = self.taken_away("weight", self.weight, other.weight)
        remains = np.broadcast_to(weight, self.mean.shape) > 0
        share = other.weight / np.where(weight > 0, weight, 1)
        apart = np.where(remains & (other.weight > 0), self.mean - other.mean, 0.0)
        mean = np.where(remains, self.mean + apart * share, 0.0)
        scatter = self.scatter - other.scatter - apart**2 * (self.weight * share)
        single = (weight.dtype.kind == "i") & np.broadcast_to(weight == 1, mean.shape)  # one row has no scatter
        scatter = np.where(remains & ~single, scatter, 0.0)
        untouched = np.broadcast_to(other.weight == 0, mean.shape)
        # What is subtracted is rounded like its size, and the means in it like theirs.
        size = self.scatter + 2 * (np.abs(self.mean) + np.abs(other.mean)) * np.abs(apart) * (self.weight * share)
        lost = remains & ~single & ~untouched & (scatter < DIGITS_KEPT * size)
        if lost.any() and rest is not None:
            recounted = lost.any(axis=1)
            self._require_same_weight(weight, rest.weight, recounted)
            mean = np.where(recounted[:, None], rest.mean, mean)
            scatter = np.where(recounted[:, None], rest.scatter, scatter)
        elif lost.any():
            k, j = (int(index) for index in np.argwhere(lost)[0])
            raise LostDigits(
                f"taking these rows away would leave column {self.column_name(j)!r} of class "
                f"{self.classes.states[k]!r} with a scatter of "
                f"{scatter[k, j]:.3g} out of {self.scatter[k, j]:.3g}: fewer than 8 digits would be right "
                "(or these rows were "
                "never counted). Give the rows that remain: forget(X, y, remaining=(X_rest, y_rest)) "
                "recounts that class"
            )
        return replace(self, weight=weight, mean=mean, scatter=np.maximum(scatter, 0.0))

    def _require_same_weight(self, expected: Array, found: Array, recounted: Array) -> None:
        expected, found = np.broadcast_arrays(expected, found)
        wrong = recounted & ~np.isclose(expected, found, rtol=1e-9, atol=0).all(axis=1)
        if wrong.any():
            k = int(wrong.argmax())
            raise StatisticsError(
                f"`remaining` holds weight {found[k, 0]} of class {self.classes.states[k]!r}, but "
                f"{expected[k, 0]} remains; "
                "give all rows that remain of that class, with their weights"
            )


def side_by_side(columns: Sequence[Sequence[Array]]) -> Iterator[Array]:
    """Make arrays (n_classes, n_columns) of those of the columns."""
    return (np.stack(arrays, axis=1) for arrays in zip(*columns, strict=True))


def take_out(n: Array, mean: Array, scatter: Array, x: Array, r: Array) -> tuple[Array, Array, Array]:
    """Take rows x out with weights r, each out of the sums beside it: (n_rows, n_columns) each.

    A row that takes all there is leaves nothing: neither a weight nor a scatter.
    """
    without = remainder(n, r)
    safe = np.where(without > 0, without, 1.0)
    with np.errstate(over="ignore"):
        away = np.where(r > 0, x - mean, 0.0)  # where nothing is taken out, its distance may be beyond any square
        left = remainder(scatter, away**2 * (r * n / safe))
    return without, mean - away * (r / safe), np.where(without > 0, left, 0.0)
