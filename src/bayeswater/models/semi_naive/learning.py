"""A table of states learned from rows that are read in pieces.

The first rows tell the kinds of columns. Numbers are looked at in a pass of their own, unless it is said where they are
cut; then rows are counted. Structure that is read off the counts costs no pass, parents of several columns one more,
and what rows have to choose by leaving them out another.

Where the labels choose cuts or structure, a calibration holds rows out: those of one fold are scored by cuts and
structure that the others choose (`models.held_out`). All ways share their passes.

Rows that choose a structure, or calibrate, are gathered from the pieces as `RowKinds`: equal rows are one kind with the
weight of all, and of too many kinds those are kept whose hash is least (`models.held_out.kinds_of`).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.reading.coded_table import CodedTable, DiscreteTable
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.variable import Schema, Variable
from bayeswater.data.weights import CountedRows, inconsistent_lengths
from bayeswater.families.family import Settings
from bayeswater.families.state_planning import code_columns, method_of, read_columns, read_planned, require_used
from bayeswater.inference.choosing import row_hash
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.kernels.pair_information import CONDITIONAL, PairValues, pair_values
from bayeswater.models.held_out import Fold, kinds_of
from bayeswater.models.semi_naive.cutting import (
    Looked,
    Near,
    looked_at,
    open_numbers,
    plan_of_head,
    settled_plan,
    values_near_cuts,
)
from bayeswater.models.streaming.passes import Examples, Pass, Passes, Piece, side_by_side
from bayeswater.records import record
from bayeswater.statistics.category_counts import columnwise_codes
from bayeswater.statistics.column_groups import FAMILIES, PAIRS, ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import ParentCounts, Parents
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.typing import Array


@record
class StateRows:
    """Codes, classes and weights of rows; without weights, all count once.

    `one_of_many` (n_rows,) is told where a row stands for several equal ones: what leaving one of them out takes away.
    """

    table: DiscreteTable
    labels: Labels
    weight: Array | None = None
    one_of_many: Array | None = None

    def __len__(self) -> int:
        return len(self.labels.codes)

    @cached_property
    def removed(self) -> Array:
        """What leaving each row out takes away: (n_rows,)."""
        return removed_weight(self.weight, len(self)) if self.one_of_many is None else self.one_of_many

    @property
    def times(self) -> Array:
        """How often each row counts: (n_rows,)."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def alone(self, class_count: Array) -> Array:
        """Mark the rows (n_rows,) that are alone in their class: without them it is not known. They say nothing."""
        marks: Array = class_count[self.labels.codes] <= self.removed
        return marks

    def take(self, rows: Array) -> "StateRows":
        """Give some rows, marked or numbered."""
        weight, one_of_many = (None if each is None else each[rows] for each in (self.weight, self.one_of_many))
        return StateRows(self.table.take(rows), self.labels.take(rows), weight, one_of_many)


@record
class RowKinds:
    """Kinds of rows in the order of their hash, no more than `most`: (n_kinds,) each, `block` (n_kinds, n_columns).

    `removed` is what leaving one row of a kind out takes away, `weight` that of all its rows.
    """

    hash: Array
    block: Array
    codes: Array
    removed: Array
    weight: Array
    most: int

    @classmethod
    def of(cls, rows: StateRows, most: int) -> "RowKinds":
        """Gather the kinds of some rows, whose codes are those of domains that hold for all."""
        block, codes = rows.table.block(slice(0, len(rows))), rows.labels.codes
        removed, weight = rows.removed.astype(np.float64), rows.times.astype(np.float64)
        return cls(row_hash(block, codes, removed), block, codes, removed, weight, most)._kinds()

    def __add__(self, other: "RowKinds") -> "RowKinds":
        names = ("hash", "block", "codes", "removed", "weight")
        hash, block, codes, removed, weight = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in names
        )
        return RowKinds(hash, block, codes, removed, weight, self.most)._kinds()

    def _kinds(self) -> "RowKinds":
        hash, first, weight = kinds_of(self.hash, self.weight, self.most)
        return RowKinds(hash, self.block[first], self.codes[first], self.removed[first], weight, self.most)

    def rows(self, plan: ColumnPlan, schema: Schema, classes: Variable) -> StateRows:
        """Give one row of each kind with the weight of all, in the domains it was coded in."""
        table = DiscreteTable(plan, CodedTable(schema, DenseMatrix(np.ascontiguousarray(self.block))))
        labels = Labels(classes, self.codes, np.bincount(self.codes, minlength=classes.n_states))
        return StateRows(table, labels, self.weight, self.removed)


@record
class LearningStart:
    """What is known before the rows are read: how cells are read, the first plan, and numbers that are open in it.

    `fold` are the rows that choose; default all.
    """

    settings: Settings
    discretize: str
    first: ColumnPlan
    numbers: tuple[Column, ...]
    fold: Fold | None = None

    @classmethod
    def of(cls, examples: Examples, settings: Settings, discretize: str) -> "LearningStart":
        """Look at the first rows."""
        with examples.head_named():
            raw = read_columns(examples.head.X, settings.model)
            plan = plan_of_head(raw, settings)
        return cls(settings, discretize, plan, open_numbers(plan, raw))

    @property
    def looks(self) -> bool:
        """Whether rows have to be looked at before they can be counted."""
        return bool(self.numbers or self.first.open)

    @property
    def is_cut_by_labels(self) -> bool:
        """Whether the labels of the rows choose cuts of numbers."""
        return any(method_of(self.settings.of(column), self.discretize).needs_labels for column in self.numbers)

    def planned(self) -> Passes[ColumnPlan | None]:
        """Plan the columns by the rows that choose; None where there are none."""
        looked = None
        if self.looks:
            open_columns = [column.source for column in (*self.numbers, *self.first.open)]
            columns = None if self.fold else tuple(dict.fromkeys(open_columns))
            looked = yield Pass(Looking(self, columns), "looking at numbers", columns, self._reads_twice)
            if looked is None:
                return None
        plan = yield from self._settled(looked)
        require_used(plan)
        return plan

    def _settled(self, looked: Looked | None) -> Passes[ColumnPlan]:
        """Cut the numbers, and where a histogram does not tell them apart, once more by the values near the cuts."""
        plan = settled_plan(self.first, looked, self.settings, self.discretize)
        near = {} if looked is None or looked.keys is None else values_near_cuts(plan, looked.keys)
        if near and looked is not None:
            numbers = tuple(column for column in self.numbers if column.name in near)
            columns = None if self.fold else tuple(dict.fromkeys(column.source for column in numbers))
            of = Looking(replace(self, numbers=numbers), columns, near)
            fine = yield Pass(of, "refining cuts", columns, self._reads_twice)
            plan = settled_plan(self.first, replace(looked, fine=fine.keys), self.settings, self.discretize, near)
        return plan

    @property
    def _reads_twice(self) -> str:
        named = ", ".join(repr(column.name) for column in self.numbers[:3] or self.first.open[:3])
        return (
            f"{self.settings.model} looks at all rows of {named} before it counts them, so that rows are read twice "
            "unless columns= says where numbers are cut"
        )


@record
class LearnedStates:
    """Sums of all rows by a plan, and the structure that was chosen, if it was."""

    sums: Sums[ColumnGroups]
    structure: Any


@record
class Looking:
    """A function of a piece: what its rows, or those that choose, tell of columns that are open.

    `columns` are those to look at, default all. With `near`, only the values in these intervals are looked at.
    """

    way: LearningStart
    columns: tuple[str, ...] | None = None
    near: Near | None = None

    def __call__(self, piece: Piece) -> Looked | None:
        """Look at the numbers of a piece."""
        way, settings = self.way, self.way.settings
        X, flat, weight, _ = _rows(settings.model, piece, way.fold)
        if not len(flat):
            return None
        raw = read_columns(X, settings.model)
        sources = way.first.sources if self.columns is None or not raw.named else self.columns
        raw = raw.require_columns(sources, settings.model)
        seen = ColumnPlan(tuple(column for column in way.first if column.source in sources))
        return looked_at(raw, seen, way.numbers, encode_labels(flat), weight, settings, self.near)


@record
class CodedPiece:
    """A function of a piece: what another one gives for its rows; None where none is of a fold.

    Parameters
    ----------
    settings, plan : how cells are read
    of : function of `StateRows`
    fold : rows that are looked at; default all
    known, classes : domains that hold for all rows, where they are known
    """

    settings: Settings
    plan: ColumnPlan
    of: Callable[..., Any]
    fold: Fold | None = None
    known: Schema | None = None
    classes: Variable | None = None

    @classmethod
    def like(
        cls, sums: Sums[ColumnGroups], settings: Settings, of: Callable[..., Any], fold: Fold | None
    ) -> "CodedPiece":
        """Code rows that were counted, in the domains of their sums."""
        return cls(settings, sums.columns.plan, of, fold, pairs_of(sums).schema, sums.classes)

    def __call__(self, piece: Piece) -> Any:
        """Code the rows of a piece, and hand them on."""
        settings = self.settings
        X, flat, weight, whole = _rows(settings.model, piece, self.fold)
        if not len(flat):
            return None
        raw = read_planned(X, self.plan, settings.model)
        if raw.n_rows != len(flat):
            raise inconsistent_lengths(raw.n_rows, len(flat))
        if self.known is not None:
            settings = replace(settings, unseen="error")  # all that there is was counted before
        table = code_columns(raw, self.plan, self.known, settings, learning=self.known is None)
        labels: Labels = encode_labels(flat, self.classes, counted=True)
        removed = None
        if self.fold is not None and self.fold.held_out:
            removed = removed_weight(whole, len(flat))  # whole rows were counted
        elif self.fold is not None:  # the fold has some of the equal rows that a row stands for
            removed = np.ones(len(flat)) if whole is None else whole / np.ceil(whole)
        return self.of(StateRows(table, labels, weight, removed))


def gathered(
    settings: Settings, sums: Sums[ColumnGroups], fold: Fold | None, most: int
) -> Passes[tuple[RowKinds, StateRows] | None]:
    """Gather rows that were counted, in the domains of their sums: as kinds, and one row of each."""
    coded = CodedPiece.like(sums, settings, partial(RowKinds.of, most=most), fold)
    found = yield Pass(partial(side_by_side, (coded,)), "leaving rows out")
    kinds: RowKinds | None = found.parts[0]
    return None if kinds is None else (kinds, kinds.rows(sums.columns.plan, pairs_of(sums).schema, sums.classes))


def counted(
    settings: Settings, plan: ColumnPlan, of: Callable[..., Any], fold: Fold | None, then: str = ""
) -> Passes[tuple[Any, Any]]:
    """Count all rows and, where only a fold of them chooses, that fold."""
    both = [CodedPiece(settings, plan, of), *([CodedPiece(settings, plan, of, fold)] if fold else [])]
    found = yield Pass(partial(side_by_side, both), "counting", None, then)
    return found.parts[0], found.parts[-1]


def counted_with(
    settings: Settings,
    pairs: Sums[ColumnGroups],
    of_fold: Sums[ColumnGroups],
    parents: Parents,
    fold: Fold | None,
    then: str,
) -> Passes[tuple[Sums[ColumnGroups], Sums[ColumnGroups]]]:
    """Count every column with its parents, beside the pairs of all rows and of a fold, whose domains do not grow."""
    of = partial(counts_with_parents, parents=parents)
    functions = [CodedPiece.like(pairs, settings, of, None)]
    if fold:
        functions.append(CodedPiece.like(of_fold, settings, of, fold))
    found = yield Pass(partial(side_by_side, functions), "counting with parents", None, then)
    return with_parents(pairs, found.parts[0]), with_parents(of_fold, found.parts[-1])


def sums_of_pairs(rows: StateRows, counts: PairCounts) -> Sums[ColumnGroups]:
    """Give the counts of pairs of rows as their sums."""
    columns = ColumnGroups(rows.labels.variable, rows.table.plan, {PAIRS: counts})
    return Sums(ClassCounts.of(rows.labels, rows.weight), columns)


def information_of_pairs(rows: StateRows, n_states: Array, price: float = CONDITIONAL) -> PairValues:
    """Say what all pairs of columns with so many states are worth, without counts of them all."""
    codes = columnwise_codes(rows.table.coded, slice(0, len(rows)))
    return pair_values(codes, n_states, rows.labels.codes, rows.labels.n_classes, price, rows.weight)


def pairs_of(sums: Sums[ColumnGroups]) -> PairCounts:
    """Give the counts of pairs of columns."""
    pairs = sums.columns.groups[PAIRS]
    assert isinstance(pairs, PairCounts)
    return pairs


def parents_of(sums: Sums[ColumnGroups]) -> ParentCounts:
    """Give the counts of every column with its parents."""
    counts = sums.columns.groups[FAMILIES]
    assert isinstance(counts, ParentCounts)
    return counts


def counts_with_parents(rows: StateRows, parents: Parents) -> ParentCounts:
    """Count every column of some rows with its parents."""
    return ParentCounts.of(rows.table.coded, rows.labels, rows.weight, parents)


def with_parents(pairs: Sums[ColumnGroups], counts: ParentCounts) -> Sums[ColumnGroups]:
    """Put counts with parents beside those of pairs of the same rows."""
    return Sums(pairs.class_count, replace(pairs.columns, groups={**pairs.columns.groups, FAMILIES: counts}))


def _rows(model: str, piece: Piece, fold: Fold | None) -> tuple[Any, Any, Array | None, Array | None]:
    """Take the rows of a piece that count, and are of a fold: with the weight they have there, and in all."""
    X, y, weight = CountedRows.of(*piece[:3], model).triple
    return (X, y, weight, weight) if fold is None else fold.rows(X, y, weight)
