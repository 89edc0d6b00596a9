"""`ColumnGroups`: the sums of a mixed table, one statistic for each group of columns that are counted together.

It adds and subtracts group by group, and only to sums of the same plan.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

from bayeswater.data.reading.column_plan import ColumnPlan, spelled
from bayeswater.data.reading.number_table import bin_labels
from bayeswater.data.reading.truth_style import WordStyle
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import StatisticsError
from bayeswater.records import record
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array

PAIRS = "pairs"
"""Name of the group of sums that counts pairs of columns."""

FAMILIES = "families"
"""Name of the group of sums that counts every column with its parents; files have it."""


@record(eq=False)
class ColumnGroups(Statistic):
    """Statistics by the name of their group, and the plan of the columns in them."""

    plan: ColumnPlan
    groups: Mapping[str, Statistic]

    def to_arrays(self) -> dict[str, Array]:
        """Give the sums of all groups as arrays named ``group.name``."""
        return {
            f"{key}.{name}": array for key, group in self.groups.items() for name, array in group.to_arrays().items()
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ColumnGroups):
            return NotImplemented
        return self.plan == other.plan and dict(self.groups) == dict(other.groups)

    __hash__ = None

    def onto(self, classes: Variable) -> Self:
        """Lay the sums out for other classes."""
        return replace(self.each(lambda group: group.onto(classes)), classes=classes)

    def pruned(self) -> Self:
        """Drop states and words that are neither declared nor counted any more."""
        return self.each(lambda group: group.pruned())

    def scaled(self, factor: float) -> Self:
        """Let every row count `factor` times what it did."""
        return self.each(lambda group: group.scaled(factor))

    def require_cells_within(self, rows: Array, slack: Array) -> None:
        """Refuse sums with more cells in a column than its class has rows."""
        for group in self.groups.values():
            group.require_cells_within(rows, slack)

    def each(self, change: Callable[[Statistic], Statistic]) -> Self:
        """Change every group."""
        return replace(self, groups={key: change(group) for key, group in self.groups.items()})

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        self.plan.require_same_reading(other.plan)
        classes, words = self.classes.union(other.classes), self.plan.words_with(other.plan)
        return self._spelled(words).onto(classes), other._spelled(words).onto(classes)

    def _spelled(self, words: Mapping[str, WordStyle]) -> Self:
        """Name states for true and false alike."""
        groups: Mapping[str, Any] = self.groups if words else {}
        named = {
            key: replace(group, schema=spelled(group.schema, words))
            for key, group in groups.items()
            if hasattr(group, "schema")
        }
        return replace(self, groups={**self.groups, **named})

    def _plus(self, other: Self) -> Self:
        groups = {key: group + other.groups[key] for key, group in self.groups.items()}
        return replace(self, plan=self.plan.with_styles_of(other.plan), groups=groups)

    def _minus(self, other: Self, rest: Self | None) -> Self:
        rests: Mapping[str, Any] = {} if rest is None else rest.groups

        def minus(key: str, part: Any) -> Statistic:
            try:
                return part.minus(other.groups[key], rests.get(key))
            except StatisticsError as refusal:
                raise _in_intervals(refusal, self.plan, part, other.groups[key]) from None

        return replace(self, groups={key: minus(key, part) for key, part in self.groups.items()})


def _in_intervals(refusal: StatisticsError, plan: ColumnPlan, part: Any, taken: Any) -> StatisticsError:
    """Give the same refusal with the limits of bins, which counts know by their codes alone."""
    if not hasattr(part, "schema"):
        return refusal
    try:
        _with_intervals(part, plan).minus(_with_intervals(taken, plan))
    except StatisticsError as readable:
        return readable
    return refusal


def _with_intervals(counts: Any, plan: ColumnPlan) -> Any:
    """Name the bins of counts by their limits."""
    labels = {column.name: tuple(bin_labels(column)) for column in plan if column.cuts is not None}
    named = (
        Variable(v.name, labels[v.name], frozenset(labels[v.name])) if v.name in labels else v for v in counts.schema
    )
    return replace(counts, schema=Schema(tuple(named)))
