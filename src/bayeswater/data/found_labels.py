"""Labels that the cells of a column hold, before they have codes in a domain.

A column of Arrow comes in chunks, each with a dictionary of its own. They are joined by label: a cell is an index into
the list of its chunk, and for every chunk it is known where the entries of its list stand in the one list of all. So no
cell is looked at as an object.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.cells import is_missing, label_values
from bayeswater.data.column_kinds import require_labels
from bayeswater.data.frames import Frame, as_arrow
from bayeswater.data.known_codes import dictionary_index
from bayeswater.data.labels import narrow_codes
from bayeswater.errors import DataError
from bayeswater.typing import Array

SHOWN = 4096
"""Cells that are looked at first for labels of a dictionary that none has."""


@dataclass(frozen=True)
class FrameColumn:
    """A column of a frame."""

    frame: Frame
    name: str

    @classmethod
    def of_array(cls, cells: Array, name: str) -> "FrameColumn":
        """Put one column of an array of objects, strings or times into a frame of its own."""
        import pyarrow as pa

        return cls(Frame(pa.table({name: as_arrow(cells, name)}), "numpy", frozenset()), name)

    @property
    def n_rows(self) -> int:
        """Number of cells."""
        return self.frame.table.num_rows

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers; True and False are the codes 1 and 0, as in an array."""
        import pyarrow as pa

        kind = self.frame.table.column(self.name).type
        kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
        return any(is_kind(kind) for is_kind in kinds)


@dataclass(frozen=True)
class FoundLabels:
    """Labels of a column, and its cells in chunks: an index into each chunk's own list, and where these stand in ours.

    A missing cell points at an entry whose place is -1.
    """

    states: list[Any]
    chunks: tuple[tuple[Array, Array], ...]  # (place, index) of each
    declared: frozenset[Any] = frozenset()

    @classmethod
    def of(cls, source: FrameColumn) -> "FoundLabels":
        """List the labels of a column; each chunk of Arrow has a dictionary of its own: they are joined by label."""
        import pyarrow as pa

        column = source.frame.table.column(source.name)
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        if not pa.types.is_dictionary(column.type):
            try:
                column = column.dictionary_encode()
            except pa.ArrowNotImplementedError:
                raise DataError(
                    f"column {source.name!r} holds {column.type}; a category must be a label or a number"
                ) from None
        require_labels(source.name, column.type.value_type)
        code_of: dict[Any, int] = {}
        chunks = []
        for chunk in column.chunks:
            labels = label_values(chunk.dictionary, source.name)
            place = [-1 if is_missing(label) else code_of.setdefault(label, len(code_of)) for label in labels]
            chunks.append((np.array([*place, -1], dtype=np.int64), dictionary_index(chunk)))
        if source.name in source.frame.declared:
            return cls(list(code_of), tuple(chunks), frozenset(code_of))
        return cls(list(code_of), tuple(chunks))._used()

    @property
    def is_one_list(self) -> bool:
        """Whether all chunks list the same labels in the same order, which is then theirs."""
        in_order = np.arange(len(self.states))
        return all(np.array_equal(place[place >= 0], in_order) for place, index in self.chunks if len(index))

    def _used(self) -> "FoundLabels":
        """Leave out labels that no cell has; mostly the first cells show them all."""
        if self._rows(SHOWN).all():
            return self
        used = self.rows > 0
        renumbered = np.append(np.where(used, np.cumsum(used) - 1, -1), -1)  # at -1: missing
        states = [state for state, is_used in zip(self.states, used, strict=True) if is_used]
        return FoundLabels(states, tuple((renumbered[place], index) for place, index in self.chunks))

    @cached_property
    def rows(self) -> Array:
        """Cells of each label: (n_states,)."""
        return self._rows()

    def _rows(self, head: int | None = None) -> Array:
        """Cells of each label, among the first ones of each chunk or all."""
        rows = np.zeros(len(self.states) + 1, dtype=np.int64)
        for place, index in self.chunks:
            np.add.at(rows, place, np.bincount(index[:head], minlength=len(place)))
        return rows[:-1]  # the last, at -1, counts the missing ones

    @property
    def missing(self) -> Array:
        """Which cells are missing: (n_rows,)."""
        return np.concatenate([(place < 0)[index] for place, index in self.chunks] or [np.zeros(0, dtype=bool)])

    def coded(self, code_of_state: Array, missing: int) -> Array:
        """Codes of all cells, in the narrowest integers."""
        codes = np.append(code_of_state, missing)
        narrow = narrow_codes(codes, int(codes.max()))
        return np.concatenate([_looked_up(narrow[place], index) for place, index in self.chunks] or [narrow[:0]])


def _looked_up(table: Array, index: Array) -> Array:
    """Give the entries of a table at some places; of the table 0, 1, 2, ... these are the places themselves."""
    is_index = np.array_equal(table, np.arange(len(table)))
    return index.astype(table.dtype) if is_index else table.take(index)
