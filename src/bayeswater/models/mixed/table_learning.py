"""A mixed table learned from rows that are read in pieces.

The first rows tell the kinds of columns. One pass counts all rows (`MixedCounting`), and the families that are still
open are chosen from the sums (`settled`); ``calibrate=True`` takes another pass, to leave every row out. A column that
is empty in the first rows stays open until it has a value.

Cuts that saw the labels of a row know something of it that leaving it out of the counts does not take back. So for a
calibration they are chosen anew by some folds, all rows are counted in these bins, off the histogram of all rows, and
only the other fold is scored (`models.held_out`).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

import numpy as np

from bayeswater.data.frames import sparse_columns
from bayeswater.data.labels import CheckedLabels, Labels, encode_labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.column_plan import IGNORED, TEXT, Column, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable, read_raw
from bayeswater.data.reading.row_hashes import row_hashes
from bayeswater.data.reading.text import TextTable
from bayeswater.data.weights import CountedRows, inconsistent_lengths
from bayeswater.errors import ParameterError, SchemaError
from bayeswater.estimate.histogram_cuts import between_buckets, class_cuts
from bayeswater.families.binned import Binned
from bayeswater.families.choosing import FamilyChoice, in_order, settle_numbers, sums_of_choice
from bayeswater.families.choosing_text import rows_to_compare, settle_texts, settle_weighed_texts
from bayeswater.families.family import MixedJoint, Settings
from bayeswater.families.open_numbers import NumberProfile
from bayeswater.families.planning import Late, agreed, plan_columns, replan_open
from bayeswater.families.registry import CANDIDATES, count_columns, encode_columns, families_of, seen_in_columns
from bayeswater.families.settings import MDL
from bayeswater.models.held_out import CellsOf, Fold, folds_of_rows
from bayeswater.models.streaming.passes import Batches, Examples, Parts, Pass, Passes, Piece, plus
from bayeswater.networks.class_tables import StateShares
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.typing import Array


def profiles_of_choosing(
    names: tuple[str, ...],
    folds: tuple[Fold, ...],
    raw: RawTable,
    dated: RawTable,
    y: CheckedLabels,
    weight: Array | None,
) -> Parts:
    """Sum the named columns over the rows that choose their cuts, for each fold; `dated` has dates as planned."""
    labels, shares = encode_labels(y), folds[0].folds.shares(row_hashes(raw), y)
    numbers = [dated.numbers(name) for name in names]

    def profile(fold: Fold) -> NumberProfile | None:
        share = 1 - shares[:, fold.number]
        some = share > 0
        if not some.any():
            return None
        counted = share[some] if weight is None else share[some] * weight[some]
        matrix = ColumnMatrix(tuple(column[some] for column in numbers), names)
        return NumberProfile.of(matrix, labels.take(some), None if (counted == 1).all() else counted, CANDIDATES)

    return Parts(tuple(map(profile, folds)))


@record
class MixedCounting:
    """A function of a piece: its sums, by a plan.

    Parameters
    ----------
    reading : how cells are read
    plan : how each column is read, made of the first rows
    sparse : the sparse columns of the first rows, which are counted by their place
    choosing : columns whose cuts are chosen by some rows, and scored by the others
    folds : the folds that are scored, one after the other
    read : the first rows and what was read of them, where they are here
    """

    reading: "MixedReading"
    plan: ColumnPlan
    sparse: tuple[Any, ...] = ()
    choosing: tuple[str, ...] = ()
    folds: tuple[Fold, ...] = ()
    read: tuple[Any, RawTable] | None = None

    def __call__(self, piece: Piece) -> "MixedTotal":
        """Count the rows of a piece."""
        settings = self.reading.settings
        X, flat, weight = CountedRows.of(*piece[:3], settings.model).triple
        _require_same_block(self.sparse, X)
        is_read = self.read is not None and self.read[0] is X
        raw = self.read[1] if self.read is not None and is_read else read_raw(X, settings.model)
        raw = raw.require_columns(self.plan.sources, settings.model)
        plan = self.plan
        late: Late = {}
        if plan.open and not is_read:
            plan, late = replan_open(plan, raw, settings.given, self.reading.family, settings.words)
        if raw.n_rows != len(flat):
            raise inconsistent_lengths(raw.n_rows, len(flat))
        labels = encode_labels(flat)
        class_count = ClassCounts.of(labels, weight)
        table = encode_columns(raw, plan, {}, settings, learning=True)
        sums = Sums(class_count, count_columns(table, labels, weight, settings), seen_in_columns(table))
        new = [name for name, (column, *_) in late.items() if column.family == TEXT]
        shown = dict.fromkeys(new, rows_to_compare(X, flat, weight)) if new else {}
        profiles = None
        if self.folds:
            profiles = profiles_of_choosing(self.choosing, self.folds, raw, raw.with_dates(plan), flat, weight)
        texts = {key: group for key, group in table.groups.items() if isinstance(group, TextTable)} if is_read else {}
        return MixedTotal(sums, self.plan, late, shown, profiles, settings, texts)


@record
class MixedTotal:
    """Sums of pieces, `late` columns that some of them have, rows `shown` to compare readings of late texts by.

    `texts` are those of the first rows by their group, where these are all.
    """

    sums: Sums[ColumnGroups]
    plan: ColumnPlan
    late: Late
    shown: Mapping[str, Any]
    choosing: Parts | None
    settings: Settings
    texts: Mapping[str, TextTable] = field(default_factory=dict)

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


def with_late_columns(sums: Sums[ColumnGroups], plan: ColumnPlan, late: Late, settings: Settings) -> Sums[ColumnGroups]:
    """Lay sums out for a plan in which `late` columns are new: every row so far is missing in them."""
    import pyarrow as pa

    count = sums.class_count.count
    n_classes = len(count)
    empty = RawTable({source: pa.chunked_array([pa.nulls(n_classes)]) for source in late}, n_classes, named=True)
    labels = Labels(sums.classes, np.arange(n_classes), np.ones(n_classes, dtype=np.int64))
    new_plan = ColumnPlan(tuple(column for own in late.values() for column in own if column.family != IGNORED))
    empty = empty.with_dates(new_plan)
    parts, groups = families_of(plan), dict(sums.columns.groups)
    for key, part in families_of(new_plan).items():
        new = part.count(part.encode(empty, None, settings, learning=True), labels, count, settings)
        groups[key] = in_order([groups[key], new], parts[key].names) if key in groups else new
    return replace(sums, columns=ColumnGroups(sums.classes, plan, groups))


@record
class MixedReading:
    """How a mixed table is read: settings, the family of numbers nothing is said about, pseudo-counts of classes.

    Where words have weights (`weighs_words`), how texts are read is chosen with these.
    """

    settings: Settings
    family: str
    class_alpha: Any
    weighs_words: bool = False

    def counted(self, examples: Examples, *, rereads: str) -> Passes[tuple[MixedTotal, tuple[Fold, ...]]]:
        """Plan the columns and sum all rows, and find which folds are held out.

        `rereads` says why rows are left out afterwards, which folds are for; it is empty where none are.
        """
        head, model = examples.head, self.settings.model
        cut_by_labels = tuple(name for name, said in self.settings.given.items() if rereads and said.bins == MDL)
        with examples.head_named():
            raw = read_raw(head.X, model)
            if raw.n_rows != len(head.y):
                raise inconsistent_lengths(raw.n_rows, len(head.y))
            sparse = tuple(sparse_columns(head.X))
            plan = plan_columns(raw, self.settings.given, self.family, self.settings.words)
        read = (head.X, raw) if isinstance(examples, Batches) else None  # elsewhere the first rows come again
        folds: tuple[Fold, ...] = ()
        if cut_by_labels:
            folds = yield from folds_of_rows(examples, CellsOf(model, plan.sources))
        counting = MixedCounting(self, plan, sparse, cut_by_labels, folds, read)
        total = yield Pass(counting, then=rereads)
        return total, folds

    def settled_after(self, total: MixedTotal, sums: Sums[ColumnGroups], head: Piece) -> Sums[ColumnGroups]:
        """Choose the families that are still open once all rows are counted."""
        for name, shown in ({} if self.weighs_words else total.shown).items():
            sums = settle_texts(sums, self.settings, shown, self.class_alpha, (name,))
        return self.settled(sums, head[:3])

    def settled(self, sums: Sums[ColumnGroups], rows: tuple[Any, Any, Any]) -> Sums[ColumnGroups]:
        """Choose the families that are still open; for text, by leaving out rows of the first batch."""
        sums = settle_numbers(sums, self.settings, self.family)
        if self.weighs_words:
            return settle_weighed_texts(sums)
        return settle_texts(sums, self.settings, rows, self.class_alpha)

    def with_arrived(self, sums: Sums[ColumnGroups], X: Any) -> Sums[ColumnGroups]:
        """Open the columns that were empty so far and have a value in these rows."""
        plan, settings = sums.columns.plan, self.settings
        raw = read_raw(X, settings.model).require_columns(plan.sources, settings.model)
        plan, late = replan_open(plan, raw, settings.given, self.family, settings.words)
        return with_late_columns(sums, plan, late, settings)

    def recut(self, sums: Sums[ColumnGroups], profile: NumberProfile, chosen_by: NumberProfile) -> Sums[ColumnGroups]:
        """Count all rows in bins whose cuts some of them choose; `profile` is that of all, before families settled."""
        assert chosen_by.names is not None and profile.names is not None
        count, pieces, cut = sums.class_count.count, [], {}
        for own, name in enumerate(chosen_by.names):
            j = profile.names.index(name)
            cuts = between_buckets(class_cuts(chosen_by.keys.of_column(own)), profile.keys.of_column(j))
            cut[name] = replace(sums.columns.plan[name], cuts=cuts, spans=None)
            pieces.append(sums_of_choice(profile, j, FamilyChoice("binned", "", cuts, {}), count))
        plan = sums.columns.plan.with_columns(cut)
        family, counts = families_of(plan)[Binned.key], sums.columns.groups[Binned.key]
        assert isinstance(counts, CategoryCounts)
        kept = [j for j, name in enumerate(family.names) if name not in cut]
        pieces += [counts.take(kept)] if kept else []
        binned = family.declaring(in_order(pieces, family.names), self.settings)
        return replace(sums, columns=ColumnGroups(sums.classes, plan, {**sums.columns.groups, Binned.key: binned}))


def state_shares(joint: MixedJoint, plan: ColumnPlan) -> Iterator[StateShares]:
    """Name every column of a plan, its states and P(state | class) of all, for a network."""
    found: dict[str, StateShares] = {}
    for key, family in families_of(plan).items():
        shares = family.distributions(joint.groups[key])
        if shares is None:
            column = family.columns[0]
            raise ParameterError(
                f"column {column.name!r} is {column.family}, and a network has variables with states; fit with "
                f"columns={{{column.name!r}: 'binned'}}, or leave it out"
            )
        found |= {column[0]: column for column in shares}
    return (found[column.name] for column in plan.used)
