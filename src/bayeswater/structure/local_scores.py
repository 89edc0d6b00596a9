"""`LocalScores`: the score of every variable with its parents, and of every change of one arc, counted when asked for.

A search asks for columns: ``column(y, parents)[x]`` is the score of y when x joins its parents, or leaves them. Columns
are kept, up to a budget of bytes, so that what a search comes back to is not counted again; and so are the terms of
sets of variables, which parent sets share (see `kernels.local_score_columns`).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from scipy.special import xlogy

from bayeswater.errors import ParameterError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.local_score_columns import remember_sets, score_column, set_numbers, state_bits
from bayeswater.kernels.pair_information import PairValues, pair_values
from bayeswater.kernels.threads import Crew
from bayeswater.kernels.weighted_columns import score_weighted_column
from bayeswater.limits import require_table_bytes
from bayeswater.structure.scores import LIKELIHOOD, REGRET, Score, term_table
from bayeswater.typing import Array

CACHE_BYTES = 2**28
"""Bytes that are kept, half of them columns and half terms of sets; when they are full, what is new is not kept any
more."""

AT_A_TIME = 16
"""Columns that are counted at the same time; what is found for them is known to those after them."""

FEWEST_SLOTS = 2**12
"""Slots of the table of sets to begin with."""

TABLE_LENGTH = 2**16
"""Counts whose terms are read from a table; larger ones, of which there are few, are worked out. Where every number of
configurations has a table of its own (BDeu), they are shorter."""

MOST_TABLES = 4096
"""Tables of terms that are kept."""


Counted = tuple[Array, Array, Array]
"""A column, and the sets that were counted for it, with their terms."""


class LocalScores:
    """Scores of parent sets over one table of codes, all of whose cells are there.

    Parameters
    ----------
    codes : (n_variables, n_rows), each row of it one variable
    n_states : (n_variables,)
    score : what to count
    weight : (n_rows,), optional
    """

    def __init__(
        self, codes: Array, n_states: Array, score: Score, weight: Array | None = None, cache_bytes: int = CACHE_BYTES
    ) -> None:
        self.codes = np.ascontiguousarray(codes)
        self.n_states = np.asarray(n_states, dtype=np.int64)
        self.score = score
        self.weight = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        self.n_rows: float = codes.shape[1] if weight is None else float(weight.sum())
        self.n_variables = len(self.n_states)
        self.n_counted = 0
        self.is_full = False
        self._columns: dict[tuple[int, frozenset[int]], Array] = {}
        self._most_columns = cache_bytes // 2 // (8 * self.n_variables + 200)
        self._most_slots = cache_bytes // 2 // 16
        self._sets, self._terms = _slots(FEWEST_SLOTS if score.is_equivalent and weight is None else 0)
        self._n_sets = 0
        self._crew = Crew()
        self._lookups: dict[tuple[float, int], tuple[Array, Array, Array]] = {}
        self._numbers: dict[tuple[float, int], int] = {}
        # Kernels know the number of configurations beforehand, and the regret of whole rows alone, from tables.
        self._has_kernel = score.has_shape and not score.counts_seen_configurations
        self._has_kernel &= weight is None or score.name != "fnml"
        self._per_parent, self._per_variable = score.per_parent(self.n_variables)
        self._uses_kernel = False
        if score.name == "fnml" and weight is not None and (weight != np.rint(weight)).any():
            raise ParameterError("fnml is a score of whole rows; give whole weights, or take 'qnml' or 'bic'")
        self.expect(self.n_variables)

    def expect(self, n_columns: int) -> None:
        """Say how many columns will be asked for: from some work on, they are counted by compiled code."""
        self._uses_kernel |= self._has_kernel and worth_compiling(self.codes.size * n_columns)

    def of(self, y: int, parents: Iterable[int]) -> float:
        """Score of one parent set."""
        return float(self.leaving(y, frozenset(parents))[y])

    def total(self, parents: Iterable[Iterable[int]]) -> float:
        """Score of a whole graph."""
        return sum(self.of(y, own) for y, own in enumerate(parents))

    def column(self, y: int, parents: frozenset[int]) -> Array:
        """Scores of y with each other variable joining or leaving its parents; at y, as it stands: (n_variables,).

        Where joining cannot gain, whatever the rows say, it may be -inf.
        """
        return self.columns([(y, parents)])[0]

    def columns(self, wanted: Sequence[tuple[int, frozenset[int]]]) -> list[Array]:
        """Give several columns; those that are not known yet are counted on our threads."""
        found = {key: column for key in wanted if (column := self._columns.get(key)) is not None}
        missing = [key for key in dict.fromkeys(wanted) if key not in found]
        for place in range(0, len(missing), AT_A_TIME):
            some = missing[place : place + AT_A_TIME]
            counted = self._crew.map(lambda count: count(), [self._count(y, parents) for y, parents in some])
            columns, sets, terms = zip(*counted, strict=True)
            found |= {key: self._with_prior(*key, column) for key, column in zip(some, columns, strict=True)}
            self._remember(np.concatenate(sets), np.concatenate(terms))
        for key in missing:
            if len(self._columns) < self._most_columns:
                self._columns[key] = found[key]
            else:
                self.is_full = True
        return [found[key] for key in wanted]

    def pair_gains(self) -> PairValues | None:
        """What every pair of variables gains by an arc; None where that is not told by its information alone."""
        alone, given = (self.score.terms(q, 2, self.n_rows) for q in (1.0, 2.0))
        if not self._uses_kernel or self.weight is not None or (given.cell, given.row) != (LIKELIHOOD, LIKELIHOOD):
            return None
        y = np.zeros(self.codes.shape[1], dtype=np.int64)
        gains = pair_values(self.codes, self.n_states, y, 1, alone.constant - given.constant)
        gains.packed += self._per_parent
        return gains

    def leaving(self, y: int, parents: frozenset[int]) -> Array:
        """Scores of y as it stands, at y, and without each of its parents; of the others it tells nothing."""
        found = self._columns.get((y, parents))
        if found is None:
            counted, *sets = self._count(y, parents, joining=False)()
            self._remember(*sets)
            found = self._with_prior(y, parents, counted)
        return found

    def _with_prior(self, y: int, parents: frozenset[int], column: Array) -> Array:
        """Add what the number of parents is worth."""
        if self._per_parent == self._per_variable == 0.0:
            return column
        n_parents = np.full(self.n_variables, len(parents) + 1)
        n_parents[list(parents)] = len(parents) - 1
        n_parents[y] = len(parents)
        return column + (self._per_parent * n_parents + self._per_variable)

    def _count(self, y: int, parents: frozenset[int], *, joining: bool = True) -> Callable[[], Counted]:
        """Give a function that counts a column, and shares nothing that changes with any other."""
        if not self._uses_kernel:
            return lambda: self._reference(y, parents, joining)
        if self.weight is not None:
            return self._by_weights(y, sorted(parents))
        return self._by_kernel(y, sorted(parents), joining)

    def _remember(self, sets: Array, terms: Array) -> None:
        """Keep what was counted, as long as there is room."""
        self.n_counted += len(sets) // 2
        if not (len(self._sets) and self._uses_kernel):
            return
        n_slots = len(self._sets)
        while 2 * (self._n_sets + len(sets)) > n_slots:  # half of them stay free, or a set would be long to find
            n_slots *= 2
        if n_slots > self._most_slots:
            self.is_full = True
            return
        if n_slots > len(self._sets):
            old, (self._sets, self._terms) = (self._sets, self._terms), _slots(n_slots)
            remember_sets(*old, self._sets, self._terms)
        self._n_sets += remember_sets(sets, terms, self._sets, self._terms)

    # ------------------------------------------------------------------ by the kernel

    @cached_property
    def _bits(self) -> tuple[Array, Array]:
        first = np.concatenate([[0], np.cumsum(self.n_states)[:-1]])
        return state_bits(self.codes, self.n_states), first

    @cached_property
    def _numbers_of_sets(self) -> Array:
        return set_numbers(self.n_variables)

    @cached_property
    def _cards(self) -> list[int]:
        return self.n_states.tolist()

    @cached_property
    def _distinct_cards(self) -> tuple[list[int], Array]:
        """The numbers of states that variables have, and for each variable the place of its own."""
        cards, which = np.unique(self.n_states, return_inverse=True)
        return cards.tolist(), which

    def _by_kernel(self, y: int, parents: list[int], joining: bool) -> Callable[[], Counted]:
        if len(self._numbers) > MOST_TABLES:
            # Columns that wait to be counted keep the tables that they were told of: new ones are made elsewhere.
            self._numbers, self._lookups = {}, {}
            self._tables = np.empty((0, self._table_length)), np.empty(0)
        bits, first = self._bits
        n_configurations = prod([float(self._cards[parent]) for parent in parents], start=1.0)
        lookups = [array.copy() for array in self._lookup(n_configurations, y, joining=True)]
        cell, row, constant = lookups
        for parent in [*parents, y]:
            q = n_configurations if parent == y else n_configurations / self._cards[parent]
            cell[parent], row[parent], constant[parent] = self._lookup(q, y, joining=False)
        members = np.array(parents, dtype=np.int64)
        known = (self.codes, bits, first, self.n_states, y, members, joining, *self._tables, *lookups, self._most_gain)
        sets = (self._numbers_of_sets, self._sets, self._terms)

        def count() -> Counted:
            scores = np.empty(self.n_variables)
            new_sets, new_terms = _slots(2 * self.n_variables)
            room = np.empty((2, self.n_variables), dtype=np.int64), np.empty((3, self.codes.shape[1] + 1), np.uint32)
            more = np.empty((4, self.codes.shape[1] + 1), dtype=np.int64)
            # Where the loop runs as plain Python: words of bits wrap around, and prices may be infinite.
            with np.errstate(over="ignore", invalid="ignore"):
                n = score_column(*known, *sets, scores, new_sets, new_terms, *room[0], *room[1], *more)
            return scores, new_sets[:n], new_terms[:n]

        return count

    def _by_weights(self, y: int, parents: list[int]) -> Callable[[], Counted]:
        q = float(np.prod(self.n_states[parents], dtype=np.float64))
        configurations = q * self.n_states
        configurations[parents] = q / self.n_states[parents]
        configurations[y] = q
        n_own = int(self.n_states[y])
        known = {c: self.score.terms(c, n_own, self.n_rows) for c in set(configurations.tolist())}
        terms = [known[c] for c in configurations.tolist()]
        marks = np.array([[term.cell for term in terms], [term.row for term in terms]])
        constant, members = np.array([term.constant for term in terms]), np.array(parents, dtype=np.int64)

        def count() -> Counted:
            scores = np.empty(self.n_variables)
            score_weighted_column(
                self.codes, self.weight, self.n_states, y, members, marks, constant, self._most_gain, scores
            )
            return scores, *_slots(2 * self.n_variables)

        return count

    @cached_property
    def _most_gain(self) -> Array:
        """Most that each variable can add to a log-likelihood: all that is open about it without any other."""
        if self.score.name not in ("loglik", "aic", "bic"):
            return np.full(self.n_variables, np.inf)
        counts = [np.bincount(column, self.weight, minlength=1) for column in self.codes]
        return np.array([xlogy(self.n_rows, self.n_rows) - xlogy(count, count).sum() for count in counts])

    def _lookup(self, q: float, y: int, *, joining: bool) -> Any:
        """Which tables the terms are read from: of q configurations, or for each variable of q times its states."""
        r = self._cards[y]
        key = (q if joining else -q, r)
        found = self._lookups.get(key)
        if found is None:
            cards, which = self._distinct_cards
            terms = [self.score.terms(q * card, r, self.n_rows) for card in (cards if joining else [1])]
            cell = np.array([self._table_of(term.cell, r) for term in terms])
            row = np.array([self._table_of(term.row, r) for term in terms])
            constant = np.array([term.constant for term in terms])
            found = (cell[which], row[which], constant[which]) if joining else (cell[0], row[0], constant[0])
            self._lookups[key] = found
        return found

    def _table_of(self, mark: float, r: int) -> int:
        """Give the number of the table of a term; one that is not there yet is made."""
        key = (mark, r if mark == REGRET else 0)
        number = self._numbers.get(key)
        if number is None:
            tables, marks = self._tables
            number = self._numbers[key] = len(self._numbers)
            if number == len(tables):
                more = np.empty((max(8, 2 * len(tables)), self._table_length))
                more[: len(tables)] = tables
                tables, marks = more, np.concatenate([marks, np.empty(len(more) - len(marks))])
            tables[number], marks[number] = term_table(mark, r, self._table_length), mark
            self._tables = tables, marks
        return number

    @cached_property
    def _tables(self) -> tuple[Array, Array]:
        return np.empty((0, self._table_length)), np.empty(0)

    @property
    def _table_length(self) -> int:
        n = int(self.n_rows) + 1
        if self.score.name == "fnml":
            return n
        return min(n, TABLE_LENGTH if self.score.terms(1.0, 2, self.n_rows).cell == LIKELIHOOD else TABLE_LENGTH // 16)

    # ------------------------------------------------------------------ the reference

    def _reference(self, y: int, parents: frozenset[int], joining: bool) -> Counted:
        scores = np.full(self.n_variables, -np.inf)
        counted = range(self.n_variables) if joining else [*parents, y]
        for x in counted:
            scores[x] = self._score_of(y, sorted(parents if x == y else parents ^ {x}))
        return scores, *_slots(2 * len(counted))

    def _score_of(self, y: int, parents: list[int]) -> float:
        r = int(self.n_states[y])
        configuration, n_numbers = numbered(self.codes, self.n_states, parents)
        require_table_bytes(
            8 * n_numbers * r, f"counting a variable of {r} states with its parents", "leave columns of many states out"
        )
        counts = np.bincount(configuration * r + self.codes[y], self.weight, minlength=n_numbers * r).reshape(-1, r)
        n_configurations = float(np.prod(self.n_states[parents], dtype=np.float64))
        return self.score.local_score(counts, n_configurations, self.n_rows)


def _slots(n: int) -> tuple[Array, Array]:
    """Room for the numbers of sets and for their terms, all of it free."""
    return np.zeros(n, dtype=np.uint64), np.zeros(n)


def numbered(codes: Array, n_states: Array, columns: Sequence[int]) -> tuple[Array, int]:
    """Number the configurations of some columns: the number of each row, and a bound of the numbers.

    They are numbered anew whenever there could be many more of them than rows.
    """
    n_rows = codes.shape[1]
    configuration, n_numbers = np.zeros(n_rows, dtype=np.int64), 1
    for column in columns:
        configuration = configuration * int(n_states[column]) + codes[column]
        n_numbers *= int(n_states[column])
        if n_numbers > 2 * n_rows:
            configuration = np.unique(configuration, return_inverse=True)[1]
            n_numbers = int(configuration.max(initial=0)) + 1
    return configuration, n_numbers
