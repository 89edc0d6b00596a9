"""SPODE, TAN and AODE in exact arithmetic: every count a loop over the rows, every product and sum a `Fraction`.

Cells are codes, None where they are missing. A missing parent of a SPODE or a tree is summed over by enumeration of
all its states; a missing cell of AODE is neither parent nor child.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

Row = Sequence[int | None]


@dataclass(frozen=True)
class Counted:
    """Rows, their classes and weights, the domain, and the smoothing."""

    rows: Sequence[Row]
    labels: Sequence[int]
    weights: Sequence[Fraction]
    n_states: Sequence[int]
    n_classes: int
    alpha: Fraction = Fraction(1)
    laplace: bool = False

    def where(self, label: int | None, cells: dict[int, int], there: Sequence[int] = ()) -> Fraction:
        """Weight of the rows of a class (None: any) that have some cells, and any value in those that are `there`."""
        found = Fraction(0)
        for row, own, weight in zip(self.rows, self.labels, self.weights, strict=True):
            has_cells = all(row[j] == state for j, state in cells.items())
            if has_cells and (label is None or own == label) and all(row[j] is not None for j in there):
                found += weight
        return found

    def share(self, count: Fraction, total: Fraction, n_cells: int) -> Fraction:
        """Smoothed share; all cells are equal where nothing is known."""
        cell = self.alpha if self.laplace else self.alpha / n_cells
        whole = total + n_cells * cell
        return (count + cell) / whole if whole else Fraction(1, n_cells)

    def prior(self, y: int) -> Fraction:
        """P(y)."""
        return self.share(self.where(y, {}), self.where(None, {}), self.n_classes)

    def marginal(self, y: int, j: int, x: int) -> Fraction:
        """P(x_j | y)."""
        return self.share(self.where(y, {j: x}), self.where(y, {}, [j]), self.n_states[j])

    def joint(self, y: int, i: int, x: int) -> Fraction:
        """P(y, x_i), in one piece."""
        return self.share(self.where(y, {i: x}), self.where(None, {}, [i]), self.n_classes * self.n_states[i])

    def given(self, y: int, i: int, a: int, j: int, b: int) -> Fraction:
        """P(x_j = b | y, x_i = a)."""
        return self.share(self.where(y, {i: a, j: b}), self.where(y, {i: a}, [j]), self.n_states[j])

    # ------------------------------------------------------------------ joints of a row with every class

    def naive(self, row: Row) -> list[Fraction]:
        """P(y) prod P(x_j | y)."""
        return [
            self.prior(y) * prod(self.marginal(y, j, x) for j, x in enumerate(row) if x is not None)
            for y in range(self.n_classes)
        ]

    def spode(self, row: Row, i: int) -> list[Fraction]:
        """P(y, x_i) prod P(x_j | y, x_i), summed over x_i where it is missing."""
        parents = range(self.n_states[i]) if row[i] is None else [row[i]]
        return [
            sum(
                (
                    self.joint(y, i, a)
                    * prod(self.given(y, i, a, j, b) for j, b in enumerate(row) if j != i and b is not None)
                    for a in parents
                    if a is not None
                ),
                Fraction(0),
            )
            for y in range(self.n_classes)
        ]

    def aode(self, row: Row, min_support: int = 1) -> list[Fraction]:
        """Mean of the SPODEs whose parent is there and was seen often enough; else naive Bayes."""
        parents = [
            i for i, x in enumerate(row) if x is not None and len(row) > 1 and self.where(None, {i: x}) >= min_support
        ]
        if not parents:
            return self.naive(row)
        spodes = [self.spode(row, i) for i in parents]
        return [sum(joints, Fraction(0)) / len(parents) for joints in zip(*spodes, strict=True)]

    def tree(self, row: Row, parents: Sequence[int]) -> list[Fraction]:
        """P(y) prod P(x_j | y, x_parent), summed over all values of all cells that are missing."""
        spaces = [range(n) if x is None else [x] for x, n in zip(row, self.n_states, strict=True)]

        def whole(y: int, cells: Sequence[int]) -> Fraction:
            return self.prior(y) * prod(
                self.marginal(y, j, cells[j]) if p < 0 else self.given(y, p, cells[p], j, cells[j])
                for j, p in enumerate(parents)
            )

        return [sum((whole(y, cells) for cells in product(*spaces)), Fraction(0)) for y in range(self.n_classes)]
