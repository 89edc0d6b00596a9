"""`DateStyle` and `ClockStyle`: dates, points in time and times of day as people write them."""

import re
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from bayeswater.data.reading.cell_style import CellStyle, Seen, by_distinct, bytes_in
from bayeswater.data.reading.written_dates import (
    CLOCK,
    HALF_OF_DAY,
    ISO,
    MICROSECONDS_PER_DAY,
    bytes_of,
    compiled_format,
    date_parts,
    days_of,
    instants_of,
    time_of_day,
)
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.text_bytes import take_clocks_out
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa


MOST_KNOWN = 2**14
"""Moments without their clocks that a style remembers, some forty years."""

TIMES = ("", "local", "UTC")
"""Whether a time of day follows a date."""

SHOWN = {
    "%d": "31",
    "%m": "12",
    "%Y": "2023",
    "%y": "23",
    "%b": "Dec",
    "%B": "December",
    "%H": "23",
    "%M": "59",
    "%S": "59",
    "%I": "11",
    "%p": "PM",
    "%z": "+00:00",
}
"""A date by which a format is said."""

HOUR = MICROSECONDS_PER_DAY // 24

CLOCK_BEHIND_DAY = "[^:]+(:?%[HI]:%M.*)?"
"""Formats of which the first colon that parts two numbers is that of a clock; others are read as a whole."""


@record
class ClockStyle(CellStyle):
    """Times of day."""

    kind, named, stored = "clock", "times of day", "time64[us]"

    def may_be(self, shape: str) -> bool:
        """Look for the colon."""
        return shape[1:3].count(":") == 1

    def fits(self, seen: "Seen") -> Array:
        """Read what looks so."""
        return np.asarray(self.values(seen.strings).is_valid())

    def values(self, strings: "pa.Array") -> "pa.Array":
        """Read each time once."""
        return by_distinct(partial(time_of_day, pattern=CLOCK), strings).cast(self.type)

    def __str__(self) -> str:
        return "23:59"


@record
class DateStyle(CellStyle):
    """Days, or points in time.

    Parameters
    ----------
    format : as `strptime` has it
    time : whether a time of day may follow: "" (no), "local" or "UTC"
    """

    kind, named = "date", "dates"

    format: str = ISO
    time: str = ""

    @cached_property
    def type(self) -> "pa.DataType":
        """Days, or points in time."""
        import pyarrow as pa

        return pa.timestamp("us", self.time if self.time == "UTC" else None) if self.time else pa.date32()

    @property
    def dtype(self) -> str:
        """Days, or points in time."""
        return str(self.type) if self.time else f"object[{self.type}]"

    def settled(self, unit: str, time: str) -> "DateStyle":
        """Give the style with the time of day that follows, or that the format has."""
        own = "UTC" if "%z" in self.format else "local" if "%H" in self.format else ""
        return replace(self, time=max(time, own, key=TIMES.index))

    def fits(self, seen: "Seen") -> Array:
        """Look whether they are on the calendar and on the clock, in years that people write about.

        Digits without a mark between are of 1900 to 2099.
        """
        first, last = (1900, 2100) if "%Y%m" in self.format else (1500, 2300)
        found = instants_of(seen.strings, self.format)
        moments = found.fill_null(0).to_numpy().astype("datetime64[us]")
        is_near = (moments >= np.datetime64(f"{first}", "us")) & (moments < np.datetime64(f"{last}", "us"))
        return is_near & np.asarray(found.is_valid())

    def values(self, strings: "pa.Array") -> "pa.Array":
        """Read dates and times; of many, the clocks in one loop, and each of the few that are left then once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.time:
            return by_distinct(self._days, strings).cast(pa.int32()).cast(pa.date32())
        if not re.fullmatch(CLOCK_BEHIND_DAY, self.format) or b":" not in bytes_in(strings):
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
            found = pc.coalesce(found, by_distinct(self._instants, pc.if_else(found.is_null(), strings, None)))
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

        found = instants_of(strings, self.format)
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

    def __str__(self) -> str:
        tail = {"": "", "local": " 23:59", "UTC": " 23:59+00:00"}[self.time] if "%H" not in self.format else ""
        return re.sub("%[A-Za-z]", lambda code: SHOWN.get(code[0], ""), self.format) + tail
