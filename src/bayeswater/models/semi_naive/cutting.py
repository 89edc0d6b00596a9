"""The plan of a table of states whose rows are read in pieces: numbers are cut by what all rows have, from sums.

The first rows tell kinds of columns by their types. Whether a column of numbers holds few different ones, and where the
others are cut, is read off a histogram of every column by class (`statistics.key_counts`): a sum, the same for any
pieces. Up to `MOST_BUCKETS` different numbers are kept apart in it, and cuts are those of a fit of all rows at once.

Of a column of many different numbers a histogram keeps buckets. Where a cut came to lie between two of them, the best
one may be inside of either: their values are counted again by themselves, as fine as a histogram of their own keeps
them apart, and take the place of the two buckets. Then the column is cut anew. Where the values near cuts are no more
than a histogram keeps apart, bins of equal frequency are then those of the sorted rows: every quantile lies in one of
the two buckets beside it. Cuts that tell the classes apart are chosen one after the other among the places that are
left; they tell the classes apart as well, and need not be the same. All of them are the same for any pieces.

Whole numbers too large for floats to tell apart, such as hashes, are listed beside the histogram as long as they are
few: a column of few of them holds categories all the same.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.column_kinds import NO_VALUE
from bayeswater.data.reading.column_plan import AUTO, BITS, IGNORED, TEXT, Column, ColumnPlan
from bayeswater.data.reading.discretising.value_cells import ValueCells
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.estimate.histogram_cuts import value_cells
from bayeswater.families.family import Settings
from bayeswater.families.planning import FEW_VALUES, Late, agreed, replan_open
from bayeswater.families.state_planning import first_plan, settled
from bayeswater.kernels.sorted_column import ClassOrder, SortedColumn
from bayeswater.kernels.threads import ordered_map
from bayeswater.models.streaming.passes import plus
from bayeswater.records import record
from bayeswater.statistics import key_counts
from bayeswater.statistics.key_counts import ColumnHistogram, KeyCounts
from bayeswater.typing import Array

MOST_CUTS = 1000
"""Cuts up to which a column is refined: of more, the buckets between them are fine enough."""

Near = Mapping[str, Array]
"""Intervals (n_intervals, 2) of the values near the cuts of columns, both ends in them, in rising order."""

EXACT = 2.0**53
"""Whole numbers up to this are floats, each its own."""

LOOKED_AT = 1000
"""Numbers of a column that are looked at before all are sorted."""

Wide = Mapping[str, tuple[Any, ...] | None]
"""Different large numbers of each column in rising order; None where they are too many."""


def plan_of_head(raw: RawTable, settings: Settings) -> ColumnPlan:
    """Plan columns by the first rows; those without a value there yet, by their type."""
    plan = first_plan(raw, settings)
    if not plan.open:
        return plan
    shown = {column.source: _one_value(raw.columns[column.source].type) for column in plan.open}
    typed = {name: value for name, value in shown.items() if value is not None}
    untyped = ColumnPlan(tuple(column for column in plan if column.source not in typed))
    found, _ = replan_open(
        ColumnPlan(tuple(column for column in plan if column.source in typed)),
        RawTable(typed, 1, named=True),
        settings.given,
        "binned",
    )
    by_source: dict[str, list[Column]] = {}
    for column in (*untyped, *found):
        by_source.setdefault(column.source, []).append(column)
    return ColumnPlan(tuple(column for source in plan.sources for column in by_source[source]))


def _one_value(kind: Any) -> Any:
    """Give a column of one value of a type that tells what a column holds; None where values must tell."""
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return pa.chunked_array([pa.array([1]).cast(kind)])
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind) or types.is_duration(kind):
        return pa.chunked_array([pa.array([0], pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)])
    return None


@record
class Looked:
    """Histograms of columns of numbers, and what others hold that have no value in the first rows."""

    keys: KeyCounts | None
    late: Late
    wide: Wide = field(default_factory=dict)  # numbers that histograms do not tell apart
    fine: KeyCounts | None = None  # of values near the first cuts

    def __add__(self, other: "Looked") -> "Looked":
        late = {name: agreed(self.late.get(name), other.late.get(name)) for name in {**self.late, **other.late}}
        return Looked(plus(self.keys, other.keys), late, wide_of_both(self.wide, other.wide))


def open_numbers(plan: ColumnPlan, first: RawTable) -> tuple[Column, ...]:
    """Columns whose numbers all rows have to be looked at for: to cut them, or to see whether there are any."""
    empty = {name for name in plan.sources if first.arrow(name).null_count == first.n_rows}
    wanted = (column for column in plan if column.part not in ("weekday", "month") and column.family != IGNORED)
    return tuple(column for column in wanted if column.family in (AUTO, BITS) or column.source in empty)


def looked_at(
    raw: RawTable,
    plan: ColumnPlan,
    numbers: tuple[Column, ...],
    labels: Labels,
    weight: Array | None,
    settings: Settings,
    near: Near | None = None,
) -> Looked:
    """Look at the numbers of a piece, and at columns that were empty so far; or again, at numbers `near` cuts."""
    late: Late = {}
    if plan.open and near is None:
        _, late = replan_open(plan, raw, settings.given, "binned")
    if not numbers:
        return Looked(None, late)
    dated = raw.with_dates(plan)
    names = tuple(column.name for column in numbers)
    matrix = ColumnMatrix(tuple(dated.numbers(name) for name in names), names)
    if near is not None:
        return Looked(histograms(only_near(matrix, near), labels, weight), late)
    wide = {name: wide_numbers(values) for name, values in zip(names, matrix.columns, strict=True)}
    return Looked(histograms(matrix, labels, weight), late, wide)


def histograms(matrix: ColumnMatrix, labels: Labels, weight: Array | None) -> KeyCounts:
    """Count the numbers of every column by class."""
    order = ClassOrder.of(labels.codes, labels.n_classes)

    def cells(j: int) -> Any:
        column = SortedColumn.of(matrix.column(j), weight, order)
        return column.key_cells(most=key_counts.MOST_BUCKETS, probed=key_counts.PROBED)

    columns = list(ordered_map(cells, range(matrix.shape[1])))
    return KeyCounts.of_columns(labels.variable, matrix.names, columns)


def settled_plan(
    plan: ColumnPlan, looked: Looked | None, settings: Settings, discretize: str, near: Near = MappingProxyType({})
) -> ColumnPlan:
    """Make categories or bins of all numbers, and leave out what has no states."""
    late: Late = {} if looked is None else looked.late
    keys = None if looked is None else looked.keys
    place = {} if keys is None or keys.names is None else {name: j for j, name in enumerate(keys.names)}

    def with_states(column: Column) -> Column:
        j = place.get(column.name)
        if looked is None or keys is None or j is None or column.family not in (AUTO, BITS):
            return column
        numbers = HistogramColumn.of(keys, j, looked.fine, near.get(column.name), looked.wide.get(column.name, ()))
        column = column if column.part else replace(column, why=numbers.what)  # not only of the first rows
        return settled(column, numbers, settings.of(column), discretize)

    columns: list[Column] = []
    for source in plan.sources:
        own = late.get(source, tuple(column for column in plan if column.source == source))
        if own[0].family == TEXT:
            own = (replace(own[0], family=IGNORED, why=f"text; {own[0].why}", analyser=None),)
        j = place.get(own[0].name)
        if keys is not None and j is not None and not len(keys.cells(j).low):
            own = (Column(source, source, IGNORED, NO_VALUE, None, own[0].dtype),)
        columns += map(with_states, own)
    return ColumnPlan(tuple(columns))


def left_out(plan: ColumnPlan, first: ColumnPlan, settings: Settings) -> list[Column]:
    """Give the columns that are left out though nobody said so: without a value, or none that has states."""
    open_first = {column.source for column in first.open}
    found = [column for column in plan if column in plan.open or column.source in open_first]
    return [column for column in found if column.family == IGNORED and settings.of(column).family is None]


@record
class HistogramColumn:
    """A column of numbers as methods of cutting ask for it, read off its histogram."""

    histogram: ColumnHistogram
    is_exact: bool
    wide: tuple[Any, ...] | None = ()  # numbers that it does not tell apart; None where they are many

    @classmethod
    def of(
        cls, keys: KeyCounts, j: int, fine: KeyCounts | None, near: Array | None, wide: tuple[Any, ...] | None
    ) -> "HistogramColumn":
        """Take one of several columns, with the values near its first cuts where these were looked at."""
        histogram = keys.of_column(j)
        if fine is None or near is None or fine.names is None or keys.names is None:
            return cls(histogram, not keys.shift[j], wide)
        own = fine.onto(keys.classes).of_column(fine.names.index(keys.names[j]))
        return cls(with_fine_buckets(histogram, own, near), is_exact=False)

    @cached_property
    def present(self) -> Array:
        """The values, or where they share buckets the least and the largest of each."""
        found = self.histogram
        return found.first if self.is_exact else np.unique(np.concatenate([found.first, found.last]))

    @property
    def ends(self) -> tuple[Array, Array]:
        """Least and largest value of each bucket."""
        return self.histogram.first, self.histogram.last

    @property
    def what(self) -> str:
        """What kind of numbers they are, and from where to where."""
        values = self.present
        is_whole = self.is_exact and bool((values == np.floor(values)).all())
        return f"{'whole ' * is_whole}numbers from {values[0]:.6g} to {values[-1]:.6g}"

    @property
    def sorted(self) -> ValueCells:
        """The values in rising order, all classes alike."""
        found = self.histogram
        n, weight = len(found.first), found.pooled.astype(found.count.dtype)
        return ValueCells(found.first, found.last, np.arange(n + 1), np.zeros(n, dtype=np.int32), weight, 1)

    @property
    def sorted_by_class(self) -> ValueCells:
        """The values in rising order, and the classes of each."""
        return value_cells(self.histogram)

    @property
    def n_few_whole(self) -> int | None:
        """How many different values there are, if they are whole and few."""
        values = self.present
        if not self.is_exact or self.wide is None or (values != np.floor(values)).any():
            return None
        n_values = int((np.abs(values) < EXACT).sum()) + len(self.wide)
        return n_values if n_values <= FEW_VALUES else None


def values_near_cuts(plan: ColumnPlan, keys: KeyCounts) -> Near:
    """Find the buckets beside every cut, in columns whose numbers share buckets."""
    near = {}
    for j, name in enumerate(keys.names or ()):
        cuts = next((column.cuts for column in plan if column.name == name), None)
        if not keys.shift[j] or not cuts or len(cuts) > MOST_CUTS:
            continue
        histogram = keys.of_column(j)
        above = np.searchsorted(histogram.first, cuts)
        beside = np.unique(np.concatenate([above - 1, above]))
        beside = beside[(beside >= 0) & (beside < len(histogram.first))]
        near[name] = np.stack([histogram.first[beside], histogram.last[beside]], axis=1)
    return near


def only_near(matrix: ColumnMatrix, near: Near) -> ColumnMatrix:
    """Leave out all values that are not near a cut."""
    assert matrix.names is not None
    columns = []
    for name, values in zip(matrix.names, matrix.columns, strict=True):
        first, last = near[name].T
        numbers = values.astype(np.float64)
        place = np.searchsorted(first, numbers, side="right") - 1
        is_near = (place >= 0) & (numbers <= last[place])
        columns.append(np.where(is_near, numbers, np.nan))
    return ColumnMatrix(tuple(columns), matrix.names)


def with_fine_buckets(coarse: ColumnHistogram, fine: ColumnHistogram, near: Array) -> ColumnHistogram:
    """Put the values near cuts, counted by themselves, in the place of the buckets that they were in."""
    is_kept = ~np.isin(coarse.first, near[:, 0])
    new_place = np.cumsum(is_kept) - 1
    cells = is_kept[coarse.place]
    first = np.concatenate([coarse.first[is_kept], fine.first])
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    place = np.concatenate([new_place[coarse.place[cells]], int(is_kept.sum()) + fine.place])
    return ColumnHistogram(
        first[order],
        np.concatenate([coarse.last[is_kept], fine.last])[order],
        rank[place],
        np.concatenate([coarse.code[cells], fine.code]),
        np.concatenate([coarse.count[cells], fine.count]),
        coarse.n_classes,
    )


def wide_numbers(values: Array) -> tuple[Any, ...] | None:
    """Find the different numbers of a column (n_rows,) from 2^53 on.

    >>> wide_numbers(np.array([5, 2**62, 2**62 + 1, 2**62]))
    (4611686018427387904, 4611686018427387905)
    """
    is_narrow = values.dtype.itemsize < (4 if values.dtype.kind == "f" else 8)  # no such number is so large
    large = () if is_narrow else values[(values >= EXACT) | (values <= -EXACT)]
    if len(large) > LOOKED_AT and len(np.unique(large[:LOOKED_AT])) > FEW_VALUES:  # most are recognised at once
        return None
    return _few(np.unique(large).tolist())


def wide_of_both(mine: Wide, other: Wide) -> Wide:
    """Join what was found in two pieces of a table."""
    found: dict[str, tuple[Any, ...] | None] = {}
    for name in {**mine, **other}:
        here, there = mine.get(name, ()), other.get(name, ())
        found[name] = None if here is None or there is None else _few(sorted({*here, *there}))
    return found


def _few(numbers: list[Any]) -> tuple[Any, ...] | None:
    return tuple(numbers) if len(numbers) <= FEW_VALUES else None
