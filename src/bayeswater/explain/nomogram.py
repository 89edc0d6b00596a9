"""A nomogram: for each column a scale with the log-odds that its cells add to one class against another.

Read off a row's place on every scale, add the log-odds and those of the class frequencies: the sum is the log-odds of
the class. That is exact where a model is a sum over columns, and of the columns alone where they depend on each other.
"""

from typing import Any, NamedTuple

import numpy as np

from bayeswater.families.curve import ColumnCurve
from bayeswater.typing import Array

MOST_STOPS = 14
"""Places of a scale that are marked."""


class Scale(NamedTuple):
    """A column, the kind of its law, places that are marked, and what they add to the log-odds."""

    column: str
    kind: str
    at: list[Any]
    odds: Array


def scale_of(curve: ColumnCurve, k: int, other: int, low: float = -np.inf, high: float = np.inf) -> Scale | None:
    """Give places and their log-odds, where both classes can have them; numbers between `low` and `high`.

    >>> found = scale_of(ColumnCurve("a", "states", ["x", "y"], np.array([[0.2, 0.8], [0.8, 0.2]])), 1, 0)
    >>> found.at, found.odds.round(3).tolist()
    (['y', 'x'], [-1.386, 1.386])
    """
    values = np.asarray(curve.values, dtype=np.float64)
    possible = (values[:, k] > 0) & (values[:, other] > 0)
    is_number = curve.kind in ("density", "counts")
    if is_number:
        at = np.asarray(curve.at, dtype=np.float64)
        possible &= (at >= low) & (at <= high)
    chosen = np.flatnonzero(possible)
    if not len(chosen):
        return None
    odds = np.log(values[chosen, k]) - np.log(values[chosen, other])
    if is_number:
        some = np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), MOST_STOPS)).round().astype(int))
        places = [float(curve.at[chosen[i]]) for i in some]
        words: list[Any] = places if curve.axis == "number" else [curve.written(place) for place in places]
        return Scale(curve.column, curve.kind, words, odds[some])
    order = np.argsort(odds, kind="stable")
    if len(order) > MOST_STOPS:  # those that speak most, of either class
        order = np.concatenate([order[: MOST_STOPS // 2], order[-(MOST_STOPS // 2) :]])
    return Scale(curve.column, curve.kind, [curve.at[chosen[i]] for i in order], odds[order])
