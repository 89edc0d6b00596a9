"""Labels of cells as codes, of states that are known and of those that are found.

Where the states of a column are known, its cells are codes, a dictionary, or numbers where the states are bins. Of
codes nothing is looked at but the buffers of Arrow, so that they cost no more than a pass over their bytes. A column
with anything else in it is left to the encoder that names what it finds (`coded_table`).

`FoundLabels` are the labels that the cells of a column hold, before they have codes in a domain. A column of Arrow
comes in chunks, each with a dictionary of its own. They are joined by label: a cell is an index into the list of its
chunk, and for every chunk it is known where the entries of its list stand in the one list of all. So no cell is looked
at as an object.
"""

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.cells import is_missing, label_values
from bayeswater.data.frames import Frame, as_arrow
from bayeswater.data.labels import narrow_codes
from bayeswater.data.reading.cell_style import MARKS, PlainStyle, half_width
from bayeswater.data.reading.column_kinds import require_labels
from bayeswater.data.reading.discretising.cuts import apply_cuts, cuts_named
from bayeswater.data.variable import Variable
from bayeswater.errors import DataError
from bayeswater.records import record
from bayeswater.typing import Array, is_number

if TYPE_CHECKING:
    import pyarrow as pa


def write_known_codes(column: "pa.ChunkedArray", variable: Variable, codes: Array) -> bool:
    """Write the codes of a column into `codes` (n_rows,), n_states for a missing cell; say whether all could be read.

    >>> import pyarrow as pa
    >>> column, codes = pa.chunked_array([["low", None, "high"]]).dictionary_encode(), np.empty(3, dtype=np.uint8)
    >>> write_known_codes(column, Variable("level", ("high", "low")), codes), codes
    (True, array([1, 2, 0], dtype=uint8))
    """
    import pyarrow as pa

    is_dictionary = pa.types.is_dictionary(column.type)
    if not (is_dictionary or (variable.is_coded and pa.types.is_integer(column.type))):
        return holds_numbers(column.type) and _of_numbers(column, variable, codes)
    write = _of_dictionary if is_dictionary else _of_integers
    start = 0
    for chunk in column.chunks:
        if not write(chunk, variable, codes[start : start + len(chunk)]):
            return False
        start += len(chunk)
    return True


def known_code(label: Any, variable: Variable) -> int | None:
    """Give the code of one cell: of a state, or of the bin that a number falls into; None for what is no state.

    >>> known_code(50, Variable("age", ("under 30", "30 to 60", "from 60 on")))
    1
    """
    try:
        code = variable.code_of.get(label)
    except TypeError:  # what is not hashable is no label
        return None
    if code is not None or isinstance(label, bool) or not is_number(label):
        return code
    cuts = None if variable.is_coded else cuts_named(variable.states)
    return None if cuts is None else bisect_right(cuts, label)  # bins are closed on the left


def holds_numbers(kind: "pa.DataType") -> bool:
    """Tell a type of numbers."""
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def holds_texts(kind: "pa.DataType") -> bool:
    """Tell a type of texts, those of a dictionary among them."""
    import pyarrow as pa

    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(own) or pa.types.is_large_string(own) or pa.types.is_string_view(own))


def _of_numbers(column: "pa.ChunkedArray", variable: Variable, codes: Array) -> bool:
    """Write the bins of numbers; say whether the states are bins, which have the names of their limits, of all cells.

    What is infinite is no number of a bin, and left to the encoder, which refuses it.
    """
    cuts = None if variable.is_coded else cuts_named(variable.states)
    if cuts is None:
        return False
    values = column.cast("float64", safe=False).to_numpy()  # NaN where it is missing
    if np.isinf(values).any():
        return False
    np.copyto(codes, apply_cuts(values, np.array(cuts), closed="left"), casting="unsafe")
    return True


def _of_integers(chunk: "pa.Array", variable: Variable, codes: Array) -> bool:
    """Write the codes of a chunk of integers; say whether all are within the domain."""
    values, missing = _integer_buffer(chunk)
    outside = values.view(f"u{values.itemsize}") >= variable.n_states  # what is negative is large then
    if missing is not None:
        outside &= ~missing
    if outside.any():
        return False
    np.copyto(codes, values, casting="unsafe")
    if missing is not None:
        codes[missing] = variable.n_states
    return True


def _of_dictionary(chunk: "pa.DictionaryArray", variable: Variable, codes: Array) -> bool:
    """Write the codes of a chunk with a dictionary of labels; say whether all of these are states."""
    n_states = variable.n_states
    labels = label_values(chunk.dictionary, variable.name)
    place = [n_states if is_missing(label) else variable.code_of.get(label) for label in labels]
    if None in place or any(isinstance(label, bool) for label in labels):
        return False  # a label that is no state; True is one only where it is meant
    np.take(np.array([*place, n_states], dtype=codes.dtype), dictionary_index(chunk), out=codes, mode="clip")
    return True


def dictionary_index(chunk: "pa.DictionaryArray") -> Array:
    """Where in its dictionary each cell of a chunk stands; a missing one, just behind the last entry.

    >>> import pyarrow as pa
    >>> dictionary_index(pa.array(["low", None, "high"]).dictionary_encode())
    array([0, 2, 1])
    """
    values, missing = _integer_buffer(chunk.indices)
    if missing is None:
        return values
    return np.where(missing, np.int64(len(chunk.dictionary)), values)  # narrow integers may not reach that far


def _integer_buffer(array: "pa.Array") -> tuple[Array, Array | None]:
    """Values of an array of integers as they lie in memory, and which are missing, if any are."""
    validity, data = array.buffers()
    kind = np.dtype(str(array.type))
    values = np.frombuffer(data, dtype=kind, count=len(array), offset=array.offset * kind.itemsize)
    if array.null_count == 0 or validity is None:
        return values, None
    first = array.offset // 8
    n_bytes = (array.offset + len(array) + 7) // 8 - first
    bits = np.unpackbits(np.frombuffer(validity, dtype=np.uint8, count=n_bytes, offset=first), bitorder="little")
    skipped = array.offset - 8 * first
    return values, bits[skipped : skipped + len(array)] == 0


PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


def number_written(cell: str) -> int | float | str | None:
    """Give the number that is written in a cell, None for a mark of missing ones, and any other cell as it is.

    >>> number_written(" 3"), number_written("2.5"), number_written("n/a"), number_written("x")
    (3, 2.5, None, 'x')
    """
    own = cell.strip()
    if not own or own in MARKS:
        return None
    if PLAIN.fullmatch(own) is None:
        return cell
    number = float(own)
    return int(number) if number.is_integer() else number


def numbers_written(cells: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Read plain numbers out of text; text that holds anything else is left as it is."""
    import pyarrow as pa

    present = PlainStyle().present(cells)
    narrow = pa.chunked_array([half_width(chunk) for chunk in present.chunks], present.type)
    try:
        return narrow.cast(pa.float64())
    except pa.ArrowInvalid:
        return cells


SHOWN = 4096
"""Cells that are looked at first for labels of a dictionary that none has."""


@record
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


@record
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

    def as_numbers(self) -> "FoundLabels":
        """Read numbers that are written as text, and marks of missing cells, beside states that are numbers.

        >>> import pyarrow as pa
        >>> cells = pa.table({"n": ["3", "n/a", "3.0", "x"]})
        >>> FoundLabels.of(FrameColumn(Frame(cells, "pyarrow", frozenset()), "n")).as_numbers().states
        [3, 'x']
        """
        if not any(isinstance(state, str) for state in self.states):
            return self
        code_of: dict[Any, int] = {}
        labels = [number_written(state) if isinstance(state, str) else state for state in self.states]
        place = [-1 if label is None else code_of.setdefault(label, len(code_of)) for label in labels]
        joined = np.array([*place, -1], dtype=np.int64)
        return FoundLabels(list(code_of), tuple((joined[own], index) for own, index in self.chunks))

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
