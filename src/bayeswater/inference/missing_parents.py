"""Sums over missing parents: all that they can be, by exact inference in a network, or one cell after the other.

A missing cell that is the parent of one that is there is summed over, exactly. Where its row can be few rows, these are
filled in and their joints added up (`filled`). Where they are many, rows share trees and compiled code of exact
inference: the columns and the class are a network whose tables are read once (`DependenceNetwork`; a class of equal
shares stands first, and what it adds to every log-joint is known). Where each row is taken out of the counts, so that
no two have the same tables, cells are summed out by variable elimination in each class for itself (`sum_over_missing`):
a column that is missing, or has missing parents, is a factor over these. The factors that know a cell are multiplied
and the product is summed over its states, which leaves one factor over the cells beside it; the cell whose product is
smallest goes first. Rows of one pattern of missing cells go together. Factors are scaled to 1 at their largest, and
the scales kept as logarithms.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from bayeswater.errors import ResourceLimitError
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.inference.network_joint import ClassJoint
from bayeswater.records import record
from bayeswater.statistics.parent_counts import Parents
from bayeswater.typing import Array

MOST_TERMS = 2**22
"""Terms of one product of factors, of all classes, that is made for a row, at most."""

CHUNK_TERMS = 2**22
"""Terms of one product that are held at a time, of several rows."""

Terms = Callable[[int, Array, Array], Array]
"""P(x_j | y, parents) of filled rows: column, states (n_filled, n_columns), and the row of each, to (n_filled, K)."""


def sum_over_missing(
    terms: Terms, columns: Sequence[Sequence[int]], states: Array, is_gap: Array, n_states: Array, n_classes: int
) -> Array:
    """Log-likelihoods of rows of one pattern: (n_rows, n_classes).

    Parameters
    ----------
    columns : those with a gap among themselves and their parents, each behind its parents
    states : (n_rows, n_columns)
    is_gap : (n_columns,), which cells are summed over
    """
    cells = [[j for j in members if is_gap[j]] for members in columns]
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
        for members, own in zip(columns, cells, strict=True):
            shape = [int(n_states[j]) for j in own]
            row = np.repeat(rows, prod(shape))
            filled = states[row]
            filled[:, own] = np.tile(np.indices(shape).reshape(len(own), -1).T, (len(rows), 1))
            found = terms(members[-1], filled, row).reshape(len(rows), *shape, n_classes)
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


CHUNK_FILLED = 2**16
"""Filled rows that are held at a time, about."""


@record
class Filled:
    """Some rows (a slice of those given), filled in: states (n_filled, n_columns), and the row of each."""

    rows: slice
    row: Array
    states: Array
    first: Array  # (n_rows,) first of the filled rows of each

    def log_sum(self, log_values: Array) -> Array:
        """Logarithm of the sum over the filled rows of each row: (n_filled, ...) to (n_rows, ...)."""
        top = np.maximum.reduceat(log_values, self.first)
        top[np.isneginf(top)] = 0.0
        with np.errstate(divide="ignore"):
            return np.log(np.add.reduceat(np.exp(log_values - top[self.row - self.row[0]]), self.first)) + top


def n_filled(gaps: Array, n_states: Array) -> Array:
    """Number of combinations of each row: (n_rows,), as floats, which do not overflow."""
    return np.where(gaps, n_states, 1.0).prod(axis=1)


def filled(states: Array, gaps: Array, n_states: Array) -> Iterator[Filled]:
    """Fill the gaps (n_rows, n_columns) of rows, some rows at a time.

    >>> part = next(filled(np.array([[2, 0]]), np.array([[True, False]]), np.array([2, 3])))
    >>> part.states
    array([[0, 0],
           [1, 0]])
    """
    size = n_filled(gaps, n_states)
    last = np.cumsum(size.astype(np.int64))
    first = 0
    while first < len(states):
        before = int(last[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(last, before + CHUNK_FILLED, side="right")))
        times = size[first:end].astype(np.int64)
        row = np.repeat(np.arange(first, end), times)
        starts = np.concatenate([[0], np.cumsum(times)[:-1]])
        number = np.arange(len(row)) - np.repeat(starts, times)
        found = states[row]
        for j in np.flatnonzero(gaps[first:end].any(axis=0)).tolist():
            is_gap = gaps[row, j]
            found[is_gap, j] = number[is_gap] % n_states[j]
            number[is_gap] //= n_states[j]
        yield Filled(slice(first, end), row, found, starts)
        first = end


@record
class DependenceNetwork:
    """Some columns, and the network of the class and these columns."""

    columns: list[int]
    joint: ClassJoint

    @classmethod
    def of(
        cls,
        used: Sequence[int],
        parents: Parents,
        n_states: Array,
        n_classes: int,
        terms: Callable[[int, Array], Array],
        most_terms: int,
    ) -> "DependenceNetwork | None":
        """Write out all tables; None where they have more entries than `most_terms`.

        Parameters
        ----------
        used : columns that say something; a column without states does not, also as a parent
        parents, n_states : of all columns
        terms : P(x_j | y, parents) of a column j for states (n, n_parents + 1), its own last: (n, n_classes)
        """
        columns = [j for j in used if n_states[j] > 0]
        place = {j: 1 + at for at, j in enumerate(columns)}
        shapes = {j: [max(int(n_states[member]), 1) for member in (*parents[j], j)] for j in columns}
        if n_classes * sum(map(prod, shapes.values())) > most_terms:
            return None
        above: list[tuple[int, ...]] = [()]
        tables = [np.full(n_classes, 1 / n_classes)]
        for j, shape in shapes.items():
            states = np.stack([axis.ravel() for axis in np.indices(shape)], axis=1)
            known = [i for i in parents[j] if i in place]
            above.append((0, *(place[i] for i in known)))
            tables.append(terms(j, states).T.reshape(n_classes, *n_states[[*known, j]].tolist()))
        cards = (n_classes, *n_states[columns].tolist())
        return cls(columns, ClassJoint(compile_tree(Factors(cards, tuple(above), tuple(tables)))))

    def log_likelihood(self, states: Array) -> Array | None:
        """Log P(row | y) of rows of states: (n_rows, n_classes); None where the cliques of some row are too large."""
        try:
            return self.joint.of(states[:, self.columns]) + np.log(self.joint.n_classes)
        except ResourceLimitError:
            return None
