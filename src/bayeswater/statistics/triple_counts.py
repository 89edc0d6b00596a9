"""`TripleCounts`: how often every triple of states of every three columns met every class, with all pairs.

What A2DE is read from. It grows with the cube of the number of states: its size is forecast before a row is counted.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from bayeswater.data.coded_table import CodedTable
from bayeswater.data.labels import Labels
from bayeswater.data.schema import Schema
from bayeswater.data.variable import Variable
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import row_blocks
from bayeswater.kernels.triple_counts import count_triples, n_triple_cells, triple_base, triple_rows_of_column
from bayeswater.limits import require_table_bytes
from bayeswater.statistics.columnwise_codes import columnwise_codes
from bayeswater.statistics.pair_counts import PairCounts, largest_domains, named_state
from bayeswater.statistics.statistic import spread
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False)
class TripleCounts(PairCounts):
    """Counts of columns, pairs and triples: int64, or float64 for fractional weights.

    In `triples` (n_triple_cells, n_classes) columns i > j > k own (S_i + 1)(S_j + 1)(S_k + 1) rows; see `of_triple`.
    """

    triples: Array

    @classmethod
    def of(cls, coded: CodedTable, labels: Labels, weight: Array | None) -> Self:
        """Count some rows."""
        cls.require_room(coded.schema, labels.n_classes)
        pairs = PairCounts.of(coded, labels, weight)
        n_rows, n_states = coded.shape[0], coded.schema.n_states
        n_triples = len(n_states) * (len(n_states) - 1) * (len(n_states) - 2) // 6
        triples = np.zeros((n_triple_cells(n_states), labels.n_classes), dtype=pairs.pairs.dtype)
        for rows in row_blocks(n_rows):
            count_triples(
                columnwise_codes(coded, rows),
                n_states,
                labels.codes[rows],
                None if weight is None else weight[rows],
                triples,
                use_loop=worth_compiling(n_rows * n_triples),
            )
        return cls(labels.variable, coded.schema, pairs.table, pairs.pairs, triples)

    @staticmethod
    def nbytes_forecast(n_states: Array, n_classes: int) -> int:
        """Bytes of the counts of columns with so many states.

        >>> TripleCounts.nbytes_forecast(np.full(40, 8), 5)
        290642400
        """
        return PairCounts.nbytes_forecast(n_states, n_classes) + 8 * n_classes * n_triple_cells(n_states)

    @classmethod
    def require_room(cls, schema: Schema, n_classes: int) -> None:
        """Refuse counts that would be too large, before they are allocated."""
        require_table_bytes(
            cls.nbytes_forecast(schema.n_states, n_classes),
            f"counting all triples of {len(schema)} columns in {n_classes} classes ({largest_domains(schema)})",
            "bin these columns, leave out those that are identifiers, or take AODE, which counts pairs",
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the triples: the tables of two statistics of one domain are of one size."""
        return self.triples.shape

    @cached_property
    def triple_base(self) -> Array:
        """First row of each column's triples with those before it, and last the number of rows."""
        return triple_base(self.n_states)

    def triple_start(self, i: int, j: int, k: int) -> int:
        """First row of the columns i > j > k among the triples."""
        return int(self.triple_base[i] + (self.n_states[i] + 1) * self.pair_start[j, k])

    def of_triple(self, i: int, j: int, k: int) -> Array:
        """Counts (S_i + 1, S_j + 1, S_k + 1, n_classes) of three different columns, in any order."""
        falling = sorted((i, j, k), reverse=True)
        shape = (*((self.n_states[falling] + 1).tolist()), self.n_classes)
        first = self.triple_start(*falling)
        cells = self.triples[first : first + shape[0] * shape[1] * shape[2]].reshape(shape)
        return cells.transpose(*(falling.index(column) for column in (i, j, k)), 3)

    def onto(self, classes: Variable) -> Self:
        """Lay the counts out for other classes."""
        triples = spread(self.triples, self.classes, classes, axis=1)
        return replace(super().onto(classes), triples=triples)

    def _onto_schema(self, schema: Schema) -> Self:
        if schema == self.schema:
            return self
        self.require_room(schema, self.n_classes)
        return replace(super()._onto_schema(schema), triples=self._triples_onto(schema))

    def _triples_onto(self, schema: Schema) -> Array:
        triples = np.zeros((n_triple_cells(schema.n_states), self.n_classes), dtype=self.triples.dtype)
        kept = place = np.zeros(0, dtype=np.int64)  # rows of the pairs of the columns before, here and there
        for i, (own, (old, new)) in enumerate(zip(self._slots_in(schema), self._pair_rows_in(schema), strict=True)):
            mine, theirs = own
            here, there = triple_rows_of_column(i, self.n_states), triple_rows_of_column(i, schema.n_states)
            triples[there[np.ix_(theirs, place)]] = self.triples[here[np.ix_(mine, kept)]]
            kept, place = np.concatenate([kept, old]), np.concatenate([place, new])
        return triples

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        if name != "triples":
            return super()._place(name, place)
        row, y = place
        i = int(np.searchsorted(self.triple_base, row, side="right")) - 1
        start = self.triple_base[i] + (self.n_states[i] + 1) * self.pair_start[:i, :i]
        j, k = np.argwhere((self.pair_start[:i, :i] >= 0) & (start <= row))[-1].tolist()
        rest, c = divmod(row - self.triple_start(i, j, k), int(self.n_states[k]) + 1)
        a, b = divmod(rest, int(self.n_states[j]) + 1)
        met = " and ".join(named_state(self.schema[column], slot) for column, slot in ((i, a), (j, b), (k, c)))
        return f"the count of {met} in class {self.classes.states[y]!r}"
