"""`look`: what a table holds, column by column, before anything is learned from it.

It says what a fit would read: the kind of each column, how many cells are missing, how the values are spread, and what
is likely to go wrong. As in a fit, the first rows of a large source tell, `HEAD_ROWS` of them.

A column leaks the target where it alone names the class of nearly every row. Each state of the column, or each bin of
its numbers (cut where the classes change), answers with the class that most of its *other* rows have, so that a column
whose every value is its own tells nothing. A leak is right in 99 % of the rows, and leaves a tenth of the errors that
naming the most frequent class makes.
"""

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.cells import python_value
from bayeswater.data.display_width import display_width, on_one_line, padded, shortened
from bayeswater.data.frames import STORED, as_numpy, library_of, read_frame, write_frame
from bayeswater.data.reading.cell_styles import style_of
from bayeswater.data.reading.column_kinds import IDENTIFIED, Kind, kind_of, percent
from bayeswater.data.reading.dates import date_columns, has_times, seconds_of
from bayeswater.data.reading.discretising.cuts import apply_cuts
from bayeswater.data.reading.discretising.finding_cuts import NumberColumn, cuts_by_class
from bayeswater.data.reading.style_search import are_amounts, style_in_frame
from bayeswater.data.sources.laid_down import laid_down
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.paths import is_path
from bayeswater.data.sources.recognising import are_paths, local_rows
from bayeswater.data.sources.rows import HEAD_ROWS
from bayeswater.data.sources.written_cells import LABELS
from bayeswater.errors import DataError, ReadingWarning, SchemaError, nearest_names
from bayeswater.markup import html_table
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

N_BARS = 10
"""Bars of a histogram."""

BARS = "▁▂▃▄▅▆▇█"

N_STATES, N_EXAMPLES, EXAMPLE_WIDTH = 3, 3, 24
"""States and examples that are shown of a column, and how wide an example may be."""

MOST_CLASSES = 50
"""Different values that a column has at most to be proposed as the target."""

LEAK, LEFT_OF_ERRORS = 0.99, 0.1
"""Share of rows that a leak gets right, and share of the errors of the most frequent class that it may leave."""

TARGETS = re.compile(
    r"(?:.*[\W_])?(?:target|class|label|outcome|response|result|status|survived|default|churn|species|diagnosis)(?:[\W_].*)?"
    r"|y|.*(?:类别|标签|结果|目标)",
    re.IGNORECASE,
)
"""Names that targets often have."""


@record
class ColumnLook:
    """What a column holds.

    Attributes
    ----------
    name, kind, why : what it is called, what it holds (category, flag, number, text, date, identifier, empty), and why
    n_missing, n_distinct : missing cells, and different values among the others
    examples : some of its values
    states : its most frequent values and how often each occurs; of numbers and dates none
    bars : rows in each of ten equal parts of the range of numbers and dates; of others none
    low, high : least and largest value, of numbers and dates
    accuracy : of a column beside a target, share of rows whose class it tells alone, each by the other rows
    warnings : what is likely to go wrong
    """

    name: str
    kind: Kind
    why: str
    n_missing: int
    n_distinct: int
    examples: tuple[Any, ...] = ()
    states: tuple[tuple[Any, int], ...] = ()
    bars: tuple[int, ...] = ()
    low: Any = None
    high: Any = None
    accuracy: float | None = None
    warnings: tuple[str, ...] = ()


@record
class TableLook:
    """What a table holds: print it, or take `columns`, `notes` and `candidates` out of it.

    Attributes
    ----------
    name, n_rows, is_whole : of the table, rows that were looked at, and whether these are all
    columns : what each holds
    target : the column to predict, where one is named
    candidates : columns that could be the target, the likeliest first, where none is named
    notes : what was found out about the file: its encoding, lines above the header, names that were made up
    library : of the table that was given, in which `to_frame` writes
    """

    name: str
    n_rows: int
    is_whole: bool
    columns: tuple[ColumnLook, ...]
    target: str | None = None
    candidates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    library: str | None = field(default=None, compare=False)

    def __getitem__(self, name: str) -> ColumnLook:
        """Column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def warnings(self) -> dict[str, tuple[str, ...]]:
        """What is likely to go wrong, by name of the column."""
        return {column.name: column.warnings for column in self.columns if column.warnings}

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold; what it cannot, such as a date, is text."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        del plain["library"]
        return plain

    def cells(self) -> list[tuple[str, ...]]:
        """Give what is shown of each column: name, kind, missing cells, different values, and how they are spread."""
        return [
            (
                on_one_line(column.name) + (" (target)" if column.name == self.target else ""),
                column.kind,
                _share(column.n_missing, self.n_rows) if column.n_missing else "",
                f"{column.n_distinct:,}",
                _values(column, self.n_rows),
            )
            for column in self.columns
        ]

    def remarks(self) -> list[str]:
        """Give notes of the file, warnings and candidates as sentences."""
        found = [*self.notes]
        found += [f"{on_one_line(name)}: {warning}" for name, told in self.warnings.items() for warning in told]
        if self.candidates:
            found.append(f"the target could be {' or '.join(map(repr, self.candidates))}")
        return found

    def to_frame(self) -> Any:
        """Give a line for each column, in the library of the table that was looked at."""
        names = ("name", "kind", "n_missing", "n_distinct")
        told: dict[str, Any] = {name: [getattr(column, name) for column in self.columns] for name in names}
        return write_frame({**told, "warnings": ["; ".join(column.warnings) for column in self.columns]}, self.library)

    def table(self) -> list[str]:
        """Give a line for each column, below a heading."""
        rows = [HEADS, *self.cells()]
        widths = [max(display_width(row[i]) for row in rows) for i in range(len(HEADS) - 1)]
        return ["  ".join([*map(padded, row, widths), row[-1]]).rstrip() for row in rows]

    def __str__(self) -> str:
        return "\n".join([self.title, *self.table(), *(f"! {remark}" for remark in self.remarks())])

    __repr__ = __str__

    @property
    def title(self) -> str:
        """Say what was looked at."""
        some = "" if self.is_whole else "the first "
        rows, columns = "row" + "s" * (self.n_rows != 1), "column" + "s" * (len(self.columns) != 1)
        return f"{self.name}: {some}{self.n_rows:,} {rows} of {len(self.columns)} {columns}"

    def _repr_html_(self) -> str:
        remarks = html_table(["notes and warnings"], ([remark] for remark in self.remarks()))
        return html_table(HEADS, self.cells()) + (remarks if self.remarks() else "")


HEADS = ("column", "kind", "missing", "distinct", "values")


def look(data: Any, target: str | None = None, **reading: Any) -> TableLook:
    r"""Look at a table before anything is learned from it.

    Parameters
    ----------
    data : path, data frame or rows
        A file of any format, or anything else that `local_rows` takes.
    target : str, optional
        Column to predict. Without it, columns that could be the target are proposed.
    **reading : options of `Reading`
        How a file is read: types, format, delimiter, header, names, encoding, missing and others.

    Returns
    -------
    TableLook
        What was found; print it.

    Raises
    ------
    SchemaError
        Where there is no such target.

    See Also
    --------
    read_table : Read a file into memory, in the same way as `fit` and the command line.
    compare : Compare models on the same folds: error, log-loss, calibration error, seconds and sizes.

    Examples
    --------
    >>> import pandas as pd
    >>> animals = pd.DataFrame({"legs": [4, 2, 2, 4], "has_fur": [1, 0, 0, 1], "class": ["cat", "hen", "hen", "cat"]})
    >>> print(look(animals, target="class"))
    the DataFrame: 4 rows of 3 columns
    column          kind      missing  distinct  values
    legs            number             2         █▁▁▁▁▁▁▁▁█ 2 to 4, as 4, 2
    has_fur         flag               2         1 50 %, 0 50 %
    class (target)  category           2         cat 50 %, hen 50 %
    ! legs: it alone tells the target in 100 % of the rows: it may be known only afterwards; leave it out if so
    ! has_fur: it alone tells the target in 100 % of the rows: it may be known only afterwards; leave it out if so
    """
    if is_path(data) or are_paths(data):
        with laid_down([data] if is_path(data) else data) as files:
            return look_at_rows(files.named(local_rows(files.paths, **reading)), target)
    return replace(look_at_rows(local_rows(data, **reading), target), library=library_of(data))


def look_at_rows(rows: LocalRows, target: str | None) -> TableLook:
    """Look at the first rows of a source."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # it is in the notes
        if target is not None and target in rows.schema.names:
            rows.declare({}, {target: LABELS})
        head = rows.head(rows.schema.names, HEAD_ROWS + 1)
    is_whole = head.num_rows <= HEAD_ROWS
    return look_at(head.slice(0, HEAD_ROWS), rows.name, target, is_whole=is_whole, notes=tuple(rows.notes))


def look_at(
    table: "pa.Table", name: str, target: str | None, *, is_whole: bool = True, notes: tuple[str, ...] = ()
) -> TableLook:
    """Look at an Arrow table."""
    if target is not None and target not in table.column_names:
        raise SchemaError(f"there is no column {target!r}; {nearest_names(target, table.column_names)}")
    if not table.num_rows:
        raise DataError(f"{name} has no rows; there is nothing to look at")
    frame = read_frame(_understood(table, target))
    labels = None if target is None else _labels(frame.table[target])
    columns = tuple(
        _column(column, frame.table[column], column in frame.declared, labels, is_target=column == target)
        for column in frame.names
    )
    candidates = () if target is not None else _candidates(columns, table.num_rows)
    prefix = f"{name}: "
    told = tuple(note.removeprefix(prefix) for note in notes)
    return TableLook(name, table.num_rows, is_whole, columns, target, candidates, told)


def _understood(table: "pa.Table", target: str | None) -> "pa.Table":
    """Read strings as a model does, where no source has read them."""
    for place, name in enumerate(table.column_names):
        field = table.field(place)
        if field.metadata == STORED:
            table = table.set_column(place, name, table.column(place).cast(field.type.value_type))
        if name != target and style_of(field) is None:
            found = style_in_frame(table.column(place), is_stored=False)
            if found is not None:
                table = table.set_column(place, name, found.style.read(table.column(place), name))
    return table


def _labels(cells: "pa.ChunkedArray") -> tuple[Array, Array] | None:
    """Codes of the classes, and which rows have one; None where none has."""
    codes = _distinct_codes(cells)[1]
    there = (codes >= 0) & ~np.asarray(cells.is_null(nan_is_null=True).to_numpy())
    return (codes, there) if there.any() else None


def _distinct_codes(cells: "pa.ChunkedArray") -> "tuple[pa.Array, Array]":
    """Different values, and the place of that of each row among them: -1 where it is missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    coded = cells.combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    return coded.dictionary, np.asarray(coded.indices.fill_null(-1))


def _column(
    name: str, cells: "pa.ChunkedArray", declared: bool, labels: tuple[Array, Array] | None, *, is_target: bool
) -> ColumnLook:
    labels = None if is_target else labels
    try:
        kind = kind_of(name, cells, declared=declared)
    except DataError as error:
        return ColumnLook(name, "empty", str(error), cells.null_count, 0, warnings=(str(error),))
    if kind.kind == "empty":
        so = "there is no class to learn" if is_target else "it is left out"
        return ColumnLook(name, kind.kind, kind.why, len(cells), 0, warnings=(f"no cell has a value: {so}",))
    if kind.kind == "date" and not has_times(name, cells) and getattr(cells.type, "tz", None) is None:
        cells = cells.cast("date32")  # as they are written where a file has days
    values, codes = _distinct_codes(cells)
    times = np.bincount(codes[codes >= 0], minlength=len(values))
    often = np.argsort(-times, kind="stable")
    examples = tuple(python_value(values[int(k)]) for k in often[:N_EXAMPLES])
    numbers = _numbers(name, cells) if kind.kind in ("number", "date") else None
    states: tuple[tuple[Any, int], ...] = ()
    bars: tuple[int, ...] = ()
    low = high = None
    if numbers is not None and (numbers == numbers).any():
        there = numbers[numbers == numbers]
        bars = tuple(np.histogram(there, N_BARS)[0].tolist()) if np.isfinite(there).all() and np.ptp(there) else ()
        low, high = (python_value(cells[int(where(numbers))]) for where in (np.nanargmin, np.nanargmax))
    elif kind.kind in ("category", "flag"):
        states = tuple((python_value(values[int(k)]), int(times[k])) for k in often[:N_STATES])
    accuracy = None if labels is None or kind.kind == "text" else _accuracy(codes, numbers, *labels)
    n_missing = int((codes < 0).sum())
    told = _no_classes(values, times) if is_target else _likely_wrong(kind.kind, kind.hint, n_missing, len(values))
    if accuracy is not None and labels is not None and _is_leak(accuracy, *labels):
        told.append(
            f"it alone tells the target in {percent(round(accuracy * len(cells)), len(cells))} of the rows: it may be "
            "known only afterwards; leave it out if so"
        )
    return ColumnLook(
        name, kind.kind, kind.why, n_missing, len(values), examples, states, bars, low, high, accuracy, tuple(told)
    )


def _numbers(name: str, cells: "pa.ChunkedArray") -> Array:
    """Numbers, days of dates and seconds of times (n_rows,), NaN where they are missing."""
    import pyarrow as pa

    types, kind = pa.types, cells.type
    if types.is_date(kind) or types.is_timestamp(kind):
        return np.asarray(date_columns(name, cells)[name])
    if types.is_time(kind) or types.is_duration(kind):
        return seconds_of(cells)
    return as_numpy(cells.cast(pa.float64(), safe=False)).astype(np.float64)


def _likely_wrong(kind: str, hint: str, n_missing: int, n_distinct: int) -> list[str]:
    """Say what is likely to go wrong with a column."""
    found = [hint] if hint else []
    if kind == "identifier":
        found.append("nearly every value is its own, so it names the rows: it is left out")
    elif n_distinct == 1:
        found.append(
            "one value and empty cells: being there is all it says"
            if n_missing
            else "one value in all rows: it tells nothing"
        )
    return found


def _no_classes(values: "pa.Array", times: Array) -> list[str]:
    """Say why the values of a target may be no classes to learn."""
    n_rows, is_number = int(times.sum()), are_amounts(values)
    if len(values) == 1:
        return ["all rows are of one class: there is no other to tell it from"]
    if n_rows >= IDENTIFIED and 2 * len(values) > n_rows and (is_number or len(values) == n_rows):
        are = "each row has a value of its own" if len(values) == n_rows else "most rows have a value of their own"
        means = "these are amounts, and no classes to learn; bin it: pandas.qcut(y, 3)"
        return [f"{are}: {means if is_number else 'that names the rows, and is no class to learn'}"]
    lone = [repr(python_value(values[int(k)])) for k in np.flatnonzero(times == 1)]
    shown = ", ".join(lone[:N_STATES]) + f" and {len(lone) - N_STATES:,} more" * (len(lone) > N_STATES)
    are = "a class has a single row" if len(lone) == 1 else f"{len(lone):,} classes have a single row"
    return [f"{are}: {shown}; correct it, or leave it out (--min-class-rows 2)"] if lone else []


def _accuracy(codes: Array, numbers: Array | None, labels: Array, there: Array) -> float:
    """Share of rows whose class most of the other rows of the same state, or bin, have."""
    states, classes = (codes if numbers is None else numbers)[there], labels[there]
    n_classes = int(classes.max()) + 1
    if numbers is not None:
        cuts = cuts_by_class(NumberColumn(states, classes, n_classes, None).sorted_by_class, None).cuts
        missing = np.isnan(states)
        states = np.where(missing, len(cuts) + 1, apply_cuts(np.where(missing, 0.0, states), cuts))
    place = np.unique(states, return_inverse=True)[1]
    count = np.zeros((int(place.max()) + 1, n_classes), dtype=np.int64)
    np.add.at(count, (place, classes), 1)
    others = count[place]
    rows = np.arange(len(classes))
    others[rows, classes] -= 1
    overall = count.sum(axis=0) - np.eye(n_classes, dtype=np.int64)[classes]
    others = np.where(others.any(axis=1, keepdims=True), others, overall)  # a state of its own says nothing
    own = others[rows, classes].copy()
    others[rows, classes] = -1
    return float((own > others.max(axis=1)).mean()) if n_classes > 1 else 1.0


def _is_leak(accuracy: float, labels: Array, there: Array) -> bool:
    most = np.bincount(labels[there]).max() / there.sum()
    return accuracy >= LEAK and 1 - accuracy <= LEFT_OF_ERRORS * (1 - most) and most < 1


def _candidates(columns: Sequence[ColumnLook], n_rows: int) -> tuple[str, ...]:
    """Columns of few classes, the likeliest first: by their names, then the last and the first of the table."""

    def score(j: int) -> float:
        named, is_state = bool(TARGETS.fullmatch(columns[j].name)), columns[j].kind in ("category", "flag")
        return 4 * named + 2 * (j == len(columns) - 1) + (j == 0) + is_state - columns[j].n_missing / n_rows

    can_be = [
        j
        for j, column in enumerate(columns)
        if column.kind in ("category", "flag", "number")
        and not column.warnings
        and 2 <= column.n_distinct <= min(MOST_CLASSES, max(2, n_rows // 2))
        and 2 * column.n_missing < n_rows
    ]
    return tuple(columns[j].name for j in sorted(can_be, key=lambda j: -score(j))[:3])


def _values(column: ColumnLook, n_rows: int) -> str:
    """Draw the histogram of a column, or name its most frequent states with their shares, or give examples."""
    if column.states:
        n_there = n_rows - column.n_missing
        return ", ".join(f"{_shown(state)} {_share(n, n_there)}" for state, n in column.states)
    examples = ", ".join(map(_shown, column.examples))
    if not column.bars:
        return examples
    most = max(column.bars)
    bars = "".join(BARS[-(-n * (len(BARS) - 1) // most)] for n in column.bars)
    return f"{bars} {_shown(column.low)} to {_shown(column.high)}, as {examples}"


def _share(part: int, whole: int) -> str:
    return percent(part, whole) if 200 * part > whole else "<1 %"


def _shown(value: Any) -> str:
    is_large = isinstance(value, float) and 1e6 <= abs(value) < 1e15
    text = f"{value:.0f}" if is_large else f"{value:.6g}" if isinstance(value, float) else str(value)
    text = shortened(on_one_line(text), EXAMPLE_WIDTH)
    return repr(text) if isinstance(value, str) and re.search(r"[\s,]", text) else text
