"""Names of bins by their limits, and the way back: cuts read off the names, so that numbers find their bin again.

A network that was learned from numbers has bins for states, and a network file keeps no more of them than their names.
What is read off a name is the limit that it shows: where it was rounded, to six digits and more, a number between both
falls on the side that the name tells.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

ALL = "all"
"""Name of the bin of a column without cuts."""


def interval_names(limits: Sequence[str]) -> list[str]:
    """Name the bins between limits as they are written.

    >>> interval_names(["1.5", "4"])
    ['under 1.5', '1.5 to 4', 'from 4 on']
    """
    if not limits:
        return [ALL]
    between = [f"{low} to {high}" for low, high in pairwise(limits)]
    return [f"under {limits[0]}", *between, f"from {limits[-1]} on"]


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
