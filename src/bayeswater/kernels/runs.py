"""Runs of places in an array, end to end or not: where each of many begins and ends."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayeswater.typing import Array


def starts_of(sizes: Array | Sequence[int]) -> Array:
    """Where each of some runs, end to end, begins, and where the last one ends.

    >>> starts_of([2, 0, 3])
    array([0, 2, 2, 5])
    """
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, dtype=np.int64, out=starts[1:])
    return starts


class Runs(NamedTuple):
    """Places from `begin` to `end` of some array, for each of many."""

    begin: Array
    end: Array

    @classmethod
    def between(cls, starts: Array) -> "Runs":
        """Take what lies between one start and the next."""
        return cls(starts[:-1], starts[1:])

    def of(self, which: Array) -> "Runs":
        """Take some of them."""
        return Runs(self.begin[which], self.end[which])

    def moved(self, by: int) -> "Runs":
        """Move all of them on."""
        return Runs(self.begin + by, self.end + by)
