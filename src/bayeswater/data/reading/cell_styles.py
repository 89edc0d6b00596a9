"""`CellStyle`: how the cells of a column are written, and the one way in which they are read.

People write ``$1,200``, ``45%``, ``yes`` and ``31.12.2023``, a machine 1200, 0.45, true and 2023-12-31. A style
is found once, from a whole column (`style_search`), and from then on it is part of the schema: it stands in the
metadata of an Arrow field, in the plan of a model and in its file. Later cells are read by it, or refused by name.

======  ===============================================================================================================
number  ``$1,200``, ``1.234,50 €``, ``1 234``, ``(300)`` and ``300-`` for -300, ``+5``, ``1e3``; ``45%`` is 0.45. A
        column has one unit, which an amount of money may leave out; groups have three digits, or two before the last
        as in India
truth   yes/no, y/n, true/false, t/f, on/off, 是/否 and words of other languages, in capitals too
words   the same, where a model keeps both words as states: each spelled as most cells have it, others as they are
date    a day in the order of `format`, with or without a time of day, which may have a zone: then all are in UTC;
        2023-12-31 can be but one day, and is read beside every format
clock   a time of day, ``8:15``, ``11:59 PM``
plain   as the file has it, numbers and strings alike; only the marks of missing cells are part of the style
======  ===============================================================================================================

Blanks around a cell are no part of it. Missing are the blank cell and the `marks`, but for those that are `kept`.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bayeswater.data.column_types import Misfit
from bayeswater.data.reading.written_dates import (
    CLOCK,
    HALF_OF_DAY,
    ISO,
    MICROSECONDS_PER_DAY,
    bytes_of,
    clock_of,
    compiled_format,
    date_parts,
    days_of,
    time_of_day,
    with_time,
)
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.text_bytes import take_clocks_out, translate_bytes
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

StyleKind = Literal["number", "truth", "words", "date", "clock", "plain"]

ALWAYS_MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells that are missing in every column of a file, besides the blank one."""

MARKS = (
    *ALWAYS_MISSING,
    *("#N/A", "#N/A N/A", "#NA", "<NA>", "n/a", "None", "-nan", "-NaN", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
    *("-", "--", "?", ".", "无", "缺失"),
)
"""Marks of missing cells as pandas, R, Excel and people have them: missing unless they are a frequent answer."""

NAMES_OF_MONEY = (
    "$ € £ ¥ ￥ ₹ ₩ ₽ ₺ ₪ ฿ 元 円 원 kr zł Kč Ft руб US$ C$ A$ HK$ R$ NT$ S$ "
    "USD EUR GBP CHF CNY RMB JPY INR CAD AUD NZD HKD SGD TWD KRW BRL SEK NOK DKK PLN CZK HUF RON RUB TRY ZAR MXN"
)
MONEY = tuple(NAMES_OF_MONEY.split(" "))
SHARES = {"%": -2, "％": -2, "‰": -3}
"""What may stand beside a number: money, which changes nothing, and shares, by their power of ten."""

BLANK = "[ \t\u00a0\u2009\u202f]"
"""A blank beside a number or in it; some do not break a line."""

GAPS = {" ": BLANK, "'": "['’]", ",": ",", ".": r"\."}
"""What may stand between groups of digits, by the character that stands for all like it."""

NARROW, WIDE_BYTES = {wide: wide - 0xFEE0 for wide in range(ord("（"), ord("；"))}, "０".encode()[:2]
"""Characters of numbers and dates that are as wide as Chinese ones: ( ) + , - . / digits and colon; their bytes."""

TRUTHS = (
    *((("yes", "y"), ("no", "n")), (("true", "t"), ("false", "f")), (("on",), ("off",))),
    *((("是",), ("否",)), (("真",), ("假",)), (("对",), ("错",)), (("はい",), ("いいえ",)), (("да",), ("нет",))),
    *((("ja",), ("nein", "nee")), (("wahr",), ("falsch",)), (("waar",), ("onwaar",)), (("oui",), ("non",))),
    *((("vrai",), ("faux",)), (("sí", "sì", "si"), ("no",)), (("sim",), ("não", "nao"))),
    (("verdadero", "verdadeiro", "vero"), ("falso",)),
)
"""Words for true and for false, in small letters; single letters are English alone, since others are codes, too."""

MOST_KNOWN = 2**14
"""Moments without their clocks that a style remembers, some forty years."""

HOUR = MICROSECONDS_PER_DAY // 24

CLOCK_BEHIND_DAY = "[^:]+(:?%[HI]:%M.*)?"
"""Formats of which the first colon that parts two numbers is that of a clock; others are read as a whole."""

STYLE_KEY = b"bayeswater.style"
"""Key of the metadata of an Arrow field under which the style of its cells stands."""


@dataclass(frozen=True)
class CellStyle:
    """How the cells of a column are written.

    Parameters
    ----------
    kind : what they are
    marks : cells that are missing, besides the blank one
    kept : marks that are values in this column; the blank cell, too, in words of a data frame
    decimal, thousands : what stands before decimals and between groups of digits; nothing where there are no groups
    unit : what stands beside the numbers
    true, false : words, whatever their case; the first as most cells have it
    format : of dates, as `strptime` has it
    time : whether a time of day may follow: "" (no), "local" or "UTC"

    Examples
    --------
    >>> import pyarrow
    >>> euros = CellStyle("number", decimal=",", thousands=".", unit="€")
    >>> print(euros, euros.read(pyarrow.chunked_array([["1.234,50 €", "-7 €", "n/a"]]), "price").to_pylist())
    1.234,5 € [1234.5, -7.0, None]
    """

    kind: StyleKind
    marks: tuple[str, ...] = field(default=MARKS, repr=False)
    kept: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    format: str = ""
    time: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Cells that are missing."""
        return tuple(mark for mark in ("", *self.marks) if mark not in self.kept)

    @cached_property
    def type(self) -> "pa.DataType":
        """The type of what is read; plain cells keep their own."""
        import pyarrow as pa

        if self.kind == "date":
            return pa.timestamp("us", self.time if self.time == "UTC" else None) if self.time else pa.date32()
        kinds = {"number": pa.float64(), "truth": pa.bool_(), "clock": pa.time64("us")}
        return kinds.get(self.kind, pa.string())

    @property
    def dtype(self) -> str | None:
        """The name of that type for frames of all libraries; plain cells and words keep their own."""
        dates = str(self.type) if self.time else f"object[{self.type}]"
        return {"number": "float64", "truth": "bool", "date": dates, "clock": dates}.get(self.kind)

    @property
    def of_states(self) -> "CellStyle":
        """The style in which a model of states reads the cells: words stay words, but true and false are flags."""
        is_word = self.kind == "truth" and self.true[0].lower() != "true"
        return replace(self, kind="words") if is_word else self

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

        if self.kind == "words":
            return self._in_words(cells)
        if not holds_strings(cells.type):
            return cells
        strings = cells if is_clean else self.present(cells)
        if self.kind == "plain":
            return strings
        found = pa.chunked_array([self.values(chunk) for chunk in strings.chunks], self.type)
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
        """Read strings without blanks around them; null where one is not written so."""
        strings = half_width(strings)
        if self.kind == "number":
            return self._numbers(strings)
        if self.kind == "clock":
            return _by_distinct(partial(time_of_day, pattern=CLOCK), strings).cast(self.type)
        return _by_distinct(self._truths, strings) if self.kind == "truth" else self._moments(strings)

    # ------------------------------------------------------------------ numbers

    @cached_property
    def pattern(self) -> str:
        """What a number looks like in this style, in the syntax of RE2."""
        return number_pattern(self.decimal, self.thousands, unit_pattern(self.unit), needs_unit=self.unit in SHARES)

    def _numbers(self, strings: "pa.Array") -> "pa.Array":
        """Read numbers: what is no part of a plain number is dropped, byte by byte."""
        import pyarrow as pa
        import pyarrow.compute as pc

        strings = pc.if_else(pc.match_substring_regex(strings, pattern=self.pattern), strings, None)
        if self.unit.isalpha():  # an E is no exponent, and a point behind it stands before no decimals
            strings = pc.replace_substring_regex(strings, pattern=unit_pattern(self.unit), replacement="")
        written = memoryview(strings.buffers()[2] or b"").tobytes()
        for minus in () if written.isascii() else ("−", "–"):
            if minus.encode() in written:
                strings = pc.replace_substring(strings, pattern=minus, replacement="-")
        plain = _translated(strings, self._bytes)
        if pc.any(pc.ends_with(plain, "-")).as_py():
            plain = pc.replace_substring_regex(plain, pattern="^(.*)-$", replacement=r"-\1")
        if self.unit in SHARES:
            plain = pc.binary_join_element_wise(plain, f"e{SHARES[self.unit]}", "")
        numbers = plain.cast(pa.float64())
        return pc.if_else(pc.is_finite(numbers), numbers, None)

    @cached_property
    def _bytes(self) -> Array:
        """What becomes of each byte (256,): 0 where it is dropped."""
        table = np.zeros(256, dtype=np.uint8)
        for character in "0123456789-eE":
            table[ord(character)] = ord(character)
        table[ord("(")] = ord("-")
        table[ord(self.decimal)] = ord(".")
        return table

    # ------------------------------------------------------------------ truths and dates

    def _truths(self, strings: "pa.Array") -> "pa.Array":
        import pyarrow as pa
        import pyarrow.compute as pc

        known = [word.lower() for word in self.true + self.false]
        return pc.less(pc.index_in(pc.utf8_lower(strings), value_set=pa.array(known)), len(self.true))

    def _in_words(self, cells: "pa.ChunkedArray") -> "pa.ChunkedArray":
        """Spell both words alike, also where cells are truths; others stay as they are. It is a dictionary of them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not (holds_strings(cells.type) or pa.types.is_boolean(cells.type)):
            return cells
        chunks = []
        for chunk in cells.chunks or [pa.array([], cells.type)]:
            encoded = chunk if pa.types.is_dictionary(cells.type) else chunk.dictionary_encode()
            truths, others = encoded.dictionary, pa.nulls(len(encoded.dictionary), pa.string())
            if not pa.types.is_boolean(truths.type):
                others = self.present(pa.chunked_array([truths])).combine_chunks()
                truths = self._truths(others)
            own = pc.coalesce(pc.if_else(truths, self.true[0], self.false[0]), others).dictionary_encode()
            chunks.append(pa.DictionaryArray.from_arrays(own.indices.take(encoded.indices), own.dictionary))
        return pa.chunked_array(chunks)

    def spelled(self, states: Sequence[Any]) -> tuple[Any, ...]:
        """Spell the words among states as this style does, unless two would become one."""
        known = {word.lower(): own[0] for own in (self.true, self.false) for word in own}
        words = tuple(known.get(state.lower(), state) if isinstance(state, str) else state for state in states)
        return words if len({*words}) == len(states) else tuple(states)

    def _moments(self, strings: "pa.Array") -> "pa.Array":
        """Read dates and times; of many, the clocks in one loop, and each of the few that are left then once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.time:
            return _by_distinct(self._days, strings).cast(pa.int32()).cast(pa.date32())
        if not re.fullmatch(CLOCK_BEHIND_DAY, self.format):
            return self._instants(strings).cast(self.type)
        start, text = bytes_of(strings.cast(pa.string()))
        others, first = np.empty(len(text) + len(strings), dtype=np.uint8), np.empty_like(start)
        clocks = np.empty(len(strings), dtype=np.int64)
        arguments = text, start, others, first, clocks
        if not take_clocks_out.serves(len(text), *arguments, use_loop=worth_compiling(len(text))):
            return self._instants(strings).cast(self.type)
        take_clocks_out(*arguments)
        rest = pa.StringArray.from_buffers(len(strings), pa.py_buffer(first), pa.py_buffer(others)).dictionary_encode()
        at_one, halves = self._instants_again(rest.dictionary), pc.match_substring_regex(rest.dictionary, HALF_OF_DAY)
        is_half = np.asarray(halves)[rest.indices]
        wrong = (clocks < 0) | (is_half & ((clocks < HOUR) | (clocks >= 13 * HOUR)))
        clocks -= np.where(is_half & (clocks >= 12 * HOUR), 13 * HOUR, HOUR)
        found = pc.add(at_one.take(rest.indices), pa.array(clocks, mask=wrong | np.asarray(strings.is_null())))
        if found.null_count > strings.null_count:  # a day alone, or a clock that is written in another way
            found = pc.coalesce(found, _by_distinct(self._instants, pc.if_else(found.is_null(), strings, None)))
        return found.cast(self.type)

    def _days(self, strings: "pa.Array") -> "pa.Array":
        """Give days since 1970-01-01, null for what is no date."""
        import pyarrow.compute as pc

        found = days_of(*date_parts(strings, f"^{compiled_format(self.format)}$"))
        if self.format == ISO or found.null_count == strings.null_count:
            return found
        return pc.coalesce(found, days_of(*date_parts(strings, f"^{compiled_format(ISO)}$")))

    def _instants(self, strings: "pa.Array") -> "pa.Array":
        """Give microseconds since 1970-01-01, null for what is no date."""
        import pyarrow.compute as pc

        parts = date_parts(strings, with_time(self.format))
        found = pc.add(pc.multiply(days_of(*parts), MICROSECONDS_PER_DAY), clock_of(*parts))
        if self.format == ISO or found.null_count == strings.null_count:
            return found
        others = pc.if_else(found.is_null(), strings, None)
        return pc.coalesce(found, replace(self, format=ISO)._instants(others))

    def _instants_again(self, strings: "pa.Array") -> "pa.Array":
        """Give the same of different strings, most of which came before: days do, from piece to piece of a file."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known, instants = vars(self).get("_known", (strings.slice(0, 0), pa.array([], pa.int64())))
        new = strings.filter(pc.invert(pc.is_in(strings, value_set=known)))
        if len(new):
            known = pa.concat_arrays([known, new])
            instants = pa.concat_arrays([instants, self._instants(new)])
            if len(known) <= MOST_KNOWN:
                vars(self)["_known"] = known, instants
        return instants.take(pc.index_in(strings, value_set=known))

    # ------------------------------------------------------------------ how it is said and stored

    def __str__(self) -> str:
        if self.kind == "number":
            sign = " " * (self.unit.isalpha() or self.decimal == ",") + self.unit
            before = sign.strip() if self.unit in ("$", "£", "¥", "￥", "₹") else ""
            number = f"1{self.thousands}234{self.decimal}5" if self.unit not in SHARES else f"12{self.decimal}5"
            return f"{before}{number}{'' if before else sign}".rstrip()
        if self.kind in ("truth", "words"):
            return f"{self.true[0]} or {self.false[0]}"
        if self.kind == "clock":
            return "23:59"
        shown = {
            "%d": "31",
            "%m": "12",
            "%Y": "2023",
            "%y": "23",
            "%b": "Dec",
            "%B": "December",
            "%H": "23",
            "%M": "59",
        }
        shown |= {"%S": "59", "%I": "11", "%p": "PM", "%z": "+00:00"}
        tail = {"": "", "local": " 23:59", "UTC": " 23:59+00:00"}[self.time] if "%H" not in self.format else ""
        return re.sub("%[A-Za-z]", lambda code: shown.get(code[0], ""), self.format) + tail

    def document(self) -> dict[str, Any]:
        """Give what differs from a plain style, for JSON."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) != one.default}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in own.items()}

    def metadata(self) -> dict[bytes, bytes]:
        """Give the metadata of an Arrow field of such cells."""
        return {STYLE_KEY: json.dumps(self.document(), ensure_ascii=False).encode()}


WAY_OUT = "write it so, or leave the cell empty if it is missing"


def style_of_document(document: Any) -> CellStyle:
    """Make a style of what was written down; refuse what none could be.

    >>> style_of_document(CellStyle("truth", true=("yes",), false=("no",)).document()).true
    ('yes',)
    """
    names = {one.name for one in fields(CellStyle)}
    if not isinstance(document, dict) or not document.keys() <= names or "kind" not in document:
        raise TypeError("the style of cells is a kind and what differs from plain cells")
    said: dict[str, Any] = {key: tuple(it) if isinstance(it, list) else it for key, it in document.items()}
    words = [word for value in said.values() for word in (value if isinstance(value, tuple) else (value,))]
    if not all(isinstance(word, str) for word in words) or said["kind"] not in get_args(StyleKind):
        raise TypeError("the style of cells is made of words")
    style = CellStyle(**said)
    style = replace(style, unit=style.unit.removesuffix("."))  # earlier files have руб. beside руб
    is_known = style.decimal in (".", ",") and style.thousands in ("", *GAPS) and style.time in ("", "local", "UTC")
    if not is_known or style.unit not in ("", *MONEY, *SHARES):
        raise ValueError("numbers are not written so")
    if style.kind == "date":
        compiled_format(style.format)
    if style.kind in ("truth", "words") and not (style.true and style.false):
        raise ValueError("there are words for true and for false")
    return style


def style_of(field: "pa.Field") -> CellStyle | None:
    """Give the style that the metadata of an Arrow field tells, if they tell one."""
    found = (field.metadata or {}).get(STYLE_KEY)
    return None if found is None else _style_written(found)


@lru_cache
def _style_written(document: bytes) -> CellStyle:
    return style_of_document(json.loads(document))


def holds_strings(kind: "pa.DataType") -> bool:
    """Say whether cells are strings, however they are stored."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def unit_pattern(unit: str) -> str:
    """Describe what stands beside numbers; behind letters a point may stand, as in руб. and kr."""
    return re.escape(unit) + r"\.?" * unit.isalpha()


def number_pattern(decimal: str, thousands: str, unit: str, *, needs_unit: bool = False) -> str:
    """Describe numbers in the syntax of RE2; `unit` is a pattern, empty where none may stand there."""
    point = re.escape(decimal)
    groups = rf"[1-9]\d{{0,2}}(?:{GAPS[thousands]}\d{{2,3}})*{GAPS[thousands]}\d{{3}}|" if thousands else ""
    body = rf"(?:(?:{groups}0|[1-9]\d*)(?:{point}\d*)?|{point}\d+)(?:[eE](?:-\d+|\+?[0-2]?\d{{1,2}}))?"
    sign, behind = "[-+−–]?", rf"(?:{BLANK}?(?:{unit}))" + "?" * (not needs_unit) if unit else ""
    before = rf"(?:(?:{unit}){BLANK}?)?" if unit and not needs_unit else ""
    return rf"^(?:(?:{sign}{before}|{before}{sign}){body}{behind}|\({before}{body}{behind}\)|{before}{body}-{behind})$"


def half_width(strings: "pa.Array") -> "pa.Array":
    """Write digits and the marks among them in the narrow form, where some are as wide as a Chinese character.

    >>> import pyarrow
    >>> half_width(pyarrow.array(["２０２３／１２／３１", None, "7"])).to_pylist()
    ['2023/12/31', None, '7']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    written = memoryview(strings.buffers()[-1] or b"").tobytes()
    if written.isascii() or WIDE_BYTES not in written:
        return strings
    if not pc.any(pc.match_substring_regex(strings, "[０-９]")).as_py():
        return strings
    narrow = [None if cell is None else cell.translate(NARROW) for cell in strings.to_pylist()]
    return pa.array(narrow, strings.type)


def _by_distinct(read: Any, strings: "pa.Array") -> "pa.Array":
    """Read each different string once: days, truths and times repeat."""
    encoded = strings.dictionary_encode()
    return read(encoded.dictionary).take(encoded.indices)


def _translated(strings: "pa.Array", table: Array) -> "pa.Array":
    """Put other bytes for those of strings, none where the table (256,) has 0."""
    import pyarrow as pa

    assert strings.offset == 0
    places, written = bytes_of(strings)
    others, first = np.empty(len(written) + 1, dtype=np.uint8), np.empty_like(places)
    arguments = written, places, table, others, first
    if translate_bytes.serves(len(written), *arguments, use_loop=worth_compiling(len(written))):
        translate_bytes(*arguments)
    else:
        changed = table[written]
        kept = changed != 0
        first = np.concatenate([np.zeros(1, dtype=np.int32), np.cumsum(kept, dtype=np.int32)])[places]
        others = changed[kept]
    buffers = [pa.py_buffer(first), pa.py_buffer(others)]
    return pa.StringArray.from_buffers(len(strings), *buffers, strings.buffers()[0])
