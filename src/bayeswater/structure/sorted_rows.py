"""`SortedRows`: what trees are grown from: rows in the order of class and content, however they came.

Equal rows become one of their weight together or, where that is hardly ever more than 1, as many rows as it says: those
are counted faster than weights are added. Either way a tree that is grown from them is the same for rows in any order,
and for rows of weight w and w equal rows.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from bayeswater.kernels.class_trees import n_log_n_table
from bayeswater.typing import Array

MOST_REPEATED = 1.5
"""Mean weight of different rows up to which whole weights are written out as equal rows."""


@dataclass(frozen=True)
class SortedRows:
    """Rows with their weights, in the order of class and content.

    Attributes
    ----------
    codes : (n_rows, n_columns)
    n_codes : (n_columns,), of which the first `n_numbers` are numbers
    y : (n_rows,) int32
    weight : (n_rows,), or (0,) where all are 1
    hashes : (n_rows,) uint64, of the content
    """

    codes: Array
    n_codes: Array
    n_numbers: int
    y: Array
    n_classes: int
    weight: Array
    hashes: Array

    @classmethod
    def of(
        cls, codes: Array, n_codes: Array, n_numbers: int, y: Array, n_classes: int, weight: Array, hashes: Array
    ) -> Self:
        """Sort rows, and bring those of equal class and content together."""
        order = np.lexsort((weight, hashes, y))  # by weight, too: a sum of fractions is always taken in one order
        sorted_y, sorted_hashes = y[order], hashes[order]
        is_first = np.ones(len(y), dtype=bool)
        is_first[1:] = (sorted_hashes[1:] != sorted_hashes[:-1]) | (sorted_y[1:] != sorted_y[:-1])
        first = np.flatnonzero(is_first)
        joined = np.add.reduceat(weight[order], first) if len(y) else weight
        kept = order[first]
        if joined.sum() <= MOST_REPEATED * len(kept) and (joined == np.floor(joined)).all():
            kept, joined = np.repeat(kept, joined.astype(np.int64)), np.zeros(0)
        return cls(codes[kept], n_codes, n_numbers, y[kept].astype(np.int32), n_classes, joined, hashes[kept])

    def __len__(self) -> int:
        return len(self.y)

    @property
    def weights(self) -> Array:
        """Weights, 1 where all are: (n_rows,)."""
        return self.weight if len(self.weight) else np.ones(len(self))

    @cached_property
    def n_log_n(self) -> Array:
        """Table of n log n for the weights of nodes."""
        weights = self.weights
        return n_log_n_table(float(weights.sum()), is_whole=bool((weights == np.floor(weights)).all()))
