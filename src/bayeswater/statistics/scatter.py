"""`Scatter`: weight, mean and scatter matrix of every class, added and subtracted.

Merged by the formula of Chan, Golub and LeVeque (1979), and taken apart by its inverse:

    scatter = scatter_a + scatter_b + (mean_b - mean_a)(mean_b - mean_a)' weight_a weight_b / weight

Where cells are missing, every pair of columns keeps sums over the rows that have both of its cells, and the formula
holds for each entry.

Subtraction cancels digits. Where more than eight would be lost, in any direction of the scatter and not only along the
columns, it is refused, and the class is to be recounted. With L the scatter before, and R what remains, no direction v
of L may keep less than v'Rv / v'Lv = 1e-8 of itself: there only eight of sixteen digits are right. The shares are the
eigenvalues of R seen in the directions of L, each brought to unit length. Of n rows that remain, the scatter has rank
n - 1 at most: directions beyond that are empty for certain, and are cleared.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseTable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.moments import LEAST, gone_squares
from bayeswater.kernels.scatter import class_scatter, merged
from bayeswater.kernels.threads import BLOCK_ROWS, one_blas_thread, ordered_map, row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.moments import DIGITS_KEPT, LostDigits
from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.typing import Array

RANK_SHARE = 1e-11
"""Eigenvalues of a matrix of columns of unit length below this share of the largest one are rounding."""

NARROWEST = 1e-40
"""Share of the square of the distance between two floats, times the weight, below which rounding leaves no square."""

LOST_SQUARES = (
    "are lost beside the weights of rows, which differ too much within a class; leave out rows of hardly any weight"
)


def lost_direction(before: Array, remaining: Array, size: Array, n_left: int | None) -> tuple[Array, int | None]:
    """Clear the empty directions of what remains, and name the column with most part in one that lost digits.

    `size` (n_columns,) is what the squares of each column are rounded like; `n_left` the number of rows that remain,
    where it is known to be whole.
    """
    varies = np.diagonal(before) > 0
    lost = varies & (np.diagonal(remaining) < DIGITS_KEPT * size)
    length = np.where(varies, np.sqrt(np.diagonal(before)), 1.0)
    values, vectors = np.linalg.eigh(before / length / length[:, None])
    used = values > RANK_SHARE * values[-1]
    root = np.sqrt(values[used])
    directions = vectors[:, used]  # of the columns at unit length
    inward = (directions / root) / length[:, None]
    shares, turned = np.linalg.eigh(inward.T @ remaining @ inward)  # in ascending order
    n_empty = 0 if n_left is None else max(0, len(shares) - max(n_left - 1, 0))
    if n_empty:
        kept = (directions * root) @ turned[:, n_empty:] * length[:, None]
        remaining = (kept * shares[n_empty:]) @ kept.T
        lost = np.zeros_like(lost)
    left = shares[n_empty:]
    if lost.any():
        return remaining, int(lost.argmax())
    if len(left) and left[0] < DIGITS_KEPT:
        direction = np.abs((directions * root) @ turned[:, n_empty])
        return remaining, int(direction.argmax())
    return remaining, None


BLOCK_CELLS = 2**22
"""Cells of the largest block: 32 megabytes of float64."""


@record(eq=False)
class Scatter(ColumnStatistic):
    """First and second moments of all columns together, in float64.

    As long as no cell was missing, `weight` is (n_classes, 1, 1) and `mean` (n_classes, n_columns, 1); else both are
    (n_classes, n_columns, n_columns), like `scatter`: entry (i, j) of the mean is that of column i over the rows that
    have column j as well. `weight` is int64 where all weights were whole.
    """

    weight: Array
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, matrix: DenseTable, labels: Labels, weight: Array | None, *, skip_missing: bool) -> "Scatter":
        """Sum some rows; with `skip_missing`, over the pairs of cells that are there."""
        n_rows, n_columns = matrix.shape
        cls.require_memory(labels.n_classes, n_columns, pairwise=skip_missing and matrix.dtype.kind == "f")
        skip_missing = skip_missing and matrix.dtype.kind == "f" and _any_missing(matrix)
        whole = weight is None or weight.dtype.kind == "i"

        def block_sums(rows: slice) -> Scatter:
            arrays = class_scatter(
                matrix.block(rows),
                labels.codes[rows],
                None if weight is None else weight[rows],
                labels.n_classes,
                skip_missing=skip_missing,
                higher=cls.keeps_higher,
            )
            n = arrays[0].astype(np.int64) if whole else arrays[0]
            return cls(labels.variable, matrix.names, n, *arrays[1:])

        with one_blas_thread(n_rows * n_columns**2):
            blocks = ordered_map(block_sums, row_blocks(n_rows, min(BLOCK_ROWS, max(1, BLOCK_CELLS // n_columns))))
            total = next(blocks)
            for part in blocks:
                total = total._plus(part)
        gone = gone_squares(total.means, total.squares, matrix.column_pieces) if matrix.dtype == np.float64 else []
        if not gone:
            return total
        scatter = total.scatter.copy()
        scatter[:, gone, gone] = np.where(np.broadcast_to(total.cells, total.means.shape)[:, gone] > 0, LEAST, 0.0)
        return replace(total, scatter=scatter)

    keeps_higher = False

    @classmethod
    def require_memory(cls, n_classes: int, n_columns: int, *, pairwise: bool) -> None:
        """Refuse matrices that would be too large, before they are allocated."""
        n_arrays = (3 if pairwise else 1) + 2 * cls.keeps_higher
        require_table_bytes(
            8 * n_arrays * n_classes * n_columns**2,
            f"the scatter matrices of {n_columns} columns in {n_classes} classes",
            "take fewer columns, or GaussianNB or NaiveBayes, which keep no pairs of columns",
        )

    @property
    def is_pairwise(self) -> bool:
        """Whether every pair of columns has a weight of its own, since cells were missing."""
        return self.mean.shape[2] > 1 or self.weight.shape[1] > 1

    def lacks_cells(self, class_count: Array) -> bool:
        """Say whether cells were missing; of a single column its weight alone can tell."""
        if self.n_columns > 1:
            return self.is_pairwise
        return not np.allclose(self.weight[:, 0, 0], class_count, rtol=1e-12, atol=0)

    @property
    def cells(self) -> Array:
        """Weight of the cells that were there: (n_classes, n_columns), or (n_classes, 1) where all were."""
        return np.diagonal(self.weight, axis1=1, axis2=2)

    @property
    def means(self) -> Array:
        """Mean of each column over the cells that are there: (n_classes, n_columns)."""
        return np.diagonal(self.mean, axis1=1, axis2=2) if self.mean.shape[2] > 1 else self.mean[:, :, 0]

    @property
    def squares(self) -> Array:
        """Sum of squared distances from the mean in each column: (n_classes, n_columns)."""
        return np.diagonal(self.scatter, axis1=1, axis2=2)

    @property
    def is_too_narrow(self) -> Array:
        """Where rows differ, but by less than two floats do, times the weight: (n_classes, n_columns).

        Rows have such squares where their weights differ by some seventy powers of ten.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            least = NARROWEST * np.spacing(np.abs(self.means)) ** 2 * self.cells
        return (self.squares > 0) & (self.squares < least)

    def scaled(self, factor: float) -> Self:
        """Let every row count `factor` times what it did; the means stay."""
        arrays = {name: array * factor for name, array in self.to_arrays().items() if name != "mean"}
        return self.with_arrays(arrays)

    def take(self, columns: Sequence[int]) -> Self:
        """Give the sums of some columns, in the order asked for."""
        chosen = list(columns)
        arrays = self.to_arrays()
        for axis in (1, 2):
            arrays = {n: a if a.shape[axis] == 1 < self.n_columns else a.take(chosen, axis) for n, a in arrays.items()}
        return self.with_arrays(arrays, names=tuple(self.column_name(j) for j in chosen))

    def hstack(self, other: Self) -> Self:
        """Refuse: of columns that were summed apart, the products are not known."""
        raise StatisticsError("columns whose scatter was summed apart cannot be put side by side; sum them together")

    @cached_property
    def pooled(self) -> tuple[Array, Array, Array]:
        """Weight, mean and scatter over all classes together: (n_columns,), (n_columns,), (n_columns, n_columns).

        Of pairs of columns with missing cells, the weight is that of the cells of each column.
        """
        parts = [(self.weight[k], self.mean[k], self.scatter[k]) for k in range(self.n_classes)]
        # Beginning with the largest class, a column that is constant stays so to the bit.
        parts.sort(key=lambda part: -float(part[0].sum()))
        total = parts[0]
        for part in parts[1:]:
            total = merged(total, part)
        weight, mean, scatter = total
        d = self.n_columns
        return (
            np.broadcast_to(weight, (d, d)).diagonal().astype(np.float64),
            np.broadcast_to(mean, (d, d)).diagonal(),
            _covariance_like(weight, scatter),
        )

    def complete(self, class_count: Array) -> tuple[Array, Array, Array]:
        """Weights (n_classes,), means (n_classes, n_columns) and scatters as of rows without missing cells.

        Pairs of columns are given the covariance of the rows that have both, times the weight of the class; what is
        then no covariance of any rows is made one (`possible_scatter`). A class without a value in a column
        takes mean and variance of all classes there.
        """
        n = class_count.astype(np.float64)
        if not self.lacks_cells(class_count):
            return n, self.means, self.scatter
        n_all, mean_all, scatter_all = self.pooled
        cells = np.broadcast_to(self.cells, self.means.shape)
        mean = np.where(cells > 0, self.means, mean_all)
        variance_all = np.diagonal(scatter_all) / np.where(n_all > 0, n_all, 1.0)
        pairs = np.broadcast_to(self.weight, self.scatter.shape)
        covariance = np.where(pairs > 0, self.scatter / np.where(pairs > 0, pairs, 1), 0.0)
        for k in range(self.n_classes):
            empty = np.flatnonzero(cells[k] == 0)
            covariance[k, empty, empty] = variance_all[empty]
            covariance[k] = possible_scatter(covariance[k])
        return n, mean, covariance * n[:, None, None]

    def with_class(self, k: int, sums: Self) -> Self:
        """Put the sums of class 0 of others in the place of those of class k."""
        mine, theirs = (self, sums) if self.is_pairwise == sums.is_pairwise else (self._for_pairs(), sums._for_pairs())
        arrays = {name: array.copy() for name, array in mine.to_arrays().items()}
        arrays["weight"] = arrays["weight"].astype(np.float64)
        for name, array in theirs.to_arrays().items():  # higher moments may be left as they are
            arrays[name][k] = array[0]
        return self.with_arrays(arrays)

    # ------------------------------------------------------------------ sums and differences

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        mine, theirs = super()._aligned(other)
        if mine.is_pairwise == theirs.is_pairwise:
            return mine, theirs
        return mine._for_pairs(), theirs._for_pairs()

    def _for_pairs(self) -> Self:
        """Write weight and mean out for every pair of columns."""
        wide = {name: np.broadcast_to(getattr(self, name), self.scatter.shape).copy() for name in ("weight", "mean")}
        return self.with_arrays(wide)

    def _plus(self, other: Self) -> Self:
        with np.errstate(over="ignore", invalid="ignore"):  # the model looks at the sums and names the cell
            weight, mean, scatter = merged(self._second_order, other._second_order)
        return replace(self, weight=weight, mean=mean, scatter=scatter)

    @property
    def _second_order(self) -> tuple[Array, Array, Array]:
        return self.weight, self.mean, self.scatter

    def _minus(self, other: Self, rest: Self | None) -> Self:
        weight = self.taken_away("weight", self.weight, other.weight)
        share = other.weight / np.where(weight > 0, weight, 1)
        apart = np.where((weight > 0) & (other.weight > 0), self.mean - other.mean, 0.0)
        mean = np.where(weight > 0, self.mean + apart * share, 0.0)
        taken = other.scatter + apart * apart.swapaxes(1, 2) * (self.weight * share)
        scatter = np.where(np.broadcast_to(weight, self.scatter.shape) > 0, self.scatter - taken, 0.0)
        arrays = {"weight": weight, "mean": mean, "scatter": scatter}
        for k in np.flatnonzero((other.weight > 0).any(axis=(1, 2)) & (weight > 0).any(axis=(1, 2))).tolist():
            # What is subtracted is rounded like its size, and the means in it like theirs.
            moved = 2 * (np.abs(self.mean[k]) + np.abs(other.mean[k])) * np.abs(apart[k]) * (self.weight * share)[k]
            size = np.diagonal(self.scatter[k]) + np.broadcast_to(moved, scatter[k].shape).diagonal()
            scatter[k], lost = self._remaining(k, weight[k], scatter[k], size)
            if lost is None:
                continue
            if rest is None:
                raise LostDigits(
                    f"taking these rows away would leave class {self.classes.states[k]!r} with so little scatter in "
                    f"column {self.column_name(lost)!r}, or in a direction that it has most part in, that fewer than 8 "
                    "digits would be right (or these rows were never counted). Give the rows that remain: "
                    "forget(X, y, remaining=(X_rest, y_rest)) recounts that class"
                )
            self._recount(arrays, rest, k)
        return self.with_arrays(arrays)

    def _remaining(self, k: int, weight: Array, scatter: Array, size: Array) -> tuple[Array, int | None]:
        """Clear what is but rounding, and find a column in which digits were lost."""
        n_left = None if weight.dtype.kind != "i" else int(weight.max())
        if n_left == 1:
            return np.zeros_like(scatter), None  # one row has no scatter
        if self.is_pairwise:
            cells = np.broadcast_to(weight, scatter.shape).diagonal()
            single = (cells == 1) & (weight.dtype.kind == "i")
            lost = (np.diagonal(scatter) < DIGITS_KEPT * size) & (size > 0) & (cells > 0) & ~single
            none = single | (cells == 0)
            return np.where(none[:, None] | none, 0.0, scatter), int(lost.argmax()) if lost.any() else None
        return lost_direction(self.scatter[k], scatter, size, n_left)

    def _recount(self, arrays: dict[str, Array], rest: Self, k: int) -> None:
        expected, found = np.broadcast_arrays(arrays["weight"][k], rest.weight[k])
        if not np.allclose(expected, found, rtol=1e-9, atol=0):
            raise StatisticsError(
                f"`remaining` holds weight {found[0, 0]} of class {self.classes.states[k]!r}, but {expected[0, 0]} "
                "remains; give all rows that remain of that class, with their weights"
            )
        for name, array in arrays.items():
            array[k] = rest.to_arrays()[name][k]

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        k, i, _ = place
        column = f" of column {self.column_name(i)!r}" if self.to_arrays()[name].shape[1] > 1 else ""
        return f"{name}{column} in class {self.classes.states[k]!r}"


def possible_scatter(matrices: Array) -> Array:
    """Make symmetric matrices (..., n_columns, n_columns) ones that rows can have, of the same diagonals.

    On columns of unit length, a negative eigenvalue shows how large an error the others can have: those below its size
    are raised to it, and the columns are brought back to unit length. Zeros in their place would be a certainty, that
    rows lie in a plane, which comes but of pairs of columns that were told by different rows.
    """
    length = np.sqrt(np.maximum(np.diagonal(matrices, axis1=-2, axis2=-1), 0.0))
    unit = np.where(length > 0, length, 1.0)
    values, vectors = np.linalg.eigh(matrices / unit[..., :, None] / unit[..., None, :])
    raised = (vectors * np.maximum(values, -values[..., :1])[..., None, :]) @ vectors.swapaxes(-1, -2)
    back = np.sqrt(np.diagonal(raised, axis1=-2, axis2=-1))
    scale = length / np.where(back > 0, back, 1.0)
    is_possible = values[..., :1, None] >= 0
    return np.where(is_possible, matrices, raised * scale[..., :, None] * scale[..., None, :])


def _covariance_like(weight: Array, scatter: Array) -> Array:
    """Scatter whose entries stand beside one another although each pair of columns has a weight of its own."""
    if weight.shape[0] == 1:
        return scatter
    own = np.sqrt(np.diagonal(weight).astype(np.float64))
    return scatter * (own * own[:, None] / np.where(weight > 0, weight, 1))


def _any_missing(matrix: DenseTable) -> bool:
    blocks = row_blocks(matrix.shape[0], max(1, BLOCK_CELLS // matrix.shape[1]))
    return any(ordered_map(lambda rows: bool(np.isnan(np.min(matrix.block(rows), initial=0.0))), blocks))
