"""`StateRows`: rows of a table of states with their classes and weights, which are counted, and which judge."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.data.discrete_table import DiscreteTable
from bayeswater.data.labels import Labels
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.typing import Array


@dataclass(frozen=True)
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
        """Mark the rows (n_rows,) that are alone in their class: without them it is not known. They judge nothing."""
        marks: Array = class_count[self.labels.codes] <= self.removed
        return marks

    def take(self, rows: Array) -> "StateRows":
        """Give some rows, marked or numbered."""
        weight, one_of_many = (None if each is None else each[rows] for each in (self.weight, self.one_of_many))
        return StateRows(self.table.take(rows), self.labels.take(rows), weight, one_of_many)
