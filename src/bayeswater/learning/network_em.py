"""EM: tables of a network of largest likelihood from rows with missing cells (Dempster, Laird and Rubin 1977).

The counts of a family that the rows would have are expected under the network so far, every row being spread over the
ways in which its missing cells can be filled in, by their posterior: by elimination within the row
(`learning.completions`) or, where that takes too many cells, by messages in a junction tree (`SpreadRows`).

In `SpreadRows` a row whose family is complete counts as it is; where one member is missing it is spread over its states
by their posterior; where several are, by their joint posterior, one after the other:

    P(a, b | row) = P(a | row) P(b | row, a).

From the expected counts the tables are read as from any counts. Every round raises the logarithm of the probability of
the rows (plus that of the prior); that is watched, and rounding that would let it fall is warned of.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from bayeswater.errors import ConvergenceWarning, PrecisionWarning, warn_user
from bayeswater.estimate.dirichlet import conditional_table
from bayeswater.inference.exact.evidence_rows import distinct
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.inference.exact.marginals import marginals
from bayeswater.kernels.parent_cells import strides_of
from bayeswater.learning.completions import Completions, impossible_rows
from bayeswater.records import record
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

    def counts(self, factors: Factors) -> tuple[Array, float]:
        """Expected counts of families that miss a cell, end to end, and what these add to the log-likelihood."""
        tree = compile_tree(factors)
        found = marginals(tree, self.codes.T)
        if found.impossible.any():
            raise impossible_rows()
        log_likelihood = float(found.log_evidence @ self.weight)
        counts = []
        for own, shape, table in zip(self.members, self.shapes, factors.tables, strict=True):
            known = joint_counts(self.codes, own, shape, self.weight)
            log_likelihood -= float(known[known > 0] @ np.log(table[known > 0]))
            total = np.zeros(table.size)
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


NEGLIGIBLE = 1e-30
"""Share of a row below which an entry counts nothing: what rows speak against falls by a power in every round, and
products of such entries would be too small to be told from nothing."""

SLACK = 1e-9
"""Share of the likelihood by which a round may seem to fall: the rounding of a sum over many rows."""


@record
class EmFit:
    """Tables that EM came to, and its way there.

    Attributes
    ----------
    tables : P(own | parents), one for each variable
    counts : that the rows are expected to have by these tables
    log_likelihood : of the rows before each round, and of the last tables
    n_rounds : rounds that were made
    has_converged : whether the last one changed hardly anything
    """

    tables: tuple[Array, ...]
    counts: tuple[Array, ...]
    log_likelihood: tuple[float, ...]
    n_rounds: int
    has_converged: bool


def fit_by_em(
    start: Factors,
    rows: "Expectation",
    pseudo_counts: Sequence[Array],
    *,
    max_rounds: int = 200,
    tolerance: float = 1e-6,
) -> EmFit:
    """Estimate all tables.

    Parameters
    ----------
    start : network to begin with; its zeros stay
    rows : what is learned from, made for the same graph
    pseudo_counts : for each variable, what is added to the counts of its states: (card,) or of the shape of its table
    max_rounds, tolerance : end after so many rounds, or when a round adds less than this for each row
    """
    factors, way, objective = start, [], -np.inf
    for n_rounds in range(max_rounds + 1):
        counts, log_likelihood = rows.counts(factors)
        way.append(log_likelihood)
        reached = log_likelihood + log_prior(factors.tables, pseudo_counts)
        if reached < objective - SLACK * abs(objective):
            warn_user(f"the likelihood fell from {objective} to {reached} in round {n_rounds}", PrecisionWarning)
        if reached - objective <= tolerance * rows.n_rows:
            return EmFit(factors.tables, tuple(counts), tuple(way), n_rounds, has_converged=True)
        objective = reached
        if n_rounds < max_rounds:
            tables = [conditional_table(count, pseudo) for count, pseudo in zip(counts, pseudo_counts, strict=True)]
            factors = Factors(start.cards, start.parents, tuple(tables))
    warn_user(
        f"EM was stopped after {max_rounds} rounds, the last of which still gained; raise max_rounds, or the tolerance",
        ConvergenceWarning,
    )
    return EmFit(factors.tables, tuple(counts), tuple(way), max_rounds, has_converged=False)


class Expectation:
    """Counts that rows with missing cells are expected to have.

    Parameters
    ----------
    codes : (n_variables, n_rows), the card of a variable, or more, being the code of a missing cell
    parents, cards : the network's
    weight : (n_rows,), optional
    """

    def __init__(
        self, codes: Array, parents: Sequence[tuple[int, ...]], cards: Sequence[int], weight: Array | None = None
    ) -> None:
        self.codes, self.parents, self.cards = codes, parents, cards
        self.weight = np.ones(codes.shape[1]) if weight is None else weight.astype(np.float64)
        self.n_rows = float(self.weight.sum())
        self.negligible = NEGLIGIBLE * float(self.weight.min(initial=1.0, where=self.weight > 0))
        self.completions = Completions(codes, parents, cards, self.weight)

    def counts(self, factors: Factors) -> tuple[list[Array], float]:
        """Expected counts of every family, and the log-likelihood of the rows."""
        flat, log_likelihood, left = self.completions.counts(factors)
        if len(left):
            spread = SpreadRows(self.codes[:, left], self.parents, self.cards, self.weight[left])
            more, gained = spread.counts(factors)
            flat, log_likelihood = flat + more, log_likelihood + gained
        flat[flat < self.negligible] = 0.0
        sizes = np.cumsum([table.size for table in factors.tables])
        parts = np.split(flat, sizes[:-1])
        return [part.reshape(table.shape) for part, table in zip(parts, factors.tables, strict=True)], log_likelihood

    def draw(self, factors: Factors, n_copies: int, rng: np.random.Generator) -> Array:
        """Draw the missing cells from their joint posterior, row by row: (n_variables, n_copies, n_rows)."""
        copies = np.repeat(self.codes[:, None], n_copies, axis=1)
        left = self.completions.draw(factors, copies, rng)
        if len(left):
            tree = compile_tree(factors)
            for copy in range(n_copies):
                copies[:, copy, left] = completed(tree, self.codes[:, left], rng)
        return copies


def log_prior(tables: Sequence[Array], pseudo_counts: Sequence[Array]) -> float:
    """What pseudo-counts add to the logarithm that EM raises, up to a constant."""
    total = 0.0
    for table, pseudo in zip(tables, pseudo_counts, strict=True):
        if pseudo.any():
            counted = np.broadcast_to(pseudo, table.shape)
            total += float((counted[counted > 0] * np.log(table[counted > 0])).sum())
    return total
