"""`MixedCounting`: the sums of a piece of a mixed table, read by a plan that was made of the first rows.

A column that is empty in the first rows has no kind in that plan. Every piece that has a value there judges it for
itself; when sums are added, rows of a piece without a value count as missing in the column. Pieces that judge it to be
only 0 and 1, and pieces that find other numbers, agree on numbers. Where pieces do not agree at all, the column is left
out, and a warning says so.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bayeswater.data.frames import sparse_columns
from bayeswater.data.labels import CheckedLabels, encode_labels
from bayeswater.data.reading.column_plan import IGNORED, TEXT, Column, ColumnPlan
from bayeswater.data.reading.counted_rows import CountedRows
from bayeswater.data.reading.raw_table import RawTable, read_raw
from bayeswater.data.weights import inconsistent_lengths
from bayeswater.errors import SchemaError
from bayeswater.families.family import Settings
from bayeswater.families.planning import Late, agreed, replan_open
from bayeswater.families.registry import count_columns, encode_columns, families_of, seen_in_columns
from bayeswater.models.held_out import Fold
from bayeswater.models.mixed.held_out_cuts import profiles_of_choosing
from bayeswater.models.mixed.open_columns import with_late_columns
from bayeswater.models.mixed.settling_text import rows_to_compare
from bayeswater.models.streaming.passes import Parts, Piece, plus
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.typing import Array


@dataclass(frozen=True)
class MixedCounting:
    """A function of a piece: its sums, by a plan.

    Parameters
    ----------
    model : how cells are read, and nothing learned
    plan : how each column is read, made of the first rows
    sparse : the sparse columns of the first rows, which are counted by their place
    choosing : columns whose cuts are chosen by some rows, and scored by the others
    folds : the folds that are scored, one after the other
    read : the first rows and what was read of them, where they are here
    """

    model: Any
    plan: ColumnPlan
    sparse: tuple[Any, ...] = ()
    choosing: tuple[str, ...] = ()
    folds: tuple[Fold, ...] = ()
    read: tuple[Any, RawTable] | None = None

    def __call__(self, piece: Piece) -> "MixedTotal":
        """Count the rows of a piece."""
        model, settings = self.model, self.model._settings
        X, flat, weight = CountedRows.of(*piece[:3], settings.model).triple
        _require_same_block(self.sparse, X)
        is_read = self.read is not None and self.read[0] is X
        raw = self.read[1] if self.read is not None and is_read else read_raw(X, settings.model)
        raw = raw.require_columns(self.plan.sources, settings.model)
        plan = self.plan
        late: Late = {}
        if plan.open and not is_read:
            plan, late = replan_open(plan, raw, settings.given, model.family)
        sums = sums_by_plan(raw, flat, weight, plan, settings)
        texts = [name for name, (column, *_) in late.items() if column.family == TEXT]
        shown = dict.fromkeys(texts, rows_to_compare(X, flat, weight)) if texts else {}
        profiles = None
        if self.folds:
            profiles = profiles_of_choosing(self.choosing, self.folds, raw, raw.with_dates(plan), flat, weight)
        return MixedTotal(sums, self.plan, late, shown, profiles, settings)


def sums_by_plan(
    raw: RawTable, flat: CheckedLabels, weight: Array | None, plan: ColumnPlan, settings: Settings
) -> Sums[ColumnGroups]:
    """Sum rows that count, by a plan of which nothing is counted yet."""
    if raw.n_rows != len(flat):
        raise inconsistent_lengths(raw.n_rows, len(flat))
    labels, table = encode_labels(flat), encode_columns(raw, plan, {}, settings, learning=True)
    return Sums(ClassCounts.of(labels, weight), count_columns(table, labels, weight, settings), seen_in_columns(table))


@dataclass(frozen=True)
class MixedTotal:
    """Sums of pieces, `late` columns that some of them have, rows `shown` to compare readings of late texts by."""

    sums: Sums[ColumnGroups]
    plan: ColumnPlan
    late: Late
    shown: Mapping[str, Any]
    choosing: Parts | None
    settings: Settings

    def __add__(self, other: "MixedTotal") -> "MixedTotal":
        late = {name: agreed(self.late.get(name), other.late.get(name)) for name in {**self.late, **other.late}}
        mine, theirs = self._with(late), other._with(late)
        return MixedTotal(
            mine + theirs,
            self.plan,
            late,
            {**other.shown, **self.shown},
            plus(self.choosing, other.choosing),
            self.settings,
        )

    def _with(self, late: Late) -> Sums[ColumnGroups]:
        """Lay the sums out for late columns as they were agreed on."""
        if late == self.late:
            return self.sums
        plan = ColumnPlan(tuple(new for column in self.plan for new in late.get(column.source, (column,))))
        given_up = [name for name, columns in self.late.items() if _is_left_out(late[name]) > _is_left_out(columns)]
        sums = _without(self.sums, given_up)
        new = {name: own for name, own in late.items() if name not in self.late}
        return with_late_columns(sums, plan, new, self.settings)


def _is_left_out(columns: tuple[Column, ...]) -> bool:
    return all(column.family == IGNORED for column in columns)


def _without(sums: Sums[ColumnGroups], sources: Collection[str]) -> Sums[ColumnGroups]:
    """Leave the sums of some columns out."""
    if not sources:
        return sums
    plan, groups = sums.columns.plan, dict(sums.columns.groups)
    for key, part in families_of(plan).items():
        kept = [j for j, column in enumerate(part.columns) if column.source not in sources]
        if not kept:
            del groups[key]
        elif len(kept) < len(part.columns):
            group: Any = groups[key]
            groups[key] = group.take(kept)
    rest = ColumnPlan(tuple(column for column in plan if column.source not in sources))
    return replace(sums, columns=ColumnGroups(sums.classes, rest, groups))


def _require_same_block(first: tuple[Any, ...], X: Any) -> None:
    """Refuse a piece whose sparse columns, which are counted by their place, are others than in the first rows."""
    found = sparse_columns(X)
    if found != list(first):
        raise SchemaError(
            f"the sparse columns of a batch are {found[:10]}, and those of the first {list(first)[:10]}; give every "
            "batch the same ones, in the same order"
        )
