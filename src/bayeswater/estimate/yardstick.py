"""What the extent of a class is measured by: the spread of all rows.

Columns come in metres or millimetres, and a tolerance or a sphere means something only once their units are gone. So
columns are divided by their standard deviation within the classes (where that is zero, by the one over all rows), and a
class is said to have no extent in a direction where its variance is a tiny share of what is usual there: of the average
over the classes and their means. A column, or a direction, in which nothing varies at all tells classes apart by
nothing: it has no factor in any density.

Leave-one-out holds the yardstick, as it holds classes and columns.
"""

from functools import cached_property

import numpy as np

from bayeswater.records import record
from bayeswater.statistics.scatter import RANK_SHARE, Scatter, possible_scatter
from bayeswater.typing import Array


@record
class Directions:
    """The directions in which scaled columns differ.

    A row x of scaled columns has the coordinates u = x @ basis, and they lead back to it by x = u @ step.T.
    """

    basis: Array  # (n_columns, n_directions)
    step: Array  # (n_columns, n_directions)
    is_plain: bool  # every direction is one of the columns
    faintest: Array  # (n_columns,): direction in which columns of unit length have least extent
    least_share: float = 1.0  # extent there, as a share of the largest one: below RANK_SHARE it is left out

    @cached_property
    def columns(self) -> Array:
        """Places of the columns that have a factor, where the directions are columns."""
        return np.flatnonzero(self.basis.any(axis=1))

    @cached_property
    def log_volume(self) -> float:
        """Logarithm of the volume of a unit of these coordinates; that of columns is one."""
        return 0.0 if self.is_plain else 0.5 * float(np.linalg.slogdet(self.step.T @ self.step)[1])

    def inward(self, matrices: Array) -> Array:
        """See matrices (..., n_columns, n_columns) of scaled columns in these coordinates."""
        if self.is_plain:
            return matrices[..., self.columns[:, None], self.columns]
        return self.basis.T @ matrices @ self.basis

    def outward(self, matrix: Array) -> Array:
        """Write a matrix of these coordinates in those of the scaled columns."""
        return self.step @ matrix @ self.step.T


def directions(ground: Array, *, only_columns: bool) -> Directions:
    """Find the directions of scaled columns in which a matrix of their covariances has any extent.

    With `only_columns` every column that varies is a direction, though columns may be bound to one another.
    """
    spread = np.sqrt(np.maximum(np.diagonal(ground), 0.0))
    varies = np.flatnonzero(spread > 0)
    plain = np.eye(len(spread))[:, varies]
    if only_columns or not len(varies):
        return Directions(plain, plain, True, spread)
    unit = spread[varies]
    values, vectors = np.linalg.eigh(ground[np.ix_(varies, varies)] / unit / unit[:, None])
    kept = vectors[:, values > RANK_SHARE * values[-1]]
    faintest = plain @ vectors[:, 0], float(values[0] / values[-1])
    if kept.shape[1] == len(varies):
        return Directions(plain, plain, True, *faintest)
    return Directions(plain @ (kept / unit[:, None]), plain @ (kept * unit[:, None]), False, *faintest)


@record
class Yardstick:
    """Units of the columns, and the directions in which rows differ."""

    scale: Array  # (n_columns,)
    center: Array  # (n_columns,): mean of all rows
    total: Array  # (n_columns, n_columns): covariance of all rows, of scaled columns
    ground: Array  # (n_columns, n_columns): zero where neither classes nor their means have any extent
    directions: Directions
    reference: Array  # (n_directions, n_directions): what the extent of a class along the directions is compared with

    @property
    def log_volume(self) -> float:
        """Logarithm of the volume of a unit of the coordinates, in the units of the columns.

        Of columns that are bound to one another it is that of the scaled columns: their densities have no unit.
        """
        units = float(np.log(self.scale[self.directions.columns]).sum()) if self.directions.is_plain else 0.0
        return self.directions.log_volume + units

    @cached_property
    def even(self) -> tuple[Array, float]:
        """Axes along which the reference has variance one, and twice the logarithm of the volume they leave out."""
        spread, along = np.linalg.eigh(self.reference)
        return along / np.sqrt(spread), float(np.log(spread).sum())

    def shares(self, covariance: Array) -> tuple[Array, Array]:
        """Shares that covariances (..., d, d) have of what is usual, in rising order, and the axes they belong to."""
        even, _ = self.even
        shares, turned = np.linalg.eigh(even.T @ covariance @ even)
        return shares, even @ turned

    def scaled(self, matrices: Array) -> Array:
        """Take the units of the columns out of matrices (..., n_columns, n_columns)."""
        return matrices / self.scale / self.scale[:, None]


def yardstick(scatter: Scatter, *, only_columns: bool, has_units: bool) -> Yardstick:
    """Read the yardstick off the sums.

    With `only_columns` the directions are the columns, and they are compared one by one: columns may be bound to one
    another. Without `has_units` columns are not scaled: their units are taken to be comparable.
    """
    n, center, total = scatter.pooled
    root = np.sqrt(np.where(n > 0, n, 1.0))
    total = total / root / root[:, None]
    if scatter.is_pairwise:
        total = possible_scatter(total)
    cells = np.broadcast_to(scatter.cells, scatter.means.shape).sum(axis=0)
    within = scatter.squares.sum(axis=0) / np.where(cells > 0, cells, 1)
    spread = np.diagonal(total)
    scale = np.sqrt(np.where(within > 0, np.maximum(within, NARROWEST * spread), np.where(spread > 0, spread, 1.0)))
    scale = scale if has_units else np.ones(len(spread))
    total = total / scale / scale[:, None]
    ground, typical = _ground(scatter, scale, center)
    found = directions(ground, only_columns=only_columns)
    reduced = found.inward(ground) * typical
    return Yardstick(scale, center, total, ground, found, np.diag(np.diagonal(reduced)) if only_columns else reduced)


NARROWEST = 1e-200
"""Least share of the variance of all rows that the unit of a column may have: no distance overflows in it."""

NOTHING = 1e-18
"""Share of the scatter within classes below which that of one, or of their means, is rounding."""


def _ground(scatter: Scatter, scale: Array, center: Array) -> tuple[Array, float]:
    """Covariances of all classes, and that of their means, each brought to the same size; and the size that is typical.

    So a row or a class that is far away from all others does not hide the directions in which the others differ, nor
    what is usual there. The typical size is the harmonic mean: small ones count for more.
    """
    n, mean, matrices = scatter.complete(scatter.cells.max(axis=1))
    apart = np.where(n[:, None] > 0, (mean - center) / scale, 0.0)
    within = matrices / scale / scale[:, None] / np.where(n > 0, n, 1.0)[:, None, None]
    parts = [*within, (apart.T * (n / n.sum() if n.any() else n)) @ apart]
    sizes = np.array([np.trace(part) for part in parts])
    used = np.flatnonzero(sizes > NOTHING * sizes[:-1].sum())
    ground = sum((parts[i] / sizes[i] for i in used), np.zeros_like(parts[0]))
    least = sizes[used].min(initial=np.inf)  # so that no inverse overflows
    return ground, float(least / (least / sizes[used]).sum()) if len(used) else 1.0
