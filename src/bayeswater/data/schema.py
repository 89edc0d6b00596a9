"""`Schema`: the variables of a table of categories, one for each column."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import SchemaError
from bayeswater.typing import Array


@dataclass(frozen=True)
class Schema:
    """Variables in the order of the columns.

    >>> schema = Schema((Variable("colour", ("blue", "red")), Variable("size", range(3))))
    >>> schema.names, schema.n_states
    (('colour', 'size'), array([2, 3]))
    """

    variables: tuple[Variable, ...]

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __getitem__(self, j: int) -> Variable:
        return self.variables[j]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def is_coded(self) -> bool:
        """Whether every column holds integer codes rather than labels."""
        return all(variable.is_coded for variable in self.variables)

    @cached_property
    def n_states(self) -> Array:
        """Number of states of each column."""
        return np.array([variable.n_states for variable in self.variables], dtype=np.int64)

    def union(self, other: "Schema") -> "Schema":
        """Join the domains of two tables of the same columns."""
        if len(self) != len(other):
            raise SchemaError(f"{len(self)} columns here, {len(other)} there: they cannot be combined")
        for mine, theirs in zip(self, other, strict=True):
            if mine.name != theirs.name:
                raise SchemaError(f"column {mine.name!r} here stands where the other has {theirs.name!r}")
        return Schema(tuple(mine.union(theirs) for mine, theirs in zip(self, other, strict=True)))
