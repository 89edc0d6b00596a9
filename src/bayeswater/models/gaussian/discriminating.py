"""`DiscriminantAxes`: rows in the few directions in which the means of the classes differ (Fisher, 1936; Rao, 1948).

With W the shared covariance, and B that of the class means under the class prior, the axes are the directions v with
the largest v'Bv / v'Wv, each scaled so that classes have variance one along it. K means span K - 1 directions at most.
Where the ratio is the same in several directions, as it is where no class has any extent, the axes among them are those
along which scaled columns weigh most.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from bayeswater.estimate.densities import Densities
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.kernels.blas import one_blas_thread
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.statistics.remaining_scatter import RANK_SHARE
from bayeswater.typing import Array

LEAST_DISTANCE = 1e-8
"""Standard deviations below which class means do not differ but for rounding."""

SAME = 1e-6
"""Ratios that differ by less than this share are the same."""


class DiscriminantAxes(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What lets a Gaussian classifier reduce rows to at most K - 1 dimensions."""

    @abstractmethod
    def _shared_densities(self) -> Densities:
        """Densities of the classes with a covariance that they share."""

    @property
    def discriminant_axes_(self) -> Array:
        """Axes of largest difference between classes, first ones first: (n_columns, n_axes)."""
        return self._axes()[1].copy()

    @property
    def _n_features_out(self) -> int:
        return int(self._axes()[1].shape[1])

    def transform(self, X: Any) -> Array:
        """Give rows along the discriminant axes, counted from the mean of the class means: (n_rows, n_axes).

        The axes are those of the shared covariance, with the shrinkage of the model but without its `prior`, and of the
        class means as they were counted. A row with a missing cell has no place on them: it is NaN.
        """
        table = self._table(X)
        center, axes = self._axes()
        result = np.empty((table.shape[0], axes.shape[1]))

        def project(rows: slice) -> None:
            result[rows] = (table.block(rows) - center) @ axes

        with one_blas_thread(table.shape[0] * axes.size):
            for _ in ordered_map(project, row_blocks(table.shape[0])):
                pass
        return result

    def _axes(self) -> tuple[Array, Array]:
        """Mean of the class means (n_columns,), and the axes; found once for each setting."""
        joint = self._joint()
        known = self._memo.get("axes")
        if known is None or known[0] is not joint:
            known = (joint, *discriminant_axes(np.exp(joint.log_prior), self._shared_densities()))
            self._memo["axes"] = known
        return known[1], known[2]


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
