"""`Cuts`: where a column of numbers is cut, the interval of each number, and the names of the intervals.

A number that is a cut belongs to the interval below it, as in Weka: intervals are open on the left and closed on the
right. The first and the last reach to infinity, so numbers beyond all that were seen have a place. A missing number is
in no interval; its code is one past the last.

The bins of models are closed on the left, "under 30" and "from 30 on"; `closed_left` is the bridge between both.

Cuts can be read off the names of bins, so that numbers find their bin again: a network that was learned from numbers
has bins for states, and a network file keeps no more of them than their names. What is read off a name is the limit
that it shows: where it was rounded, to six digits and more, a number between both falls on the side that the name
tells.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from bayeswater.data.labels import narrow_codes
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.interval_cuts import interval_codes
from bayeswater.kernels.threads import row_blocks
from bayeswater.phrases import EN, Language, own_phrases
from bayeswater.records import record
from bayeswater.typing import Array

own_phrases(
    {
        "bin under": ("under {high}", "{high} 以下"),
        "bin between": ("{low} to {high}", "{low} 至 {high}"),
        "bin from": ("from {low} on", "{low} 及以上"),
        "bin all": ("all", "全部"),
    }
)


def interval_names(limits: Sequence[str], language: Language = EN) -> list[str]:
    """Name the bins between limits as they are written.

    >>> interval_names(["1.5", "4"])
    ['under 1.5', '1.5 to 4', 'from 4 on']
    """
    if not limits:
        return [language.say("bin all")]
    between = [language.say("bin between", low=low, high=high) for low, high in pairwise(limits)]
    return [language.say("bin under", high=limits[0]), *between, language.say("bin from", low=limits[-1])]


def cuts_named(names: Sequence[Any]) -> tuple[float, ...] | None:
    """Read cuts off the names of all bins of a column; None where they are no such names, of numbers.

    >>> cuts_named(["under 1.5", "1.5 to 4", "from 4 on"])
    (1.5, 4.0)
    >>> cuts_named(["under age", "of age"])
    """
    if not names or not all(isinstance(name, str) for name in names):
        return None
    limits = [name.removeprefix("under ").rpartition(" to ")[2] for name in names[:-1]]
    if interval_names(limits) != list(names):
        return None
    try:
        cuts = tuple(map(float, limits))
    except ValueError:
        return None
    return cuts if all(map(isfinite, cuts)) and all(low < high for low, high in pairwise(cuts)) else None


Way = Callable[[float], str]

DIGITS: tuple[Way, ...] = tuple(f"{{:.{digits}g}}".format for digits in range(6, 17))
"""Ways to write cuts: with 6 digits, or with more."""


def told_apart(points: Sequence[float], ways: Sequence[Way] = DIGITS) -> list[str]:
    """Write numbers in the first of some ways, each more exact than the last, that gives every one its own text.

    >>> told_apart([0.5, 2.0]), told_apart([1_000_000.0, 1_000_001.0])
    (['0.5', '2'], ['1000000', '1000001'])
    """
    for write in ways:
        written = list(map(write, points))
        if len(set(written)) == len(points):
            return written
    return [repr(float(point)) for point in points]


@record
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
        limits = ["-inf", *told_apart(self.points), "inf"]
        return tuple(f"({low}, {high}{')' if high == 'inf' else ']'}" for low, high in pairwise(limits))

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


def closed_left(cuts: Array, values: Array) -> Array:
    """Cuts whose intervals, closed on the left, hold the same of some numbers as those of `cuts`, closed on the right.

    Half way between two values there is mostly none, and a cut stays what it is. One that is a value itself moves to
    the next float, so that the value stays below it. Cuts that meet on the way had no value between them.

    Parameters
    ----------
    cuts : float64 in rising order
    values : the numbers that were cut, of any kind; NaN is missing

    >>> closed_left(np.array([1.5, 3.0]), np.array([1.0, 2.0, 4.0])).tolist()
    [1.5, 3.0]
    >>> closed_left(np.array([2.0]), np.array([1, 2, 3])).tolist()
    [2.0000000000000004]
    """
    below, above = apply_cuts(values, cuts), apply_cuts(values, cuts, closed="left")
    moved = np.array(cuts, dtype=np.float64)
    met = np.unique(below[below != above])  # the interval below a cut has its number
    with np.errstate(over="ignore"):  # above the largest float lies infinity
        moved[met] = np.nextafter(moved[met], np.inf)
    return np.unique(moved)
