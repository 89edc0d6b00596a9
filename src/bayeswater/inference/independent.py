"""Log-joint of densities whose columns are independent, with variances that were read for all columns together."""

from dataclasses import dataclass

import numpy as np

from bayeswater.estimate.densities import Densities
from bayeswater.estimate.normal_parameters import GaussianParameters
from bayeswater.inference.normal_joint import GaussianJoint, gaussian_joint
from bayeswater.typing import Array


@dataclass(frozen=True)
class IndependentJoint:
    """Densities of single columns, and what they were read from."""

    densities: Densities
    columns: GaussianJoint

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.columns.log_prior

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of rows."""
        return self.columns.of(block, use_loop)


def independent_joint(log_prior: Array, densities: Densities) -> IndependentJoint:
    """Lay the densities out column by column."""
    measure, shape = densities.blend.yardstick, densities.mean.shape
    columns = measure.directions.columns
    variance = np.ones(shape)
    variance[:, columns] = densities.variance * measure.scale[columns] ** 2
    has_factor = np.isin(np.arange(shape[1]), columns)
    degrees = np.broadcast_to(densities.degrees[:, None], shape).copy()
    seen = densities.blend.has_density
    variance = np.where(seen[:, None], variance, 1.0)
    return IndependentJoint(
        densities,
        gaussian_joint(log_prior, GaussianParameters(densities.mean, variance, degrees, has_factor, seen, epsilon=0.0)),
    )
