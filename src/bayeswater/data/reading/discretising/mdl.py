"""Cuts that part the classes, as many as shorten the description of the labels (Fayyad and Irani, 1993).

A set of N rows, with k classes and the entropy H of their labels, is cut in two where the entropy left is least, if

    N (H - H_cut)  >  log2(N - 1) + log2(3^k - 2) - (k H - k_1 H_1 - k_2 H_2):

the labels get shorter by the left side, and it takes the right side to say where the cut is and which classes are on
its sides. Then each part is cut in the same way. Weights are numbers of rows; of sets lighter than two rows the place
of a cut costs nothing.

Of cuts that leave the same entropy the first is taken: they are compared in whole units, exactly but for the last ones
(`kernels.interval_cuts`). A cut lies half way between two values, or on the lower one where no float is between them.

Weka's filter ``supervised.attribute.Discretize`` follows the same rules in floats, so of equally good cuts it takes
now this, now that; and half way between neighbouring floats may be the upper one, which its cut then fails to part
from the lower. With ``weka_exact`` entropies are summed in its order and halves taken as they come: the cuts are
Weka's, for rows of equal weight. (Of rows of different weight it counts rows, not weights, in N - 1.)
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from bayeswater.data.reading.discretising.value_cells import ValueCells
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.interval_cuts import TABLE_UP_TO, cut_scores, in_units, lookup_table, units_per_bit
from bayeswater.records import record
from bayeswater.typing import Array

LN2 = float(np.log(2))

LEVELS = 8
"""How often a cell is looked at, about: once for each cut that it is on a side of."""

DIGITS = 52
"""Bits of a float64."""


def mdl_cuts(cells: ValueCells, *, weka_exact: bool = False, price: float = 1.0) -> Array:
    """Cut a column where that tells its classes apart; in rising order.

    With a `price` below 1, cuts cost only this share of their description, and there are more of them.

    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> mdl_cuts(ValueCells.of(x, y, 2, None))
    array([4.5])
    """
    cells = cells.joined
    search = WekaSearch(cells) if weka_exact else ExactSearch.of(cells)
    found, open_sets = [], [(0, len(cells.first), class_weight(cells, 0, len(cells.first)))]
    while open_sets:
        low, high, total = open_sets.pop()
        cut = search.best(low, high, total) if high - low > 1 else None
        if cut is not None:
            left, right = class_weight(cells, low, cut), class_weight(cells, cut, high)
            if is_worth_its_cost(left, right, price):
                found.append(cut)
                open_sets += [(low, cut, left), (cut, high, right)]
    places = np.sort(np.array(found, dtype=np.int64))
    return (cells.last[places - 1] + cells.first[places]) / 2 if weka_exact else cells.cuts_before(places)


def class_weight(cells: ValueCells, low: int, high: int) -> Array:
    """Weight of the rows of each class in some neighbouring stretches: (n_classes,)."""
    some = slice(cells.start[low], cells.start[high])
    total = np.bincount(cells.code[some], weights=cells.weight[some], minlength=cells.n_classes)
    return total.astype(cells.weight.dtype)  # whole weights are below 2**53 in all: no digit is lost


def is_worth_its_cost(left: Array, right: Array, price: float = 1.0) -> bool:
    """Tell whether a cut shortens the description, by the weights of the classes on its sides: (n_classes,) each.

    What the cut itself takes to describe counts `price` times.

    >>> is_worth_its_cost(np.array([4, 0]), np.array([0, 4])), is_worth_its_cost(np.array([2, 1]), np.array([1, 2]))
    (True, False)
    """
    rows, rows_left, rows_right = (float(side.sum()) for side in (left + right, left, right))
    entropy, of_left, of_right = (_entropy(side) for side in (left + right, left, right))
    classes, classes_left, classes_right = (int(np.count_nonzero(side)) for side in (left + right, left, right))
    gain = rows * entropy - rows_left * of_left - rows_right * of_right
    sides = np.log2(3.0) * classes + np.log1p(-2 * 3.0**-classes) / LN2  # log2(3^k - 2), for any k
    sides -= classes * entropy - classes_left * of_left - classes_right * of_right
    return bool(gain > price * (np.log2(max(rows - 1, 1.0)) + sides))


def _entropy(weight: Array) -> float:
    """Entropy, in bits, of the class of a row."""
    share = weight / weight.sum()
    there = share[share > 0]  # a share may be too small for a float, where weights are far apart
    return float(-(there @ np.log2(there)))


@record
class ExactSearch:
    """Search for the cut that leaves the least entropy, in whole units of description length."""

    cells: ValueCells
    units: float
    table: Array | None
    use_loop: bool

    @classmethod
    def of(cls, cells: ValueCells) -> "ExactSearch":
        """Prepare the search in a column."""
        rows = float(cells.weight.sum())
        units = units_per_bit(rows)
        if not worth_compiling(len(cells.first) * cells.n_classes * LEVELS):
            return cls(cells, units, None, use_loop=False)
        if cells.weight.dtype.kind == "i" and rows <= TABLE_UP_TO:
            return cls(cells, units, lookup_table(rows, units), use_loop=True)
        return cls(replace(cells, weight=cells.weight.astype(np.float64)), units, None, use_loop=True)

    def best(self, low: int, high: int, total: Array) -> int | None:
        """Find the stretch from `low` to `high` before which to cut; None, if no cut is better than none.

        Scores that are equal may differ by one unit for each rounded term, and by what float64 cannot hold of a sum.
        """
        start = self.cells.start[low : high + 1]
        total = total.astype(self.cells.weight.dtype)
        scores = cut_scores(
            start, self.cells.code, self.cells.weight, total, self.units, self.table, use_loop=self.use_loop
        )
        of_classes, of_all = int(in_units(total, self.units).sum()), int(in_units(total.sum(), self.units))
        slack = 2 * (self.cells.n_classes + 1) + (of_all >> DIGITS - 3)
        least = int(scores.max()) - slack
        return low + 1 + int((scores >= least).argmax()) if least > of_classes - of_all else None


@record
class WekaSearch:
    """The same search with entropies as Weka sums them up, float by float."""

    cells: ValueCells

    def best(self, low: int, high: int, total: Array) -> int | None:
        """Find the stretch from `low` to `high` before which to cut; None, if no cut is better than none."""
        cells, some = self.cells, slice(self.cells.start[low], self.cells.start[high])
        place = np.repeat(np.arange(high - low), np.diff(cells.start[low : high + 1]))
        code, weight = cells.code[some], cells.weight[some]

        def left(k: int) -> Array:
            of_k = code == k
            return np.cumsum(np.bincount(place[of_k], weight[of_k], minlength=high - low))[:-1]

        classes = range(cells.n_classes)
        entropy = _weka_entropy([map(left, classes), (total[k] - left(k) for k in classes)])
        best = int(entropy.argmin())
        uncut = _weka_entropy([total.astype(np.float64)[:, None]])
        return low + 1 + best if entropy[best] < uncut[0] else None


def _weka_entropy(sides: Iterable[Iterable[Array]]) -> Array:
    """Entropy that cuts leave, by the weights of the classes on either side, in the order in which Weka adds terms."""
    terms, total = np.zeros(1), np.zeros(1)
    for side in sides:
        rows = np.zeros(1)
        for weight in side:
            terms = terms + _x_ln_x(weight)
            rows = rows + weight
        terms = terms - _x_ln_x(rows)
        total = total + rows
    return -terms / (total * LN2)


def _x_ln_x(x: Array) -> Array:
    return x * np.log(np.where(x > 0, x, 1.0))
