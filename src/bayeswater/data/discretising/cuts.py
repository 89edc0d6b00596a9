"""`Cuts`: where a column of numbers is cut, the intervals between the cuts, and the interval of each number.

A number that is a cut belongs to the interval below it, as in Weka: intervals are open on the left and closed on the
right. The first and the last reach to infinity, so numbers beyond all that were seen have a place. A missing number is
in no interval; its code is one past the last.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bayeswater.data.labels import narrow_codes
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.interval_codes import interval_codes
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

DIGITS = range(6, 17)
"""Digits with which cuts are written: 6, or as many more as tell them apart."""


@dataclass(frozen=True)
class Cuts:
    """Cuts of one column in rising order; none, if all numbers are in one interval.

    >>> cuts = Cuts("petal width", (0.8, 1.75))
    >>> print(cuts)
    petal width: (-inf, 0.8] (0.8, 1.75] (1.75, inf)
    >>> cuts.codes(np.array([0.8, 0.9, 7.0, np.nan]))
    array([0, 1, 2, 3], dtype=uint8)
    """

    name: str
    points: tuple[float, ...]

    def __len__(self) -> int:
        """Number of cuts: one less than there are intervals."""
        return len(self.points)

    def __iter__(self) -> Iterator[float]:
        return iter(self.points)

    @property
    def n_bins(self) -> int:
        """Number of intervals."""
        return len(self.points) + 1

    @property
    def intervals(self) -> tuple[str, ...]:
        """The intervals, to be read by people."""
        written = next(
            (numbers for digits in DIGITS if len(set(numbers := self._written(digits))) == len(self)),
            [repr(point) for point in self.points],
        )
        limits = ["-inf", *written, "inf"]
        return tuple(f"({low}, {high}{')' if high == 'inf' else ']'}" for low, high in pairwise(limits))

    def _written(self, digits: int) -> list[str]:
        return [f"{point:.{digits}g}" for point in self.points]

    def codes(self, values: Array) -> Array:
        """Give the interval of each number (n_rows,), in the narrowest integers; `n_bins` where it is missing."""
        return apply_cuts(values, np.asarray(self.points))

    def __str__(self) -> str:
        return f"{self.name}: {' '.join(self.intervals)}"


def apply_cuts(values: Array, cuts: Array, *, closed: str = "right") -> Array:
    """Give the interval of each number (n_rows,), in the narrowest integers; len(cuts) + 1 where it is missing.

    Parameters
    ----------
    values : numbers of any kind; those that are no floats are read as float64, some rows at a time
    cuts : float64 in rising order
    closed : "right", where a number that is a cut is in the interval below it, or "left", where it is in that above

    >>> apply_cuts(np.array([1, 2, 3]), np.array([2.0]))
    array([0, 0, 1], dtype=uint8)
    >>> apply_cuts(np.array([1, 2, 3]), np.array([2.0]), closed="left")
    array([0, 1, 1], dtype=uint8)
    """
    cuts = np.ascontiguousarray(cuts, dtype=np.float64)
    codes = narrow_codes(np.empty(len(values), dtype=np.uint8), len(cuts) + 1)
    use_loop = worth_compiling(len(values))
    for rows in row_blocks(len(values)):
        x = values[rows]
        if x.dtype not in (np.float32, np.float64):
            x = x.astype(np.float64)
        interval_codes(np.ascontiguousarray(x), cuts, codes[rows], closed_right=closed == "right", use_loop=use_loop)
    return codes
