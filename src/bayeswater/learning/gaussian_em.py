"""Means and covariances of largest likelihood from rows with missing cells, by EM (Dempster, Laird and Rubin, 1977).

Each step expects the missing cells of a row from those that are there, by regression within the class,

    E[x_m] = mean_m + C_mo C_oo^-1 (x_o - mean_o),   with covariance C_mm - C_mo C_oo^-1 C_om,

and reads means and covariances, in whatever form they are asked for, off the sums of the rows so completed. Rows of a
class that lack the same cells enter by their weight, their mean and a root of their scatter alone: rows are read once,
and a step costs the same however many there are.
"""

from collections.abc import Iterator

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseTable
from bayeswater.errors import ConvergenceWarning, warn_user
from bayeswater.estimate.covariance import CovarianceReading
from bayeswater.estimate.densities import Densities, read_densities
from bayeswater.estimate.yardstick import Yardstick, yardstick
from bayeswater.records import record
from bayeswater.statistics.scatter import Scatter
from bayeswater.typing import Array

STEPS = 5000
AT_REST = 1e-11
"""Largest move of a mean or covariance, in standard deviations of the columns, that ends the steps."""


@record
class Group:
    """Rows of one class that have the same cells, in scaled columns: root'root is their scatter."""

    k: int
    seen: Array  # places of the cells that are there
    weight: float
    mean: Array
    root: Array


def expected_scatter(
    scatter: Scatter,
    table: DenseTable,
    labels: Labels,
    weight: Array | None,
    reading: CovarianceReading,
    variance_floor: float,
) -> Scatter:
    """Find the expected sums of the whole rows, from which parameters of largest likelihood are read.

    `scatter` are the sums over pairs of cells, from which the search begins.
    """
    measure = yardstick(scatter, only_columns=True, has_units=reading.form != "spherical")
    groups = list(_groups(table, labels, weight, measure))
    n_classes = labels.n_classes
    count = np.bincount(labels.codes, weights=weight, minlength=n_classes)
    n, mean, matrices = scatter.complete(count)
    now = _scatter(scatter, n, (mean - measure.center) / measure.scale, measure.scaled(matrices))
    read = read_densities(now, n, reading, variance_floor)
    for _ in range(STEPS):
        now = _expected(groups, scatter, n, read)
        before, read = read, read_densities(now, n, reading, variance_floor)
        if _move(before, read) <= AT_REST:
            break
    else:
        warn_user(
            f"EM has not come to rest in {STEPS} steps; means and covariances still move by {_move(before, read):.2g} "
            "standard deviations a step. Columns with few cells in common, or classes of few rows, make it slow",
            ConvergenceWarning,
        )
    whole = weight is None or weight.dtype.kind == "i"
    units = measure.scale * measure.scale[:, None]
    return Scatter(
        scatter.classes,
        scatter.names,
        (count.astype(np.int64) if whole else count)[:, None, None],
        measure.center[:, None] + now.mean * measure.scale[:, None],
        now.scatter * units,
    )


def _groups(table: DenseTable, labels: Labels, weight: Array | None, measure: Yardstick) -> Iterator[Group]:
    """Gather the rows of each class by the cells they have; rows without any cell say nothing."""
    x = (table.block(slice(0, table.shape[0])) - measure.center) / measure.scale
    there = ~np.isnan(x)
    key = np.column_stack([labels.codes.astype(np.int64).view(np.uint8).reshape(len(x), 8), np.packbits(there, axis=1)])
    _, first, group = np.unique(key, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(group.ravel()))
    for start, stop, row in zip(np.r_[0, ends[:-1]], ends, first, strict=True):
        rows, seen = order[start:stop], np.flatnonzero(there[row])
        if not len(seen):
            continue
        w = np.ones(len(rows)) if weight is None else weight[rows].astype(np.float64)
        cells = x[np.ix_(rows, seen)]
        mean = cells[0] + w @ (cells - cells[0]) / w.sum()
        root = np.sqrt(w)[:, None] * (cells - mean)
        if len(rows) > len(seen):
            root = np.linalg.qr(root, mode="r")
        yield Group(int(labels.codes[row]), seen, float(w.sum()), mean, root)


def _expected(groups: list[Group], scatter: Scatter, n: Array, read: Densities) -> Scatter:
    """Sums of the rows completed by what is expected of them, in scaled columns."""
    mean = read.mean
    n_classes, d = mean.shape
    units = read.blend.yardstick.scale
    covariance = [read.scaled_covariance(k) * units * units[:, None] for k in range(n_classes)]
    first, second, weight = np.zeros((n_classes, d)), np.zeros((n_classes, d, d)), np.zeros(n_classes)
    for group in groups:
        k, seen = group.k, group.seen
        missing = np.setdiff1d(np.arange(d), seen)
        completion = np.zeros((d, len(seen)))
        completion[seen, np.arange(len(seen))] = 1.0
        if len(missing):
            c = covariance[k]
            completion[missing] = _regression(c[np.ix_(seen, seen)], c[np.ix_(seen, missing)]).T
            spread = c[np.ix_(missing, missing)] - completion[missing] @ c[np.ix_(seen, missing)]
            second[k][np.ix_(missing, missing)] += group.weight * spread
        away = completion @ (group.mean - mean[k, seen])
        root = group.root @ completion.T
        first[k] += group.weight * away
        second[k] += root.T @ root + group.weight * np.outer(away, away)
        weight[k] += group.weight
    safe = np.where(weight > 0, weight, 1.0)
    shift = first / safe[:, None]
    central = second - safe[:, None, None] * shift[:, :, None] * shift[:, None, :]
    return _scatter(scatter, n, mean + shift, central * (n / safe)[:, None, None])


def _regression(among: Array, onto: Array) -> Array:
    """Coefficients of the cells that are there, also where they are bound to one another."""
    try:
        root = np.linalg.cholesky(among)
        return np.linalg.solve(root.T, np.linalg.solve(root, onto))
    except np.linalg.LinAlgError:
        return np.linalg.pinv(among, hermitian=True) @ onto


def _scatter(like: Scatter, n: Array, mean: Array, scatter: Array) -> Scatter:
    return Scatter(like.classes, like.names, n[:, None, None].copy(), mean[:, :, None].copy(), scatter.copy())


def _move(before: Densities, after: Densities) -> float:
    """Largest change of a mean or covariance."""
    means = np.abs(after.mean - before.mean).max()
    pairs = [np.abs(after.covariance(k) - before.covariance(k)).max() for k in range(after.n_classes)]
    return float(max(means, *pairs))
