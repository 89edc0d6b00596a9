"""Formats of dates, told by the shape of a cell: where numbers and words stand in it, and what parts them.

A shape has a 9 for every digit. The parts of a day stand in one of a few orders, between marks that are taken as they
are. Only in ``12/31/2023`` and its like may an order mean two things: with strokes the month comes first, else the day.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from bayeswater.data.reading.written_dates import BEHIND_DAY, KNOWN_DAYS, LETTER, MONTH_NUMBERS, plainer

DAY, YEAR = "(?:99?)", "(9999|99)"
MARK = r"([-/._]|\. | )"
"""What stands between the numbers of a day."""

GAP = r"( de | |-|/|)"
"""What stands between a number and the name of a month."""

NAME = rf"({LETTER}+)\.?"
CLOCK = r"99:99:99"
TAIL = r"(?:[ T,]+9.*)?"
"""A time of day, behind a day."""

YEAR_FIRST = rf"9999{MARK}{DAY}\1{DAY}(\.?){TAIL}"
WITH_SIGNS = rf"9999(年|년\s?){DAY}(月|월\s?){DAY}(日|일){TAIL}"
YEAR_LAST = rf"{DAY}{MARK}{DAY}\1{YEAR}{TAIL}"
SHORT_YEAR_FIRST = rf"99([-/]){DAY}\1{DAY}{TAIL}"
DIGITS = rf"9{{8}}(9999(?:99)?|{TAIL})"
DAY_FIRST = rf"{DAY}{BEHIND_DAY}{GAP}{NAME}(,?){GAP}{YEAR}(?::({CLOCK})( .+)?|{TAIL})"
MONTH_FIRST = rf"{NAME}{GAP}{DAY}{BEHIND_DAY}(,?){GAP}{YEAR}{TAIL}"
MONTH_BETWEEN = rf"9999(\.?){GAP}{NAME}{GAP}{DAY}\.?{TAIL}"
YEAR_BEHIND_CLOCK = rf"{NAME} {DAY} {CLOCK}( .+)? 9999"

WEEKDAY = rf"{NAME},?\s+(?=.*9)"


def formats_of(shapes: Iterable[str]) -> list[str]:
    """Give the formats that cells of some shapes may have; of two that fit all cells, the first is taken.

    >>> formats_of(["99/99/9999"]), formats_of(["Mon, 9 Jan 9999 99:99"]), formats_of(["9999 kg", "9.5"])
    (['%m/%d/%Y', '%d/%m/%Y'], ['%d %b %Y'], [])
    """
    found = dict.fromkeys(format for shape in shapes for format in _formats(plainer(shape)))
    return sorted(found, key=lambda format: format.startswith("%y"))


@lru_cache(2**12)
def _formats(shape: str) -> tuple[str, ...]:
    shape = re.sub(r"\s+", " ", shape)
    begun = re.match(WEEKDAY, shape)
    if begun and begun[1].lower() in KNOWN_DAYS:
        shape = shape[begun.end() :]
    return (*_of_numbers(shape), *_with_name(shape))


def _of_numbers(shape: str) -> Iterator[str]:
    if found := re.fullmatch(YEAR_FIRST, shape):
        yield f"%Y{found[1]}%m{found[1]}%d{found[2]}"
    if found := re.fullmatch(WITH_SIGNS, shape):
        yield f"%Y{found[1]}%m{found[2]}%d{found[3]}"
    if found := re.fullmatch(YEAR_LAST, shape):
        mark, year = found[1], "%Y" if len(found[2]) > 2 else "%y"
        both = f"%d{mark}%m{mark}{year}", f"%m{mark}%d{mark}{year}"
        if mark in "-/.":
            yield from both if mark != "/" else reversed(both)
        elif year == "%Y":
            yield both[0]
    if found := re.fullmatch(SHORT_YEAR_FIRST, shape):
        yield f"%y{found[1]}%m{found[1]}%d"
    if found := re.fullmatch(DIGITS, shape):
        yield "%Y%m%d" + {"9999": "%H%M", "999999": "%H%M%S"}.get(found[1], "")


def _with_name(shape: str) -> Iterator[str]:
    if (
        (found := re.fullmatch(DAY_FIRST, shape))
        and found[2].lower() in MONTH_NUMBERS
        and (found[1] or len(found[5]) > 2)
    ):
        day = f"%d{found[1]}%b{found[3]}{found[4]}{'%Y' if len(found[5]) > 2 else '%y'}"
        yield day + (":%H:%M:%S" if found[6] else "") + (" %z" if found[7] else "")
    if (found := re.fullmatch(MONTH_FIRST, shape)) and found[1].lower() in MONTH_NUMBERS and len(found[5]) > 2:
        yield f"%b{found[2]}%d{found[3]}{found[4]}%Y"
    if (found := re.fullmatch(MONTH_BETWEEN, shape)) and found[3].lower() in MONTH_NUMBERS:
        yield f"%Y{found[1]}{found[2]}%b{found[4]}%d"
    if (found := re.fullmatch(YEAR_BEHIND_CLOCK, shape)) and found[1].lower() in MONTH_NUMBERS:
        yield f"%b %d %H:%M:%S{' %z' if found[2] else ''} %Y"
