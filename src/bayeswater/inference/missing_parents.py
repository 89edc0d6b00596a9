"""Sums over many missing cells of a row, one cell after the other: variable elimination, in each class for itself.

Every family with a missing member is a factor over its missing members. To sum a cell out, the factors that know it are
multiplied and the product is summed over its states, which leaves one factor over the cells beside it. The cell whose
product is smallest goes first. Rows of one pattern of missing cells go together. Factors are scaled to 1 at their
largest, and the scales kept as logarithms.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from bayeswater.errors import ResourceLimitError
from bayeswater.typing import Array

MOST_TERMS = 2**22
"""Terms of one product of factors, of all classes, that is made for a row, at most."""

CHUNK_TERMS = 2**22
"""Terms of one product that are held at a time, of several rows."""

Terms = Callable[[int, Array, Array], Array]
"""P(x_j | y, parents) of filled rows: column, states (n_filled, n_columns), and the row of each, to (n_filled, K)."""


def sum_over_missing(
    terms: Terms, families: Sequence[Sequence[int]], states: Array, is_gap: Array, n_states: Array, n_classes: int
) -> Array:
    """Log-likelihoods of rows of one pattern: (n_rows, n_classes).

    Parameters
    ----------
    families : columns with a gap in their family, each the last of it, behind its parents
    states : (n_rows, n_columns)
    is_gap : (n_columns,), which cells are summed over
    """
    cells = [[j for j in family if is_gap[j]] for family in families]
    largest = _largest_product(cells, n_states) * n_classes
    if largest > MOST_TERMS:
        raise ResourceLimitError(
            f"a row misses {int(is_gap.sum())} cells that others depend on; to sum over them takes {largest:.4g} terms "
            f"at once, over the limit of {MOST_TERMS}; fit with missing='state' or fewer parents, or fill the cells in"
        )
    total = np.empty((len(states), n_classes))
    size = max(1, CHUNK_TERMS // largest)
    for first in range(0, len(states), size):
        rows = np.arange(first, min(first + size, len(states)))
        factors = _Factors(np.zeros((len(rows), n_classes)))
        for family, own in zip(families, cells, strict=True):
            shape = [int(n_states[j]) for j in own]
            row = np.repeat(rows, prod(shape))
            filled = states[row]
            filled[:, own] = np.tile(np.indices(shape).reshape(len(own), -1).T, (len(rows), 1))
            found = terms(family[-1], filled, row).reshape(len(rows), *shape, n_classes)
            factors.add(own, np.moveaxis(found, -1, 1))
        total[rows] = factors.sum_out(n_states)
    return total


def _next_cell(cells: Sequence[Sequence[int]], n_states: Array) -> tuple[int, list[int]]:
    """Choose the cell whose product of factors is smallest; give it, and the cells in the product."""
    unions = {one: sorted({j for own in cells if one in own for j in own}) for own in cells for one in own}
    best = min(unions, key=lambda one: (prod(int(n_states[j]) for j in unions[one]), one))
    return best, unions[best]


def _largest_product(cells: Sequence[Sequence[int]], n_states: Array) -> int:
    """Terms of the largest product on the way, of one class."""
    left, largest = [list(own) for own in cells if own], 1
    while left:
        cell, union = _next_cell(left, n_states)
        largest = max(largest, prod(int(n_states[j]) for j in union))
        rest = [j for j in union if j != cell]
        left = [own for own in left if cell not in own] + ([rest] if rest else [])
    return largest


@dataclass
class _Factors:
    """Factors (n_rows, n_classes, states of each cell) by their cells, and the logarithm of all scales."""

    log_scale: Array
    left: list[tuple[list[int], Array]] = field(default_factory=list)

    def add(self, cells: list[int], values: Array) -> None:
        """Take a factor in; one whose cells are all summed out is but a scale."""
        order = np.argsort(cells)
        values = values.transpose(0, 1, *(2 + order))
        top = values.max(axis=tuple(range(2, values.ndim)), initial=0.0) if cells else values
        with np.errstate(divide="ignore"):
            self.log_scale += np.log(top)
        if cells:
            scale = np.where(top > 0, top, 1.0).reshape(*top.shape, *[1] * len(cells))
            self.left.append((sorted(cells), values / scale))

    def sum_out(self, n_states: Array) -> Array:
        """Sum over all cells: the logarithm (n_rows, n_classes)."""
        while self.left:
            cell, union = _next_cell([own for own, _ in self.left], n_states)
            product: Array = np.ones((*self.log_scale.shape, *[1] * len(union)))
            for own, values in self.left:
                if cell in own:
                    product = product * values.reshape(
                        *values.shape[:2], *(int(n_states[j]) if j in own else 1 for j in union)
                    )
            self.left = [factor for factor in self.left if cell not in factor[0]]
            self.add([j for j in union if j != cell], product.sum(axis=2 + union.index(cell)))
        return self.log_scale
