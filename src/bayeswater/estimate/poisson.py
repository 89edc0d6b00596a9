"""Poisson rates of counts within each class.

    rate = (total + a) / weight

a = 1/2 is Jeffreys' prior, under which a class that never had the event can still have it; a = 0 is maximum likelihood.
A class without a value in a column takes the rate of all classes; a column without any value has no factor.
"""

import numpy as np

from bayeswater.statistics.count_totals import CountTotals
from bayeswater.typing import Array

JEFFREYS = 0.5
"""Pseudo-count of a rate when none is given."""


def poisson_rates(sums: CountTotals, pseudo_count: Array) -> Array:
    """Rate of each class and column, NaN for a column without a value: (n_classes, n_columns)."""
    weight_all, total_all = sums.pooled()
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = np.where(weight_all > 0, (total_all + pseudo_count) / weight_all, np.nan)
        return np.where(sums.weight > 0, (sums.total + pseudo_count) / sums.weight, pooled)
