"""`AodeMembers`: averaged one-dependence estimators, each over its own cuts of the numbers.

A member keeps the counts of all pairs of columns (`PairCounts`) and is AODE with the m-estimate of one row: every
column whose value was counted is in turn the parent of all others, and the joints are averaged
(`inference/super_parents.py`); but one that has too many categories for its rows when the member learns is none. Only
its cuts are learned, from a share of the rows; so where there are no numbers nothing is, one member stands for all, and
every row may validate it.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.estimate.dirichlet import Prior
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.inference.class_trees import KeptFields
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.super_parents import SuperParents
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.learning.members.committee import (
    PHI,
    SMOOTHING,
    VALIDATION_ROWS,
    HonestMembers,
    best_temperature,
    checked_temperature,
    some_rows,
    tempered,
)
from bayeswater.learning.members.member_table import EnsembleTable, StateColumns, declared_codes, labels_of, weight_of
from bayeswater.records import record
from bayeswater.statistics.consistency import require_consistent
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.structure.mutual_information import sparse_columns
from bayeswater.typing import Array

MANY_MEMBERS, FEW_MEMBERS = 8, 4
MANY_TERMS = 1e8
"""Terms n_rows n_columns^2 n_classes beyond which there are few members."""

KEPT_BYTES = 2**24
"""Largest table of probabilities that a member keeps."""


@record
class AodeMember(KeptFields):
    """Cuts, counts of all rows, columns (n_columns,) that have too many states to be a parent, and a temperature."""

    columns: StateColumns
    sums: Sums[PairCounts]
    is_sparse: Array
    temperature: float = 1.0

    @classmethod
    def learn(cls, table: EnsembleTable, seen: Array, number: int, rng: np.random.Generator) -> "AodeMember":
        """Cut by the rows that are seen, count all, and let the others fit the temperature."""
        columns = StateColumns.learn(table, seen, number, rng)
        sums = _counted(columns, table)
        is_sparse = sparse_columns(sums.columns)
        is_sparse[: len(columns.cuts)] = False  # bins are as many as the rows are worth
        member, validation = cls(columns, sums, is_sparse), table.take(~seen)
        validation = validation.take(some_rows(validation.hashes, VALIDATION_ROWS))
        if not len(validation):
            return member
        count = member.sums.class_count.count
        return replace(
            member, temperature=best_temperature(member.log_posterior_without(validation), validation, count)
        )

    def joint_for(self, n_rows: int) -> SuperParents:
        """The probabilities, ready for scoring so many rows; kept for the next ones where they are not too large.

        Of a larger table, rows that have fewer pairs than it has entries read their own.
        """
        n_slots, n_columns = int((self.columns.n_states + 1).sum()), len(self.columns.n_states)
        if 8 * n_slots**2 * self.sums.columns.n_classes <= KEPT_BYTES:
            return self._joint
        return replace(self._joint, by_pairs=n_rows * n_columns**2 <= n_slots**2)

    @cached_property
    def _joint(self) -> SuperParents:
        prior = Prior.of(self.sums.class_count.count, SMOOTHING)
        estimate = PairEstimate(self.sums.columns, SMOOTHING, is_sparse=self.is_sparse)
        return SuperParents(prior, estimate, 1.0, estimate.is_usual, np.ones_like(estimate.is_usual))

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Log posterior of rows: (n_rows, n_classes)."""
        joint = self.joint_for(len(table)).of(self.columns.codes(table).T, self._use_loop(len(table)))
        return tempered(log_posterior(joint), self.temperature)

    def log_posterior_without(self, table: EnsembleTable) -> Array:
        """Log posterior of counted rows, one copy of each taken out of the counts: (n_rows, n_classes)."""
        without = self.joint_for(len(table)).without(self.columns.read(table), labels_of(table), table.removed)
        joint, _ = without(slice(0, len(table)), self._use_loop(len(table)))
        return tempered(log_posterior(joint), self.temperature)

    def _use_loop(self, n_rows: int) -> bool:
        return worth_compiling(n_rows * len(self.columns.n_states) ** 2 * self.sums.columns.n_classes)

    def counting(self, table: EnsembleTable) -> "AodeMember":
        """Count other rows with the same cuts."""
        return replace(self, sums=_counted(self.columns, table))

    def plus(self, table: EnsembleTable) -> "AodeMember":
        """Count further rows."""
        return replace(self, sums=self.sums + self.counting(table).sums)

    def minus(self, table: EnsembleTable) -> "AodeMember":
        """Take rows out of the counts."""
        return replace(self, sums=self.sums - self.counting(table).sums)

    def to_arrays(self) -> dict[str, Array]:
        """Give cuts and counts as arrays."""
        counts = {"class_count": self.sums.class_count.count, **self.sums.columns.to_arrays()}
        sparse = {"is_sparse": self.is_sparse.astype(np.uint8)} if self.is_sparse.any() else {}
        return {**self.columns.to_arrays(), **counts, **sparse, "temperature": np.array([self.temperature])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> "AodeMember":
        """Read them back; refuse counts that no rows can have."""
        columns, classes = StateColumns.from_arrays(arrays, n_numbers, n_states), declared_codes("class", n_classes)
        pairs = PairCounts(classes, columns.schema, arrays["table"], arrays["pairs"])
        sums = Sums(ClassCounts(classes, arrays["class_count"]), pairs)
        require_consistent(sums)
        is_sparse = np.asarray(arrays.get("is_sparse", np.zeros(len(columns.n_states), dtype=np.uint8)))
        if is_sparse.shape != columns.n_states.shape or is_sparse.dtype != np.uint8 or (is_sparse > 1).any():
            raise StatisticsError("a member does not say of each column whether it can be a parent")
        return cls(columns, sums, is_sparse.astype(bool), checked_temperature(arrays))


@record
class AodeMembers(HonestMembers):
    """AODE over several cuts of the numbers."""

    kind: ClassVar[str] = "aode"
    member_kind: ClassVar[type[AodeMember]] = AodeMember

    def phi_for(self, table: EnsembleTable) -> float:
        """Cuts see a share of the rows; where there are no numbers, and no columns to choose, nothing does."""
        return PHI if table.numbers.shape[1] or self.n_slots else 0.0

    def members_for(self, table: EnsembleTable) -> int:
        """Say how many members a table is worth."""
        if not table.numbers.shape[1]:
            return 1
        n_terms = float(table.weights.sum()) * table.n_columns**2 * table.n_classes
        return self.n_members or (MANY_MEMBERS if n_terms <= MANY_TERMS else FEW_MEMBERS)


def _counted(columns: StateColumns, table: EnsembleTable) -> Sums[PairCounts]:
    """Count some rows."""
    labels, weight = labels_of(table), weight_of(table)
    return Sums(ClassCounts.of(labels, weight), PairCounts.of(columns.read(table), labels, weight))
