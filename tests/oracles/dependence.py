"""KDB and A2DE in exact arithmetic: every count a loop over the rows, every product and sum a `Fraction`.

A column with parents p_1, ..., p_l is looked up level by level: P_0 = P(x | y), P_1 = P(x | y, p_1), and so on. A level
whose parents' states no row has, together with any state of the column, stays at the level before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import prod

from tests.oracles.semi_naive import Counted, Row


@dataclass(frozen=True)
class BackOff:
    """Concentrations of each level with the class (c) and without it (f), and the share of the latter (lambda)."""

    with_class: Sequence[Fraction]
    without_class: Sequence[Fraction]
    class_free: Fraction


@dataclass(frozen=True)
class Dependence:
    """Counted rows, the parents of each column in their order, and the back-off; without one, shares are flat."""

    counted: Counted
    parents: Sequence[Sequence[int]]
    back_off: BackOff | None = None

    known: dict[tuple[int, ...], Fraction] = field(default_factory=dict)

    def given(self, y: int, j: int, cells: Sequence[int]) -> Fraction:
        """P(x_j | y, parents) of whole cells, each found once."""
        key = (y, j, cells[j], *(cells[p] for p in self.parents[j]))
        if key not in self.known:
            self.known[key] = self._given(y, j, cells)
        return self.known[key]

    def _given(self, y: int, j: int, cells: Sequence[int]) -> Fraction:
        counted, x, v = self.counted, cells[j], self.counted.n_states[j]
        found, free = Fraction(0), Fraction(0)
        for level in range(len(self.parents[j]) + 1):
            above = {p: cells[p] for p in self.parents[j][:level]}
            whole = counted.where(None, above, [j])
            if level and not whole:
                break
            count, total = counted.where(y, above | {j: x}), counted.where(y, above, [j])
            if self.back_off is None:
                found = counted.share(count, total, v)
                continue
            c, f = self.back_off.with_class[level], self.back_off.without_class[level]
            of_all = counted.where(None, above | {j: x})
            if level == 0:
                free = (of_all + counted.alpha / v) / (whole + counted.alpha)
                base = free
            else:
                free = (of_all + f * free) / (whole + f)
                base = (1 - self.back_off.class_free) * found + self.back_off.class_free * free
            found = (count + c * base) / (total + c)
        return found

    def joint(self, row: Row, columns: Sequence[int] | None = None) -> list[Fraction]:
        """P(y) prod P(x_j | y, parents), summed over all values of all cells that are missing."""
        used = range(len(row)) if columns is None else columns
        counted = self.counted
        spaces = [
            [0] if j not in used else range(n) if row[j] is None else [row[j]] for j, n in enumerate(counted.n_states)
        ]
        return [
            counted.prior(y)
            * sum((prod(self.given(y, j, cells) for j in used) for cells in product(*spaces)), Fraction(0))
            for y in range(counted.n_classes)
        ]


def a2de(counted: Counted, row: Row, min_support: int = 1) -> list[Fraction]:
    """Mean over the pairs of parents that are there and were seen together often enough; else AODE."""
    there = [j for j, x in enumerate(row) if x is not None]
    pairs = [
        pair
        for pair in combinations(there, 2)
        if counted.where(None, {j: row[j] for j in pair}) >= min_support  # type: ignore[misc]
    ]
    if not pairs:
        return counted.aode(row, min_support)
    joints = [_under_pair(counted, row, pair) for pair in pairs]
    return [sum(each, Fraction(0)) / len(pairs) for each in zip(*joints, strict=True)]


def _under_pair(counted: Counted, row: Row, pair: tuple[int, ...]) -> list[Fraction]:
    above: dict[int, int] = {j: row[j] for j in pair}  # type: ignore[misc]
    n_cells = counted.n_classes * prod(counted.n_states[j] for j in pair)
    return [
        counted.share(counted.where(y, above), counted.where(None, {}, pair), n_cells)
        * prod(
            counted.share(counted.where(y, above | {k: x}), counted.where(y, above, [k]), counted.n_states[k])
            for k, x in enumerate(row)
            if k not in pair and x is not None
        )
        for y in range(counted.n_classes)
    ]
