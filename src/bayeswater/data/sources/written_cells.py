"""`WrittenCells`: how the cells of a text file are read, column by column.

A model that reads a file says how its columns are written; the styles of all others are found in the first rows, or in
all of them where the first leave doubt. Marks of missing cells are taken out by Arrow while it parses, which costs
nothing; a column with marks of its own is parsed by itself. A field of the schema tells its style.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeswater.data.column_types import are_whole, candidate_types, fits, without_digits
from bayeswater.data.reading.cell_style import ALWAYS_MISSING, CellStyle, PlainStyle, holds_strings
from bayeswater.data.reading.cell_styles import style_of
from bayeswater.data.reading.number_style import NumberStyle
from bayeswater.data.reading.style_search import ALL_KINDS, TELEPHONE, StyleFound, StyleSearch
from bayeswater.data.reading.written_as import WrittenAs
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

LABELS = PlainStyle(ALWAYS_MISSING)
"""Labels keep their words, and marks that are a class."""

MOST_BLANKS = 4
"""Blanks that a cell of nothing else has, for Arrow; more are taken off where cells are strings."""

CODE = re.compile(rb"0\d\d(?<![\d.]...)")
"""What text has where a cell is a whole number with zeros before it."""

DAYS = tuple((19_000_101 * ten, 20_991_232 * ten - 1) for ten in (1, 10**4, 10**6))
"""Whole numbers between which all may be days, as 20231231, or moments, as 202312312359 and 20231231235959."""

FEW_ROWS = 100
"""Rows of numbers with points of which one shows that no thousands stand before them, mostly."""

FIRST_ROWS = 10_000
"""Rows of a long file by which styles are found; all others are held against them."""

LONG_NUMBER, SEVEN_DIGITS = 1e15, 1e6
"""Whole numbers from here on have 16 digits, and may be too long for a float64; seven, and may be telephones."""

Parse = Callable[[Any, tuple[str, ...]], Any]
"""Parses columns of some rows, or all: given their types (None for those that cells look like) and marks of missing."""


@record
class ColumnReading:
    """How a column was read: its type, what was found in the first rows, and in how many of them."""

    name: str
    type: str
    found: StyleFound

    def __str__(self) -> str:
        return f"{self.name} ({self.type}): {self.found.in_words() or 'as it is'}"


class WrittenCells:
    """Styles of columns, said by a model or found in their cells.

    Parameters
    ----------
    written : what the user says of cells
    """

    def __init__(self, written: WrittenAs) -> None:
        self.written = written
        self.said: dict[str, CellStyle] = {}
        self.found: dict[str, StyleFound] = {}
        self.refused: set[tuple[str, pa.DataType | str]] = set()
        """Types, and styles by their words, that a cell far down did not fit."""
        self._perhaps_days: set[str] = set()
        self._perhaps_groups: set[str] = set()
        self._has_no_marks: set[str] = set()
        self._as_written: dict[str, pa.ChunkedArray] = {}  # strings of the first rows, until their styles are found
        self.codes: set[str] = set()
        """Columns of whole numbers that have zeros before them."""

    # ------------------------------------------------------------------ how columns are read

    def style(self, name: str) -> CellStyle | None:
        """Give the style of a column, if one is said or found."""
        found = self.found.get(name)
        return self.said.get(name) or (found.style if found else None)

    def is_styled(self, name: str) -> bool:
        """Say whether cells of a column are not read by Arrow, but here."""
        style = self.style(name)
        return style is not None and style.kind != "plain"

    def marks(self, name: str) -> tuple[str, ...]:
        """Give the cells of a column that are missing."""
        style = self.style(name)
        return ("", *(self.written.marks if style is None else filter(None, style.missing)))

    def schema(self, kinds: "Mapping[str, pa.DataType]", types: "Mapping[str, pa.DataType]") -> "pa.Schema":
        """Give the schema of columns that look so, in the types that are declared, or those of their styles."""
        import pyarrow as pa

        fields = [pa.field(name, types.get(name, self._type(name, kind))) for name, kind in kinds.items()]
        styles = ((field, self.style(field.name)) for field in fields)
        return pa.schema([field if style is None else field.with_metadata(style.metadata()) for field, style in styles])

    def _type(self, name: str, kind: "pa.DataType") -> "pa.DataType":
        style = self.style(name)
        return kind if style is None or style.kind == "plain" else style.type

    def parsed(self, parse: Parse, types: "Mapping[str, pa.DataType]") -> "pa.Table":
        """Parse columns, as strings where they have a style: all at once, and those alone that have other marks.

        Where a column has fewer marks than most, as labels have, and nothing is missing, it is as it should be.
        """
        import pyarrow as pa

        kinds = {name: pa.string() if self.is_styled(name) else kind for name, kind in types.items()}
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in kinds:
            groups.setdefault(self.marks(name), []).append(name)
        most = max(groups, key=lambda marks: len(groups[marks]), default=())
        table = parse({name: kind for name, kind in kinds.items() if {*self.marks(name)} <= {*most}}, most)
        columns = {name: table.column(name) for name in table.column_names}
        for marks, names in groups.items():
            other = [name for name in names if name not in columns or (marks != most and columns[name].null_count)]
            if other:
                again = parse({name: kinds[name] for name in other}, marks)
                columns |= {name: again.column(name) for name in other}
        return pa.table({name: columns[name] for name in types})

    def trimmed(self, table: "pa.Table") -> "pa.Table":
        """Take the blanks off strings, and the missing ones among those that had some out."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for place, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                cells = pc.utf8_trim_whitespace(table.column(place))
                missing = pc.is_in(cells, value_set=pa.array(self.marks(field.name)))
                table = table.set_column(place, field, pc.if_else(missing, None, cells))
        return table

    def find_in_strings(
        self,
        names: list[str],
        first: "pa.Table | None",
        rows: "Callable[[list[str]], Iterable[pa.Table]] | None",
        types: "Mapping[str, pa.DataType]",
    ) -> None:
        """Find the styles of strings of a file that is no text, in its first rows, or in all where these leave doubt.

        Plain numbers among them are codes that somebody has made, since the file could have held numbers. In columns
        of `types`, which a user asks for, only what can be of their type is looked for.
        """
        asked = {name: _kinds_for(types[name]) if name in types else ALL_KINDS for name in names}
        asked = {name: kinds for name, kinds in asked.items() if kinds}
        if first is not None:
            self._search([first], asked, codes=asked.keys() - types.keys())
            asked = {name: kinds for name, kinds in asked.items() if self.found[name].doubt}
        if asked and rows is not None:
            self._search(rows(list(asked)), asked, codes=asked.keys() - types.keys())

    def read(self, table: "pa.Table", schema: "pa.Schema") -> "pa.Table":
        """Read strings without blanks by the styles of their columns, in the types that the schema has."""
        for place, name in enumerate(table.column_names):
            style, field = self.style(name), schema.field(name)
            if style is None:
                continue
            cells = table.column(place)
            if style.kind == "words" or (style.kind != "plain" and not holds_strings(field.type)):
                cells = style.read(cells, name, is_clean=True).cast(field.type)
            table = table.set_column(place, field.with_type(cells.type), cells)
        return table

    def doubts(self, name: str) -> bool:
        """Say whether the cells of a column may be read in another way as well."""
        return name in self.found and bool(self.found[name].doubt)

    def notes(self) -> list[str]:
        """Say what leaves doubt, and which cells kept a column from being read."""
        told = {name: found for name, found in self.found.items() if found.doubt or found.nearly}
        again = "; its name is among them: is the header there more than once?"
        return [
            f"column {name!r}: {found.in_words()}{again if name in found.stayed else ''}"
            for name, found in told.items()
        ]

    def report(self, schema: "pa.Schema") -> list[ColumnReading]:
        """Say how columns were read of which there is something to say."""
        return [ColumnReading(name, str(schema.field(name).type), self.found[name]) for name in self.found]

    # ------------------------------------------------------------------ what the cells say

    def first_types(self, parse: Parse, delimiter: str) -> "dict[str, pa.DataType]":
        """Tell the types of all columns as the first rows look to Arrow; numbers too long for a float64 are strings.

        Semicolons are written where commas stand before decimals: there 1.000 may be a thousand.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        table = parse({}, ("", *self.written.marks))
        kinds = {field.name: field.type for field in table.schema}
        self._perhaps_days = {name for name in kinds if _are_perhaps_days(table.column(name))}
        if self.written.thousands == "." or (delimiter == ";" and self.written.decimal is None):
            self._perhaps_groups = {name for name in kinds if _are_perhaps_groups(table.column(name))}
        for name in [name for name, kind in kinds.items() if pa.types.is_null(kind)]:  # all cells are marks, or blank
            kinds[name] = parse({name: None}, ("", *self.written.always_missing)).schema.field(0).type
        self._has_no_marks = {name for name in kinds if not table.column(name).null_count}
        self._as_written = {
            name: table.column(name) for name in self._has_no_marks if pa.types.is_string(table.schema.field(name).type)
        }
        kinds |= {name: self.kind_said(parse, name, kinds[name]) for name in self.said.keys() & kinds.keys()}
        floats = [name for name, kind in kinds.items() if pa.types.is_floating(kind)]
        long = [name for name in floats if _may_be_codes(table.column(name))]
        if long:
            written = parse(dict.fromkeys(long, pa.string()), ("", *self.written.marks))
            for name in long:
                cells = pc.utf8_trim_whitespace(written.column(name).drop_null())
                are_telephones = pc.all(pc.match_substring_regex(cells, pattern=TELEPHONE)).as_py()
                if are_telephones or (are_whole(cells) and len(without_digits(cells)) > 1):
                    kinds[name] = pa.string()
        return {name: pa.string() if pa.types.is_binary(kind) else kind for name, kind in kinds.items()}

    def kind_said(self, parse: Parse, name: str, usual: "pa.DataType") -> "pa.DataType":
        """Tell the type of a column of which the style is said, as its first rows look by the marks of that style."""
        import pyarrow as pa

        if name in self.codes:
            return pa.string()
        if name in self._has_no_marks:
            return usual
        kind = parse({name: None}, self.marks(name)).schema.field(0).type
        return pa.string() if pa.types.is_binary(kind) else kind

    def find(
        self,
        parse: Parse,
        text: bytes,
        kinds: "dict[str, pa.DataType]",
        types: "Mapping[str, pa.DataType]",
        all_rows: "Callable[[list[str]], Iterable[pa.Table]] | None",
    ) -> None:
        """Find the styles of strings, and codes and days among whole numbers, whose types are changed in `kinds`.

        Parameters
        ----------
        parse, text : the first rows
        kinds : types of all columns as they look
        types : those that a user asks for
        all_rows : gives columns as they are written in all rows, where these are more than the first
        """
        import pyarrow as pa

        asked: dict[str, tuple[str, ...]] = {
            name: ALL_KINDS for name, kind in kinds.items() if pa.types.is_string(kind) and name not in types
        }
        whole = [name for name, kind in kinds.items() if pa.types.is_integer(kind) and name not in types]
        asked |= dict.fromkeys(self._perhaps_days.intersection(whole), ("number", "date"))
        asked |= dict.fromkeys(self._perhaps_groups.difference(types), ("number",))
        asked |= {name: own for name in types.keys() & kinds.keys() if (own := _kinds_for(types[name]))}
        asked = {name: own for name, own in asked.items() if name not in self.said}
        codes = [name for name in whole if self.said.get(name, LABELS) == LABELS]
        if codes and not CODE.search(text):
            codes = []
        at_hand, self._as_written = self._as_written, {}
        if not asked and not codes:
            return
        others = [name for name in (*asked, *codes) if name not in at_hand]
        if others:
            parsed = parse(dict.fromkeys(others, pa.string()), ("",))
            at_hand |= {name: parsed.column(name) for name in others}
        for name in self._perhaps_groups.intersection(asked).difference(types):
            if not _are_groups(at_hand[name].slice(0, FEW_ROWS)):
                del asked[name]
        cells = pa.table({name: at_hand[name] for name in (*asked, *codes)})
        self._find_codes(cells.select(codes), kinds)
        self._search([cells if all_rows is None else cells.slice(0, FIRST_ROWS)], asked)
        doubtful = {name: own for name, own in asked.items() if self.found[name].doubt}
        if doubtful and all_rows is not None:
            self._search(all_rows(list(doubtful)), doubtful)
        for name in self._perhaps_days.intersection(asked):
            if self.found[name].style.kind != "date":
                del self.found[name]
        for name in self._perhaps_groups.intersection(asked).difference(types):
            found = self.found.pop(name)
            if isinstance(found.style, NumberStyle) and found.style.thousands == ".":
                self.found[name] = found
            elif found.doubt:  # Arrow reads them
                self.found[name] = replace(found, style=PlainStyle(self.written.marks))

    def _find_codes(self, whole: "pa.Table", kinds: "dict[str, pa.DataType]") -> None:
        """Make strings of whole numbers that have zeros before them."""
        import pyarrow as pa

        for name in whole.column_names:
            if has_codes(whole.column(name)):
                self.codes.add(name)
                self.found[name] = StyleFound(PlainStyle(self.written.marks))
                kinds[name] = pa.string()

    def _search(
        self, tables: "Iterable[pa.Table]", kinds: Mapping[str, Iterable[str]], *, codes: Collection[str] = ()
    ) -> None:
        searches = {name: StyleSearch(self.written, own, are_codes=name in codes) for name, own in kinds.items()}
        for table in tables:
            for name, search in searches.items():
                search.add(table.column(name))
        self._settle(searches)

    def _settle(self, searches: Mapping[str, StyleSearch]) -> None:
        """Say what was found; where a column leaves doubt, others of the file may tell."""
        first = {name: search.found() for name, search in searches.items()}
        known = [*first.values(), *self.found.values()]
        clear = [found.style for found in known if not found.doubt]
        own = {name: searches[name].found(clear) if found.doubt else found for name, found in first.items()}
        plain = StyleFound(PlainStyle(self.written.marks))
        self.found |= {name: plain if (name, str(it.style)) in self.refused else it for name, it in own.items()}

    def fit_all(self, tables: "Iterable[pa.Table]", names: Iterable[str], decimal: str) -> "dict[str, pa.DataType]":
        """Tell the types and the styles of columns that hold all their cells, as they are written."""
        import pyarrow as pa
        import pyarrow.compute as pc

        possible = {name: [kind for kind in candidate_types() if (name, kind) not in self.refused] for name in names}
        searches = {name: StyleSearch(self.written) for name in possible}
        empty, whole, codes = set(possible), set(possible), set()
        long: dict[str, set[str]] = {name: set() for name in possible}
        marks = pa.array(("", *self.written.marks))
        for table in tables:
            for name, kinds in possible.items():
                searches[name].add(table.column(name))
                cells = pc.utf8_trim_whitespace(table.column(name).drop_null())
                cells = cells.filter(pc.invert(pc.is_in(cells, value_set=marks)))
                if len(cells):
                    empty.discard(name)
                    if not are_whole(cells):
                        whole.discard(name)
                    if name in whole and len(long[name]) < 2:
                        long[name] |= without_digits(cells)
                    if has_codes(cells):
                        codes.add(name)
                    possible[name] = [kind for kind in kinds if fits(_with_points(cells, kind, decimal), kind)]
        found = {name: pa.null() if name in empty else kinds[0] for name, kinds in possible.items()}
        found |= {name: pa.string() for name in whole if len(long[name]) > 1 and pa.types.is_floating(found[name])}
        codes |= {name for name in whole if searches[name].are_telephones}
        found |= {name: pa.string() for name in whole & codes - empty}
        self.found = {name: style for name, style in self.found.items() if name not in possible}
        self._settle({name: search for name, search in searches.items() if pa.types.is_string(found[name])})
        return found


@cache
def null_values(marks: tuple[str, ...]) -> list[str]:
    """Give the cells that Arrow takes for missing: blank ones, and marks, perhaps behind a blank.

    >>> null_values(("", "NA"))[:3]
    ['', 'NA', ' NA']
    """
    blanks = [" " * n for n in range(1, MOST_BLANKS + 1)]
    return list(dict.fromkeys([*(cell for mark in marks for cell in ((mark, f" {mark}") if mark else ("",))), *blanks]))


def _are_perhaps_days(numbers: "pa.ChunkedArray") -> bool:
    """Say whether whole numbers are all such that they may be days."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(numbers.type):
        return False
    low, high = pc.min_max(numbers).as_py().values()
    return low is not None and any(first <= low and high <= last for first, last in DAYS)


def _may_be_codes(numbers: "pa.ChunkedArray") -> bool:
    """Say whether one of the numbers may be too long for a float64, or all are as long as telephones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(numbers.type):
        return True
    low, high = pc.min_max(numbers).as_py().values()
    return low is not None and (low >= SEVEN_DIGITS or max(-low, high) >= LONG_NUMBER)


def _are_perhaps_groups(numbers: "pa.ChunkedArray") -> bool:
    """Say whether fractions are all such that their point may stand between thousands: 1.0 may be written 1.000."""
    import pyarrow as pa

    if not pa.types.is_floating(numbers.type):
        return False
    thousandths = np.abs(numbers.drop_null().to_numpy()) * 1000
    return bool(len(thousandths) and (np.abs(thousandths - np.rint(thousandths)) < 1e-6).all())


def _are_groups(cells: "pa.ChunkedArray") -> bool:
    """Say whether each point in numbers has three digits behind it, or more groups of them."""
    import pyarrow.compute as pc

    return not pc.any(pc.match_substring_regex(cells, pattern=r"\.(?:\d{0,2}|\d{4,})\s*$")).as_py()


def has_codes(cells: "pa.ChunkedArray") -> bool:
    """Say whether among whole numbers one has zeros before it: then they are codes."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(cells, pattern=r"^\s*0\d{2,}\s*$")).as_py())


def _with_points(cells: "pa.ChunkedArray", kind: "pa.DataType", decimal: str) -> "pa.ChunkedArray":
    """Write numbers as Arrow does in memory."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_other = decimal != "." and pa.types.is_floating(kind)
    return pc.replace_substring(cells, pattern=decimal, replacement=".") if is_other else cells


def _kinds_for(kind: "pa.DataType") -> tuple[str, ...]:
    """Give the kinds of style by which cells of a type may be written."""
    import pyarrow as pa

    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return ("number",)
    if pa.types.is_boolean(kind):
        return ("truth",)
    return ("date",) if pa.types.is_date(kind) or pa.types.is_timestamp(kind) else ()


class WrittenPart(Protocol):
    """A file of text among the parts of a table."""

    cells: WrittenCells

    @property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns."""

    def suggest(self, name: str, style: CellStyle) -> bool:
        """Read a column as other files of the same table are written; say whether no cell is against it so far."""


def agree_on_styles(texts: Sequence[WrittenPart], others: "Sequence[pa.Schema]") -> None:
    """Let files of one table read a column alike: as the first that leaves no doubt, or else all as it is written.

    Where `others`, which are no text, hold strings, it is as it is written too.
    """
    for name in dict.fromkeys(name for part in texts for name in part.schema.names):
        parts = [part for part in texts if name in part.schema.names]
        styled = [part for part in parts if (style := style_of(part.schema.field(name))) and style.kind != "plain"]
        styled = [part for part in parts if name in part.cells.codes] or styled
        if not styled:
            continue
        style = style_of(min(styled, key=lambda part: part.cells.doubts(name)).schema.field(name))
        if style is None:  # its type has been declared
            continue
        strings = [schema for schema in others if name in schema.names and holds_strings(schema.field(name).type)]
        unlike = [part for part in parts if part.schema.field(name).type != style.type or part.cells.doubts(name)]
        if strings or not all(part.suggest(name, style) for part in unlike):
            for part in parts:
                part.suggest(name, style.plain)
