"""Directions in which the means of the classes differ most (Fisher, 1936; Rao, 1948), and densities of one column.

With W the shared covariance, and B that of the class means under the class prior, the axes are the directions v with
the largest v'Bv / v'Wv, each scaled so that classes have variance one along it. K means span K - 1 directions at most.
Where the ratio is the same in several directions, as it is where no class has any extent, the axes among them are those
along which scaled columns weigh most.
"""

from typing import Any

import numpy as np

from bayeswater.estimate.densities import Densities
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.kernels.threads import one_blas_thread, ordered_map, row_blocks
from bayeswater.statistics.scatter import RANK_SHARE
from bayeswater.typing import Array

LEAST_DISTANCE = 1e-8
"""Standard deviations below which class means do not differ but for rounding."""

SAME = 1e-6
"""Ratios that differ by less than this share are the same."""


def discriminant_axes(prior: Array, shared: Densities) -> tuple[Array, Array]:
    """Find the mean of the class means (n_columns,), and the axes (n_columns, n_axes)."""
    seen = shared.blend.has_density & (prior > 0)
    share = prior[seen] / prior[seen].sum()
    origin = shared.mean[seen][share.argmax()]
    center = origin + share @ (shared.mean[seen] - origin)
    whitening = FullJoint(np.zeros(len(prior)), shared).whitening[int(seen.argmax())]
    apart = (shared.mean[seen] - center) @ whitening * np.sqrt(share)[:, None]
    _, lengths, turned = np.linalg.svd(apart, full_matrices=False)
    kept = lengths[: max(len(share) - 1, 0)]
    n_axes = int((kept > max(np.sqrt(RANK_SHARE) * kept.max(initial=0.0), LEAST_DISTANCE)).sum())
    axes = whitening @ turned[:n_axes].T
    scaled = axes * shared.blend.yardstick.scale[:, None]
    group = np.cumsum(np.r_[0, -np.diff(kept[:n_axes]) > SAME * kept[: max(n_axes - 1, 0)]])[:n_axes]
    for tied in (np.flatnonzero(group == g) for g in range(int(group.max(initial=-1)) + 1)):
        _, _, rotation = np.linalg.svd(scaled[:, tied], full_matrices=False)
        axes[:, tied], scaled[:, tied] = axes[:, tied] @ rotation.T, scaled[:, tied] @ rotation.T
    signs = np.sign(scaled[np.abs(scaled).argmax(axis=0), np.arange(n_axes)])
    return center, axes * signs


def projected(table: Any, center: Array, axes: Array) -> Array:
    """Give rows along axes (n_columns, n_axes), counted from a center: (n_rows, n_axes)."""
    result = np.empty((table.shape[0], axes.shape[1]))

    def project(rows: slice) -> None:
        result[rows] = (table.block(rows) - center) @ axes

    with one_blas_thread(table.shape[0] * axes.size):
        for _ in ordered_map(project, row_blocks(table.shape[0])):
            pass
    return result


def conditional_densities(read: Densities, x: Array, j: int) -> tuple[Array, Array, Array]:
    """Tell the density of one missing cell given the known cells of a row: mean, variance, degrees (n_classes,) each.

    Of a normal density with mean m and covariance S the cell is normal, with

        mean = m_j + S_jk S_kk^-1 (x_k - m_k),    variance = S_jj - S_jk S_kk^-1 S_kj

    over the known columns k. A Student-t of v degrees stays one, of v + d degrees with d known cells, its variance
    multiplied by (v + distance) / (v + d).
    """
    known = ~np.isnan(x)
    n_known = int(known.sum())
    mean, variance, degrees = np.empty(read.n_classes), np.empty(read.n_classes), read.degrees.copy()
    for k in range(read.n_classes):
        covariance = read.covariance(k)
        away = x[known] - read.mean[k, known]
        inverse = np.linalg.pinv(covariance[np.ix_(known, known)], hermitian=True)
        slope = covariance[j, known] @ inverse
        mean[k] = read.mean[k, j] + slope @ away
        variance[k] = max(covariance[j, j] - slope @ covariance[known, j], np.finfo(np.float64).tiny)
        if np.isfinite(degrees[k]):
            variance[k] *= (degrees[k] + away @ inverse @ away) / (degrees[k] + n_known)
            degrees[k] += n_known
    return mean, variance, degrees
