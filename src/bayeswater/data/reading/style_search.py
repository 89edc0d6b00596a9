"""`StyleSearch`: finds how the strings of a column are written, from all of them, table by table in bounded memory.

The rules:

- A style is taken only where **every** cell is written so, apart from blank cells and marks of missing ones. One other
  cell, and the column stays as it is written; where most cells have a style, the report names the cells that stayed.
- **One cell decides nothing**: there must be two with a value, and both truths of a pair of words.
- **Leading zeros** are codes: 00501 and 0301234 are no numbers. Nor are telephone numbers: whole numbers that all begin
  with ``+`` and have seven digits or more, or that have three groups parted by blanks and all the same length.
- **Decimals**: ``1,5`` has a decimal comma, ``1,234`` may have one or a group. All cells together tell; if all have
  groups of three, they are thousands, unless another column of the file has a decimal comma, and the doubt is said.
  ``1.234`` has a decimal point, unless it is an amount of money; if all cells have three digits behind their points,
  the doubt is said.
- **Day and month**: 13 and more can only be a day. If no cell tells, other columns of dates in the file do; if none
  does, a date with strokes begins with the month and others with the day, and the doubt is said.
- **Plain numbers** as strings of a data frame are codes that somebody has made, unless marks stand among them.
- **Marks** are missing wherever a column has a style. In a column that stays strings, a mark is missing if it is under
  10 % of the cells; a ``None`` that is a frequent answer is a value. `ALWAYS_MISSING` and what a user names is missing
  everywhere in files.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.column_types import Misfit, without_digits
from bayeswater.data.reading.cell_style import (
    NARROW_UNITS,
    CellStyle,
    PlainStyle,
    Seen,
    half_width,
    holds_strings,
    matching,
)
from bayeswater.data.reading.date_formats import formats_of
from bayeswater.data.reading.date_style import ClockStyle, DateStyle
from bayeswater.data.reading.number_style import BLANK, MONEY, SHARES, NumberStyle, units_beside
from bayeswater.data.reading.truth_style import TRUTHS, TruthStyle
from bayeswater.data.reading.written_as import NOTHING_WRITTEN, NUMBERS, WrittenAs
from bayeswater.data.reading.written_dates import (
    CODES,
    TIME_OF_DAY,
    plainer,
    shapes_of,
)
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

FREQUENT = 0.1
"""Share of the cells from which on a mark is an answer, in a column that stays strings."""

NEARLY_ALL = 0.9
"""Share of the cells that have a style from which on it is said which others stand in its way, if these are many."""

LEAST_CELLS = 2
"""Cells with a value that there must be: one decides nothing."""

LEAST_NUMBERS = 10
"""Different numbers among the strings of a frame, where marks stand among them; with fewer they are codes."""

FIRST_ROWS = 1000
"""Strings of a frame by which most columns are passed over."""

TRIED = 250
"""Different strings by which most styles are ruled out: those that fit less than half of them."""

SEEN = 16
"""Of these, how many are looked at before any pattern is tried on all: one has to look like a style."""

SAMPLED = 100_000
"""Strings of a frame by which a style is found; the others are held against it."""

NEARER = 3
"""Times that the days of a column lie nearer each other in one order of day, month and year than in another."""

LARGE = 2**30
"""Bytes of strings beyond which their places take eight bytes."""

SHOWN = 5
"""Different cells that are named, at most."""

ALL_KINDS = ("number", "truth", "date", "clock")

NAMED_MARKS = {",": "comma", ".": "point"}

WITH_COMMA = ("€", "EUR", "kr", "zł", "₽", "₺", "R$")
"""Money of countries whose decimals stand behind a comma."""

PLAIN = r"^[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$"
SHORT = r"^-?\d{1,7}(?:\.\d*)?$"
"""Plain numbers that are no days: in a frame, where nothing else stands among them, they are codes."""

DASHES = "a dash beside the unit is read as 0, as accountants write it"

NOT_ALL_ZONED = "some times have no zone, and are read as those of UTC"

BEHIND_TIME = re.compile(rf".[ T,]+{TIME_OF_DAY}$", re.ASCII)
BEHIND_ZONE = re.compile(rf"[:.]\d\d[^:]*{CODES['%z']}(?: \d{{4}})?$", re.ASCII)

DIGIT = re.compile("[0-9]")
CODE = re.compile(r"0\d+")
TELEPHONE = r"^\+\d[\d ]{6,}$"
THREE_GROUPS = rf"^\d{{1,3}}(?:{BLANK}\d{{3}}){{2,}}$"


@record
class StyleFound:
    """How a column is written: its style, what is in doubt about it, and what was met.

    Parameters
    ----------
    style : plain where it stays as it is written
    doubt : what else the cells may mean, in words
    nearly : the style that most cells have, where others stand in its way
    stayed : these others, the most frequent first, and how often each occurs
    marks : marks of missing cells, and how often each occurs
    n_cells : cells that were looked at, without those that are blank
    """

    style: CellStyle
    doubt: str = ""
    nearly: CellStyle | None = None
    stayed: Mapping[str, int] = field(default_factory=dict)
    marks: Mapping[str, int] = field(default_factory=dict)
    n_cells: int = 0

    def in_words(self) -> str:
        """Say how the column was read, for people.

        >>> StyleFound(NumberStyle(unit="$"), marks={"n/a": 3}).in_words()
        "numbers written as $1234.5; missing: 'n/a' (3 x)"
        """
        said = []
        if not isinstance(self.style, PlainStyle):
            said.append(f"{self.style.named} written as {self.style}")
        if self.nearly is not None:
            cells = ", ".join(f"{cell!r} ({times} x)" for cell, times in self.stayed.items())
            are_words = len(self.stayed) < SHOWN and not re.search("[1-9]", "".join(self.stayed))
            way_out = f"; if these are missing, say missing={[*self.stayed]}" * are_words
            said.append(
                f"stays as written: most cells are {self.nearly.named} as {self.nearly}, but not {cells}{way_out}"
            )
        missing = {mark: times for mark, times in self.marks.items() if mark in self.style.missing}
        if missing:
            said.append("missing: " + ", ".join(f"{mark!r} ({times} x)" for mark, times in missing.items()))
        kept = [mark for mark in self.marks if mark in self.style.kept]
        if kept:
            said.append(f"{', '.join(map(repr, kept))}: a frequent answer, and not missing")
        return "; ".join([*said, *([self.doubt] if self.doubt else [])])


class StyleSearch:
    """Counts in how many cells each style fits.

    Parameters
    ----------
    written : what the user says
    kinds : which kinds of style may be found
    are_codes : whether plain numbers are codes, as in a data frame; in a file they are numbers

    Examples
    --------
    >>> import pyarrow
    >>> search = StyleSearch()
    >>> search.add(pyarrow.chunked_array([["31/12/2023", "01/02/2024", "-"]]))
    >>> print(search.found().style)
    31/12/2023
    """

    def __init__(
        self,
        written: WrittenAs = NOTHING_WRITTEN,
        kinds: Iterable[str] = ALL_KINDS,
        *,
        are_codes: bool = False,
    ) -> None:
        self.written, self.are_codes = written, are_codes
        self.n_cells = 0
        self._marks: Counter[str] = Counter()
        self._n_values = self._n_plain = self._n_telephone = self._n_grouped = 0
        self._n_with = dict.fromkeys(NAMED_MARKS, 0)
        self._units: Counter[str] = Counter()
        self._numbers: set[str] = set()
        self._long: set[str] = set()
        self._lengths: set[int] = set()
        self._has_time = self._has_zone = self._has_local = self._has_dashes = False
        self._seen: pa.Array | None = None
        self._words: Counter[str] = Counter()
        self._kinds, self._may_be_truths = frozenset(kinds), "truth" in kinds
        self._tried: list[_Tried] = []
        self._misfit = ""

    def add(self, cells: "pa.ChunkedArray") -> None:
        """Look at strings."""
        strings, times = distinct(cells)
        if not len(strings):
            return
        import pyarrow as pa
        import pyarrow.compute as pc

        marked = np.asarray(pc.is_in(strings, value_set=pa.array(self.written.marks, pa.string())))
        self._marks.update({strings[place].as_py(): int(times[place]) for place in np.flatnonzero(marked).tolist()})
        self.n_cells += int(times.sum())
        strings, times = half_width(strings.filter(pa.array(~marked))), times[~marked]
        seen = Seen(strings)
        if not self._n_values:
            self._tried = self._worth_trying(seen if len(strings) <= TRIED else Seen(strings.slice(0, TRIED)))
        self._n_values += int(times.sum())
        for tried in self._tried:
            tried.add(seen, times)
        self._note(seen, times)

    def _worth_trying(self, seen: Seen) -> "list[_Tried]":
        """Give the styles that fit at least half of the first strings."""
        strings = seen.strings
        some = {DIGIT.sub("9", string) for string in strings.to_pylist()[:: max(1, len(strings) // SEEN)]}
        numbers, clock = _possible(self.written)
        styles = [style for style in (*numbers, clock) if any(style.may_be(shape) for shape in some if "9" in shape)]
        given, formats = self.written.date_format, formats_of(some)
        styles += [DateStyle(self.written.marks, format=one) for one in (formats if given is None else [given])]
        tried = [_Tried(style) for style in styles if style.kind in self._kinds]
        is_date = any(isinstance(one.style, DateStyle) and one.matching(seen).any() for one in tried)
        if given is not None and formats and not is_date:
            self._misfit = f"date_format={given!r} fits none of the first cells, such as {strings[0].as_py()!r}"
        return [one for one in tried if 2 * one.matching(seen).sum() >= len(strings)]

    def _note(self, seen: Seen, times: Array) -> None:
        """Note what tells styles of one kind apart."""
        import pyarrow.compute as pc

        strings = seen.strings
        if self._may_be_truths:
            self._words.update(dict(zip(strings.slice(0, 4 * SHOWN).to_pylist(), times.tolist(), strict=False)))
            self._may_be_truths = len(self._words) < 4 * SHOWN
        if _of(NumberStyle, self._tried):
            units = seen.once(units_beside)
            if self.are_codes:
                self._n_plain += int(times[matching(strings, PLAIN)].sum())
            self._lengths |= set(pc.utf8_length(strings).unique().to_pylist()[:SHOWN])
            if len(strings) and strings[0].as_py().startswith("+"):  # all or none
                self._n_telephone += int(times[matching(strings, TELEPHONE)].sum())
            if len(self._lengths) == 1:
                self._n_grouped += int(times[matching(strings, THREE_GROUPS)].sum())
            for mark in self._n_with:
                self._n_with[mark] += int(times[np.asarray(pc.match_substring(strings, pattern=mark))].sum())
            n_beside = np.bincount(units.indices, weights=times, minlength=len(units.dictionary)).astype(np.int64)
            for unit, n in zip(units.dictionary.to_pylist()[: 2 * SHOWN], n_beside.tolist(), strict=False):
                self._units[NARROW_UNITS.get(unit, unit)] += n
            if any(unit in MONEY for unit in units.dictionary.to_pylist()):
                self._has_dashes |= not matching(strings, r"\d").all()
            if len(self._long) < 2:
                self._long |= without_digits(strings)
            if len(self._numbers) < LEAST_NUMBERS:
                self._numbers |= set(strings.slice(0, LEAST_NUMBERS).to_pylist())
        if _of(DateStyle, self._tried):
            self._seen = strings if len(strings) else self._seen
            shapes = [*map(plainer, shapes_of(strings).dictionary.to_pylist())]
            timed = [*filter(BEHIND_TIME.search, shapes)]
            n_zoned = sum(map(bool, map(BEHIND_ZONE.search, timed)))
            self._has_time |= bool(timed)
            self._has_zone |= n_zoned > 0 or any(map(BEHIND_ZONE.search, shapes))
            self._has_local |= n_zoned < len(timed)

    # ------------------------------------------------------------------ what is found

    def found(self, others: "Iterable[CellStyle]" = ()) -> StyleFound:
        """Say how the column is written; where it leaves doubt, as `others` of the same file are."""
        known = [tried for tried in self._tried if not self._is_turned(tried)]
        fitting = [self._settled(tried) for tried in known if tried.n_fitting == self._n_values]
        style, doubt = self._chosen(fitting, list(others)) if self._n_values >= LEAST_CELLS else (None, "")
        if style is not None:
            return StyleFound(style, doubt, marks=self._most(self._marks), n_cells=self.n_cells)
        both = {"无"} if {*self._words} == {"有"} else {}  # there are some, or none
        frequent = (mark for mark, n in self._marks.items() if n >= FREQUENT * self.n_cells or mark in both)
        kept = tuple(mark for mark in frequent if mark not in self.written.always_missing)
        plain = PlainStyle(self.written.marks, kept)
        near = max(known, key=lambda tried: tried.n_fitting, default=None)
        found = StyleFound(plain, doubt or self._misfit, marks=self._most(self._marks), n_cells=self.n_cells)
        if near is None or near.n_fitting == self._n_values or 2 * near.n_fitting <= self._n_values:
            return found
        if len(near.others) > SHOWN and near.n_fitting < NEARLY_ALL * self._n_values:
            return found
        are_plain = self.are_codes and self._n_plain == near.n_fitting
        if isinstance(near.style, NumberStyle) and (any(map(CODE.fullmatch, near.others)) or are_plain):
            return found
        return replace(found, nearly=self._settled(near), stayed=self._most(near.others))

    def _chosen(self, fitting: list[CellStyle], others: list[CellStyle]) -> tuple[CellStyle | None, str]:
        """Choose among the styles that fit all cells."""
        if clock := next((style for style in fitting if isinstance(style, ClockStyle)), None):
            return clock, ""
        dates = [style for style in fitting if isinstance(style, DateStyle)]
        if dates:
            return self._date(dates, [style.format for style in others if isinstance(style, DateStyle)])
        numbers = [style for style in fitting if isinstance(style, NumberStyle)]
        if numbers:
            units = [unit for unit in self._units if unit]
            if len(units) > 1 or (units and units[0] in SHARES and self._units[""]):
                beside = " and ".join(unit or "nothing" for unit in self._units)
                return None, f"stays as written: beside the numbers stand {beside}, which are not of one unit"
            if not self._are_codes():
                style, doubt = self._number(numbers, {one.decimal for one in others if isinstance(one, NumberStyle)})
                return style, doubt or DASHES * self._has_dashes
        found = style_of_words(self._words) if self._may_be_truths else None
        return None if found is None else replace(found, marks=self.written.marks), ""

    def _are_codes(self) -> bool:
        """Say whether what looks like numbers is none: too long for a float64, of telephones, plain in a frame."""
        if len(self._long) > 1 or self.are_telephones:
            return True
        if self._n_grouped == self._n_values and len(self._lengths) == 1:
            return True
        is_plain = self.are_codes and self._n_plain == self._n_values
        return is_plain and not (self._marks and len(self._numbers) >= LEAST_NUMBERS)

    @property
    def are_telephones(self) -> bool:
        """Whether all begin with a plus and have seven digits or more."""
        return 0 < self._n_telephone == self._n_values

    def _number(self, fitting: list[NumberStyle], decimals: set[str]) -> tuple[NumberStyle, str]:
        by_decimal = {style.decimal: style for style in reversed(fitting)}
        one = fitting[0]
        mark = next((mark for mark, n in self._n_with.items() if n), "")
        if len(by_decimal) == 1 or not mark:
            return one, ""
        grouped = by_decimal["." if mark == "," else ","]
        if decimals == {grouped.decimal}:
            return grouped, ""
        are_all = self._n_with[mark] == self._n_values  # as numbers of three decimals have it
        may_be_decimals = f"a {NAMED_MARKS[mark]} may stand before decimals as well: say decimal={mark!r}"
        if one.unit in MONEY:
            return grouped, may_be_decimals if are_all and (mark == "." or one.unit in WITH_COMMA) else ""
        if mark == ".":
            return one, "" if one.is_share else "a point may stand between thousands as well: say thousands='.'"
        return (by_decimal[","], "") if decimals == {","} else (grouped, may_be_decimals)

    def _date(self, fitting: list[DateStyle], others: list[str]) -> tuple[DateStyle | None, str]:
        style = fitting[0]
        if style.format.startswith("%Y%m%d%H") and not self._hours_differ(style):
            return None, "stays as written: they may be moments, but are of one hour, as numbers of orders are"
        if len(fitting) == 1:
            return style, NOT_ALL_ZONED if style.time == "UTC" and self._has_local else ""
        second = fitting[1]
        if turned := next((one for one in fitting[1:] if one.format.startswith("%y")), None):
            near, far = sorted((style, turned), key=self._days_between)
            if near is turned or NEARER * self._days_between(near) > self._days_between(far):
                doubt = f"day and month may be the other way round, or the year first, as {far}"
                return near, f"{doubt}: say date_format={far.format!r}"
            fitting.remove(turned)
            return self._date(fitting, others)
        told = {_has_day_first(format) for format in others if "%m" in format and format[:2].lower() != "%y"}
        if len(told) == 1:
            return (style if {_has_day_first(style.format)} == told else second), ""
        return style, f"day and month may be the other way round, as {second}: say date_format={second.format!r}"

    def _is_turned(self, tried: "_Tried") -> bool:
        """Say whether a year of two digits stands first, while most cells are dates with it at the end: 31/02/23."""
        dates = [one for one in self._tried if isinstance(one.style, DateStyle)]
        usual = [one.n_fitting for one in dates if not one.style.format.startswith("%y")]  # type: ignore[attr-defined]
        is_first = str(getattr(tried.style, "format", "")).startswith("%y")
        return is_first and any(NEARLY_ALL * self._n_values <= n < self._n_values for n in usual)

    def _hours_differ(self, style: DateStyle) -> bool:
        """Say whether moments that are digits alone are of several hours of the day: behind a day may be a number."""
        hours = np.asarray(style.values(self._seen).cast("timestamp[us]")).astype("datetime64[h]")
        return len({int(hour) % 24 for hour in hours.astype(np.int64)}) > 1

    def _days_between(self, style: DateStyle) -> int:
        """Give the time between the first and the last day: those of a table lie near each other."""
        days = np.asarray(style.values(self._seen).cast("timestamp[us]"))
        return int((days.max() - days.min()).astype(np.int64))

    def _settled(self, tried: "_Tried") -> CellStyle:
        """Give a style with what was noted beside its cells."""
        unit = next((unit for unit in self._units if unit in MONEY or unit in SHARES), "")
        return tried.style.settled(unit, "UTC" if self._has_zone else "local" if self._has_time else "")

    def _most(self, cells: "Counter[str]") -> dict[str, int]:
        return dict(cells.most_common(SHOWN))


def style_of_words(times: Mapping[str, int]) -> TruthStyle | None:
    """Give the style of strings, by how often each occurs, if they are words for true and false, and both occur.

    >>> style_of_words({"Yes": 2, "NO": 1, "yes": 1}).true
    ('Yes', 'yes', 'y', 'true')
    """
    words = {word.lower() for word in times}
    for pair in TRUTHS:
        if words <= {*pair[0], *pair[1]} and all(words.intersection(own) for own in pair):
            usual = [max((w for w in times if w.lower() in own), key=lambda w: (times[w], w)) for own in pair]
            spellings = zip(usual, pair, ("true", "false"), strict=True)  # later cells may be truths
            true, false = (tuple(dict.fromkeys((word, *own, truth))) for word, own, truth in spellings)
            return TruthStyle(true=true, false=false)
    return None


def style_in_frame(column: "pa.ChunkedArray", *, is_stored: bool) -> StyleFound | None:
    """Find how strings of a data frame are written, if they are numbers, dates or two words for true and false.

    Blank cells and marks of missing ones are values here, unless numbers or dates stand beside them.
    """
    import pyarrow as pa

    if not holds_strings(column.type) or (pa.types.is_dictionary(column.type) and not is_stored):
        return None
    strings, times = distinct(column.slice(0, FIRST_ROWS))
    words = dict(zip(strings.to_pylist(), times.tolist(), strict=True)) if len(strings) < 4 * SHOWN else {}
    if found_words := style_of_words(words):
        return StyleFound(replace(found_words, marks=(), kept=("",)))
    if not matching(strings, r"\d").any() or matching(strings, SHORT).all():
        return None
    for n_rows in (FIRST_ROWS, SAMPLED)[: 1 + (len(column) > FIRST_ROWS)]:
        search = StyleSearch(kinds=("number", "date"), are_codes=True)
        search.add(column.slice(0, n_rows))
        found = search.found()
        if isinstance(found.style, PlainStyle):
            return None
    try:
        found.style.read(column.slice(SAMPLED), "")
    except Misfit:
        return None
    return found


def are_amounts(cells: Any) -> bool:
    """Say whether cells are numbers, or strings that are written as numbers.

    >>> import pyarrow
    >>> are_amounts(pyarrow.array(["$1,200", "n/a", "$3"])), are_amounts(pyarrow.array(["a", "b"]))
    (True, False)
    """
    import pyarrow as pa

    column = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
    if not holds_strings(column.type):
        return bool(pa.types.is_floating(column.type) or pa.types.is_integer(column.type))
    search = StyleSearch(kinds=("number",))
    search.add(column.slice(0, FIRST_ROWS))
    return isinstance(search.found().style, NumberStyle)


class _Tried:
    """A style that the cells may have; how many have it, and some that do not."""

    def __init__(self, style: CellStyle) -> None:
        self.style, self.n_fitting = style, 0
        self.others: Counter[str] = Counter()
        self._last: tuple[Seen, Array] | None = None

    def matching(self, seen: Seen) -> Array:
        """Say which strings are written so (n_strings,)."""
        if self._last is None or self._last[0] is not seen:
            self._last = seen, self.style.fits(seen)
        return self._last[1]

    def add(self, seen: Seen, times: Array) -> None:
        fits = self.matching(seen)
        self.n_fitting += int(times[fits].sum())
        for place in np.flatnonzero(~fits).tolist()[: 4 * SHOWN]:
            self.others[seen.strings[place].as_py()] += int(times[place])


@cache
def _possible(written: WrittenAs) -> tuple[list[NumberStyle], ClockStyle]:
    """Give the styles that there may be, beside those of dates."""
    marks = written.marks
    numbers = [
        NumberStyle(marks, decimal=decimal, thousands=gap)
        for decimal, gap in NUMBERS
        if written.decimal in (None, decimal) and written.thousands in (None, gap)
    ]
    return numbers, ClockStyle(marks)


def _has_day_first(format: str) -> bool:
    return format.index("%d") < format.index("%m")


def distinct(cells: "pa.ChunkedArray") -> "tuple[pa.Array, Array]":
    """Give the different strings without blanks around them, apart from blank ones, and how often each occurs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if cells.type != pa.string() or cells.nbytes > LARGE:
        cells = cells.cast(pa.large_string())
    counts = pc.value_counts(cells.drop_null())
    strings, times = pc.utf8_trim_whitespace(counts.field("values")), counts.field("counts").to_numpy()
    if not strings.equals(counts.field("values")):
        encoded = strings.dictionary_encode()
        strings, times = encoded.dictionary, np.bincount(encoded.indices, times).astype(np.int64)
    present = pc.not_equal(strings, "")
    return strings.filter(present), times[np.asarray(present)]


def _of(kind: type[CellStyle], tried: list[_Tried]) -> bool:
    return any(isinstance(one.style, kind) for one in tried)
