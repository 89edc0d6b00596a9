"""Whole numbers too large for floats to tell apart, such as hashes: which of them a column has, if they are few.

A histogram of floats counts smaller numbers one by one; of those from 2^53 on it knows neither how many there are nor
which. A column of few of them holds categories all the same.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.families.planning import FEW_VALUES
from bayeswater.typing import Array

EXACT = 2.0**53
"""Whole numbers up to this are floats, each its own."""

LOOKED_AT = 1000
"""Numbers of a column that are looked at before all are sorted."""

Wide = Mapping[str, tuple[Any, ...] | None]
"""Different large numbers of each column in rising order; None where they are too many."""


def wide_numbers(values: Array) -> tuple[Any, ...] | None:
    """Find the different numbers of a column (n_rows,) from 2^53 on.

    >>> wide_numbers(np.array([5, 2**62, 2**62 + 1, 2**62]))
    (4611686018427387904, 4611686018427387905)
    """
    is_narrow = values.dtype.itemsize < (4 if values.dtype.kind == "f" else 8)  # no such number is so large
    large = () if is_narrow else values[(values >= EXACT) | (values <= -EXACT)]
    if len(large) > LOOKED_AT and len(np.unique(large[:LOOKED_AT])) > FEW_VALUES:  # most are recognised at once
        return None
    return _few(np.unique(large).tolist())


def wide_of_both(mine: Wide, other: Wide) -> Wide:
    """Join what was found in two pieces of a table."""
    found: dict[str, tuple[Any, ...] | None] = {}
    for name in {**mine, **other}:
        here, there = mine.get(name, ()), other.get(name, ())
        found[name] = None if here is None or there is None else _few(sorted({*here, *there}))
    return found


def _few(numbers: list[Any]) -> tuple[Any, ...] | None:
    return tuple(numbers) if len(numbers) <= FEW_VALUES else None
