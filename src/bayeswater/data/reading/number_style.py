"""`NumberStyle`: numbers as people write them, with groups of digits, a unit, and signs before or behind them."""

import re
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayeswater.data.reading.cell_style import NARROW_UNITS, CellStyle, Seen, bytes_in
from bayeswater.data.reading.written_dates import bytes_of
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.text_bytes import translate_bytes
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

NAMES_OF_MONEY = (
    "$ € £ ¥ ₹ ₩ ₽ ₺ ₪ ฿ ₫ ₱ ₦ ₴ 元 円 원 kr zł Kč Ft руб Rs Rp RM US$ C$ CA$ A$ AU$ NZ$ MX$ HK$ R$ NT$ S$ "
    "USD EUR GBP CHF CNY RMB JPY INR CAD AUD NZD HKD SGD TWD KRW BRL SEK NOK DKK PLN CZK HUF RON RUB TRY TL ZAR MXN "
    "AED SAR ILS THB MYR IDR PHP VND UAH ARS CLP COP EGP NGN PKR"
)
MONEY = tuple(NAMES_OF_MONEY.split(" "))
SHARES = {"%": -2, "‰": -3}
"""What may stand beside a number: money, which changes nothing, and shares, by their power of ten."""

BLANK = "[ \t\u00a0\u2009\u202f]"
"""A blank beside a number or in it; some do not break a line."""

GAPS = {" ": BLANK, "'": "['’]", ",": ",", ".": r"\."}
"""What may stand between groups of digits, by the character that stands for all like it."""

MINUS = {"−": "-", "–": "-", "△": "-"}
"""What stands for a minus, by what it is written as; Japanese accounts have the triangle."""

NO_DECIMALS = "[-–—]{1,2}"
"""What stands behind a point where there are no decimals, as in 12,- and 3.–"""

OF_NUMBER = rf"[-+−–—△()\d.,'’]+|{BLANK}|[eE][-+]?\d+"
"""What numbers are made of, beside their units."""

UNPLAIN = np.arange(256, dtype=np.uint8)
UNPLAIN[[*b"-+()0123456789.,' \t"]] = 0
"""Bytes as they are, but for those of plain numbers, which are dropped."""


@record
class NumberStyle(CellStyle):
    """Numbers.

    Parameters
    ----------
    decimal, thousands : what stands before decimals and between groups of digits; nothing where there are no groups
    unit : what stands beside the numbers

    Examples
    --------
    >>> import pyarrow
    >>> euros = NumberStyle(decimal=",", thousands=".", unit="€")
    >>> print(euros, euros.read(pyarrow.chunked_array([["1.234,50 €", "-7 €", "n/a"]]), "price").to_pylist())
    1.234,5 € [1234.5, -7.0, None]
    """

    kind, named, stored = "number", "numbers", "double"

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @property
    def is_share(self) -> bool:
        """Whether a sign stands beside them that divides them."""
        return self.unit in SHARES

    def settled(self, unit: str, time: str) -> "NumberStyle":
        """Give the style with its unit."""
        return replace(self, unit=unit)

    def may_be(self, shape: str) -> bool:
        """Look at what is no part of a number."""
        return re.sub(OF_NUMBER, "", shape) in ("", *MONEY, *SHARES, *NARROW_UNITS)

    def fits(self, seen: Seen) -> Array:
        """Match numbers with the units that there are, and the marks: a pattern of all takes long to compile."""
        there = [NARROW_UNITS.get(unit, unit) for unit in seen.once(units_beside).dictionary.to_pylist()]
        marks = seen.once(marks_within)
        known = sorted({*MONEY, *SHARES}.intersection(there), key=len, reverse=True)
        decimal = self.decimal if self.decimal in marks else next((m for m in ".," if m not in marks), "")
        thousands = self.thousands if self.thousands in marks else ""
        pattern = number_pattern(decimal or self.decimal, thousands, "|".join(map(unit_pattern, known)))
        return seen.matching(pattern)

    @cached_property
    def pattern(self) -> str:
        """What a number looks like in this style, in the syntax of RE2."""
        return number_pattern(self.decimal, self.thousands, unit_pattern(self.unit), needs_unit=self.is_share)

    def values(self, strings: "pa.Array") -> "pa.Array":
        """Read numbers: what is no part of a plain number is dropped, byte by byte."""
        import pyarrow as pa
        import pyarrow.compute as pc

        strings = pc.if_else(pc.match_substring_regex(strings, pattern=self.pattern), strings, None)
        if self.unit.isalpha():  # an E is no exponent, and a point behind it stands before no decimals
            strings = pc.replace_substring_regex(strings, pattern=unit_pattern(self.unit), replacement="")
        written = bytes_in(strings)
        for minus in () if written.isascii() else MINUS:
            if minus.encode() in written:
                strings = pc.replace_substring(strings, pattern=minus, replacement="-")
        if any(f"{self.decimal}{dash}".encode() in written for dash in "-–—"):
            strings = pc.replace_substring_regex(strings, pattern=re.escape(self.decimal) + NO_DECIMALS, replacement="")
        plain = _translated(strings, self._bytes)
        if pc.any(pc.ends_with(plain, "-")).as_py():
            plain = pc.replace_substring_regex(plain, pattern="^(.*)-$", replacement=r"-\1")
            plain = pc.if_else(pc.equal(plain, "-"), "0", plain)  # a sum of nothing, as accountants write it
        if self.is_share:
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

    def __str__(self) -> str:
        sign = " " * (self.unit.isalpha() or self.decimal == ",") + self.unit
        before = sign.strip() if self.unit in ("$", "£", "¥", "₹") else ""
        number = f"1{self.thousands}234{self.decimal}5" if not self.is_share else f"12{self.decimal}5"
        return f"{before}{number}{'' if before else sign}".rstrip()


def unit_pattern(unit: str) -> str:
    """Describe what stands beside numbers; behind letters a point may stand, as in руб. and kr."""
    wide = "".join(wide for wide, narrow in NARROW_UNITS.items() if narrow == unit)
    return f"[{unit}{wide}]" if wide else re.escape(unit) + r"\.?" * unit.isalpha()


def number_pattern(decimal: str, thousands: str, unit: str, *, needs_unit: bool = False) -> str:
    """Describe numbers in the syntax of RE2; `unit` is a pattern, empty where none may stand there."""
    point = re.escape(decimal)
    groups = rf"[1-9]\d{{0,2}}(?:{GAPS[thousands]}\d{{2,3}})*{GAPS[thousands]}\d{{3}}|" if thousands else ""
    decimals = rf"(?:{point}(?:\d*|{NO_DECIMALS}))?"
    body = rf"(?:(?:{groups}0|[1-9]\d*){decimals}|{point}\d+)(?:[eE](?:-\d+|\+?[0-2]?\d{{1,2}}))?"
    sign, behind = rf"(?:[-+−–△]{BLANK}?)?", rf"(?:{BLANK}?(?:{unit}))" + "?" * (not needs_unit) if unit else ""
    before = rf"(?:(?:{unit}){BLANK}?)?" if unit and not needs_unit else ""
    nothing = rf"|(?:{unit}){BLANK}*[-–]|[-–]{BLANK}*(?:{unit})" if before else ""
    signed = rf"(?:{sign}{before}|{before}{sign}){body}{behind}"
    return rf"^(?:{signed}|{before}\({before}{body}{behind}\)|{before}{body}-{behind}{nothing})$"


def marks_within(strings: "pa.Array") -> frozenset[str]:
    """Give the marks within numbers that there are, by the character that stands for all like it."""
    text = bytes_in(strings)
    return frozenset(mark for mark, own in GAPS.items() if any(one.encode() in text for one in own.strip("[]\\")))


def units_beside(strings: "pa.Array") -> "pa.DictionaryArray":
    """Give what stands beside numbers: bytes of plain ones are dropped first, so that few strings are looked at.

    >>> import pyarrow
    >>> units_beside(pyarrow.array(["$1,200", "7", "−3 €"])).to_pylist()
    ['$', '', '€']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    written = bytes_in(strings)
    if strings.offset or not pa.types.is_string(strings.type) or b"e" in written or b"E" in written:  # exponents
        return pc.replace_substring_regex(strings, pattern=OF_NUMBER, replacement="").dictionary_encode()
    rest = _translated(strings, UNPLAIN).dictionary_encode()
    units = pc.replace_substring_regex(rest.dictionary, pattern=OF_NUMBER, replacement="").dictionary_encode()
    return pa.DictionaryArray.from_arrays(units.indices.take(rest.indices), units.dictionary)


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
