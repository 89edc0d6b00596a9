"""`Completions`: what rows with missing cells are expected to count for, and draws of these cells.

Where all members of a family are known, a row counts as it is; that never changes. The others are spread over the ways
in which their missing cells can be filled in, by the posterior, which elimination finds (`kernels.row_completions`).
Equal rows are one.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import inf

import numpy as np

from bayeswater.errors import ImpossibleEvidence
from bayeswater.inference.exact.evidence_rows import distinct
from bayeswater.inference.exact.factors import Factors
from bayeswater.kernels.clique_passes import DONE, IMPOSSIBLE, TOO_SMALL
from bayeswater.kernels.row_completions import Families, RowSteps, draw, expect, lay_out
from bayeswater.kernels.runs import starts_of
from bayeswater.kernels.threads import ordered_map
from bayeswater.statistics.category_counts import joint_counts
from bayeswater.typing import Array

PLACES_OF_A_ROW = 2**21
"""Places in tables that a row may take: with more, messages in one tree for all rows are less work."""

PLACES_KEPT = 2**25
"""Places that are kept from round to round, four bytes each; beyond, they are laid out anew."""

MISSING_OF_A_PART = 2**12
"""Missing cells that a thread takes at a time."""

FEW_MISSING, FEW_PLACES = 2**12, 2**18
"""Missing cells of a table, and places that were answered for in this process, each as often as it was, up to which
plain Python does: it takes a quarter of a second for so many, and the loops as long to be loaded, or two seconds to be
compiled."""


PLACES_OF_A_DRAW = 8
"""Places that take as long as one cell that is drawn."""


class Completions:
    """Rows with missing cells, laid out for one graph.

    Parameters
    ----------
    codes : (n_variables, n_rows), the card of a variable, or more, being the code of a missing cell
    parents, cards : the network's
    weight : (n_rows,)
    """

    n_places = 0
    """Places that were answered for in this process."""

    def __init__(self, codes: Array, parents: Sequence[tuple[int, ...]], cards: Sequence[int], weight: Array) -> None:
        self._families = Families.of(parents, cards)
        bound = self._families.cards[:, None]
        scopes = [(*own, v) for v, own in enumerate(parents)]
        counted = [joint_counts(codes, scope, [cards[v] for v in scope], weight) for scope in scopes]
        self._known = np.concatenate([count.ravel().astype(np.float64) for count in counted])
        rows = np.flatnonzero((codes >= bound).any(axis=0))
        lacking = np.minimum(codes[:, rows], bound)
        first, kind = distinct(lacking)
        self._codes = np.ascontiguousarray(lacking[:, first].T, dtype=np.int32)
        self._weight = np.bincount(kind, weight[rows], minlength=len(first))
        self._copied = rows[np.argsort(kind, kind="stable")]
        self._copied_start = starts_of(np.bincount(kind, minlength=len(first)))
        self._n_missing = (self._codes >= self._families.cards).sum(axis=1)
        missing = np.cumsum(self._n_missing)
        ends = np.flatnonzero(np.diff(missing // MISSING_OF_A_PART, append=inf)) + 1
        self._parts = list(pairwise([0, *ends.tolist()]))
        self._kept: dict[tuple[int, int], list[tuple[slice, RowSteps]]] = {}
        self._n_kept = 0

    def counts(self, factors: Factors) -> tuple[Array, float, Array]:
        """Expected counts of all tables end to end, the log-likelihood of the rows, and rows that are left to others.

        Of these only the families without a missing cell are counted.
        """
        table, seen = self._table_of(factors), self._known > 0
        if not table[seen].all():
            raise impossible_rows()
        total, log_likelihood = self._known.copy(), float(self._known[seen] @ np.log(table[seen]))
        state = np.full(len(self._codes), TOO_SMALL, dtype=np.uint8)

        def expected(part: tuple[int, int]) -> tuple[Array, float]:
            counts, gained = np.zeros_like(table), 0.0
            for rows, steps in self._laid_out(part):
                weight = self._weight[rows]
                more, log_evidence, state[rows] = expect(steps, table, weight, use_loop=self._use_loop)
                counts += more
                gained += float(weight @ np.where(state[rows] == DONE, log_evidence, 0.0))
            return counts, gained

        for counts, gained in ordered_map(expected, self._parts):
            total += counts
            log_likelihood += gained
        return total, log_likelihood, self._left(state)

    def draw(self, factors: Factors, copies: Array, rng: np.random.Generator) -> Array:
        """Draw missing cells into copies (n_variables, n_copies, n_rows), but for rows that are left to others."""
        table, state = self._table_of(factors), np.full(len(self._codes), TOO_SMALL, dtype=np.uint8)
        n_drawn = int(self._n_missing @ np.diff(self._copied_start)) * copies.shape[1]
        Completions.n_places += PLACES_OF_A_DRAW * n_drawn
        for part in self._parts:
            for rows, steps in self._laid_out(part):
                copied_start = self._copied_start[rows.start : rows.stop + 1]
                state[rows] = draw(
                    steps, table, self._families.cards, copied_start, self._copied, copies, rng, use_loop=self._use_loop
                )
        return self._left(state)

    @property
    def _use_loop(self) -> bool:
        return bool(self._n_missing.sum() > FEW_MISSING or Completions.n_places > FEW_PLACES)

    def _table_of(self, factors: Factors) -> Array:
        return factors.families.probabilities[: len(self._known)]

    def _left(self, state: Array) -> Array:
        """Rows that are not answered."""
        if (state == IMPOSSIBLE).any():
            raise impossible_rows()
        return self._copied[np.repeat(state == TOO_SMALL, np.diff(self._copied_start))]

    def _laid_out(self, part: tuple[int, int]) -> list[tuple[slice, RowSteps]]:
        """Give the steps of some rows; a row that takes too many places has none."""
        begin, end = part
        laid_out = self._kept.get(part, [])
        begin = end if laid_out else begin
        while begin < end:
            steps = lay_out(self._families, self._codes, begin, end, PLACES_OF_A_ROW, use_loop=self._use_loop)
            laid_out.append((slice(begin, begin + steps.n_rows), steps))
            begin += max(1, steps.n_rows)
        n_places = sum(steps.place.size for _, steps in laid_out)
        Completions.n_places += n_places
        if part not in self._kept and self._n_kept + n_places <= PLACES_KEPT:
            self._n_kept += n_places
            self._kept[part] = laid_out
        return laid_out


def impossible_rows() -> ImpossibleEvidence:
    """Say that some rows cannot be."""
    return ImpossibleEvidence(
        "some rows have probability zero under the network that EM begins with; begin with tables without zeros, or "
        "smooth with an alpha over 0"
    )
