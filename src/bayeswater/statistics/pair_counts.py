"""`PairCounts`: how often every pair of states of every pair of columns met every class; `TripleCounts`, every triple.

One pass over the rows gives N(x_i, x_j, y) for all pairs, and with it what SPODE, TAN, AODE, mutual information and
conditional mutual information are read from. Each column has a slot of missing cells, as in `CategoryCounts`: so of
every pair the rows that have both cells can be told from those that lack one.

`TripleCounts`, with all pairs, is what A2DE is read from. It grows with the cube of the number of states: its size is
forecast before a row is counted.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.kernels.category_tables import offsets
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.pair_counts import (
    add_pairs,
    choose_bits,
    complete_pairs,
    count_pairs_by_reference,
    count_triples,
    n_pair_cells,
    n_triple_cells,
    pair_offsets,
    rows_at_once,
    rows_of_column,
    triple_base,
    triple_rows_of_column,
)
from bayeswater.kernels.threads import row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts, code_kind, columnwise_codes
from bayeswater.statistics.statistic import Statistic, spread
from bayeswater.typing import Array


@record(eq=False)
class PairCounts(Statistic):
    """Counts of single columns and of pairs: int64, or float64 for fractional weights.

    `table` (n_table_rows, n_classes) is that of `CategoryCounts`. In `pairs` (n_pair_cells, n_classes) the pair (i, j)
    with j < i owns (S_i + 1)(S_j + 1) rows; see `of_pair`.

    >>> from bayeswater.data.reading.coded_table import Rules, encode_categories
    >>> from bayeswater.data.labels import encode_labels
    >>> rows = encode_categories(np.array([[0, 1], [1, 0], [1, 1]]), Rules("AODE", refuse_missing=False))
    >>> counts = PairCounts.of(rows, encode_labels(np.array(["no", "yes", "yes"])), None)
    >>> counts.of_pair(1, 0)[:2, :2, 1]  # state of column 1, of column 0, in class "yes"
    array([[0, 1],
           [0, 1]])
    """

    schema: Schema
    table: Array
    pairs: Array

    counted: ClassVar = "pairs"
    way_out: ClassVar = (
        "bin these columns, or leave out those that are identifiers; NaiveBayes keeps no pairs of columns, and TAN, "
        "KDB and AODE not all of them, fitted to rows in memory without calibrate=True"
    )

    @classmethod
    def of(cls, coded: CodedTable, labels: Labels, weight: Array | None) -> Self:
        """Count some rows."""
        cls.require_room(coded.schema, labels.n_classes)
        return cls(labels.variable, coded.schema, *_counted(coded, labels, weight))

    def counting(self, coded: CodedTable, labels: Labels, weight: Array | None) -> Self:
        """Count other rows as these were counted."""
        return self.of(coded, labels, weight)

    @staticmethod
    def nbytes_forecast(n_states: Array, n_classes: int) -> int:
        """Bytes of the counts of columns with so many states.

        >>> PairCounts.nbytes_forecast(np.full(40, 8), 5)
        2541600
        """
        return 8 * n_classes * (int((n_states + 1).sum()) + n_pair_cells(n_states))

    @classmethod
    def require_room(cls, schema: Schema, n_classes: int) -> None:
        """Refuse counts that would be too large, before they are allocated."""
        require_table_bytes(
            cls.nbytes_forecast(schema.n_states, n_classes),
            f"counting all {cls.counted} of {len(schema)} columns in {n_classes} classes ({largest_domains(schema)})",
            cls.way_out,
        )

    @property
    def n_states(self) -> Array:
        """Number of states of each column, the missing slot not counted."""
        return self.schema.n_states

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the pairs: the tables of two statistics of one domain are of one size."""
        return self.pairs.shape

    @cached_property
    def start(self) -> Array:
        """First row of each column in the table of columns, and last its length."""
        return offsets(self.n_states)

    @cached_property
    def pair_start(self) -> Array:
        """First row of each pair (i, j) with j < i among the pairs: (n_columns, n_columns), elsewhere -1."""
        return pair_offsets(self.n_states)

    @property
    def singles(self) -> CategoryCounts:
        """The counts of single columns."""
        return CategoryCounts(self.classes, self.schema, self.table)

    def of_column(self, j: int) -> Array:
        """Counts (n_states, n_classes) of one column, without its missing cells."""
        return self.table[self.start[j] : self.start[j + 1] - 1]

    def of_pair(self, i: int, j: int) -> Array:
        """Counts (S_i + 1, S_j + 1, n_classes) of two different columns; the last slot of each is that of missing."""
        if i < j:
            return self.of_pair(j, i).swapaxes(0, 1)
        first, shape = self.pair_start[i, j], (int(self.n_states[i]) + 1, int(self.n_states[j]) + 1, self.n_classes)
        return self.pairs[first : first + shape[0] * shape[1]].reshape(shape)

    def rows_with(self, i: int) -> tuple[Array, Array, Array]:
        """Say where column i meets every other one: slot a of it and slot b of column j in a row of the pairs.

        It is ``first[j] + a * mine[j] + b * theirs[j]``, all (n_columns,); -1 is the first row of column i itself.
        """
        order, n_slots = np.arange(len(self.schema)), self.n_states + 1
        is_before = order < i
        first = np.where(is_before, self.pair_start[i], self.pair_start[:, i])
        return first, np.where(is_before, n_slots, 1), np.where(is_before, 1, n_slots[i])

    def onto(self, classes: Variable) -> Self:
        """Lay the counts out for other classes."""
        table, pairs = (spread(array, self.classes, classes, axis=1) for array in (self.table, self.pairs))
        return replace(self, classes=classes, table=table, pairs=pairs)

    def pruned(self) -> Self:
        """Drop states that are neither declared nor counted, as if no row had ever had them."""
        return self._onto_schema(self.singles.pruned().schema)

    def declaring(self, schema: Schema) -> Self:
        """Join further declared states to the domains."""
        return self._onto_schema(self.schema.union(schema))

    def _onto_schema(self, schema: Schema) -> Self:
        if schema == self.schema:
            return self
        self.require_room(schema, self.n_classes)
        pairs = np.zeros((n_pair_cells(schema.n_states), self.n_classes), dtype=self.pairs.dtype)
        for mine, theirs in self._pair_rows_in(schema):
            pairs[theirs] = self.pairs[mine]
        return replace(self, schema=schema, table=self.singles._onto_schema(schema).table, pairs=pairs)

    def _slots_in(self, schema: Schema) -> list[tuple[Array, Array]]:
        """Slots of each column that both schemas hold, by their place here and there."""
        return [shared_slots(old, new) for old, new in zip(self.schema, schema, strict=True)]

    def _pair_rows_in(self, schema: Schema) -> Iterator[tuple[Array, Array]]:
        """Rows of the pairs of each column with those before it, by their place here and in another schema."""
        kept = place = np.zeros(0, dtype=np.int64)  # rows of the table of the columns before, here and there
        start = offsets(schema.n_states)
        for i, (mine, theirs) in enumerate(self._slots_in(schema)):
            old, new = rows_of_column(i, self.n_states), rows_of_column(i, schema.n_states)
            yield old[np.ix_(mine, kept)].ravel(), new[np.ix_(theirs, place)].ravel()
            kept = np.concatenate([kept, self.start[i] + mine])
            place = np.concatenate([place, start[i] + theirs])

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        classes, schema = self.classes.union(other.classes), self.schema.union(other.schema)
        return self.onto(classes)._onto_schema(schema), other.onto(classes)._onto_schema(schema)

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        if name == "table":
            return self.singles._place(name, place)
        row, k = place
        i, j = np.argwhere((self.pair_start >= 0) & (self.pair_start <= row))[-1].tolist()
        a, b = divmod(row - int(self.pair_start[i, j]), int(self.n_states[j]) + 1)
        met = " and ".join(named_state(self.schema[column], slot) for column, slot in ((i, a), (j, b)))
        return f"the count of {met} in class {self.classes.states[k]!r}"


def _counted(coded: CodedTable, labels: Labels, weight: Array | None) -> tuple[Array, Array]:
    """Count the columns and the pairs of some rows."""
    n_rows, n_columns = coded.shape
    n_states, n_classes = coded.schema.n_states, labels.n_classes
    kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64
    pairs = np.zeros((n_pair_cells(n_states), n_classes), dtype=kind)
    if not worth_compiling(n_rows * n_columns * (n_columns - 1) // 2):
        codes = columnwise_codes(coded, slice(0, n_rows))
        count_pairs_by_reference(codes, n_states, labels.codes, weight, pairs)
        return CategoryCounts.of(coded, labels, weight).table, pairs
    table = np.zeros((offsets(n_states)[-1], n_classes), dtype=kind)
    by_bits = choose_bits(n_states, labels.count, n_rows) & (weight is None)
    for rows in row_blocks(n_rows, rows_at_once(n_states, by_bits, code_kind(n_states).itemsize)):
        w = None if weight is None else weight[rows]
        add_pairs(columnwise_codes(coded, rows), labels.codes[rows], w, n_states, by_bits, table, pairs)
    complete_pairs(table, n_states, by_bits, pairs)
    return table, pairs


def named_state(variable: Variable, slot: int) -> str:
    """Name a slot of a column for a message.

    >>> named_state(Variable("colour", ("blue", "red")), 2)
    "'colour' = missing"
    """
    return f"{variable.name!r} = {'missing' if slot == variable.n_states else repr(variable.states[slot])}"


def largest_domains(schema: Schema) -> str:
    """Name the columns with the most states, for a message.

    >>> largest_domains(Schema((Variable("size", range(3)), Variable("id", range(9)))))
    "the largest domains: 'id' with 9 states, 'size' with 3"
    """
    largest = np.argsort(-schema.n_states, kind="stable")[:3].tolist()
    named = [f"{schema[j].name!r} with {schema[j].n_states}" for j in largest]
    return "the largest domains: " + ", ".join([f"{named[0]} states", *named[1:]])


def shared_slots(old: Variable, new: Variable) -> tuple[Array, Array]:
    """Slots of the states that both domains hold, and of missing cells, in the one and in the other."""
    mine, theirs = old.shared_codes(new)
    return np.append(mine, old.n_states), np.append(theirs, new.n_states)


@record(eq=False)
class TripleCounts(PairCounts):
    """Counts of columns, pairs and triples: int64, or float64 for fractional weights.

    In `triples` (n_triple_cells, n_classes) columns i > j > k own (S_i + 1)(S_j + 1)(S_k + 1) rows; see `of_triple`.
    """

    triples: Array

    counted: ClassVar = "triples"
    way_out: ClassVar = "bin these columns, leave out those that are identifiers, or take AODE, which counts pairs"

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
