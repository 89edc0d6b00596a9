"""Leave-one-out log-likelihoods from sums that are read again without each row, many rows at a time.

M_k = (1 - shared) S_k + shared S needs S_k of the row's own class without the row, and those of the others as they are;
but a class without a value in a column takes mean and variance of all rows there, which every row moves.

Where cells were missing among the rows counted, a row moves every pair of columns by another weight, and no rank-one
formula leads from one covariance to the next. Nor does one where a class is left with hardly any extent. So sums are
taken apart and covariances made for each row, as `Blend` makes them, but for a stretch of rows together:

    M_k' = (1 - shared) S_k' + shared S',   A_k' = (1 - spherical) M_k' + spherical tr(M_k') / d I

and |z|^2 and log det come from triangular roots of A_k' (`kernels/scatter.py`), divisors being put in afterwards. Of a
row that lacks cells, the density of the others is wanted: their part of A_k'. Where a variance has to be lifted,
eigenvectors take the place of roots, and the squares of small variances are never summed; which directions the cells
that are there leave free is found once for each pattern of missing cells.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from bayeswater.estimate.covariance import class_parts, expected_scale, pulled, seen_by
from bayeswater.estimate.densities import Densities
from bayeswater.inference.gaussian_full import FullJoint, log_density, patterns, seen_cells, seen_directions
from bayeswater.kernels.scatter import lengths_by_roots, part_of
from bayeswater.records import record
from bayeswater.statistics.moments import DIGITS_KEPT
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.scatter_without import WithoutRow, scatter_without, squares_without
from bayeswater.typing import Array


@record
class BlendParts:
    """What some classes bring to a blend: weights (n,), locations (n, n_columns), and S_k with the pull of a prior."""

    count: Array
    location: Array
    matrix: Array

    def take(self, rows: Array) -> "BlendParts":
        """Give those of some rows."""
        return BlendParts(*(part[rows] for part in self))

    def where(self, chosen: Array, other: "BlendParts") -> "BlendParts":
        """Take these where `chosen` (n,), else the other ones; either may be a single one for all."""
        return BlendParts(*(np.where(_like(chosen, mine), mine, its) for mine, its in zip(self, other, strict=True)))

    def __iter__(self) -> Iterator[Array]:
        return iter((self.count, self.location, self.matrix))


@record
class PartsWithout(ABC):
    """The parts of the classes, as each of some rows leaves them when it is taken out."""

    densities: Densities
    scatter: Scatter
    class_count: Array

    @abstractmethod
    def _stretch(self, x: Array, y: Array, removed: Array, result: Array) -> Array:
        """Put log-likelihoods of rows taken out of their class into `result` (n_rows, n_classes), where they move it.

        Give which rows lost digits in that: (n_rows,).
        """

    def in_stretches(self, x: Array, y: Array, removed: Array, n_together: int, result: Array) -> tuple[Array, Array]:
        """Take rows out `n_together` at a time: each has sums, and perhaps matrices, of its own."""
        lost = np.zeros(len(x), dtype=bool)
        for start in range(0, len(x), n_together):
            rows = slice(start, start + n_together)
            lost[rows] = self._stretch(x[rows], y[rows], removed[rows], result[rows])
        return result, lost

    @cached_property
    def all_in(self) -> BlendParts:
        """Parts of every class with all rows in."""
        return self._pulled(*self._sums)

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array]:
        blend = self.densities.blend
        return class_parts(self.scatter, self.class_count, blend.reading, blend.yardstick)

    @cached_property
    def lacks_values(self) -> Array:
        """Classes that have no value in some column, and take those of all classes: (n_classes, n_columns)."""
        lacks = np.broadcast_to(self.scatter.cells, self.scatter.means.shape) == 0
        return lacks & self.scatter.lacks_cells(self.class_count)

    def own(self, x: Array, y: Array, removed: Array) -> tuple[WithoutRow, BlendParts]:
        """Sums and parts of the class that each row is in, without it."""
        reading = self.densities.blend.reading
        take = squares_without if reading.is_diagonal else scatter_without
        left = take(self.scatter, self.class_count, x, y, removed)
        return left, self._pulled(left.count, left.mean, seen_by(self.densities.blend.yardstick, left.scatter))

    def of_class(self, k: int, y: Array, left: WithoutRow, own: BlendParts) -> BlendParts:
        """Parts of class k for each row: its own, without it, or another one."""
        return own.where(y == k, self._other(k, left))

    def blended(self, part: BlendParts, total: Array | None) -> Array:
        """Make M_k' of S_k' and of the sum over all classes."""
        reading, shared = self.densities.blend.reading, self.densities.blend.reading.shared
        matrix = part.matrix if total is None else (1 - shared) * part.matrix + shared * total
        if reading.prior is None:
            return matrix
        return matrix + expected_scale(reading, reading.prior, self.densities.blend.yardstick)

    def _other(self, k: int, left: WithoutRow) -> BlendParts:
        """Parts of a class that a row is not in: where it has no value, the row moves what stands for one."""
        one, lacks = slice(k, k + 1), self.lacks_values[k]
        if not lacks.any():
            return BlendParts(*(array[one] for array in self.all_in))
        n, mean, parts = (array[one] for array in self._sums)
        weight, _, total = self.scatter.pooled
        variance_all = np.diagonal(total) / np.where(weight > 0, weight, 1.0)
        moved = np.where(lacks, left.variance_all - variance_all, 0.0) * n
        if parts.ndim > 2:
            moved = moved[:, :, None] * np.eye(len(lacks))
        parts = parts + seen_by(self.densities.blend.yardstick, moved)
        return self._pulled(np.broadcast_to(n, len(moved)), np.where(lacks, left.mean_all, mean), parts)

    def _pulled(self, n: Array, mean: Array, parts: Array) -> BlendParts:
        prior = self.densities.blend.reading.prior
        if prior is None:
            return BlendParts(n, mean, parts)
        return BlendParts(n, *pulled(prior, self.densities.blend.yardstick, n, mean, parts))


def _like(chosen: Array, array: Array) -> Array:
    """Give a choice between rows as many axes as what is chosen has."""
    return chosen.reshape(len(chosen), *(1 for _ in array.shape[1:]))


STRETCH_CELLS = 2**17
"""Cells of the covariances that are made at a time."""

ABOVE_ROUNDING = 1e-13
"""Share of their squares by which columns are widened where rounding leaves a matrix no root, and nothing lifts it."""


@record
class ReadAgain(PartsWithout):
    """Covariances of the classes read again without single rows."""

    joint: FullJoint

    def likelihood(self, x: Array, y: Array, removed: Array) -> tuple[Array, Array]:
        """Log-likelihoods (n_rows, n_classes), and which rows lost digits."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # NaN marks what has no density
            everything = self.joint.likelihood(x)
            return self.in_stretches(x, y, removed, max(1, STRETCH_CELLS // x.shape[1] ** 2), everything)

    def _stretch(self, x: Array, y: Array, removed: Array, result: Array) -> Array:
        blend, shared = self.densities.blend, self.densities.blend.reading.shared
        left, own = self.own(x, y, removed)
        count_all = blend.count.sum() - blend.count[y] + own.count
        if not shared:
            density = self._density(x, [own], self.blended(own, None), count_all, blend.spherical[y])
            result[np.arange(len(x)), y] = density[:, 0]
            for k, lacks in enumerate(self.lacks_values):  # a value of all classes stands where it has none
                rows = np.flatnonzero((y != k) & (lacks & ~np.isnan(x)).any(axis=1))
                if len(rows):
                    part = self.of_class(k, y, left, own).take(rows)
                    spherical = np.full(len(rows), blend.spherical[k])
                    matrix = self.blended(part, None)
                    result[rows, k] = self._density(x[rows], [part], matrix, count_all[rows], spherical)[:, 0]
            return self._lost(own, y)
        parts = [self.of_class(k, y, left, own) for k in range(blend.n_classes)]
        total = sum((part.matrix for part in parts), np.zeros(1))
        if shared == 1:
            matrix = self.blended(parts[0], total)
            result[:] = self._density(x, parts, matrix, count_all, np.full(len(x), blend.spherical[0]))
            return self._lost(own, y)
        for k, part in enumerate(parts):
            matrix, spherical = self.blended(part, total), np.full(len(x), blend.spherical[k])
            result[:, k] = self._density(x, [part], matrix, count_all, spherical)[:, 0]
        return self._lost(own, y)

    def _lost(self, own: BlendParts, y: Array) -> Array:
        """Rows that made up nearly all of the scatter of their class in a column, though others remain."""
        before = np.diagonal(self.all_in.matrix, axis1=1, axis2=2)[y]
        after = np.diagonal(own.matrix, axis1=1, axis2=2)
        return (after < DIGITS_KEPT * before).any(axis=1) & (own.count > self.densities.n_directions)

    def _density(self, x: Array, parts: list[BlendParts], matrix: Array, count_all: Array, spherical: Array) -> Array:
        """Log-densities (n_rows, n_parts) of rows in classes that have one matrix, (n_rows or 1, d, d)."""
        p, blend = self.densities, self.densities.blend
        measure, d = blend.yardstick, p.n_directions
        n = len(x)
        count = np.stack([np.broadcast_to(part.count, n) for part in parts], axis=1)
        divisor, degrees = blend.divisor(count, count_all[:, None])
        matrix = np.broadcast_to(matrix, (n, d, d))
        trace = np.trace(matrix, axis1=1, axis2=2) / max(d, 1)
        matrix = (1 - spherical)[:, None, None] * matrix + (spherical * trace)[:, None, None] * np.eye(d)
        missing = np.isnan(x)
        away = np.stack([np.where(missing, 0.0, (x - part.location) / measure.scale) for part in parts], axis=1)
        lifted, lacks = self._lifted(matrix, divisor[:, 0], spherical * trace), missing.any(axis=1)
        apart = lifted if measure.directions.is_plain else lifted | lacks
        result = np.empty((n, len(parts)))
        by_root = np.flatnonzero(~apart)
        result[by_root] = self._by_root(matrix, away, ~missing, divisor, degrees, by_root)
        rootless = by_root[np.isnan(result[by_root]).any(axis=1)]  # an extent that is but rounding may be negative
        if blend.reading.prior is None:
            lifted[rootless] = apart[rootless] = True
        elif len(rootless):
            above = matrix * (1 + ABOVE_ROUNDING * np.eye(d))
            result[rootless] = self._by_root(above, away, ~missing, divisor, degrees, rootless)
        by_shares, by_rows = np.flatnonzero(apart & ~lacks), np.flatnonzero(apart & lacks)
        if len(by_shares):
            result[by_shares] = self._by_shares(matrix[by_shares] / divisor[by_shares, :1, None], away[by_shares])
        if len(by_rows):
            covariance = matrix[by_rows] / divisor[by_rows, :1, None]
            result[by_rows] = self._by_axes(*self._axes(covariance, lifted[by_rows]), away[by_rows], ~missing[by_rows])
        has_density = (count > 0) | (blend.reading.prior is not None)
        return np.where(has_density, result, -np.inf)

    def _lifted(self, matrix: Array, divisor: Array, sphere: Array) -> Array:
        """Rows without which a class has too little extent in a direction, by the yardstick: (n_rows,).

        No direction has less than the `sphere` (n_rows,) that is a part of the matrix: where that is enough, nothing
        need be factored.
        """
        p = self.densities
        lifted = np.zeros(len(matrix), dtype=bool)
        if p.blend.reading.prior is not None:
            return lifted
        least = p.variance_floor * p.blend.yardstick.reference
        doubtful = np.flatnonzero(~(sphere > divisor * np.trace(least)))
        if len(doubtful):
            covariance = matrix[doubtful] / divisor[doubtful, None, None]
            _, above = lengths_by_roots(covariance - least, covariance[:, :0])
            lifted[doubtful] = np.isnan(above)
        return lifted

    def _by_root(self, matrix: Array, away: Array, there: Array, divisor: Array, degrees: Array, rows: Array) -> Array:
        """Log-densities of some rows whose variances need no lift."""
        measure = self.densities.blend.yardstick
        matrix, divisor, there = matrix[rows], divisor[rows], there[rows]
        n_seen: Array | int = self.densities.n_directions
        log_volume: Array | float = measure.log_volume
        if not there.all():
            cells = seen_cells(measure, there)
            matrix = part_of(matrix, cells.seen[:, measure.directions.columns])
            n_seen, log_volume = cells.n_directions[:, None], cells.log_volume[:, None]
        lengths, log_determinant = lengths_by_roots(matrix, away[rows] @ measure.directions.basis)
        log_determinant = log_determinant[:, None] - n_seen * np.log(divisor)
        return log_density(lengths * divisor, log_determinant, degrees[rows], n_seen) - log_volume

    def _by_shares(self, covariance: Array, away: Array) -> Array:
        """Log-densities of rows that lack no cell where variances are lifted; no prior has such."""
        measure = self.densities.blend.yardstick
        shares, axes = measure.shares(covariance)
        variance = np.maximum(shares, self.densities.variance_floor)
        z = away @ measure.directions.basis @ axes
        log_determinant = (np.log(variance).sum(axis=1) + measure.even[1])[:, None]
        distance = (z**2 / variance[:, None, :]).sum(axis=2)
        return log_density(distance, log_determinant, np.full(1, np.inf), variance.shape[1]) - measure.log_volume

    def _axes(self, covariance: Array, lifted: Array) -> tuple[Array, Array]:
        """Whitening axes (n_rows, d, d) of covariances, lifted where they must be, and log-determinants (n_rows,)."""
        measure, floor = self.densities.blend.yardstick, self.densities.variance_floor
        variance, axes = np.empty(covariance.shape[:2]), np.empty_like(covariance)
        variance[~lifted], axes[~lifted] = np.linalg.eigh(covariance[~lifted])
        shares, axes[lifted] = measure.shares(covariance[lifted])
        variance[lifted] = np.maximum(shares, floor)
        return axes / np.sqrt(variance)[:, None], np.log(variance).sum(axis=1) + np.where(lifted, measure.even[1], 0.0)

    def _by_axes(self, axes: Array, log_determinant: Array, away: Array, there: Array) -> Array:
        """Log-densities along whitening axes, of the columns that are there; no prior has such.

        Along the directions that these columns leave free, a row may be anywhere: it is put where it is nearest to the
        mean. What the columns that are missing add to the log-determinant is taken from it: with T the directions of
        the others and N what they leave free, det TCT' = det TT' det C det N'C^-1 N.
        """
        result, normal = np.empty(away.shape[:2]), np.full(1, np.inf)
        for rows, of_pattern in patterns(there, np.arange(len(away))):
            part = self._part_of(of_pattern)
            z = away[rows][:, :, part.seen] @ part.inward @ axes[rows]
            freed = part.free.T @ axes[rows]  # (n_rows, n_free, d)
            along, upper = np.linalg.qr(freed.swapaxes(1, 2))
            z = z - (z @ along) @ along.swapaxes(1, 2)
            freedom = 2 * np.log(np.abs(np.diagonal(upper, axis1=1, axis2=2))).sum(axis=1)
            of_part = (log_determinant[rows] + freedom)[:, None] + part.log_determinant
            density = log_density(np.einsum("nmj,nmj->nm", z, z), of_part, normal, part.n_directions)
            result[rows] = density - part.log_volume
        return result

    def _part_of(self, there: Array) -> "SeenPart":
        """Directions of the columns that are `there` (n_columns,), found once."""
        key = there.tobytes()
        if key not in self._parts:
            seen, basis, log_volume = seen_directions(self.densities.blend.yardstick, there)
            inward = basis.T @ self.densities.blend.yardstick.directions.step[seen]  # T
            left, sizes, right = np.linalg.svd(inward)
            d = len(sizes)
            self._parts[key] = SeenPart(
                *(seen, basis @ (left / sizes) @ right[:d], right[d:].T, 2 * float(np.log(sizes).sum()), d, log_volume)
            )
        return self._parts[key]

    @cached_property
    def _parts(self) -> dict[bytes, "SeenPart"]:
        return {}


@record
class SeenPart:
    """What some columns tell of the directions of all of them."""

    seen: Array  # places of the columns
    inward: Array  # (n_seen, d): from scaled columns to coordinates, of many that are possible the shortest
    free: Array  # (d, n_free): orthonormal directions in which the columns do not differ
    log_determinant: float  # of TT'
    n_directions: int
    log_volume: float
