"""`Sums`: everything a classifier has learned, as class counts and the sums of its columns.

This is the state of a model. It adds and subtracts as a whole; nothing in it depends on smoothing.
"""

from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.statistics.class_counts import ClassCounts
from bayeswater.statistics.seen_ranges import SeenRanges
from bayeswater.statistics.statistic import ROUNDING, Statistic

Part = TypeVar("Part", bound=Statistic)


@dataclass(frozen=True)
class Sums(Generic[Part]):
    """Class counts N_k and, for each class, the sums of the columns.

    Beside them, and no part of what sums are equal by, stands from where to where numbers were `seen`.
    """

    class_count: ClassCounts
    columns: Part
    seen: SeenRanges = field(default=SeenRanges(), compare=False)

    @property
    def classes(self) -> Variable:
        """The classes counted."""
        return self.class_count.classes

    @property
    def nbytes(self) -> int:
        """Bytes held by all sums."""
        return self.class_count.nbytes + self.columns.nbytes

    def __add__(self, other: "Sums[Part]") -> "Sums[Part]":
        if not isinstance(other, Sums):
            return NotImplemented
        return Sums(self.class_count + other.class_count, self.columns + other.columns, self.seen + other.seen)

    def __radd__(self, other: int) -> "Sums[Part]":
        return self if other == 0 else NotImplemented  # so that sum() adds many

    def __sub__(self, other: "Sums[Part]") -> "Sums[Part]":
        if not isinstance(other, Sums):
            return NotImplemented
        return self.minus(other)

    def minus(self, other: "Sums[Part]", rest: "Sums[Part] | None" = None) -> "Sums[Part]":
        """Take rows away; classes and states that no row has any more disappear, unless they are declared.

        `rest` are the sums of the rows that remain: a class whose moments would lose digits is taken from there.
        """
        class_count = self.class_count - other.class_count
        if not class_count.count.any():
            raise StatisticsError("no row would remain; make a new model instead")
        columns = self.columns.minus(other.columns, None if rest is None else rest.columns)
        columns.require_cells_within(class_count.count, ROUNDING * self.class_count.count)
        classes = class_count.classes.keeping(class_count.count > 0)
        return Sums(class_count.onto(classes), columns.onto(classes).pruned(), self.seen - other.seen)

    def with_classes(self, declared: Variable) -> "Sums[Part]":
        """Declare further classes, of which no row has been counted."""
        classes = self.classes.union(declared)
        return replace(self, class_count=self.class_count.onto(classes), columns=self.columns.onto(classes))

    def scaled(self, factor: float) -> "Sums[Part]":
        """Let every row count `factor` times what it did; counts become float64."""
        return replace(self, class_count=self.class_count.scaled(factor), columns=self.columns.scaled(factor))

    def __repr__(self) -> str:
        n = self.class_count.count.sum()
        return (
            f"Sums(rows={n}, classes={list(self.classes.states)}, columns={type(self.columns).__name__}, "
            f"bytes={self.nbytes})"
        )
