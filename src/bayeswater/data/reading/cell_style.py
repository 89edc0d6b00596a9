"""`CellStyle`: what all ways in which cells are written have in common, and cells that stay as they are.

Blanks around a cell are no part of it. Missing are the blank cell and the `marks`, but for those that are `kept`.
"""

import json
from collections.abc import Callable
from dataclasses import field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from bayeswater.data.column_types import Misfit
from bayeswater.data.reading.written_dates import bytes_of
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

Found = TypeVar("Found")

USUAL_MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL")

ALWAYS_MISSING = (*USUAL_MISSING, "\\N", "(null)", "[NULL]", "<null>", "NaT")
"""Cells that are missing in every column of a file, besides the blank one."""

EARLIER_MARKS = (
    *USUAL_MISSING,
    *("#N/A", "#N/A N/A", "#NA", "<NA>", "n/a", "None", "-nan", "-NaN", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
    *("-", "--", "?", ".", "无", "缺失"),
)
"""Marks of models whose files name none."""

MARKS = (
    *EARLIER_MARKS,
    *("\\N", "(null)", "[NULL]", "<null>", "NaT", "N.A.", "n.a.", "k.A.", "k. A.", "–", "—", "---", "..", "...", ":"),
    *("nil", "Nil", "NIL", "missing", "Missing", "not available", "Not Available", "n.d.", "N.D.", "s/d", "S/D", "…"),
    *("[null]", "(empty)", "<empty>", "(blank)", "<blank>", "(missing)"),
    *("0000-00-00", "0000-00-00 00:00:00", "0000/00/00", "00.00.0000", "00/00/0000"),
    *("#NV", "#N/D", "#WERT!", "#VALEUR!", "#¡VALOR!", "#VALOR!", "#VALORE!", "#BEZUG!", "#¡REF!", "#RIF!"),
    *("#NOM?", "#NOME?", "#¿NOMBRE?", "#ZAHL!", "#NOMBRE!", "#¡NUM!", "#¡DIV/0!", "#ÜBERLAUF!", "#SPILL!", "#CALC!"),
)
"""Marks of missing cells as pandas, R, Excel, databases, statistical offices and people have them: missing unless they
are a frequent answer."""

ZEROS = "０٠۰०๐"
"""The first of ten digits: as wide as Chinese characters, Arabic, Persian, Devanagari and Thai."""

NARROW = {wide: wide - 0xFEE0 for wide in range(ord("（"), ord("；"))} | {ord("٫"): ord("."), ord("٬"): ord(",")}
NARROW |= {ord(zero) + digit: ord("0") + digit for zero in ZEROS for digit in range(10)}
"""Characters of numbers and dates of other scripts, and those as wide as Chinese ones: ( ) + , - . / and colon."""

NARROW_BYTES = {lead: np.zeros(256, dtype=np.uint8) for lead in {chr(sign).encode()[:-1] for sign in NARROW}}
for _sign, _narrow in NARROW.items():
    NARROW_BYTES[chr(_sign).encode()[:-1]][chr(_sign).encode()[-1]] = _narrow
"""What becomes of the last byte of a character that begins so: 0 where it stays."""

OTHER_DIGIT = "[" + "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in ZEROS) + "]"

NARROW_UNITS = {"￥": "¥", "％": "%"}
"""What stands beside numbers, in its wide form and in its narrow one."""

STYLE_KEY = b"bayeswater.style"
"""Key of the metadata of an Arrow field under which the style of its cells stands."""


WAY_OUT = "write it so, or leave the cell empty if it is missing"


@record
class CellStyle:
    """How the cells of a column are written; each kind of style is a class of its own.

    Parameters
    ----------
    marks : cells that are missing, besides the blank one
    kept : marks that are values in this column; the blank cell, too, in words of a data frame
    """

    kind: ClassVar[str]
    named: ClassVar[str]
    makes_values: ClassVar[bool] = True
    """Whether strings become something else."""
    stored: ClassVar[str] = "string"
    """Arrow's name of what they become."""

    marks: tuple[str, ...] = field(default=MARKS, repr=False)
    kept: tuple[str, ...] = ()

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Cells that are missing."""
        return tuple(mark for mark in ("", *self.marks) if mark not in self.kept)

    @property
    def plain(self) -> "PlainStyle":
        """The same marks, of cells that stay as they are written."""
        return PlainStyle(self.marks, self.kept)

    @cached_property
    def type(self) -> "pa.DataType":
        """The type of what is read; plain cells keep their own."""
        import pyarrow as pa

        return pa.type_for_alias(self.stored)

    @property
    def dtype(self) -> str | None:
        """The name of that type for frames of all libraries; plain cells and words keep their own."""
        return {"double": "float64", "bool": "bool", "string": None}.get(self.stored, f"object[{self.type}]")

    @property
    def of_states(self) -> "CellStyle":
        """The style in which a model of states reads the cells: words stay words, but true and false are flags."""
        return self

    def settled(self, unit: str, time: str) -> "CellStyle":
        """Give the style with what stands beside its cells, as far as it is of this kind."""
        return self

    def read(self, cells: "pa.ChunkedArray", name: str, *, is_clean: bool = False) -> "pa.ChunkedArray":
        """Read strings of a column; cells of another type pass as they are, but truths where words are known.

        Those that are clean have no blanks around them, and missing ones are null.

        Raises
        ------
        Misfit
            A cell is neither written so nor missing: with the column, the cell and its row.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if not holds_strings(cells.type):
            return cells
        strings = cells if is_clean else self.present(cells)
        if not self.makes_values:
            return strings
        found = pa.chunked_array([self.values(half_width(chunk)) for chunk in strings.chunks], self.type)
        if found.null_count > strings.null_count:
            row = pc.index(pc.and_(pc.is_valid(strings), pc.is_null(found)), True).as_py()
            misfit = Misfit.of(f"row {row}", name, strings[row].as_py(), f"{self.kind} as {self}", WAY_OUT)
            misfit.row = row
            raise misfit
        return found

    def present(self, cells: "pa.ChunkedArray") -> "pa.ChunkedArray":
        """Take blanks off strings, and those that are missing out."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        trimmed = pc.utf8_trim_whitespace(cells.cast(pa.string()))
        missing = pc.is_in(trimmed, value_set=pa.array(self.missing, pa.string()))
        return pc.if_else(missing, None, trimmed) if pc.any(missing).as_py() else trimmed

    def values(self, strings: "pa.Array") -> "pa.Array":
        """Read strings in narrow digits, without blanks around them; null where one is not written so."""
        return strings

    def may_be(self, shape: str) -> bool:
        """Say whether strings of a shape begin so: a whole pattern takes longer to compile than to match."""
        return False

    def fits(self, seen: "Seen") -> Array:
        """Say which strings are written so (n_strings,)."""
        return np.ones(len(seen.strings), dtype=bool)

    def document(self) -> dict[str, Any]:
        """Give what differs from a plain style, for JSON."""
        usual = {one.name: one.default for one in fields(self)} | {"marks": EARLIER_MARKS}
        own = {name: getattr(self, name) for name in usual if getattr(self, name) != usual[name]}
        own = {key: list(value) if isinstance(value, tuple) else value for key, value in own.items()}
        return {"kind": self.kind, **own}

    def metadata(self) -> dict[bytes, bytes]:
        """Give the metadata of an Arrow field of such cells."""
        return {STYLE_KEY: json.dumps(self.document(), ensure_ascii=False).encode()}


@record
class PlainStyle(CellStyle):
    """Cells as the file has them, numbers and strings alike."""

    kind, named, makes_values = "plain", "cells", False

    def __str__(self) -> str:
        return "it is"


def holds_strings(kind: "pa.DataType") -> bool:
    """Say whether cells are strings, however they are stored."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def half_width(strings: "pa.Array") -> "pa.Array":
    """Write digits and the marks among them as in ASCII, where some are of another script.

    >>> import pyarrow
    >>> half_width(pyarrow.array(["２０２３／１２／３１", None, "7"])).to_pylist()
    ['2023/12/31', None, '7']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    written = bytes_in(strings)
    if written.isascii() or not any(zero.encode()[:-1] in written for zero in ZEROS):
        return strings
    if not pc.any(pc.match_substring_regex(strings, OTHER_DIGIT)).as_py():
        return strings
    start, text = bytes_of(strings)
    narrow, kept = text.copy(), np.ones(len(text), dtype=bool)
    for lead, last in NARROW_BYTES.items():
        if lead in written:
            ends = np.flatnonzero(last[text[len(lead) :]]) + len(lead)
            for place, byte in enumerate(reversed(lead), start=1):
                ends = ends[text[ends - place] == byte]
            narrow[ends] = last[text[ends]]
            for place in range(1, len(lead) + 1):
                kept[ends - place] = False
    places = np.append(0, np.cumsum(kept)).astype(start.dtype)[start]
    buffers = [None, pa.py_buffer(places), pa.py_buffer(narrow[kept])]
    return pc.if_else(strings.is_valid(), pa.Array.from_buffers(strings.type, len(strings), buffers), None)


def bytes_in(strings: "pa.Array") -> bytes:
    """Give the bytes of strings, and perhaps of others beside them: to look there takes less time than in each."""
    return memoryview(strings.buffers()[-1] or b"").tobytes()


class Seen:
    """Strings, and what several styles ask of them, found once."""

    def __init__(self, strings: "pa.Array") -> None:
        self.strings = strings
        self._found: dict[Any, Any] = {}

    def once(self, find: "Callable[[pa.Array], Found]") -> "Found":
        """Give what a function finds in the strings."""
        if find not in self._found:
            self._found[find] = find(self.strings)
        return cast("Found", self._found[find])

    def matching(self, pattern: str) -> Array:
        """Say which strings match a pattern (n_strings,)."""
        if pattern not in self._found:
            self._found[pattern] = matching(self.strings, pattern)
        return cast(Array, self._found[pattern])


def matching(strings: "pa.Array", pattern: str) -> Array:
    """Say which strings match a pattern (n_strings,)."""
    import pyarrow.compute as pc

    return np.asarray(pc.match_substring_regex(strings, pattern=pattern).to_numpy(zero_copy_only=False), dtype=bool)


def by_distinct(read: Any, strings: "pa.Array") -> "pa.Array":
    """Read each different string once: days, truths and times repeat."""
    encoded = strings.dictionary_encode()
    return read(encoded.dictionary).take(encoded.indices)
