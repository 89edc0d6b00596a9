"""A table of states learned from rows that are read in pieces.

The first rows tell the kinds of columns. Numbers are looked at in a pass of their own, unless it is said where they are
cut; then rows are counted. Structure that is read off the counts costs no pass, parents of several columns one more,
and what rows have to choose by leaving them out another.

Where the labels choose cuts or structure, a calibration holds rows out: those of one part are scored by cuts and
structure that the others choose (`models.held_out`). All ways are walked together, pass by pass.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from sklearn.base import clone

from bayeswater.data.column_plan import Column, ColumnPlan
from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.mixing import mixed, word
from bayeswater.data.variable import Variable
from bayeswater.data.weights import inconsistent_lengths
from bayeswater.decision.scores import Scores
from bayeswater.errors import DataError
from bayeswater.families.planning import warn_of_left_out
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.scoring import score_blocks
from bayeswater.models.held_out import CellsOf, Part, dealing_of
from bayeswater.models.review import REVIEWED_ROWS, Review
from bayeswater.models.semi_naive.discrete_encoding import code_columns, read_columns
from bayeswater.models.semi_naive.discrete_planning import method_of, warn_of_names_of_rows
from bayeswater.models.semi_naive.number_schema import (
    Looked,
    first_plan,
    left_out,
    looked_at,
    open_numbers,
    settled_plan,
)
from bayeswater.models.semi_naive.refining import Near, values_near_cuts
from bayeswater.models.semi_naive.row_kinds import RowKinds
from bayeswater.models.semi_naive.state_rows import StateRows
from bayeswater.models.streaming.examples import Examples, Piece
from bayeswater.models.streaming.walking import Parts, Pass, SideBySide, Walk, plus, together
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


@dataclass(frozen=True)
class Way:
    """What is known before the rows are read: a model without sums, the first plan, and numbers that are open in it.

    `part` are the rows that choose; default all.
    """

    model: Any
    first: ColumnPlan
    numbers: tuple[Column, ...]
    part: Part | None = None

    @property
    def looks(self) -> bool:
        """Whether rows have to be looked at before they can be counted."""
        return bool(self.numbers or self.first.open)


@dataclass(frozen=True)
class LearnedStates:
    """Sums of all rows by a plan, and the structure that was chosen, if it was."""

    sums: Sums[ColumnGroups]
    structure: Any


def walk_over_states(model: Any, examples: Examples, classes: Variable | None = None) -> Walk[Any]:
    """Learn a table of states: plan it, count it, choose its structure, calibrate it; `classes` are declared."""
    model._require_reading_parameters()
    settings, head = model._settings, examples.head
    with examples.head_named():
        raw = read_columns(head.X, settings.model)
        plan = first_plan(raw, settings)
    way = Way(clone(model), plan, open_numbers(plan, raw))
    cut_by_labels = any(method_of(settings.of(column), model.discretize).needs_labels for column in way.numbers)
    held_out: list[Part] = []
    if model.calibrate and (model._learns_structure() or cut_by_labels):
        cells = CellsOf(settings.model, plan.sources)
        dealing = yield from dealing_of(way.model, examples, cells)
        held_out = [Part(cells, dealing, number, held_out=True) for number in range(dealing.n_scored)]
    ways = [way, *(replace(way, part=replace(part, held_out=False)) for part in held_out)]
    learned, *judges = yield from together(*(_learned(way, classes) for way in ways))
    if learned is None:
        raise DataError(f"{examples.name}: there are no rows to learn from")
    model._keep_chosen(learned.sums, learned.structure, head.X)
    n_rows = int(learned.sums.class_count.count.sum())
    warn_of_names_of_rows(model._pairs(learned.sums).schema, model.columns_, n_rows)
    warn_of_left_out(left_out(model.columns_, plan, settings))
    if not model.calibrate:
        return model
    pairs: list[tuple[Any, Part | None]] = [*zip(judges, held_out, strict=True)] or [(learned, None)]
    reviews = yield from together(*(_reviewed(way.model, judge or learned, part) for judge, part in pairs))
    return model.calibrate_with(reduce(plus, reviews).result())


def _learned(way: Way, classes: Variable | None) -> Walk[LearnedStates | None]:
    """Learn by the rows that choose; None where there are none."""
    model, looked = way.model, None
    if way.looks:
        columns = None if way.part else tuple(dict.fromkeys(_looked_at(way)))
        looked = yield Pass(Looking(way, columns), "looking at numbers", columns, _reads_twice(way))
        if looked is None:
            return None
    plan = yield from _settled(way, looked)
    if not plan.used:
        raise DataError(f"no column is left to learn from:\n{plan}\nsay how to read one, for example columns={{...}}")
    sums, chosen_by = yield from model._counting_walk(plan, way.part)
    if chosen_by is None:
        return None
    structure = yield from model._choosing_walk(plan, chosen_by, way.part)
    if structure is None and way.part is not None:
        structure = model._structure(chosen_by)
    return LearnedStates(sums if classes is None else sums.with_classes(classes), structure)


def _settled(way: Way, looked: Looked | None) -> Walk[ColumnPlan]:
    """Cut the numbers, and where a histogram does not tell them apart, once more by the values near the cuts."""
    settings, discretize = way.model._settings, way.model.discretize
    plan = settled_plan(way.first, looked, settings, discretize)
    near = {} if looked is None or looked.keys is None else values_near_cuts(plan, looked.keys)
    if near and looked is not None:
        numbers = tuple(column for column in way.numbers if column.name in near)
        columns = None if way.part else tuple(dict.fromkeys(column.source for column in numbers))
        of = Looking(replace(way, numbers=numbers), columns, near)
        fine = yield Pass(of, "refining cuts", columns, _reads_twice(way))
        plan = settled_plan(way.first, replace(looked, fine=fine.keys), settings, discretize, near)
    return plan


def _looked_at(way: Way) -> Sequence[str]:
    return [column.source for column in (*way.numbers, *way.first.open)]


def _reads_twice(way: Way) -> str:
    named = ", ".join(repr(column.name) for column in way.numbers[:3] or way.first.open[:3])
    return (
        f"{way.model._settings.model} looks at all rows of {named} before it counts them, so that rows are read twice "
        "unless columns= says where numbers are cut"
    )


def _reviewed(model: Any, judge: LearnedStates, part: Part | None) -> Walk[Review | None]:
    """Score the rows of a part, each left out of the counts of all rows; None where there are none."""
    sums = judge.sums
    joint = model._read_with(sums, model._structure(sums) if judge.structure is None else judge.structure)
    kinds = yield from gathered(model, sums, part, REVIEWED_ROWS)
    if kinds is None:
        return None
    rows = kinds.rows(sums.columns.plan, model._pairs(sums).schema, sums.classes)
    judged = ~rows.alone(sums.class_count.count)
    log_proba = score_blocks(joint.without(rows.table, rows.labels, rows.removed), rows.table, log_posterior)
    scores = Scores.of(log_proba, rows.labels.codes, rows.weight, model._known_in(rows.table, sums))
    # Equal rows of two parts are scored differently: they are kinds of their own.
    key = mixed(kinds.hash + word(0 if part is None else part.number))
    return Review.of(scores.take(judged), key[judged], int((~judged).sum()))


def gathered(model: Any, sums: Sums[ColumnGroups], part: Part | None, most: int) -> Walk[RowKinds | None]:
    """Gather rows that were counted, in the domains of their sums."""
    of = partial(RowKinds.of, most=most)
    coded = CodedPiece(model, sums.columns.plan, of, part, model._pairs(sums).singles, sums.classes)
    found = yield Pass(SideBySide((coded,)), "leaving rows out")
    return found.parts[0]


def counted(model: Any, plan: ColumnPlan, of: Callable[..., Any], part: Part | None, then: str = "") -> Walk[Parts]:
    """Count all rows and, where only a part of them chooses, that part."""
    both = [CodedPiece(model, plan, of), *([CodedPiece(model, plan, of, part)] if part else [])]
    found = yield Pass(SideBySide(tuple(both)), "counting", None, then)
    return Parts((found.parts[0], found.parts[-1]))


@dataclass(frozen=True)
class Looking:
    """A function of a piece: what its rows, or those that choose, tell of columns that are open.

    `columns` are those to look at, default all. With `near`, only the values in these intervals are looked at.
    """

    way: Way
    columns: tuple[str, ...] | None = None
    near: Near | None = None

    def __call__(self, piece: Piece) -> Looked | None:
        """Look at the numbers of a piece."""
        way, settings = self.way, self.way.model._settings
        X, flat, weight, _ = _rows(way.model, piece, way.part)
        if not len(flat):
            return None
        raw = read_columns(X, settings.model)
        sources = way.first.sources if self.columns is None or not raw.named else self.columns
        raw = raw.require_columns(sources, settings.model)
        seen = ColumnPlan(tuple(column for column in way.first if column.source in sources))
        return looked_at(raw, seen, way.numbers, encode_labels(flat), weight, settings, self.near)


@dataclass(frozen=True)
class CodedPiece:
    """A function of a piece: what another one gives for its rows; None where none is of a part.

    Parameters
    ----------
    model, plan : how cells are read
    of : function of `StateRows`
    part : rows that are looked at; default all
    known, classes : domains that hold for all rows, where they are known
    """

    model: Any
    plan: ColumnPlan
    of: Callable[..., Any]
    part: Part | None = None
    known: CategoryCounts | None = None
    classes: Variable | None = None

    def __call__(self, piece: Piece) -> Any:
        """Code the rows of a piece, and hand them on."""
        settings = self.model._settings
        X, flat, weight, whole = _rows(self.model, piece, self.part)
        if not len(flat):
            return None
        raw = read_columns(X, settings.model).require_columns(self.plan.sources, settings.model)
        if raw.n_rows != len(flat):
            raise inconsistent_lengths(raw.n_rows, len(flat))
        if self.known is not None:
            settings = replace(settings, unseen="error")  # all that there is was counted before
        table = code_columns(raw, self.plan, self.known, settings, learning=self.known is None)
        labels: Labels = encode_labels(flat, self.classes, counted=True)
        removed = None
        if self.part is not None and self.part.held_out:
            removed = removed_weight(whole, len(flat))  # whole rows were counted
        elif self.part is not None:  # the part has some of the equal rows that a row stands for
            removed = np.ones(len(flat)) if whole is None else whole / np.ceil(whole)
        return self.of(StateRows(table, labels, weight, removed))


def _rows(model: Any, piece: Piece, part: Part | None) -> tuple[Any, Any, Array | None, Array | None]:
    """Take the rows of a piece that count, and are of a part: with the weight they have there, and in all."""
    X, y, weight = model._rows_that_count(*piece[:3]).triple
    return (X, y, weight, weight) if part is None else part.rows(X, y, weight)
