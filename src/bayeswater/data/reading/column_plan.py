"""`ColumnPlan`: how each column of a mixed table is read, and why so.

The plan of a model is made once, from the first rows or by what the user says, and fixed from then on: sums are added
only to sums of the same plan.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, overload

from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import Framed
from bayeswater.data.reading.cell_style import CellStyle
from bayeswater.data.reading.column_kinds import NO_VALUE
from bayeswater.data.reading.dates import is_date
from bayeswater.data.reading.number_style import NumberStyle
from bayeswater.data.reading.original_types import arrow_type
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.data.reading.truth_style import WordStyle
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import SchemaError
from bayeswater.markup import html_table
from bayeswater.records import record

IGNORED = "ignored"
"""Family of columns that are left out."""

AUTO, TEXT = "auto", "text"
"""Families of numbers and of words until the rows have been summed and one is chosen."""

BITS = "bits"
"""Family of numbers of which only 0 and 1 have been seen, until the rows have been summed: flags, if no other comes."""

COUNTS = "(counts)"
"""Name of the block of all sparse columns."""

NUMBER = "number"
"""Family of numbers that are taken as they are, where a model has no density of a single column."""

UNLIKE = 10.0
"""How much larger numbers are than shares, at least, to be seen as hundreds of them."""


@record
class Column:
    """A column as the model sees it.

    Parameters
    ----------
    name : what it is called; a date is several, ``signed``, ``signed (weekday)``, ``signed (month)``, ``signed (time)``
    source : the column of the table it is read from
    family : name of the law that it follows (`bayeswater.families`), or "ignored"
    why : the reason for the family, for people
    part : what of a date it is: "days", "weekday", "month" or, of time stamps, "time"
    dtype : type of the source as its library names it, so that samples can have it
    cuts : limits of the bins of a binned column, in rising order
    analyser : how text becomes words
    spans : least and largest value of each bin when the bins were made, so that samples have values that can be
    options : what else its law has to be told, as pairs of a name and a number
    style : how the cells of the source are written, where people wrote them
    """

    name: str
    source: str
    family: str
    why: str = field(default="", compare=False)
    part: str | None = None
    dtype: str | None = field(default=None, compare=False)
    cuts: tuple[float, ...] | None = None
    analyser: TextAnalyser | None = None
    spans: tuple[tuple[float, float], ...] | None = field(default=None, compare=False)
    options: tuple[tuple[str, float], ...] = ()
    style: CellStyle | None = field(default=None, compare=False)

    @property
    def reading(self) -> tuple[Any, ...]:
        """All that decides what is counted: columns that differ in it cannot be added."""
        is_text = self.analyser is not None or (self.name == COUNTS and self.family != IGNORED)
        family = TEXT if is_text else self.family  # words are counted alike, however they are read
        return self.name, self.source, family, self.part, self.cuts, self.analyser, self.options


@record
class ColumnPlan(Framed):
    """Columns in the order of the table.

    >>> plan = ColumnPlan((Column("age", "age", "gaussian", "by evidence"), Column("id", "id", "ignored", "unique")))
    >>> print(plan)
    column  family    why
    age     gaussian  by evidence
    id      ignored   unique
    >>> plan["age"].family
    'gaussian'
    """

    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    @overload
    def __getitem__(self, key: int) -> Column: ...
    @overload
    def __getitem__(self, key: str) -> Column: ...
    def __getitem__(self, key: int | str) -> Column:
        """Column by position or by name."""
        if isinstance(key, int):
            return self.columns[key]
        if key not in self._by_name:
            raise SchemaError(f"there is no column {key!r}; there are {[*self._by_name][:10]}")
        return self._by_name[key]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Columns of the table, each once."""
        return tuple(dict.fromkeys(column.source for column in self.columns))

    @cached_property
    def used(self) -> tuple[Column, ...]:
        """Columns that are not left out."""
        return tuple(column for column in self.columns if column.family != IGNORED)

    def used_column(self, name: str) -> Column:
        """Find a column by its name; refuse one that is left out."""
        column = self[name]
        if column.family == IGNORED:
            raise SchemaError(f"column {name!r} is left out ({column.why}), so nothing was learned of it")
        return column

    @cached_property
    def open(self) -> tuple[Column, ...]:
        """Columns that are left out only because no cell has had a value so far."""
        return tuple(column for column in self.columns if column.family == IGNORED and column.why == NO_VALUE)

    def of_families(self, *families: str) -> tuple[Column, ...]:
        """Columns of the given families."""
        return tuple(column for column in self.columns if column.family in families)

    def with_columns(self, changed: dict[str, Column]) -> "ColumnPlan":
        """Put other columns in the place of those of the same name."""
        return ColumnPlan(tuple(changed.get(column.name, column) for column in self.columns))

    def with_styles_of(self, other: "ColumnPlan") -> "ColumnPlan":
        """Take over how cells are written where only the other plan, which has the same columns, knows it."""
        new = {c.name: replace(c, style=o.style) for c, o in zip(self, other, strict=True) if o.style and not c.style}
        return self.with_columns(new) if new else self

    def words_with(self, other: "ColumnPlan") -> dict[str, WordStyle]:
        """Give the styles of words for true and false, by column, that one of two plans knows; the first where both."""
        known = ((column.name, column.style) for plan in (other, self) for column in plan)
        return {name: style for name, style in known if isinstance(style, WordStyle)}

    def require_same_reading(self, other: "ColumnPlan") -> None:
        """Refuse two plans by which the same table would be counted differently, and name the difference."""
        if self.sources != other.sources:
            here, there = set(self.sources) - set(other.sources), set(other.sources) - set(self.sources)
            raise SchemaError(
                f"the models know different columns: {sorted(here)} only here, {sorted(there)} only there"
                if here or there
                else "the models know the same columns in another order"
            )
        for mine, theirs in zip(self.columns, other.columns, strict=False):
            zones = _zone(mine), _zone(theirs)
            if mine.part == theirs.part == "days" and None not in zones and zones[0] != zones[1]:
                raise SchemaError(
                    f"column {mine.name!r} has {zones[0]} here and {zones[1]} there, where the days begin at other "
                    "times; convert the rows of the second model to the zone of the first, and fit it again"
                )
            if mine.style is not None and theirs.style is not None:
                require_same_unit(mine.name, mine.style, theirs.style)
            if mine.reading != theirs.reading:
                raise SchemaError(
                    f"column {mine.name!r} is read as {_reading(mine)} here and as {_reading(theirs)} there; fit the "
                    "second model with columns=first.columns_, so that both read it alike"
                )
        if len(self) != len(other):
            raise SchemaError(f"{len(self)} columns here, {len(other)} there: they cannot be combined")

    def require_same_shares(self, other: "ColumnPlan", here: Mapping[str, float], there: Mapping[str, float]) -> None:
        """Refuse two plans where one has 45% and the other 45; `here` and `there` are the largest numbers of each.

        Plain numbers tell nothing of their unit, but hundreds of what the shares are can only be the other one.
        """
        for one, two, ends in ((self, other, (here, there)), (other, self, (there, here))):
            for shares, plain in zip(one.columns, two.columns, strict=False):
                largest, number = (end.get(shares.name, 0.0) for end in ends)
                is_share = isinstance(shares.style, NumberStyle) and shares.style.is_share and plain.style is None
                if is_share and number > max(1.0, UNLIKE * largest):
                    raise SchemaError(
                        f"column {shares.name!r} has numbers as {shares.style} in one model, at most {largest:g}, and "
                        f"plain ones in the other, up to {number:g}; write the sign there too, or shares of one, and "
                        "fit that model again"
                    )

    def __str__(self) -> str:
        rows = [("column", "family", "why"), *((on_one_line(c.name), c.family, c.why) for c in self.columns)]
        widths = [max(display_width(row[i]) for row in rows) for i in range(2)]
        lines = ("  ".join([*map(padded, row, widths), row[2]]) for row in rows)
        return "\n".join(map(str.rstrip, lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(("column", "family", "why"), ((c.name, c.family, c.why) for c in self.columns))

    def _lines(self) -> dict[str, Any]:
        columns = self.columns
        return {
            "column": [c.name for c in columns],
            "family": [c.family for c in columns],
            "why": [c.why for c in columns],
        }


def require_same_unit(name: str, mine: CellStyle, theirs: CellStyle) -> None:
    """Refuse numbers that stand beside different units; one that has none may be of any."""
    if not (isinstance(mine, NumberStyle) and isinstance(theirs, NumberStyle)):
        return
    if mine.unit and theirs.unit and mine.unit != theirs.unit:
        raise SchemaError(
            f"column {name!r} has {mine.unit!r} beside its numbers here and {theirs.unit!r} there; bring both into one "
            "unit, and fit the second model again"
        )


def spelled(schema: Schema, words: Mapping[str, WordStyle]) -> Schema:
    """Spell words for true and false among the states of columns as their styles do."""
    return Schema(tuple(_spelled(v, words[v.name]) if v.name in words else v for v in schema))


def _spelled(variable: Variable, style: WordStyle) -> Variable:
    states = variable.states if variable.is_coded else style.spelled(variable.states)
    new = dict(zip(variable.states, states, strict=True))
    return replace(variable, states=states, declared=frozenset(new[state] for state in variable.declared))


def _zone(column: Column) -> str | None:
    """Say the time zone of a date, where its type is known."""
    kind = arrow_type(column.dtype or "")
    if kind is None or not is_date(kind):
        return None
    zone = getattr(kind, "tz", None)
    return f"the time zone {zone!r}" if zone else "no time zone"


def _reading(column: Column) -> str:
    if column.options:
        return f"{column.family} with {', '.join(f'{name} {number:g}' for name, number in column.options)}"
    return f"{column.family} with cuts at {list(column.cuts)[:5]}" if column.cuts is not None else column.family
