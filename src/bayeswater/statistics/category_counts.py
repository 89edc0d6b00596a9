"""`CategoryCounts`: how often every state of every column met every class, in one flat table; and joint counts.

Column j with S_j states owns S_j + 1 rows of the table; the last is the slot of its missing cells. Columns may
have domains of any size, declared states that never occurred included.

`joint_counts` tells how often the states of a family met, a variable with its parents. A row counts where every cell of
the family is there: available cases, family by family.

Codes are laid out column by column where kernels look at several columns of a row at once.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any, Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.kernels.category_tables import count_categories, count_column, offsets
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.parent_cells import cells_of, strides_of
from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.threads import block_map, ordered_map, row_blocks
from bayeswater.limits import require_table_axes, require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.statistic import Statistic, spread
from bayeswater.typing import Array

TURNED_ROWS = 2**12
"""Rows stored one after the other are turned into columns in pieces that stay in the cache."""


def code_kind(n_states: Array) -> np.dtype[Any]:
    """Give the narrowest kind of number for the codes of all columns, missing included.

    >>> code_kind(np.array([2, 255])), code_kind(np.array([256]))
    (dtype('uint8'), dtype('uint16'))
    """
    highest = int(n_states.max(initial=0))
    return np.dtype(np.uint8 if highest < 2**8 else np.uint16 if highest < 2**16 else np.int32)


def columnwise_codes(coded: CodedTable, rows: slice) -> Array:
    """Give the codes (n_columns, n_rows) of some rows; a code beyond the domain falls into the slot of missing."""
    n_states = coded.schema.n_states
    codes = np.empty((len(n_states), rows.stop - rows.start), dtype=code_kind(n_states))
    matrix = coded.codes
    if isinstance(matrix, ColumnMatrix):
        columns = matrix.columns

        def narrow(j: int) -> None:
            np.minimum(columns[j][rows], _limit(n_states[j], columns[j].dtype), out=codes[j], casting="unsafe")

        for _ in ordered_map(narrow, range(len(n_states))):
            pass
        return codes
    values = matrix.values[rows]
    highest = _limit(n_states[:, None], values.dtype)

    def turn(part: slice) -> None:
        np.minimum(values[part].T, highest, out=codes[:, part], casting="unsafe")

    for _ in ordered_map(turn, row_blocks(len(values), TURNED_ROWS)):
        pass
    return codes


def _limit(n_states: Array, kind: np.dtype[Any]) -> Array:
    """Highest codes in the kind of number that the codes have: in a wider one the comparison would be slow."""
    return np.minimum(n_states, np.iinfo(kind).max).astype(kind)


def joint_counts(codes: Array, members: Sequence[int], cards: Sequence[int], weight: Array | None) -> Array:
    """Count the states of some columns together: (*cards), int64 or, with fractional weights, float64.

    Parameters
    ----------
    codes : (n_columns, n_rows); a code that is not under the card of its column is a missing cell
    members : columns of the family, in the order of the axes
    cards : number of states of each of these
    weight : (n_rows,) or None

    >>> joint_counts(np.array([[0, 1, 1, 2], [1, 1, 0, 1]], dtype=np.uint8), [0, 1], [2, 2], None)
    array([[0, 1],
           [1, 1]])
    """
    n_cells = prod(cards)
    what, way_out = f"counting {len(members)} columns together", "give the variable fewer parents"
    require_table_bytes(8 * n_cells, what, way_out)
    require_table_axes(len(members), what, way_out)
    kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64
    strides = strides_of(cards)
    bound = np.array(cards)[:, None]

    def count(rows: slice) -> Array:
        part = codes[list(members), rows]
        present = (part < bound).all(axis=0)
        w = None if weight is None else weight[rows]
        if not present.all():
            part, w = part[:, present], None if w is None else w[present]
        return np.bincount(cells_of(part, np.arange(len(members)), strides), weights=w, minlength=n_cells)

    total = np.zeros(n_cells, dtype=np.float64 if weight is not None else np.int64)
    for block in ordered_map(count, row_blocks(codes.shape[1])):
        total += block
    return total.astype(kind).reshape(cards)


def family_counts(
    codes: Array, cards: Sequence[int], families: Sequence[tuple[int, ...]], weight: Array | None
) -> tuple[Array, ...]:
    """Count the rows of variables with their parents; too many cells in all are refused before any row is counted."""
    shapes = [[cards[member] for member in family] for family in families]
    most = len(max(families, key=lambda family: prod(cards[member] for member in family), default=(0,))) - 1
    require_table_bytes(
        8 * sum(map(prod, shapes)),
        f"counting {len(families)} variables with their parents",
        f"the largest table is of one with {most} parents: give it fewer",
    )
    return tuple(joint_counts(codes, own, shape, weight) for own, shape in zip(families, shapes, strict=True))


@record(eq=False)
class CategoryCounts(Statistic):
    """Counts (n_table_rows, n_classes) of the states of all columns, one after the other."""

    schema: Schema
    table: Array

    @classmethod
    def of_values(cls, classes: Variable, variable: Variable, counts: Array, class_count: Array) -> Self:
        """Take counts (n_states, n_classes) of one column; the other rows of the classes miss it."""
        present = counts.sum(axis=0)
        is_whole = np.result_type(present, class_count).kind != "f"
        missing = class_count - present if is_whole else remainder(class_count, present)
        return cls(classes, Schema((variable,)), np.vstack([counts, missing]))

    @classmethod
    def of(cls, coded: CodedTable, labels: Labels, weight: Array | None) -> Self:
        """Count some rows."""
        n_states, n_classes = coded.schema.n_states, labels.n_classes
        _require_room(coded.schema, n_classes)
        use_loop = worth_compiling(coded.shape[0] * coded.shape[1])
        columns = coded.codes.columns if isinstance(coded.codes, ColumnMatrix) else None
        if use_loop and weight is None and columns is not None:

            def count_one(j: int) -> Array:
                return count_column(columns[j], int(n_states[j]), labels.codes, n_classes)

            return cls(labels.variable, coded.schema, np.concatenate(list(ordered_map(count_one, range(len(columns))))))

        def count(rows: slice) -> Array:
            w = None if weight is None else weight[rows]
            return count_categories(coded.block(rows), n_states, labels.codes[rows], w, n_classes, use_loop=use_loop)

        blocks = block_map(count, row_blocks(coded.shape[0]) or [slice(0, 0)], together=use_loop)
        table = next(blocks)
        for part in blocks:
            table += part
        return cls(labels.variable, coded.schema, table)

    @property
    def n_states(self) -> Array:
        """Number of states of each column, the missing slot not counted."""
        return self.schema.n_states

    @cached_property
    def start(self) -> Array:
        """First row of each column in the table, and last the table's length."""
        return offsets(self.n_states)

    def of_column(self, j: int) -> Array:
        """Counts (n_states, n_classes) of one column, without its missing cells."""
        return self.table[self.start[j] : self.start[j + 1] - 1]

    def take(self, columns: Sequence[int]) -> Self:
        """Counts of some columns, in the given order."""
        rows = np.concatenate([np.arange(self.start[j], self.start[j + 1]) for j in columns])
        return replace(self, schema=Schema(tuple(self.schema[j] for j in columns)), table=self.table[rows])

    def hstack(self, other: Self) -> Self:
        """Put further columns of the same rows behind these."""
        schema = Schema((*self.schema, *other.schema))
        return replace(self, schema=schema, table=np.concatenate([self.table, other.onto(self.classes).table]))

    def onto(self, classes: Variable) -> Self:
        """Lay the counts out for other classes."""
        return replace(self, classes=classes, table=spread(self.table, self.classes, classes, axis=1))

    def pruned(self) -> Self:
        """Drop states that are neither declared nor counted, as if no row had ever had them."""
        kept = (v.keeping(np.asarray(self.of_column(j).any(axis=1))) for j, v in enumerate(self.schema))
        return self._onto_schema(Schema(tuple(kept)))

    def declaring(self, schema: Schema) -> Self:
        """Join further declared states to the domains."""
        return self._onto_schema(self.schema.union(schema))

    def _onto_schema(self, schema: Schema) -> Self:
        if schema == self.schema:
            return self
        _require_room(schema, self.n_classes)
        start = offsets(schema.n_states)
        table = np.zeros((start[-1], self.n_classes), dtype=self.table.dtype)
        for j, (old, new) in enumerate(zip(self.schema, schema, strict=True)):
            kept, place = old.shared_codes(new)
            table[start[j] + place] = self.of_column(j)[kept]
            table[start[j + 1] - 1] = self.table[self.start[j + 1] - 1]
        return replace(self, schema=schema, table=table)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        classes, schema = self.classes.union(other.classes), self.schema.union(other.schema)
        return self.onto(classes)._onto_schema(schema), other.onto(classes)._onto_schema(schema)

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        row, k = place
        j = int(np.searchsorted(self.start, row, side="right")) - 1
        code = row - int(self.start[j])
        column = self.schema[j]
        state = "missing" if code == column.n_states else repr(column.states[code])
        return f"the count of {column.name!r} = {state} in class {self.classes.states[k]!r}"


def _require_room(schema: Schema, n_classes: int) -> None:
    largest = schema[int(np.argmax(schema.n_states))]
    require_table_bytes(
        int((schema.n_states + 1).sum()) * n_classes * 8,
        f"counting {len(schema)} columns (the largest domain is {largest.name!r} with {largest.n_states} states)",
        "encode its labels as 0, 1, 2, ... (OrdinalEncoder), leave the column out if it is an identifier, or bin it",
    )
