"""Columns as fields of a form: what can be put in, over which range, and how often each state was seen.

A fact is what the page says of a column: a number, a text, an ISO date, the written form of a state, or null for a cell
that is known to be empty. A column that is not among the facts is not known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np

from bayeswater.data.column_types import Misfit
from bayeswater.data.reading.cell_style import CellStyle
from bayeswater.data.reading.column_plan import COUNTS, IGNORED, Column
from bayeswater.data.reading.dates import date_columns, seconds_of
from bayeswater.data.reading.original_types import arrow_type
from bayeswater.explain.importance import curve_or_none
from bayeswater.families.curve import ColumnCurve
from bayeswater.models.streaming.answering import cell_names
from bayeswater.models.streaming.sources import column_styles, column_types
from bayeswater.phrases import LANGUAGES, translated
from bayeswater.records import record
from bayeswater.typing import Array
from bayeswater.web.plain import QuestionError, written

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER, STATES, DATE, TIME, TEXT, NOT_READ = "number", "states", "date", "time", "text", "not read"

TEXTS = ("text", "multinomial", "complement", "marks")
"""Families of words."""

MOST_STATES = 500
"""States that a field lists; others can be written into it."""

LONGEST = 100_000
"""Characters of a text that is put into a field."""


@record
class Field:
    """A column of the table as something to fill in."""

    name: str
    kind: str
    family: str = ""
    why: str = ""
    low: float | str | None = None
    high: float | str | None = None
    is_whole: bool = False
    has_time: bool = False
    empty_is_state: bool = False
    states: tuple[Any, ...] = ()
    shares: tuple[float, ...] = ()
    _code: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    _style: CellStyle | None = field(default=None, compare=False, repr=False)  # of the files it was learned from
    _zone: ZoneInfo | None = None  # whose clock the time stamps that the model was fitted on are read by

    def facts(self) -> dict[str, Any]:
        """Say what the page has to know of it."""
        told = {name: value for name, value in vars(self).items() if not name.startswith("_") and name != "shares"}
        told["why"] = [translated(self.why, language) for language in LANGUAGES.values()]
        shares: Sequence[float | None] = self.shares or [None] * len(self.states)
        listed = sorted(zip(map(written, self.states), shares, strict=True), key=lambda one: -(one[1] or 0.0))
        return told | {"states": [{"state": state, "share": share} for state, share in listed[:MOST_STATES]]}

    def cell(self, fact: Any) -> Any:
        """Read a fact as a cell that the model is asked with."""
        if fact is None:
            return None
        if isinstance(fact, str) and self._style is not None and self.kind in (NUMBER, DATE, TIME):
            try:
                cell = self._style.read(_one(fact), self.name)[0].as_py()
                is_clock = self.kind == NUMBER and isinstance(cell, time)  # in other rows the seconds may be given
                return float(seconds_of(_one(cell))[0]) if is_clock else cell
            except Misfit:
                as_file = f"; or write it as {self._style}"
        else:
            as_file = ""
        if self.kind == NUMBER:
            if isinstance(fact, bool) or not isinstance(fact, int | float):
                raise QuestionError(f"{self.name} is {fact!r}; give a number{as_file}")
            return float(fact)
        if not isinstance(fact, str) or len(fact) > LONGEST:
            raise QuestionError(f"{self.name} needs a text of at most {LONGEST:,} characters")
        if self.kind == DATE:
            try:
                if not self.has_time:
                    return date.fromisoformat(fact)
                stamp = datetime.fromisoformat(fact)
                return stamp.replace(tzinfo=self._zone) if stamp.tzinfo is None else stamp
            except ValueError:
                raise QuestionError(f"{self.name} is {fact!r}; give a date, as 2024-02-29{as_file}") from None
        if self.kind == TIME:
            try:
                return time.fromisoformat(fact)
            except ValueError:
                raise QuestionError(f"{self.name} is {fact!r}; give a time of day, as 17:30{as_file}") from None
        return self._code.get(fact, fact)

    def fact(self, cell: Any) -> Any:
        """Give a cell of a table as the fact that the page says of it."""
        if self.kind == NUMBER and isinstance(cell, int | float) and not isinstance(cell, bool):
            return float(cell)
        if self.kind == TIME and isinstance(cell, int | float):  # seconds since midnight
            return (datetime.min + timedelta(seconds=int(cell))).time().isoformat()
        if self.kind == DATE and isinstance(cell, datetime):
            stamp = cell.astimezone(self._zone).replace(tzinfo=None) if cell.tzinfo else cell
            return (stamp if self.has_time else stamp.date()).isoformat()
        return self._text.get(cell, written(cell))

    @cached_property
    def _text(self) -> dict[Any, str]:
        """How each state is written: 1 and 1.0 are the state True of a column that knows no others but False."""
        return {state: text for text, state in self._code.items()}


def fields_of(model: Any, rows: "pa.Table | None") -> list[Field]:
    """Make a field for every column that a model reads; whether its numbers are whole is told by the rows, if any."""
    if not hasattr(model, "columns_"):
        styles = column_styles(model)
        return [replace(_plain_field(str(name), model, rows), _style=styles.get(name)) for name in cell_names(model)]
    columns: dict[str, Column] = {}
    for column in model.columns_:
        if column.source not in columns or columns[column.source].family == IGNORED:
            columns[column.source] = column  # of a date the first, which is the day
    types, styles = column_types(model), column_styles(model)
    return [
        replace(_planned_field(column, types.get(name), model, rows), _style=styles.get(name))
        for name, column in columns.items()
    ]


def places_of(model: Any, cells: Mapping[str, Any]) -> dict[str, Any]:
    """Give where the cells of a row stand in the pictures of the columns: numbers, days, seconds, or states.

    A date stands in the pictures of all its parts; a text stands in none.
    """
    found: dict[str, Any] = {}
    for column in getattr(model, "columns_", None) or [Column(str(name), str(name), "") for name in cell_names(model)]:
        cell = cells.get(column.source)
        if cell is None:
            place = None
        elif column.part is not None:
            place = _parts(column.source, cell)[column.name]
        else:
            place = cell if column.analyser is None and column.family not in TEXTS else None
        if isinstance(place, time):
            place = float(seconds_of(_one(place))[0])
        if place is not None or (column.source in cells and column.part is None):
            found[column.name] = place
    return found


def _parts(name: str, cell: Any) -> dict[str, Any]:
    return {part: column[0].as_py() for part, column in date_columns(name, _one(cell)).items()}


def _one(cell: Any) -> "pa.ChunkedArray":
    import pyarrow as pa

    return pa.chunked_array([[cell]])


def _plain_field(name: str, model: Any, rows: "pa.Table | None") -> Field:
    """Make a field of a column of a model that reads all its columns alike."""
    curve = curve_or_none(model, name)
    is_truth = rows is not None and rows.schema.field(name).type == "bool"
    if is_truth or hasattr(model, "categories_"):
        return Field(name, STATES, **_states(name, None if is_truth else curve, rows))
    return Field(name, NUMBER, **_limits(name, name, curve, model, rows))


def _planned_field(column: Column, kind: Any, model: Any, rows: "pa.Table | None") -> Field:
    """Make a field of a column that a plan tells the family of; `kind` is its Arrow type, where it has one."""
    import pyarrow as pa

    told: dict[str, Any] = {"name": column.source, "family": column.family, "why": column.why}
    if column.family == IGNORED or column.source == COUNTS:
        return Field(kind=NOT_READ, **told)
    if column.analyser is not None or column.family in TEXTS:
        return Field(kind=TEXT, **told)
    curve = curve_or_none(model, column.name)
    told["empty_is_state"] = curve is not None and curve.kind in ("states", "bins") and None in curve.at
    if column.part is not None:
        is_timed = any(own.part == "time" for own in model.columns_ if own.source == column.source)
        zone = getattr(arrow_type(column.dtype or ""), "tz", None)
        has_time = is_timed or zone is not None or (kind is not None and pa.types.is_timestamp(kind))
        told["_zone"] = None if zone is None else ZoneInfo(zone)
        return Field(kind=DATE, has_time=has_time, **told, **_days(column, curve, rows))
    if kind is not None and pa.types.is_time(kind):
        return Field(kind=TIME, **told)
    if column.family in ("categorical", "bernoulli"):
        known = _states(column.source, curve, rows)
        if column.family == "bernoulli" and not known["states"]:  # which no model has to tell
            known = {"states": (False, True), "_code": {written(state): state for state in (False, True)}}
        return Field(kind=STATES, **told, **known)
    return Field(kind=NUMBER, **told, **_limits(column.name, column.source, curve, model, rows))


def _states(source: str, curve: ColumnCurve | None, rows: "pa.Table | None") -> dict[str, Any]:
    """Give the states of a column and their shares: those that were counted, else those of the rows."""
    if curve is None:
        cells = [] if rows is None else rows.column(source).unique().to_pylist()
        states, shares = tuple(state for state in cells if state is not None), ()
    else:
        known = [k for k, state in enumerate(curve.at) if state is not None]
        states, shares = tuple(curve.at[k] for k in known), ()
        if curve.counts is not None:
            count = np.asarray(curve.counts, dtype=np.float64)[known].sum(axis=1)
            shares = tuple((count / max(float(count.sum()), 1.0)).tolist())
    return {"states": states, "shares": shares, "_code": {written(state): state for state in states}}


def _limits(name: str, source: str, curve: ColumnCurve | None, model: Any, rows: "pa.Table | None") -> dict[str, Any]:
    """Give the ends of the range in which numbers were seen, or have most of their mass; and whether all are whole."""
    cells = _numbers(source, rows)
    seen = getattr(getattr(model, "statistics_", None), "seen", None)
    low, high = (float(cells.min()), float(cells.max())) if len(cells) else _ends(curve)
    if seen is not None:  # an end that was forgotten is known no more
        low, high = float(seen.low.get(name, low)), float(seen.high.get(name, high))
    if not np.isfinite([low, high]).all():
        return {}
    is_whole = bool((cells == np.rint(cells)).all()) if len(cells) else curve is not None and curve.kind == "counts"
    return {"low": low, "high": high, "is_whole": is_whole}


def _ends(curve: ColumnCurve | None) -> tuple[float, float]:
    """Give the ends of a picture of numbers; NaN where there are none."""
    places = (
        {"density": curve.at, "counts": curve.at, "bins": curve.edges}.get(curve.kind) if curve is not None else None
    )
    if places is None or not len(places):  # a single bin has no edge
        return float("nan"), float("nan")
    return float(places[0]), float(places[-1])


def _numbers(source: str, rows: "pa.Table | None") -> Array:
    if rows is None or source not in rows.column_names:
        return np.empty(0)
    import pyarrow as pa

    cells = rows.column(source)
    if not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)):
        return np.empty(0)
    values = cells.cast(pa.float64(), safe=False).drop_null().to_numpy()
    return values[np.isfinite(values)]


def _days(column: Column, curve: ColumnCurve | None, rows: "pa.Table | None") -> dict[str, Any]:
    """Give the first and the last day that a column of dates was seen on, as ISO dates."""
    if rows is not None:
        import pyarrow.compute as pc

        ends = pc.min_max(rows.column(column.source)).as_py()
        return {side: None if ends[end] is None else str(ends[end])[:10] for side, end in LIMITS.items()}
    low, high = _ends(curve)
    if not np.isfinite([low, high]).all():
        return {}
    return {"low": str(np.datetime64(int(low), "D")), "high": str(np.datetime64(int(high), "D"))}


LIMITS = {"low": "min", "high": "max"}
