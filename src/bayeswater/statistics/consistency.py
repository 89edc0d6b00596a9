"""What the sums of any rows fulfil; sums that came from elsewhere are held against it.

Counts are finite and not negative, no cell is counted more often than its class, and the states of a column, with its
missing cells, add up to the class counts.
"""

from typing import Any

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.statistics.binary_counts import BinaryCounts
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.feature_sums import FeatureSums
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

SLACK = 1e-6
"""Float sums taken in another order, merged and subtracted, may differ by this share of the largest class."""


def require_consistent(sums: Sums[Any]) -> None:
    """Refuse sums that no rows can have."""
    count, n_classes = sums.class_count.count, sums.classes.n_states
    _require_shape("class_count", count, (n_classes,))
    _require_amounts("class_count", count)
    _require(bool(count.any()), "class_count is zero for every class")
    slack = 0 if count.dtype.kind == "i" else SLACK * count.max()
    match sums.columns:
        case Moments(weight=weight, mean=mean, scatter=scatter):
            _require_shape("mean", mean, (n_classes, None))
            _require(bool(np.isfinite(mean).all()), "mean is not finite")
            _require_shape("scatter", scatter, mean.shape)
            _require_amounts("scatter", scatter)
            _require_observed("weight", weight, mean.shape, count, slack)
            _require_float(mean, scatter)
        case FeatureSums(feature_sum=feature_sum):
            _require_shape("feature_sum", feature_sum, (n_classes, None))
            _require_amounts("feature_sum", feature_sum)
        case BinaryCounts(present=present, observed=observed):
            _require_shape("present", present, (n_classes, None))
            _require_observed("present", present, present.shape, count, slack)
            _require_observed("observed", observed, present.shape, count, slack)
            _require(bool((present <= observed + slack).all()), "present is more often than observed")
        case CategoryCounts(table=table, schema=schema):
            n_rows = sum(variable.n_states + 1 for variable in schema)
            _require_shape("table", table, (n_rows, n_classes))
            _require_observed("table", table, table.shape, np.broadcast_to(count, table.shape).T, slack)
