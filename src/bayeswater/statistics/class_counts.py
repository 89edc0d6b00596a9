"""`ClassCounts`: the weight of every class, N_k."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.variable import Variable
from bayeswater.statistics.statistic import Statistic, spread
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False)
class ClassCounts(Statistic):
    """Rows of every class: int64, or float64 where weights are fractions.

    >>> from bayeswater.data.labels import encode_labels
    >>> ClassCounts.of(encode_labels(np.array([2, 5, 5])), None).count
    array([1, 2])
    """

    count: Array  # (n_classes,)

    @classmethod
    def of(cls, labels: Labels, weight: Array | None) -> Self:
        """Count the labels of some rows."""
        if weight is None:
            return cls(labels.variable, labels.count)
        count = np.bincount(labels.codes, weights=weight, minlength=labels.n_classes)
        return cls(labels.variable, count.astype(weight.dtype))

    def onto(self, classes: Variable) -> Self:
        """Lay the counts out for other classes."""
        return type(self)(classes, spread(self.count, self.classes, classes))

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        classes = self.classes.union(other.classes)
        return self.onto(classes), other.onto(classes)
