"""Sums of classes, each with a single row taken out, for many rows at once.

Taking a row x out of n rows with weight r moves mean and scatter by the formula of Chan, Golub and LeVeque backwards:

    mean' = mean - (x - mean) r / (n - r),   scatter' = scatter - (x - mean)(x - mean)' r n / (n - r)

(column by column: `moments.take_out`, as for independent normals).

Where cells are missing it holds for every pair of columns with the weight of that pair, and the sums are completed as
`Scatter.complete` does it: a column in which the class has no value left takes mean and variance of all classes.
"""

import numpy as np

from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.scatter import lengths_by_roots
from bayeswater.records import record
from bayeswater.statistics.moments import take_out
from bayeswater.statistics.scatter import Scatter, possible_scatter
from bayeswater.typing import Array


@record
class WithoutRow:
    """Sums of the own class of each of n rows, without the row, as of rows that lack no cell."""

    count: Array  # (n,)
    mean: Array  # (n, n_columns)
    scatter: Array  # (n, n_columns, n_columns), or (n, n_columns) of its diagonals
    mean_all: Array  # (n, n_columns): mean of all classes, which stands where a class has no value
    variance_all: Array  # (n, n_columns)


def scatter_without(scatter: Scatter, class_count: Array, x: Array, y: Array, removed: Array) -> WithoutRow:
    """Take each row x (n, n_columns) out of its class y with its weight; missing cells are NaN."""
    count = remainder(class_count[y].astype(np.float64), removed)
    mean_all, variance_all = _all_without(scatter, x, removed)
    if not scatter.lacks_cells(class_count):
        safe = np.where(count > 0, count, 1.0)
        # A cell that is missing with next to no weight does not show in the sums.
        away = np.where((count[:, None] > 0) & ~np.isnan(x), x - scatter.means[y], 0.0)
        moved = away * (removed * class_count[y] / safe)[:, None]
        left = np.where(count[:, None, None] > 0, scatter.scatter[y] - moved[:, :, None] * away[:, None, :], 0.0)
        return WithoutRow(count, scatter.means[y] - away * (removed / safe)[:, None], left, mean_all, variance_all)
    seen = ~np.isnan(x)
    there = seen[:, :, None] & seen[:, None, :]
    weight = np.broadcast_to(scatter.weight, scatter.scatter.shape)[y]
    r = removed[:, None, None]
    cells = np.where(there, remainder(weight, r), weight)
    safe = np.where(cells > 0, cells, 1.0)
    mean = np.broadcast_to(scatter.mean, scatter.scatter.shape)[y]
    away = np.where(there & (cells > 0), np.where(seen, x, 0.0)[:, :, None] - mean, 0.0)
    left = scatter.scatter[y] - away * away.swapaxes(1, 2) * (r * weight / safe)
    covariance = np.where(cells > 0, left / safe, 0.0)
    has_value = _diagonal(cells) > 0
    own_mean = _diagonal(mean) - _diagonal(away) * removed[:, None] / _diagonal(safe)
    np.einsum("nii->ni", covariance)[...] = np.where(has_value, _diagonal(covariance), variance_all)
    completed = _possible(covariance) * count[:, None, None]
    return WithoutRow(count, np.where(has_value, own_mean, mean_all), completed, mean_all, variance_all)


def squares_without(scatter: Scatter, class_count: Array, x: Array, y: Array, removed: Array) -> WithoutRow:
    """Do the same for single columns: of the scatter, its diagonal alone."""
    count = remainder(class_count[y].astype(np.float64), removed)
    mean_all, variance_all = _all_without(scatter, x, removed)
    lacks_cells = scatter.lacks_cells(class_count)
    weight = np.broadcast_to(scatter.cells, scatter.means.shape)[y] if lacks_cells else class_count[y, None]
    sums = weight.astype(np.float64), scatter.means[y], scatter.squares[y]
    cells, mean, left = take_out(*sums, *_known(x, removed))
    if lacks_cells:
        left = np.where(cells > 0, left / np.where(cells > 0, cells, 1.0), variance_all) * count[:, None]
        mean = np.where(cells > 0, mean, mean_all)
    return WithoutRow(count, mean, left, mean_all, variance_all)


def _all_without(scatter: Scatter, x: Array, removed: Array) -> tuple[Array, Array]:
    """Mean and variance of the columns over all classes without each row: (n, n_columns) each."""
    weight, mean, total = scatter.pooled
    cells, mean, squares = take_out(weight, mean, np.diagonal(total), *_known(x, removed))
    return mean, squares / np.where(cells > 0, cells, 1.0)


def _known(x: Array, removed: Array) -> tuple[Array, Array]:
    """Give the cells of rows, 0 where one is missing, and the weight that is taken of each."""
    there = ~np.isnan(x)
    return np.where(there, x, 0.0), removed[:, None] * there


def _possible(covariances: Array) -> Array:
    """Make possible covariances of those that are none; a triangular root tells most of them at little cost."""
    length = np.sqrt(np.maximum(_diagonal(covariances), 0.0))
    unit = np.where(length > 0, length, 1.0)
    _, log_determinant = lengths_by_roots(covariances / unit[:, :, None] / unit[:, None, :], unit[:, :0, None])
    doubtful = np.flatnonzero(np.isnan(log_determinant))
    if len(doubtful):
        covariances[doubtful] = possible_scatter(covariances[doubtful])
    return covariances


def _diagonal(matrices: Array) -> Array:
    return np.diagonal(matrices, axis1=1, axis2=2)
