"""`Completions`: all ways in which the missing cells of rows can be filled in, listed once and weighed again and again.

Missing variables that meet in no family of the network do not speak with one another once the rest of the row is known.
So the missing cells of a row fall into components, joined where two are in one family, and given the row

    P(component | row)  is proportional to  the product of P(v | parents) over the families that it touches,

which are known but for the component. Rows with the same component and the same cells around it are one case. With a
few cells in a hundred missing, or some in ten, components are small, and the list of all states of all cases, as places
in the tables, is short; rows of which it would be long are left to others (`Completions.others`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from bayeswater.errors import ImpossibleEvidence
from bayeswater.inference.exact.evidence_rows import distinct
from bayeswater.inference.exact.factors import Factors
from bayeswater.kernels.parent_cells import cells_of, strides_of
from bayeswater.kernels.threads import ordered_map
from bayeswater.statistics.category_counts import joint_counts
from bayeswater.typing import Array

TERMS_OF_A_ROW = 2**21
"""Places in tables that a row may take: with more, messages in a tree are less work."""

TERMS_IN_ALL = 2**25
"""Places that are listed at most, four bytes each."""

TERMS_OF_A_PART = 2**18
"""Places from which a new part of the list is begun: what is worked on at a time stays in cache."""

MOST_TERMS_OF_A_PART = 2**21
"""Places from which the rows of one component are looked at in several turns."""

ROWS_AT_ONCE = 2**16
"""Rows whose components are looked for at a time."""


@dataclass(frozen=True)
class Component:
    """Missing variables that speak with one another, and the rows in which they do.

    Attributes
    ----------
    members : the variables
    rows : (n,) rows
    case : (n,) which case each row is
    """

    members: tuple[int, ...]
    rows: Array
    case: Array


@dataclass(frozen=True)
class CompletionPart:
    """Some components with all their states: places in the tables, of state after state, of case after case."""

    components: tuple[Component, ...]
    places: Array  # (n_terms,)
    first_term: Array  # (n_states of all cases,)
    first_state: Array  # (n_cases,)
    weight: Array  # (n_cases,) of the rows

    def posterior(self, log_table: Array) -> tuple[Array, Array]:
        """Probabilities of the states, and the logarithm of the product that they were divided by for each case."""
        log_joint = np.add.reduceat(log_table[self.places], self.first_term)
        top = np.maximum.reduceat(log_joint, self.first_state)
        if np.isneginf(top).any():
            raise impossible_rows()
        n_states = np.diff(self.first_state, append=len(log_joint))
        share = np.exp(log_joint - np.repeat(top, n_states))
        total = np.add.reduceat(share, self.first_state)
        return share / np.repeat(total, n_states), top + np.log(total)

    def counts(self, log_table: Array) -> tuple[Array, float]:
        """Expected counts of all tables end to end, and what the log-likelihood gains."""
        share, log_total = self.posterior(log_table)
        share *= np.repeat(self.weight, np.diff(self.first_state, append=len(share)))
        share = np.repeat(share, np.diff(self.first_term, append=len(self.places)))
        return np.bincount(self.places, share, minlength=len(log_table)), float(self.weight @ log_total)

    def draw(self, factors: Factors, copies: Array, rng: np.random.Generator) -> None:
        """Draw the cells of the components into copies (n_variables, n_copies, n_rows) of the rows."""
        share, _ = self.posterior(factors.log_table)
        first = 0
        for component in self.components:
            cards = [factors.cards[v] for v in component.members]
            n_cases, n_states = int(component.case.max()) + 1, int(np.prod(cards))
            below = np.cumsum(share[first : first + n_cases * n_states].reshape(n_cases, n_states), axis=1)
            first += n_cases * n_states
            below = below[component.case]  # (n, n_states)
            uniform = rng.random((copies.shape[1], len(component.rows)))
            drawn = (uniform[:, :, None] * below[:, -1:] >= below).sum(axis=2)
            states = np.unravel_index(np.minimum(drawn, n_states - 1), cards)
            for v, state in zip(component.members, states, strict=True):
                copies[v][:, component.rows] = state


class Completions:
    """Expected counts of rows whose missing cells are few, or lie apart.

    Parameters
    ----------
    codes : (n_variables, n_rows), the card of a variable, or more, being the code of a missing cell
    parents, cards : the network's
    weight : (n_rows,)

    Attributes
    ----------
    others : (n,) rows that are not counted here
    """

    def __init__(self, codes: Array, parents: Sequence[tuple[int, ...]], cards: Sequence[int], weight: Array) -> None:
        self.scopes = [(*own, v) for v, own in enumerate(parents)]
        self.shapes = [tuple(cards[member] for member in scope) for scope in self.scopes]
        sizes = [int(np.prod(shape)) for shape in self.shapes]
        self.start = np.concatenate([[0], np.cumsum(sizes)])
        self.touched = [[f for f, scope in enumerate(self.scopes) if v in scope] for v in range(len(cards))]
        missing = codes >= np.array(cards)[:, None]
        found = [] if not missing.any() else list(self._components(missing))
        taken = self._rows_within_reach(found, codes.shape[1], cards)
        self.others = np.flatnonzero(~taken)
        self.parts = tuple(self._parts(found, taken, codes, cards, weight))
        rows, w = (codes, weight) if taken.all() else (codes[:, taken], weight[taken])
        counted = [joint_counts(rows, scope, shape, w) for scope, shape in zip(self.scopes, self.shapes, strict=True)]
        self.known = np.concatenate([count.ravel().astype(np.float64) for count in counted])

    def counts(self, factors: Factors) -> tuple[Array, float]:
        """Expected counts of all tables end to end, and the log-likelihood of the rows."""
        log_table = factors.log_table[: len(self.known)]
        seen = self.known > 0
        if np.isneginf(log_table[seen]).any():
            raise impossible_rows()
        total, log_likelihood = self.known.copy(), float(self.known[seen] @ log_table[seen])
        for counts, gained in ordered_map(lambda part: part.counts(log_table), self.parts):
            total += counts
            log_likelihood += gained
        return total, log_likelihood

    def _components(self, missing: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Components, and the rows that have them."""
        joined = sorted({pair for scope in self.scopes for pair in combinations(sorted(scope), 2)})
        n = len(missing)
        for begin in range(0, missing.shape[1], ROWS_AT_ONCE):
            here = missing[:, begin : begin + ROWS_AT_ONCE]
            # The least variable of a component is its label.
            label = np.where(here, np.arange(n)[:, None], n)
            pairs = [(u, v, np.flatnonzero(here[u] & here[v])) for u, v in joined]
            is_settled = False
            while not is_settled:
                before = label.copy()
                for u, v, rows in pairs:
                    label[u, rows] = label[v, rows] = np.minimum(label[u, rows], label[v, rows])
                is_settled = np.array_equal(label, before)
            for v in range(n):
                rows = np.flatnonzero(label[v] == v)
                if len(rows):
                    belongs = label[v:, rows] == v
                    first, kind = distinct(belongs.view(np.uint8))
                    order, ends = np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))
                    for one, some in zip(first.tolist(), np.split(order, ends[:-1]), strict=True):
                        yield tuple((v + np.flatnonzero(belongs[:, one])).tolist()), begin + rows[some]

    def _rows_within_reach(
        self, components: Sequence[tuple[tuple[int, ...], Array]], n_rows: int, cards: Sequence[int]
    ) -> Array:
        """Rows whose list is short, the shortest first as far as there is room: (n_rows,) bool."""
        terms = np.zeros(n_rows)
        for members, rows in components:
            terms[rows] += min(self._n_terms(members, cards), TERMS_OF_A_ROW + 1)  # more may be no float
        order = np.argsort(terms, kind="stable")
        taken = np.zeros(n_rows, dtype=bool)
        taken[order] = (terms[order] <= TERMS_OF_A_ROW) & (np.cumsum(terms[order]) <= TERMS_IN_ALL)
        return taken

    def _n_terms(self, members: tuple[int, ...], cards: Sequence[int]) -> int:
        """Places that one row of a component takes."""
        return prod(cards[v] for v in members) * len(self._families(members))

    def _families(self, members: tuple[int, ...]) -> list[int]:
        """Families that a component touches."""
        return sorted({f for v in members for f in self.touched[v]})

    def _parts(
        self,
        components: Sequence[tuple[tuple[int, ...], Array]],
        taken: Array,
        codes: Array,
        cards: Sequence[int],
        weight: Array,
    ) -> Iterator[CompletionPart]:
        waiting: list[tuple[Component, Array, Array]] = []
        n_terms = 0
        for members, found in components:
            rows = found[taken[found]]
            step = max(1, MOST_TERMS_OF_A_PART // self._n_terms(members, cards))
            for first in range(0, len(rows), step):
                waiting.append(self._listed(members, rows[first : first + step], codes, cards, weight))
                n_terms += waiting[-1][1].size
                if n_terms >= TERMS_OF_A_PART:
                    yield _part(waiting)
                    waiting, n_terms = [], 0
        if waiting:
            yield _part(waiting)

    def _listed(
        self, members: tuple[int, ...], rows: Array, codes: Array, cards: Sequence[int], weight: Array
    ) -> tuple[Component, Array, Array]:
        """Give a component, places (n_cases, n_states, n_families) of its states, and the weight of each case."""
        families = self._families(members)
        around = sorted({v for f in families for v in self.scopes[f]}.difference(members))
        seen = codes[around][:, rows]
        first, case = distinct(seen) if around else (np.zeros(1, dtype=np.int64), np.zeros(len(rows), dtype=np.int64))
        known = np.zeros((len(codes), len(first)), dtype=np.int64)  # the component itself at its first states
        known[around] = seen[:, first]
        states = np.zeros((len(codes), int(np.prod([cards[v] for v in members]))), dtype=np.int64)
        states[list(members)] = np.indices([cards[v] for v in members]).reshape(len(members), -1)
        kind = np.int32 if self.start[-1] < 2**31 else np.int64
        places = np.empty((len(first), states.shape[1], len(families)), dtype=kind)
        for k, f in enumerate(families):
            scope, strides = np.array(self.scopes[f]), strides_of(self.shapes[f])
            places[:, :, k] = (
                self.start[f] + cells_of(known, scope, strides)[:, None] + cells_of(states, scope, strides)
            )
        return Component(members, rows, case), places, np.bincount(case, weight[rows], minlength=len(first))


def _part(listed: Sequence[tuple[Component, Array, Array]]) -> CompletionPart:
    components, places, weight = zip(*listed, strict=True)
    n_terms = np.concatenate([np.full(p.shape[0] * p.shape[1], p.shape[2]) for p in places])
    n_states = np.concatenate([np.full(p.shape[0], p.shape[1]) for p in places])
    return CompletionPart(
        tuple(components),
        np.concatenate([p.ravel() for p in places]),
        np.cumsum(n_terms) - n_terms,
        np.cumsum(n_states) - n_states,
        np.concatenate(weight),
    )


def impossible_rows() -> ImpossibleEvidence:
    """Say that some rows cannot be."""
    return ImpossibleEvidence(
        "some rows have probability zero under the network that EM begins with; begin with tables without zeros, or "
        "smooth with an alpha over 0"
    )
