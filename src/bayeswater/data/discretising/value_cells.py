"""`ValueCells`: the values of a column in rising order, and how many rows of each class have each.

It is made by the one sort that discretising a column takes. A value and a class that some row has are a cell; missing
values are in none. Neighbouring values that all have the same single class need not be told apart to part the classes
well: no cut between them is the best one (Fayyad and Irani, 1992), and `joined` makes one stretch of them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.typing import Array


@dataclass(frozen=True)
class ValueCells:
    """Stretches of values in rising order, of one value each unless they were joined, and the cells of each.

    Parameters
    ----------
    first, last : (n_values,): least and largest value of each stretch
    start : (n_values + 1,): where the cells of each stretch begin, and the end
    code : (n_cells,): class of each cell
    weight : (n_cells,): weight of its rows, whole or not
    n_classes : number of classes
    """

    first: Array
    last: Array
    start: Array
    code: Array
    weight: Array
    n_classes: int

    @classmethod
    def of(cls, values: Array, labels: Array | None, n_classes: int, weight: Array | None) -> "ValueCells":
        """Sort a column (n_rows,) and count it; without labels, all rows are of class 0.

        >>> cells = ValueCells.of(np.array([2.0, 1.0, np.nan, 2.0]), np.array([0, 1, 1, 1]), 2, None)
        >>> cells.first, cells.start, cells.code, cells.weight
        (array([1., 2.]), array([0, 1, 3]), array([1, 0, 1], dtype=int32), array([1, 1, 1]))
        """
        order = np.argsort(values)
        x = values[order].astype(np.float64, copy=False)
        n = int(np.searchsorted(x, np.nan))  # NaN is sorted last
        order, x = order[:n], x[:n]
        w = None if weight is None else weight[order]
        code = np.zeros(n, dtype=np.int32) if labels is None else labels[order].astype(np.int32)
        is_new = _differ_from_last(x)
        value = x[is_new]
        if len(value) == n:  # every row has a value of its own
            return cls(value, value, np.arange(n + 1), code, np.ones(n, dtype=np.int64) if w is None else w, n_classes)
        cell = (np.cumsum(is_new) - 1) * n_classes + code
        if (cell[1:] < cell[:-1]).any():
            by_cell = np.argsort(cell, kind="stable")  # they are nearly in order, which makes it cheap
            code, cell = code[by_cell], cell[by_cell]  # the values of the rows stay as they are
            w = None if w is None else w[by_cell]
        begins = np.flatnonzero(_differ_from_last(cell))
        count = np.diff(begins, append=n) if w is None else np.add.reduceat(w, begins)
        start = np.append(np.flatnonzero(is_new[begins]), len(begins))
        return cls(value, value, start, code[begins], count, n_classes)

    @cached_property
    def pooled(self) -> Array:
        """Weight of the rows of each stretch: (n_values,)."""
        return np.add.reduceat(self.weight, self.start[:-1]) if len(self.first) else self.weight

    @property
    def joined(self) -> "ValueCells":
        """Neighbours of the same single class as one stretch."""
        if not len(self.first):
            return self
        pure = np.diff(self.start) == 1
        code = self.code[self.start[:-1]]  # where pure, the class
        begins = np.ones(len(self.first), dtype=bool)
        begins[1:] = ~(pure[1:] & pure[:-1] & (code[1:] == code[:-1]))
        if begins.all():
            return self
        head = np.flatnonzero(begins)
        kept = np.repeat(begins, np.diff(self.start))  # cells of heads; those of the rest are added to their head's
        start = np.concatenate([np.cumsum(kept)[self.start[head]] - 1, [kept.sum()]])
        weight = np.add.reduceat(self.weight, np.flatnonzero(kept))
        last = self.last[np.append(head[1:], len(self.first)) - 1]
        return ValueCells(self.first[head], last, start, self.code[kept], weight, self.n_classes)

    def cuts_before(self, stretches: Array) -> Array:
        """Cuts half way between the named stretches and those before them: a value up to a cut is on its left.

        >>> ValueCells.of(np.array([1.0, 2.0, 4.0]), None, 1, None).cuts_before(np.array([1, 2]))
        array([1.5, 3. ])
        """
        return half_way(self.last[stretches - 1], self.first[stretches])


def _differ_from_last(x: Array) -> Array:
    """Mark what is not equal to what stands before it; the first is."""
    differs = np.ones(len(x), dtype=bool)
    np.not_equal(x[1:], x[:-1], out=differs[1:])
    return differs


def half_way(low: Array, high: Array) -> Array:
    """Numbers half way between others; `low` where no float is between both, so that `low` <= cut < `high` always.

    >>> half_way(np.array([1.0, 1e308, 5.0]), np.array([2.0, 1.5e308, np.inf]))
    array([1.50e+000, 1.25e+308, 5.00e+000])
    """
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    return np.where(middle < high, middle, low)
