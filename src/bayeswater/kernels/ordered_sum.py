"""A sum in NumPy that adds its terms one after the other, to the bits of a loop."""

import numpy as np

from bayeswater.typing import Array


def ordered_sum(terms: Array) -> Array:
    """Sum over the first axis of an array in C order.

    NumPy adds whole rows one after the other, but the cells of a single column in pairs of pairs.

    >>> ordered_sum(np.array([[1e16], [1.0], [1.0]])).tolist()
    [1e+16]
    """
    in_order: Array = terms.cumsum(axis=0)[-1] if terms.size == len(terms) > 0 else np.add.reduce(terms, axis=0)
    return in_order
