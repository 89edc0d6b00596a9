"""`KdbMembers`: k-dependence Bayesian networks, each with its own cuts, order and parents.

A member draws the order of the columns, in proportion to what they tell about the class, and gives each the 5 parents
among those before that it hangs on most (`structure/trees.py`): all that from its share of the rows. Probabilities are
drawn, level by level, from those with fewer parents, and by a share lambda from those without the class.

All rows are counted. A quarter of those that the structure has not seen choose, each taken out of the counts, the
concentrations (`estimate/back_off.py`), then how many parents and columns are worth having, then the
temperature; what was not chosen is not kept. So much is chosen that the member overfits these rows: only the
others validate it. Lambda is chosen for all members at once, by what the pool of the first few says of rows that tune
them: tables of numbers want less of it, those of categories more.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import add
from typing import ClassVar, Self, TypeVar

import numpy as np

from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.errors import StatisticsError
from bayeswater.estimate.back_off import Concentrations
from bayeswater.estimate.dirichlet import Prior, PseudoCounts
from bayeswater.inference.choosing import first_of_least
from bayeswater.inference.dependence import Removed
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.sparse_dependence import CountedColumn, SparseDependence, starting_concentrations
from bayeswater.learning.members.committee import (
    SMOOTHING,
    VALIDATION_ROWS,
    HonestMembers,
    best_temperature,
    can_validate,
    checked_temperature,
    log_loss,
    some_rows,
    tempered,
)
from bayeswater.learning.members.member_table import EnsembleTable, StateColumns, labels_of, weight_of
from bayeswater.learning.members.screening import ScreenedMember
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.category_counts import code_kind
from bayeswater.statistics.consistency import SLACK
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import ParentCells, class_cells, joined, remaining, taken_away
from bayeswater.structure.trees import k_dependence
from bayeswater.typing import Array

MOST_PARENTS = 5

CLASS_FREE = (0.3, 1.0)
"""Values of lambda; of 0, members are too sure of themselves. One that each member chose would fit the noise of its
validates, so all have the same."""

PILOTS = 4
"""Members by which lambda is chosen."""

MEMBERS = ((6e5, 32), (1e7, 20), (np.inf, 12))
"""How many members there are for up to so many terms n_rows n_columns n_classes."""

TUNING_CELLS = 2**16
"""Cells of different rows by which concentrations are chosen, about, though of no fewer than 1000 rows."""

Sum = TypeVar("Sum")
Move = Callable[[Sum, Sum], Sum]
"""Adds sums, or takes them away."""


@record
class KdbMember:
    """Cuts, and a joint that holds structure, counts and concentrations."""

    columns: StateColumns
    joint: SparseDependence
    temperature: float = 1.0

    @classmethod
    def learn(
        cls, table: EnsembleTable, seen: Array, tuning: Array, number: int, rng: np.random.Generator, class_free: float
    ) -> "KdbMember":
        """Learn a structure by the rows that are seen, count all rows, and let those that tune choose the numbers."""
        columns = StateColumns.learn(table, seen, number, rng)
        member = cls(columns, _counted_structure(columns, table, seen, rng, class_free))
        count = member.joint.prior.count
        validation = table.take(tuning)
        validation = validation.take(can_validate(validation, count) & some_rows(validation.hashes, VALIDATION_ROWS))
        if not len(validation):
            return member
        few = validation.take(some_rows(validation.hashes, max(1000, TUNING_CELLS // table.n_columns)))
        found = member.joint.fitted(columns.codes(few), few.weights, _taken(few))
        joint = replace(member.joint, concentrations=found)
        losses = joint.log_losses(columns.codes(validation), validation.weights, _taken(validation))
        member = replace(member, joint=joint.shortened(*first_of_least(losses)))
        return replace(
            member, temperature=best_temperature(member.log_posterior_without(validation), validation, count)
        )

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Log posterior of rows: (n_rows, n_classes)."""
        return tempered(log_posterior(self.joint.log_joint(self.columns.codes(table))), self.temperature)

    def log_posterior_without(self, table: EnsembleTable) -> Array:
        """Log posterior of counted rows, one copy of each taken out of the counts: (n_rows, n_classes)."""
        joint = self.joint.log_joint(self.columns.codes(table), _taken(table))
        return tempered(log_posterior(joint), self.temperature)

    def counting(self, table: EnsembleTable) -> "KdbMember":
        """Count other rows with the same structure."""
        structure = [(column.index, column.parents) for column in self.joint.columns]
        columns = counted_columns(structure, self.columns.n_states, self.columns.codes(table), table)
        return replace(self, joint=replace(self.joint, prior=_prior(table), columns=columns))

    def plus(self, table: EnsembleTable) -> "KdbMember":
        """Count further rows."""
        return self._moved(table, add, lambda mine, theirs: joined([mine, theirs]))

    def minus(self, table: EnsembleTable) -> "KdbMember":
        """Take rows out of the counts."""
        return self._moved(table, remaining, taken_away)

    def _moved(self, table: EnsembleTable, move: Move[Array], move_cells: Move[ParentCells]) -> "KdbMember":
        mine, theirs = self.joint, self.counting(table).joint
        prior = replace(mine.prior, count=move(mine.prior.count, theirs.prior.count))
        columns = tuple(
            replace(a, cells=move_cells(a.cells, b.cells)) for a, b in zip(mine.columns, theirs.columns, strict=True)
        )
        return replace(self, joint=replace(mine, prior=prior, columns=columns))

    def to_arrays(self) -> dict[str, Array]:
        """Give cuts, structure and counts as arrays."""
        own = {**self.columns.to_arrays(), **dependence_arrays(self.joint)}
        return {**own, "temperature": np.array([self.temperature])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> "KdbMember":
        """Read them back; refuse what no rows can have counted."""
        columns = StateColumns.from_arrays(arrays, n_numbers, n_states)
        joint = dependence_of(arrays, columns.n_states, n_classes, SMOOTHING)
        return cls(columns, joint, checked_temperature(arrays))


def _taken(table: EnsembleTable) -> Removed:
    return Removed(table.labels, table.removed)


def _counted_structure(
    columns: StateColumns, table: EnsembleTable, seen: Array, rng: np.random.Generator, class_free: float
) -> SparseDependence:
    """Learn order and parents by the rows that are seen, and count all rows."""
    codes, part = columns.codes(table), table.take(seen)
    rows = CodedTable(columns.schema, ColumnMatrix(tuple(np.ascontiguousarray(codes[:, seen]))))
    pairs = PairCounts.of(rows, labels_of(part), weight_of(part))
    found = k_dependence(pairs, MOST_PARENTS, rng=rng)
    structure = [(x, found.parents[x]) for x in found.order]
    start = starting_concentrations(1 + max(map(len, found.parents)), len(structure))
    counted = counted_columns(structure, columns.n_states, codes, table)
    return SparseDependence(_prior(table), columns.n_states, counted, class_free, start)


def counted_columns(
    structure: Iterable[tuple[int, tuple[int, ...]]], n_states: Array, codes: Array, table: EnsembleTable
) -> tuple[CountedColumn, ...]:
    """Count rows, given by their codes (n_columns, n_rows) too, for columns with their parents."""
    n_slots = np.append(n_states + 1, table.n_classes)
    slots = np.concatenate([codes, table.labels[None]], dtype=code_kind(n_slots), casting="unsafe")

    def counted(x: int, parents: tuple[int, ...]) -> CountedColumn:
        members = [*parents, x, -1]
        return CountedColumn(x, parents, class_cells(slots[members], n_slots[members], table.weight))

    found: list[CountedColumn] = []
    for x, parents in structure:
        found.append(counted(x, parents))
        require_table_bytes(
            sum(column.cells.cell.nbytes + column.cells.count.nbytes for column in found),
            f"counting {len(table)} rows by their columns with up to {MOST_PARENTS} parents each, for one member",
            "learn from fewer rows or columns, or take preset='balanced', which has no such members",
        )
    return tuple(found)


def _prior(table: EnsembleTable) -> Prior:
    count = np.bincount(table.labels, weights=table.weight, minlength=table.n_classes)
    return Prior.of(count.astype(np.float64), SMOOTHING)


@record
class KdbMembers(HonestMembers):
    """KDB over several cuts, orders and degrees of smoothing."""

    kind: ClassVar[str] = "kdb"
    member_kind: ClassVar[type[KdbMember]] = KdbMember
    tuned_by: ClassVar[float] = 0.1

    class_free: float = CLASS_FREE[0]  # lambda, once it is chosen

    def learn(self, table: EnsembleTable, seed: int) -> Self:
        """Learn a few members with each lambda, choose the one that their pool says most with, and learn the others."""
        n_members, count = self.members_for(table), _prior(table).count
        losses, committees = [], []
        for class_free in CLASS_FREE:
            start = replace(self, seed=seed, phi=self.phi_for(table), class_free=class_free, members=())
            few = start.grown(table, min(PILOTS, n_members))
            found, n_scored = few.tuning_log_posterior(table)
            scored = table.take(n_scored > 0)
            found = found[n_scored > 0]
            losses.append(log_loss(tempered(found, best_temperature(found, scored, count)), scored, count))
            committees.append(few)
        return committees[int(np.argmin(losses))].grown(table, n_members)

    def learn_member(self, table: EnsembleTable, seen: Array, number: int, rng: np.random.Generator) -> KdbMember:
        """Learn one member, whose structure sees the rows that are marked `seen`."""
        return KdbMember.learn(table, seen, self.tuning_rows(table, number), number, rng, self.class_free)

    def members_for(self, table: EnsembleTable) -> int:
        """Say how many members a table is worth."""
        n_terms = float(table.weights.sum()) * table.n_columns * table.n_classes
        return self.n_members or next(members for most, members in MEMBERS if n_terms < most)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> Self:
        """Make the members of arrays that may come from anywhere."""
        committee = super().from_arrays(arrays, n_numbers, n_states, n_classes)
        first = committee.members[0]
        first = first.member if isinstance(first, ScreenedMember) else first
        assert isinstance(first, KdbMember)
        return replace(committee, class_free=first.joint.class_free)


NO_PARENT = -1


def dependence_arrays(joint: SparseDependence) -> dict[str, Array]:
    """Give structure, counts and concentrations as arrays; cells of all columns stand one after the other."""
    most = joint.n_levels - 1
    parents = np.full((len(joint.columns), most), NO_PARENT, dtype=np.int64)
    start = np.cumsum([0, *(len(column.cells.cell) for column in joint.columns)])
    n_classes = len(joint.prior.count)
    cell = np.zeros((most + 2, start[-1]), dtype=code_kind(np.append(joint.n_states, n_classes)))
    for place, (column, (first, last)) in enumerate(zip(joint.columns, pairwise(start.tolist()), strict=True)):
        n_parents = len(column.parents)
        parents[place, :n_parents] = column.parents
        cell[: n_parents + 2, first:last] = column.cells.cell.T
    return {
        "class_count": joint.prior.count,
        "order": np.array([column.index for column in joint.columns], dtype=np.int64),
        "parents": parents,
        "start": start,
        "cell": cell,
        "count": np.concatenate([np.zeros(0), *(column.cells.count[:, 0] for column in joint.columns)]),
        "class_free": np.array([joint.class_free]),
        "with_class": joint.concentrations.with_class,
        "without_class": joint.concentrations.without_class,
    }


def dependence_of(
    arrays: Mapping[str, Array], n_states: Array, n_classes: int, smoothing: PseudoCounts
) -> SparseDependence:
    """Read it back; refuse what no rows can have counted, nor a member have learned."""
    structure = _structure(np.asarray(arrays["order"]), np.asarray(arrays["parents"]), len(n_states))
    n_levels = 1 + arrays["parents"].shape[1]
    c, f = np.array(arrays["with_class"]), np.array(arrays["without_class"])
    lam, count = np.asarray(arrays["class_free"]), np.array(arrays["class_count"])
    is_shaped = c.shape == (n_levels,) and f.shape == (len(structure), n_levels)
    _require(is_shaped, "concentrations are not those of the columns")
    _require(all(_are_over_zero(each) for each in (c, f)), "a concentration is no number over 0")
    _require(lam.shape == (1,) and 0 <= float(lam[0]) <= 1, f"lambda is {lam}, and not from 0 to 1")
    _require(count.shape == (n_classes,) and count.dtype == np.float64, "class_count is not that of the classes")
    _require(bool(np.isfinite(count).all() and (count >= 0).all() and count.any()), "class_count holds no counts")
    columns = _columns(arrays, structure, np.append(n_states + 1, n_classes), count)
    return SparseDependence(Prior.of(count, smoothing), n_states, columns, float(lam[0]), Concentrations(c, f))


Structure = Sequence[tuple[int, tuple[int, ...]]]
"""Columns and their parents."""


def _structure(order: Array, parents: Array, n_columns: int) -> Structure:
    """Read the order, and parents that come before their children in it."""
    is_shaped = order.ndim == 1 and parents.ndim == 2 and len(parents) == len(order)
    _require(is_shaped and order.dtype == parents.dtype == np.int64, "order and parents are not those of columns")
    is_order = len(np.unique(order)) == len(order) and bool(((order >= 0) & (order < n_columns)).all())
    _require(is_order, "the order names a column twice, or one that there is not")
    found = []
    for place, own in enumerate(parents.tolist()):
        known = tuple(j for j in own if j != NO_PARENT)
        _require(own[: len(known)] == list(known) and len(set(known)) == len(known), "parents are not in their places")
        _require(set(known) <= set(order[:place].tolist()), "a parent does not come before its child")
        found.append((int(order[place]), known))
    return found


def _columns(
    arrays: Mapping[str, Array], structure: Structure, n_slots: Array, class_count: Array
) -> tuple[CountedColumn, ...]:
    """Read the cells of every column, each once, in their order and within the domains."""
    start, cell, count = (np.asarray(arrays[name]) for name in ("start", "cell", "count"))
    _require(count.dtype == np.float64 and count.ndim == 1 and _are_over_zero(count), "counts are numbers over 0")
    is_shaped = start.shape == (len(structure) + 1,) and cell.ndim == 2 and cell.shape[1] == len(count)
    _require(is_shaped and start.dtype.kind == "i" and cell.dtype.kind in "iu", "cells are not as many as their counts")
    _require(start[0] == 0 and start[-1] == len(count) and bool((np.diff(start) >= 0).all()), "cells do not add up")
    kind = code_kind(n_slots - 1)
    found = []
    for (x, own), (first, last) in zip(structure, pairwise(start.tolist()), strict=True):
        members = [*own, x, -1]
        slots, n = cell[: len(members), first:last], n_slots[members]
        limit = n.copy()
        limit[-2] -= 1  # a row that lacks the column itself is not counted
        _require(len(slots) == len(members), "cells have too few columns")
        _require(bool(((slots >= 0) & (slots < limit[:, None])).all()), "a cell has a state that there is not")
        own_cells = ParentCells(n, np.ascontiguousarray(slots.astype(kind)).T, np.array(count[first:last, None]))
        same = joined([own_cells])
        _require(np.array_equal(same.cell, own_cells.cell), "cells are not in their order, or there twice")
        total = np.bincount(slots[-1].astype(np.int64), weights=count[first:last], minlength=len(class_count))
        slack = SLACK * float(class_count.max())
        _require(bool((total <= class_count + slack).all()), "cells count more rows than class_count")
        found.append(CountedColumn(x, own, own_cells))
    return tuple(found)


def _are_over_zero(numbers: Array) -> bool:
    return numbers.dtype == np.float64 and bool((np.isfinite(numbers) & (numbers > 0)).all())


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise StatisticsError(f"the arrays of a family 'kdb' are not sound: {problem}")
