"""Which way densities of a given form are scored, with all rows in and with single rows taken out."""

import numpy as np

from bayeswater.estimate.densities import Densities, least_variance, read_densities
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.gaussian_full_without import FullWithout, IndependentWithout
from bayeswater.inference.independent import IndependentJoint, independent_joint
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


def joint_of(log_prior: Array, read: Densities) -> FullJoint | IndependentJoint:
    """Lay densities out for scoring; only those of independent columns are taken column by column."""
    reading = read.blend.reading
    if reading.is_diagonal and not (reading.form == "spherical" and reading.prior is not None):
        return independent_joint(log_prior, read)
    return FullJoint(log_prior, read)


def without(sums: Sums[Scatter], read: Densities) -> FullWithout | IndependentWithout:
    """Make densities ready to have single rows taken out; yardstick and intensities are held."""
    reading, measure = read.blend.reading, read.blend.yardstick
    intensity = read.blend.spherical if reading.prior is None else None

    def anew(scatter: Scatter, class_count: Array, rows: Array, classes: slice) -> Array:
        held = None if intensity is None else intensity[classes]
        again = read_densities(scatter, class_count, reading, read.variance_floor, measure, held)
        return joint_of(np.zeros(len(class_count)), again).of(rows, False)

    count = sums.class_count.count
    if reading.is_diagonal:
        least = least_variance(read.blend, read.variance_floor)
        return IndependentWithout(read, sums.columns, count, anew, least)
    return FullWithout(read, sums.columns, count, anew)
