"""`SomePairs`: counts of single columns, and of those pairs of columns that a model reads, where all would not fit.

The pairs of ten thousand columns take more memory than there is. A tree has as many pairs as columns, and a few
super-parents have a few times as many. Which pairs are counted is part of the counts: later rows are counted with the
same, and only such counts are added.

Column i with the partners j owns a table of T_i T_j rows for each of them, one after the other; T are slots, the last
of each is that of missing cells.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.variable import Schema
from bayeswater.errors import StatisticsError
from bayeswater.kernels.pair_counts import count_listed_pairs
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts, columnwise_codes
from bayeswater.statistics.pair_counts import PairCounts, named_state
from bayeswater.typing import Array

Partners = tuple[tuple[int, ...], ...]
"""The columns that each column is counted with; of a pair, one of the two names the other."""


def stars(centers: Array, n_columns: int) -> Partners:
    """Pair every column with each of some, the centers.

    >>> stars(np.array([2, 0]), 4)
    ((2,), (2, 0), (), (2, 0))
    """
    every = tuple(centers.tolist())
    partners = [every] * n_columns
    for place, center in enumerate(every):
        partners[center] = every[:place]
    return tuple(partners)


@record(eq=False)
class SomePairs(PairCounts):
    """Counts of single columns, and of some pairs (n_pair_cells, n_classes); see `of_pair`.

    >>> from bayeswater.data.reading.coded_table import Rules, encode_categories
    >>> from bayeswater.data.labels import encode_labels
    >>> rows = encode_categories(np.array([[0, 1, 0], [1, 0, 0], [1, 1, 1]]), Rules("TAN", refuse_missing=False))
    >>> counts = SomePairs.of_partners(rows, encode_labels(np.array([0, 0, 0])), None, ((), (0,), ()))
    >>> counts.of_pair(1, 0)[:2, :2, 0]
    array([[0, 1],
           [1, 1]])
    """

    partners: Partners

    counted: ClassVar = "some pairs"

    @classmethod
    def of_partners(cls, coded: CodedTable, labels: Labels, weight: Array | None, partners: Partners) -> Self:
        """Count some rows."""
        table = CategoryCounts.of(coded, labels, weight).table
        none: Partners = ((),) * len(coded.schema)
        counts = cls(labels.variable, coded.schema, table, np.zeros((0, labels.n_classes), table.dtype), none)
        return counts.partnered(coded, labels, weight, partners)

    def partnered(self, coded: CodedTable, labels: Labels, weight: Array | None, partners: Partners) -> Self:
        """Count the pairs of rows whose single columns are counted."""
        n_states, base = self.n_states, _cells_before(partners, self.n_states + 1)
        pairs = np.zeros((int(base[-1]), labels.n_classes), dtype=self.table.dtype)
        if len(pairs):
            codes = columnwise_codes(coded, slice(0, coded.shape[0]))
            count_listed_pairs(codes, n_states, labels.codes, weight, partners, base, pairs)
        return replace(self, pairs=pairs, partners=partners)

    def counting(self, coded: CodedTable, labels: Labels, weight: Array | None) -> Self:
        """Count other rows with the same partners."""
        return self.of_partners(coded, labels, weight, self.partners)

    @cached_property
    def base(self) -> Array:
        """First row of the pairs of each column, and last the number of rows: (n_columns + 1,)."""
        return _cells_before(self.partners, self.n_states + 1)

    @cached_property
    def centers(self) -> tuple[int, ...]:
        """All columns that are partners."""
        return tuple(sorted(set().union(*self.partners)))

    @cached_property
    def _sharing(self) -> dict[tuple[int, ...], list[int]]:
        """The columns that have the same partners."""
        found: dict[tuple[int, ...], list[int]] = {}
        for column, own in enumerate(self.partners):
            found.setdefault(own, []).append(column)
        return found

    def rows_with(self, i: int) -> tuple[Array, Array, Array]:
        """Say where column i meets every other one: first row, -1 where they are not counted, and two strides."""
        n_slots = self.n_states + 1
        first = np.full(len(n_slots), -1)
        mine, theirs = np.ones_like(first), np.ones_like(first)
        for own, columns in self._sharing.items():
            if i in own:
                before = int(n_slots[list(own[: own.index(i)])].sum())
                first[columns] = self.base[columns] + n_slots[columns] * before
                theirs[columns] = n_slots[i]
        place = int(self.base[i])
        for j in self.partners[i]:
            first[j], mine[j] = place, n_slots[j]
            place += int(n_slots[i] * n_slots[j])
        return first, mine, theirs

    def of_pair(self, i: int, j: int) -> Array:
        """Counts (S_i + 1, S_j + 1, n_classes) of two different columns; the last slot of each is that of missing."""
        if j not in self.partners[i]:
            if i not in self.partners[j]:
                raise StatisticsError(
                    f"columns {self.schema[i].name!r} and {self.schema[j].name!r} were not counted together"
                )
            return self.of_pair(j, i).swapaxes(0, 1)
        n_slots, own = self.n_states + 1, self.partners[i]
        first = int(self.base[i] + n_slots[i] * n_slots[list(own[: own.index(j)])].sum())
        shape = int(n_slots[i]), int(n_slots[j]), self.n_classes
        return self.pairs[first : first + shape[0] * shape[1]].reshape(shape)

    def each_pair(self) -> Iterator[tuple[int, int]]:
        """Give the pairs, a column and its partner, in the order of their counts."""
        return ((i, j) for i, own in enumerate(self.partners) for j in own)

    def _tables(self) -> Iterator[tuple[int, int, Array]]:
        """Give the counts (S_i + 1, S_j + 1, n_classes) of each pair, in their order."""
        n_slots, first = (self.n_states + 1).tolist(), 0
        for i, j in self.each_pair():
            end = first + n_slots[i] * n_slots[j]
            yield i, j, self.pairs[first:end].reshape(n_slots[i], n_slots[j], self.n_classes)
            first = end

    def _onto_schema(self, schema: Schema) -> Self:
        if schema == self.schema:
            return self
        n_cells = int(_cells_before(self.partners, schema.n_states + 1)[-1])
        pairs = np.zeros((n_cells, self.n_classes), dtype=self.pairs.dtype)
        slots, n_slots, first = self._slots_in(schema), (schema.n_states + 1).tolist(), 0
        for i, j, table in self._tables():
            (mine, here), (theirs, there) = slots[i], slots[j]
            end = first + n_slots[i] * n_slots[j]
            moved = pairs[first:end].reshape(n_slots[i], n_slots[j], self.n_classes)
            moved[np.ix_(here, there)] = table[np.ix_(mine, theirs)]
            first = end
        return replace(self, schema=schema, table=self.singles._onto_schema(schema).table, pairs=pairs)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        if self.partners != other.partners:
            raise StatisticsError(
                "the two count different pairs of columns: of a table whose pairs do not all fit, the first fit "
                "chooses which are counted; learn from the second rows with partial_fit of the first model"
            )
        return super()._aligned(other)

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        if name == "table":
            return self.singles._place(name, place)
        row, k = place
        for i, j, table in self._tables():
            if row < table.shape[0] * table.shape[1]:
                a, b = divmod(row, table.shape[1])
                met = f"{named_state(self.schema[i], a)} and {named_state(self.schema[j], b)}"
                return f"the count of {met} in class {self.classes.states[k]!r}"
            row -= table.shape[0] * table.shape[1]
        raise IndexError(row)


def _cells_before(partners: Partners, n_slots: Array) -> Array:
    of_partners = {own: int(n_slots[list(own)].sum()) for own in set(partners)}
    return np.cumsum([0, *(int(n) * of_partners[own] for n, own in zip(n_slots, partners, strict=True))])
