"""`Statistic`: what all sums have in common, and the rules of their subtraction.

A statistic knows the classes it was counted for, so two statistics of different classes are first aligned by
label. It is frozen: ``a + b`` and ``a - b`` are new statistics.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from bayeswater.data.matrix import column_name
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.remainders import ROUNDING
from bayeswater.records import record
from bayeswater.typing import Array

DOMAINS = frozenset({"classes", "names", "schema", "vocabulary", "parents", "partners"})
"""Fields of statistics that say what they are sums over; all others are arrays."""


@record(eq=False)
class Statistic(ABC):
    """Sums over rows, for each class."""

    classes: Variable

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                if not value.flags.c_contiguous:  # equal sums are added in one order, or a last bit may differ
                    object.__setattr__(self, name, np.ascontiguousarray(value))
                getattr(self, name).flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # a copy of an array has forgotten that it was frozen

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.classes.n_states

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of the sums; an array in which all columns agree may keep but one of them."""
        return np.broadcast_shapes(*(array.shape for array in self.to_arrays().values()))

    @property
    def nbytes(self) -> int:
        """Bytes held by the sums."""
        return sum(array.nbytes for array in self.to_arrays().values())

    def to_arrays(self) -> dict[str, Array]:
        """Give the sums as named arrays."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    @classmethod
    def array_names(cls, found: Collection[str]) -> set[str]:
        """Name the arrays, of those that the statistic may do without those that were `found`."""
        return {field.name for field in fields(cls) if field.default is MISSING or field.name in found} - DOMAINS

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array], **domain: Any) -> Self:
        """Make the statistic from copies of its arrays, and its domain (classes, columns)."""
        fields_of: dict[str, Any] = {**domain, **{name: np.array(array) for name, array in arrays.items()}}
        return cls(**fields_of)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Statistic)
        if self.domain != other.domain or self.shape != other.shape:
            return False
        theirs = other.to_arrays()
        return all(bool((array == theirs[name]).all()) for name, array in self.to_arrays().items())

    __hash__ = None  # type: ignore[assignment]

    @property
    def domain(self) -> dict[str, Any]:
        """What the sums are sums of: the fields that are no arrays."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if not isinstance(value, np.ndarray)}

    def __add__(self, other: Self) -> Self:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self._aligned(other)
        return mine._plus(theirs)

    def __sub__(self, other: Self) -> Self:
        if type(self) is not type(other):
            return NotImplemented
        return self.minus(other)

    def minus(self, other: Self, rest: Self | None = None) -> Self:
        """Take rows away.

        `rest`, the sums of the rows that remain, is only looked at where subtraction would lose digits.
        """
        unknown = [state for state in other.classes.states if state not in self.classes.code_of]
        if unknown:
            raise StatisticsError(f"class {unknown[0]!r} was never counted here, so its rows cannot be taken away")
        mine, theirs = self._aligned(other)
        return mine._minus(theirs, None if rest is None else rest.onto(mine.classes))

    def pruned(self) -> Self:
        """Drop from the domains of the columns what is neither declared nor counted any more."""
        return self

    def scaled(self, factor: float) -> Self:
        """Let every row count `factor` times what it did."""
        return self.with_arrays({name: array * factor for name, array in self.to_arrays().items()})

    def require_cells_within(self, rows: Array, slack: Array) -> None:  # noqa: B027 (not all sums have cells)
        """Refuse sums with more cells in a column than its class has `rows` (n_classes,).

        They are left when a row is taken away whose missing cell had never been missing.
        """

    @abstractmethod
    def onto(self, classes: Variable) -> Self:
        """Lay the sums out for other classes: those that are new get zeros, those that are gone are left out."""

    def aligned(self, other: Self) -> tuple[Self, Self]:
        """Lay two sums out for all classes and states of both; refuse those that do not go together."""
        return self._aligned(other)

    @abstractmethod
    def _aligned(self, other: Self) -> tuple[Self, Self]: ...

    def _plus(self, other: Self) -> Self:
        mine, theirs = self.to_arrays(), other.to_arrays()
        return self.with_arrays({name: _sum(mine[name], theirs[name]) for name in mine})

    def _minus(self, other: Self, rest: Self | None) -> Self:
        mine, theirs = self.to_arrays(), other.to_arrays()
        return self.with_arrays({name: self.taken_away(name, mine[name], theirs[name]) for name in mine})

    def with_arrays(self, arrays: Mapping[str, Array], **domain: Any) -> Self:
        """Give a copy with other sums, and another domain where it changes."""
        changed: dict[str, Any] = {**arrays, **domain}
        return replace(self, **changed)

    def taken_away(self, name: str, a: Array, b: Array) -> Array:
        """Take one array of sums from another, whose field has the name; refuse what was never counted."""
        rest = a - b
        if rest.dtype.kind == "f":
            rest[np.abs(rest) <= ROUNDING * np.abs(np.broadcast_to(a, rest.shape))] = 0
        negative = np.argwhere(rest < 0)
        if len(negative):
            place = tuple(int(index) for index in negative[0])
            raise StatisticsError(
                f"cannot take away rows that were never counted: {self._place(name, place)} would become {rest[place]}"
            )
        return rest

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        """Name a cell of the sums for a message."""
        return f"{name} of class {self.classes.states[place[0]]!r}"


@record(eq=False)
class ColumnStatistic(Statistic):
    """Sums of the columns of a matrix: arrays (n_classes, n_columns), or (n_classes, 1) where all columns agree."""

    names: tuple[str, ...] | None

    def column_name(self, j: int) -> str:
        """Name of a column."""
        return column_name(self.names, j)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def cells(self) -> Array | None:
        """Weight of the cells that were there, where it is counted: (n_classes, n_columns) or (n_classes, 1)."""
        return None

    def require_cells_within(self, rows: Array, slack: Array) -> None:
        """Refuse sums with more cells in a column than its class has rows."""
        if self.cells is None:
            return
        more = np.argwhere(self.cells > (rows + slack)[:, None])
        if len(more):
            k, j = (int(index) for index in more[0])
            raise StatisticsError(
                f"cannot take away rows that were never counted: class {self.classes.states[k]!r} would have "
                f"{rows[k]} rows, with {self.cells[k, j]} cells in column {self.column_name(j)!r}"
            )

    def hstack(self, other: Self) -> Self:
        """Put further columns of the same rows behind these."""
        theirs = other.onto(self.classes).to_arrays()

        def wide(statistic: Self, array: Array) -> Array:
            return np.broadcast_to(array, (self.n_classes, statistic.n_columns))

        arrays = {
            name: np.concatenate([wide(self, array), wide(other, theirs[name])], axis=1)
            for name, array in self.to_arrays().items()
        }
        names = [part.column_name(j) for part in (self, other) for j in range(part.n_columns)]
        return self.with_arrays(arrays, names=tuple(names))

    def take(self, columns: Sequence[int]) -> Self:
        """Give the sums of some columns, in the order asked for; a column without a name keeps that of its place."""
        arrays = {
            name: array if array.shape[1] == 1 < self.n_columns else array[:, list(columns)]
            for name, array in self.to_arrays().items()
        }
        return self.with_arrays(arrays, names=tuple(self.column_name(j) for j in columns))

    def onto(self, classes: Variable) -> Self:
        """Lay the sums out for other classes."""
        arrays = {name: spread(array, self.classes, classes) for name, array in self.to_arrays().items()}
        return self.with_arrays(arrays, classes=classes)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        if self.n_columns != other.n_columns:
            raise StatisticsError(f"{self.n_columns} columns here, {other.n_columns} there: they cannot be combined")
        for j in range(self.n_columns) if self.names != other.names else ():
            if self.column_name(j) != other.column_name(j):
                raise StatisticsError(
                    f"column {self.column_name(j)!r} here stands where the other has {other.column_name(j)!r}"
                )
        classes = self.classes.union(other.classes)
        return self.onto(classes), other.onto(classes)

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        k, j = place
        column = f" of column {self.column_name(j)!r}" if self.to_arrays()[name].shape[1] > 1 else ""
        return f"{name}{column} in class {self.classes.states[k]!r}"


def _sum(a: Array, b: Array) -> Array:
    total: Array = a + b
    if total.dtype.kind == "i" and (total < np.minimum(a, b)).any() and (total < 0).any():
        raise StatisticsError("a count passed 2**63; use float weights, or decay the older rows")
    return total


def spread(sums: Array, old: Variable, new: Variable, axis: int = 0) -> Array:
    """Move the classes along `axis` from one domain to another; new classes get zeros, absent ones are dropped."""
    if old.states == new.states:
        return sums
    kept, place = old.shared_codes(new)
    shape = list(sums.shape)
    shape[axis] = new.n_states
    result = np.zeros(shape, dtype=sums.dtype)
    np.moveaxis(result, axis, 0)[place] = np.moveaxis(sums, axis, 0)[kept]
    return result
