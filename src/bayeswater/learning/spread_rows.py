"""`SpreadRows`: expected counts of rows with many missing cells, and draws of them, by messages in a junction tree.

A row whose family is complete counts as it is; where one member is missing it is spread over its states by their
posterior; where several are, by their joint posterior, one after the other:

    P(a, b | row) = P(a | row) P(b | row, a).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from bayeswater.inference.exact.evidence_rows import distinct
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.inference.exact.marginals import marginals
from bayeswater.kernels.parent_cells import strides_of
from bayeswater.learning.completions import impossible_rows
from bayeswater.statistics.category_counts import joint_counts
from bayeswater.typing import Array

SPREAD_ROWS = 2**16
"""Rows that are spread over the states of missing cells at a time."""


class SpreadRows:
    """Counts that rows are expected to have, whatever their missing cells."""

    def __init__(self, codes: Array, parents: Sequence[tuple[int, ...]], cards: Sequence[int], weight: Array) -> None:
        codes, weight = _distinct_rows(codes, np.array(cards), weight)
        self.codes = codes
        self.weight = weight
        self.members = [(*own, v) for v, own in enumerate(parents)]
        self.shapes = [tuple(cards[member] for member in own) for own in self.members]
        self.missing = codes >= np.array(cards)[:, None]
        # What rows without a missing member count for never changes.
        self.known = [
            joint_counts(codes, own, shape, weight).astype(np.float64)
            for own, shape in zip(self.members, self.shapes, strict=True)
        ]

    def counts(self, factors: Factors) -> tuple[Array, float]:
        """Expected counts of all tables end to end, and the log-likelihood of the rows."""
        tree = compile_tree(factors)
        found = marginals(tree, self.codes.T)
        if found.impossible.any():
            raise impossible_rows()
        log_likelihood = float(found.log_evidence @ self.weight)
        counts = []
        for own, shape, known in zip(self.members, self.shapes, self.known, strict=True):
            total = known.ravel().copy()
            for rows, open_members in self._patterns(own):
                cells, share = self._spread(tree, found.marginals, rows, own, shape, open_members)
                total += np.bincount(cells, share, minlength=len(total))
            counts.append(total)
        return np.concatenate(counts), log_likelihood

    def _patterns(self, own: Sequence[int]) -> Iterator[tuple[Array, tuple[int, ...]]]:
        """Rows with the same missing members, some at a time."""
        missing = self.missing[list(own)]
        number = (missing * (1 << np.arange(len(own)))[:, None]).sum(axis=0)
        for pattern in np.unique(number[number > 0]).tolist():
            rows = np.flatnonzero(number == pattern)
            open_members = tuple(own[j] for j in range(len(own)) if pattern >> j & 1)
            for first in range(0, len(rows), SPREAD_ROWS):
                yield rows[first : first + SPREAD_ROWS], open_members

    def _spread(
        self,
        tree: JunctionTree,
        marginal: dict[int, Array],
        rows: Array,
        own: Sequence[int],
        shape: tuple[int, ...],
        open_members: tuple[int, ...],
    ) -> tuple[Array, Array]:
        """Cells that some rows may be in, and their weight in each."""
        stride = dict(zip(own, strides_of(shape).tolist(), strict=True))
        card = dict(zip(own, shape, strict=True))
        observed = [member for member in own if member not in open_members]
        cells = sum((self.codes[member, rows].astype(np.int64) * stride[member] for member in observed), np.int64(0))
        cells, share = np.broadcast_to(cells, len(rows)).copy(), self.weight[rows].copy()
        first, *others = open_members
        cells, share = _over_states(cells, share, marginal[first][rows], stride[first])
        if not others:
            return cells, share
        filled = np.repeat(self.codes[:, rows].T, card[first], axis=0)
        filled[:, first] = np.tile(np.arange(card[first]), len(rows))
        for place, member in enumerate(others):
            possible = share > 0  # what cannot be needs no answer, and has none
            filled, cells, share = filled[possible], cells[possible], share[possible]
            given = marginals(tree, filled, [member]).marginals[member]
            cells, share = _over_states(cells, share, given, stride[member])
            if place < len(others) - 1:
                filled = np.repeat(filled, card[member], axis=0)
                filled[:, member] = np.tile(np.arange(card[member]), len(given))
        return cells, share


def completed(tree: JunctionTree, codes: Array, rng: np.random.Generator) -> Array:
    """Draw the missing cells of all rows from their joint posterior, variable after variable: (n_variables, n_rows)."""
    cards = tree.factors.card_array
    filled = np.minimum(codes, cards[:, None]).astype(codes.dtype)
    for v in tree.factors.order:
        rows = np.flatnonzero(filled[v] >= cards[v])
        if len(rows):
            posterior = marginals(tree, filled[:, rows].T, [v]).marginals[v]
            below = np.cumsum(posterior, axis=1)
            drawn = (rng.random(len(rows))[:, None] * below[:, -1:] >= below).sum(axis=1)
            filled[v, rows] = np.minimum(drawn, cards[v] - 1)
    return filled


def _over_states(cells: Array, share: Array, posterior: Array, stride: int) -> tuple[Array, Array]:
    """Spread cells over the states (n, card) of one more member."""
    states = np.arange(posterior.shape[1]) * stride
    return (cells[:, None] + states).ravel(), (share[:, None] * posterior).ravel()


def _distinct_rows(codes: Array, cards: Array, weight: Array) -> tuple[Array, Array]:
    """Equal rows as one, of their weight together."""
    codes = np.minimum(codes, cards[:, None]).astype(codes.dtype)
    first, kind = distinct(np.ascontiguousarray(codes))
    return codes[:, first], np.bincount(kind, weight, minlength=len(first)).astype(np.float64)
