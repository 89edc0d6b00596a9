"""Which way densities of a given form are scored, with all rows in and with single rows taken out."""

import numpy as np

from bayeswater.estimate.densities import Densities, least_variance, read_densities
from bayeswater.inference.gaussian_columns_without import ColumnsWithout
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.gaussian_full_without import FullWithout
from bayeswater.inference.gaussian_line import line_joint
from bayeswater.inference.gaussian_read_again import ReadAgain
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


def without(sums: Sums[Scatter], read: Densities) -> FullWithout | ColumnsWithout:
    """Make densities ready to have single rows taken out; yardstick and intensities are held."""
    count = sums.class_count.count
    if read.blend.reading.is_diagonal:
        return ColumnsWithout(read, sums.columns, count, least_variance(read.blend, read.variance_floor))
    joint = FullJoint(np.zeros(read.n_classes), read)
    return FullWithout(read, joint, ReadAgain(read, sums.columns, count, joint))


def likelihood_of_sums(scatter: Scatter, class_count: Array, held: Densities, rows: Array) -> Array:
    """Log-likelihoods (n_rows, n_classes) of rows under other sums, by the yardstick and the intensities of `held`."""
    reading = held.blend.reading
    intensity = held.blend.spherical if reading.prior is None else None
    again = read_densities(scatter, class_count, reading, held.variance_floor, held.blend.yardstick, intensity)
    none = np.zeros(len(class_count))
    joint = joint_of(none, again)
    return (line_joint(none, again, joint) or joint).of(rows, False)
