"""`Occupied`: the stretches of the real line where a column has values, and the limits half way between them.

Each stretch, from `first` to `last`, is a bucket of a histogram or, in a column of whole numbers, the whole numbers in
it. Limits are half way between neighbours, so where buckets touch, that is the edge of both; in a column of whole
numbers they are halves, which no value can meet. The outermost limits mirror the inner ones of the outermost stretches.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.kernels.key_cells import bucket_edges
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

    @classmethod
    def of_buckets(cls, bucket: Array, weight: Array, *, is_whole: bool) -> "Occupied":
        """Make the stretches of some buckets, given in rising order."""
        first, last = bucket_edges(bucket), bucket_edges(bucket + 1)
        if is_whole:
            first, last = np.ceil(first), np.ceil(last) - 1
        return cls(first, last, weight, is_whole)

    @cached_property
    def limits(self) -> Array:
        """Limits (n + 1,) of the cells around the stretches, one cell for each."""
        middle = self.last[:-1] / 2 + self.first[1:] / 2  # of large numbers the sum might overflow
        if self.is_whole:
            middle = np.floor(middle) + 0.5
        if not len(middle):
            half = 0.5 if self.is_whole else 0.0
            return np.concatenate([self.first - half, self.last + half])
        below, above = middle[0] - self.last[0], self.first[-1] - middle[-1]
        return np.concatenate([[self.first[0] - below], middle, [self.last[-1] + above]])

    @cached_property
    def hidden_variance(self) -> Array:
        """Variance (n,) that values spread evenly over a cell would have, beyond that of values over its stretch."""
        return (np.diff(self.limits) ** 2 - (self.last - self.first) ** 2) / 12

    def logarithms(self) -> "Occupied":
        """The stretches of the logarithms of the values, which must all be over 0."""
        return Occupied(np.log(self.first), np.log(self.last), self.weight, is_whole=False)
