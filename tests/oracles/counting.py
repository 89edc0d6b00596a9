"""Counts and information by their definitions: rows are gone through one by one, sums are exact fractions.

`None` stands for a missing cell. Only logarithms need mpmath.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath

DIGITS = 50

Cells = Mapping[tuple[Any, ...], Fraction]


def count(rows: Sequence[Sequence[Any]], y: Sequence[Any], weight: Sequence[Any] | None, columns: Sequence[int]) -> Any:
    """Weight of the rows with each combination of cells in some columns and class: {(cell, ..., class): weight}."""
    total: Counter[tuple[Any, ...]] = Counter()
    for i, (row, label) in enumerate(zip(rows, y, strict=True)):
        total[(*(row[j] for j in columns), label)] += Fraction(1) if weight is None else Fraction(weight[i])
    return {cell: n for cell, n in total.items() if n}


def complete(cells: Cells) -> dict[tuple[Any, ...], Fraction]:
    """Leave out the rows that lack a cell."""
    return {cell: n for cell, n in cells.items() if None not in cell}


def marginal(cells: Cells, places: Sequence[int]) -> dict[tuple[Any, ...], Fraction]:
    """Sum over all but some places of the cells."""
    total: Counter[tuple[Any, ...]] = Counter()
    for cell, n in cells.items():
        total[tuple(cell[place] for place in places)] += n
    return dict(total)


def conditional_information(cells: Cells, a: Sequence[int], b: Sequence[int], given: Sequence[int]) -> Any:
    """Information of the places `a` about the places `b` where those of `given` are known, with fifty digits."""
    joint = marginal(cells, [*a, *b, *given])
    of_a, of_b, of_given = (marginal(cells, [*part, *given]) for part in (a, b, ()))
    total = sum(joint.values())
    with mpmath.workdps(DIGITS):
        terms = []
        for cell, n in joint.items():
            x, z, known = cell[: len(a)], cell[len(a) : len(a) + len(b)], cell[len(a) + len(b) :]
            ratio = n * of_given[known] / (of_a[*x, *known] * of_b[*z, *known])
            terms.append(mpmath.mpf(n.numerator) / n.denominator * _log(ratio))
        return mpmath.fsum(terms) / _number(total) if total else mpmath.mpf(0)


def _log(x: Fraction) -> Any:
    return mpmath.log(_number(x))


def _number(x: Any) -> Any:
    x = Fraction(x)
    return mpmath.mpf(x.numerator) / x.denominator
