"""Rows drawn from the densities of Gaussian classes.

With noise z, the row mean + scale * step (z * deviation) back has the covariance of its class. A Student-t is a normal
density divided by the root of chi-square over its degrees of freedom: one for a row, or for independent columns one for
each of them.
"""

import numpy as np

from bayeswater.estimate.densities import Densities
from bayeswater.typing import Array


def draw_rows(read: Densities, codes: Array, rng: np.random.Generator) -> Array:
    """Draw a row of each given class: (n_rows, n_columns)."""
    measure, reading = read.blend.yardstick, read.blend.reading
    values = np.empty((len(codes), read.mean.shape[1]))
    for k in np.unique(codes):
        rows = np.flatnonzero(codes == k)
        noise = rng.standard_normal((len(rows), read.n_directions))
        if np.isfinite(read.degrees[k]):
            is_per_column = reading.is_diagonal and reading.form != "spherical"
            shape = noise.shape if is_per_column else (len(rows), 1)
            noise /= np.sqrt(rng.chisquare(read.degrees[k], size=shape) / read.degrees[k])
        back = np.linalg.inv(read.class_axes(k)) if read.is_skew[k] else read.class_axes(k).T
        away = (noise * np.sqrt(read.variance[k])) @ back @ measure.directions.step.T
        values[rows] = read.mean[k] + away * measure.scale
    return values
