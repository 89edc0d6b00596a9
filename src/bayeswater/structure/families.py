"""`Families`: the score of every variable with its parents, and of every change of one arc, counted when asked for.

A search asks for columns: ``column(y, parents)[x]`` is the score of y when x joins its parents, or leaves them. Columns
are kept, up to a budget of bytes, so that what a search comes back to is not counted again.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.special import xlogy

from bayeswater.errors import ParameterError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.family_columns import score_column, state_bits
from bayeswater.kernels.threads import ordered_map
from bayeswater.kernels.weighted_columns import score_weighted_column
from bayeswater.limits import require_table_bytes
from bayeswater.structure.scores import LIKELIHOOD, REGRET, Score, term_table
from bayeswater.typing import Array

CACHE_BYTES = 2**28
"""Bytes of columns that are kept; when it is full, what is new is not kept any more."""

TABLE_LENGTH = 2**16
"""Counts whose terms are read from a table; larger ones, of which there are few, are worked out. Where every number of
configurations has a table of its own (BDeu), they are shorter."""

MOST_TABLES = 4096
"""Tables of terms that are kept."""


class Families:
    """Scores of families over one table of codes, all of whose cells are there.

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
        self._most_columns = cache_bytes // (8 * self.n_variables + 200)
        self._lookups: dict[tuple[float, int], tuple[Array, Array, Array]] = {}
        self._numbers: dict[tuple[float, int], int] = {}
        # Kernels know the number of configurations beforehand, and the regret of whole rows alone, from tables.
        self._has_kernel = not score.counts_seen_configurations and (weight is None or score.name != "fnml")
        self._uses_kernel = False
        if score.name == "fnml" and weight is not None and (weight != np.rint(weight)).any():
            raise ParameterError("fnml is a score of whole rows; give whole weights, or take 'qnml' or 'bic'")
        self.expect(self.n_variables)

    def expect(self, n_columns: int) -> None:
        """Say how many columns will be asked for: from some work on, they are counted by compiled code."""
        self._uses_kernel |= self._has_kernel and worth_compiling(self.codes.size * n_columns)

    def of(self, y: int, parents: Iterable[int]) -> float:
        """Score of one family."""
        return float(self.column(y, frozenset(parents))[y])

    def total(self, parents: Iterable[Iterable[int]]) -> float:
        """Score of a whole graph."""
        return sum(self.of(y, own) for y, own in enumerate(parents))

    def column(self, y: int, parents: frozenset[int]) -> Array:
        """Scores of y with each other variable joining or leaving its parents; at y, as it stands: (n_variables,).

        Where joining cannot gain, whatever the rows say, it may be -inf.
        """
        found = self._columns.get((y, parents))
        if found is None:
            found = self._count(y, parents)()
            self._store(y, parents, found)
        return found

    def prepare(self, wanted: Iterable[tuple[int, frozenset[int]]]) -> None:
        """Count some columns on our threads, so that they are there when they are asked for."""
        missing = [key for key in dict.fromkeys(wanted) if key not in self._columns]
        if len(missing) < 2:
            return
        counts = [self._count(y, parents) for y, parents in missing]
        for (y, parents), found in zip(missing, ordered_map(lambda count: count(), counts), strict=True):
            self._store(y, parents, found)

    def _count(self, y: int, parents: frozenset[int]) -> Callable[[], Array]:
        """Give a function that counts a column, and shares nothing that changes with any other."""
        self.n_counted += self.n_variables
        if not self._uses_kernel:
            return partial(self._reference, y, parents)
        return (self._by_kernel if self.weight is None else self._by_weights)(y, sorted(parents))

    def _store(self, y: int, parents: frozenset[int], found: Array) -> None:
        if len(self._columns) < self._most_columns:
            self._columns[y, parents] = found
        else:
            self.is_full = True

    # ------------------------------------------------------------------ by the kernel

    @cached_property
    def _bits(self) -> tuple[Array, Array]:
        first = np.concatenate([[0], np.cumsum(self.n_states)[:-1]])
        return state_bits(self.codes, self.n_states), first

    def _by_kernel(self, y: int, parents: list[int]) -> Callable[[], Array]:
        if len(self._numbers) + 2 * self.n_variables > MOST_TABLES:
            self._numbers, self._lookups = {}, {}
        bits, first = self._bits
        n_configurations = float(np.prod(self.n_states[parents], dtype=np.float64))
        lookups = [array.copy() for array in self._lookup(n_configurations, y, joining=True)]
        for parent in [*parents, y]:
            q = n_configurations / (1 if parent == y else self.n_states[parent])
            for array, value in zip(lookups, self._lookup(q, y, joining=False), strict=True):
                array[parent] = value
        members = np.array(parents, dtype=np.int64)
        known = (self.codes, bits, first, self.n_states, y, members, *self._tables, *lookups, self._most_gain)

        def count() -> Array:
            scores = np.empty(self.n_variables)
            with np.errstate(over="ignore"):  # where the loop runs as plain Python: words of bits wrap around
                score_column(*known, scores)
            return scores

        return count

    def _by_weights(self, y: int, parents: list[int]) -> Callable[[], Array]:
        q = float(np.prod(self.n_states[parents], dtype=np.float64))
        configurations = q * self.n_states
        configurations[parents] = q / self.n_states[parents]
        configurations[y] = q
        n_own = int(self.n_states[y])
        known = {c: self.score.terms(c, n_own, self.n_rows) for c in set(configurations.tolist())}
        terms = [known[c] for c in configurations.tolist()]
        marks = np.array([[term.cell for term in terms], [term.row for term in terms]])
        constant, members = np.array([term.constant for term in terms]), np.array(parents, dtype=np.int64)

        def count() -> Array:
            scores = np.empty(self.n_variables)
            score_weighted_column(
                self.codes, self.weight, self.n_states, y, members, marks, constant, self._most_gain, scores
            )
            return scores

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
        r = int(self.n_states[y])
        key = (q if joining else -q, r)
        found = self._lookups.get(key)
        if found is None:
            configurations = q * self.n_states if joining else [q]
            terms = [self.score.terms(float(c), r, self.n_rows) for c in configurations]
            cell = np.array([self._table_of(term.cell, r) for term in terms])
            row = np.array([self._table_of(term.row, r) for term in terms])
            constant = np.array([term.constant for term in terms])
            found = (cell, row, constant) if joining else (cell[0], row[0], constant[0])
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

    def _reference(self, y: int, parents: frozenset[int]) -> Array:
        changed = [parents ^ {x} if x != y else parents for x in range(self.n_variables)]
        return np.array([self._family(y, sorted(own)) for own in changed])

    def _family(self, y: int, parents: list[int]) -> float:
        r = int(self.n_states[y])
        configuration, n_numbers = numbered(self.codes, self.n_states, parents)
        require_table_bytes(
            8 * n_numbers * r, f"counting a variable of {r} states with its parents", "leave columns of many states out"
        )
        counts = np.bincount(configuration * r + self.codes[y], self.weight, minlength=n_numbers * r).reshape(-1, r)
        n_configurations = float(np.prod(self.n_states[parents], dtype=np.float64))
        return self.score.family(counts, n_configurations, self.n_rows)


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
