"""`Sums`: everything a classifier has learned, as class counts, ranges, and the sums of its columns.

This is the state of a model. It adds and subtracts as a whole; nothing in it depends on smoothing. `ClassCounts` holds
the weight of every class, N_k.

`SeenRanges` holds from which number to which the cells of a column were. They are told to people, as what can be, and
no probability is made of them. The ends of rows together are the outermost of both, but ends do not subtract: who takes
the row away that had the largest number knows no second one. Such an end is forgotten with its row, so that nothing of
it stays; whoever needs one then takes the outermost class mean, which the remaining rows are sure to reach. Where an
end is known, some row has been that far.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Generic, Self, TypeVar

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.remainders import ROUNDING
from bayeswater.records import record
from bayeswater.statistics.statistic import Statistic, spread
from bayeswater.typing import Array


@record(eq=False)
class ClassCounts(Statistic):
    """Rows of every class: int64, or float64 where weights are fractions.

    >>> from bayeswater.data.labels import encode_labels
    >>> ClassCounts.of(encode_labels(np.array([2, 5, 5])), None).count
    array([1, 2])
    """

    count: Array  # (n_classes,)

    @classmethod
    def of(cls, labels: Labels, weight: Array | None) -> Self:
        """Count the labels of some rows."""
        if weight is None:
            return cls(labels.variable, labels.count)
        count = np.bincount(labels.codes, weights=weight, minlength=labels.n_classes)
        return cls(labels.variable, count.astype(weight.dtype))

    def onto(self, classes: Variable) -> Self:
        """Lay the counts out for other classes."""
        return type(self)(classes, spread(self.count, self.classes, classes))

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        classes = self.classes.union(other.classes)
        return self.onto(classes), other.onto(classes)


Ends = Mapping[str, float]
"""Numbers by the names of columns."""


@record
class SeenRanges:
    """The least and the largest number of columns, as far as they are known.

    An end that was forgotten is `lost`: no row that is added makes it known again, since others may lie beyond it.

    >>> SeenRanges({"age": 19.0}, {"age": 75.0}) + SeenRanges({"age": 18.0}, {"age": 60.0})
    SeenRanges(low={'age': 18.0}, high={'age': 75.0})
    >>> SeenRanges({"age": 18.0}, {"age": 75.0}) - SeenRanges({"age": 18.0}, {"age": 60.0})
    SeenRanges(low={}, high={'age': 75.0})
    """

    low: Ends = field(default_factory=dict)
    high: Ends = field(default_factory=dict)
    lost: frozenset[tuple[str, str]] = field(default=frozenset(), repr=False, compare=False)  # side, column

    @classmethod
    def of(cls, columns: Iterable[tuple[str, tuple[Array, ...]]]) -> "SeenRanges":
        """Look at the numbers of columns, each in one array or several; NaN is a missing cell."""
        low, high = {}, {}
        for name, pieces in columns:
            ends = [_ends(piece) for piece in pieces if len(piece)]
            found = np.array([end for end in ends if end is not None])
            if len(found):
                low[name], high[name] = float(found[:, 0].min()), float(found[:, 1].max())
        return cls(low, high)

    @classmethod
    def of_rows(cls, names: Sequence[str], rows: Array) -> "SeenRanges":
        """Look at the columns of an array (n_rows, n_columns), row by row."""
        low, high = rows.min(axis=0), rows.max(axis=0)
        if np.isnan(low.sum()):
            low, high = np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0)
        known = [j for j in range(len(names)) if low[j] == low[j]]
        return cls({names[j]: float(low[j]) for j in known}, {names[j]: float(high[j]) for j in known})

    def __add__(self, other: "SeenRanges") -> "SeenRanges":
        lost = self.lost | other.lost
        low, high = _outermost(min, self.low, other.low), _outermost(max, self.high, other.high)
        return SeenRanges(low, high)._without(lost) if lost else SeenRanges(low, high)

    def __sub__(self, other: "SeenRanges") -> "SeenRanges":
        lows = {("low", name) for name, end in self.low.items() if other.low.get(name, np.inf) <= end}
        highs = {("high", name) for name, end in self.high.items() if other.high.get(name, -np.inf) >= end}
        return self._without(self.lost | lows | highs)

    def _without(self, lost: frozenset[tuple[str, str]]) -> "SeenRanges":
        """Give it with some ends lost."""
        low = {name: end for name, end in self.low.items() if ("low", name) not in lost}
        high = {name: end for name, end in self.high.items() if ("high", name) not in lost}
        return SeenRanges(low, high, lost)

    def only(self, names: Iterable[str]) -> "SeenRanges":
        """Keep the ranges of some columns."""
        kept = set(names)
        low, high = ({name: end for name, end in ends.items() if name in kept} for ends in (self.low, self.high))
        return SeenRanges(low, high, frozenset(own for own in self.lost if own[1] in kept))

    def within(self, name: str, means: Array, *, is_log: bool = False) -> tuple[float, float]:
        """Give the range of a column; where an end is not known, the outermost of its class means.

        Of a column that is read by its logarithm, so are the means, and the range.
        """
        low, high = self.low.get(name), self.high.get(name)
        if is_log:
            low, high = (None if end is None or end <= 0 else float(np.log(end)) for end in (low, high))
        return float(means.min()) if low is None else low, float(means.max()) if high is None else high


def _ends(numbers: Array) -> tuple[float, float] | None:
    low, high = numbers.min(), numbers.max()
    if low != low:  # a cell is missing: the slower way
        low, high = np.fmin.reduce(numbers), np.fmax.reduce(numbers)
    return None if low != low else (float(low), float(high))


def _outermost(outer: Callable[[float, float], float], mine: Ends, theirs: Ends) -> dict[str, float]:
    both = {name: outer(end, theirs[name]) for name, end in mine.items() if name in theirs}
    return {**theirs, **mine, **both}


Part = TypeVar("Part", bound=Statistic)


@record
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
