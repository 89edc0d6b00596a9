"""`Occupied`: the stretches of the real line where a column has values, and the limits half way between them.

Each stretch reaches from the least to the largest value in a bucket of a histogram: where a bucket has but one value,
`first` and `last` are that value. Limits are half way between neighbours; in a column of whole numbers they are halves,
which no value can meet. The outermost limits mirror the inner ones of the outermost stretches.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.typing import Array


@dataclass(frozen=True)
class Occupied:
    """Stretches in rising order, with the weight of the rows in each: (n,) arrays.

    >>> Occupied(np.array([0.0, 1.0, 5.0]), np.array([0.0, 1.0, 5.0]), np.ones(3), is_whole=True).limits
    array([-0.5,  0.5,  3.5,  6.5])
    """

    first: Array
    last: Array
    weight: Array
    is_whole: bool

    @property
    def are_values(self) -> bool:
        """Whether each stretch is a single value."""
        return bool((self.first == self.last).all())

    @cached_property
    def limits(self) -> Array:
        """Limits (n + 1,) of the cells around the stretches, one cell for each."""
        middle = self.last[:-1] / 2 + self.first[1:] / 2  # of large numbers the sum might overflow
        if self.is_whole:
            middle = np.floor(middle) + 0.5
        middle = np.where(middle > self.last[:-1], middle, self.first[1:])  # where no float is between them
        if not len(middle):
            half = 0.5 if self.is_whole else 0.0
            return np.concatenate([self.first - half, self.last + half])
        below, above = middle[0] - self.last[0], self.first[-1] - middle[-1]
        return np.concatenate([[self.first[0] - below], middle, [self.last[-1] + above]])

    @cached_property
    def hidden_variance(self) -> Array:
        """Variance (n,) that values spread evenly over a cell would have, beyond that of values over its stretch.

        The variance of values spread evenly over the width w is w^2 / 12, and that of m neighbouring whole numbers
        (m^2 - 1) / 12.
        """
        width = self.last - self.first
        within = (width + 1) ** 2 - 1 if self.is_whole else width**2
        return (np.diff(self.limits) ** 2 - within) / 12

    def logarithms(self) -> "Occupied":
        """The stretches of the logarithms of the values, which must all be over 0."""
        return Occupied(np.log(self.first), np.log(self.last), self.weight, is_whole=False)
