"""`Variable`: a name and the domain of its states; a `Schema` has one for each column of a table of categories.

A domain is a tuple of labels, or ``range(n)`` where the column already holds the codes 0 .. n-1 (scikit-learn's
convention for categories). Declared states stay in the domain though no row has them; the others are there
because a row had them. Two variables are aligned by label, never by code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from bayeswater.data.cells import text_array
from bayeswater.errors import SchemaError
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.typing import Array


@record
class Variable:
    """A discrete variable.

    Parameters
    ----------
    name : str
    states : tuple of labels, or ``range(n)`` for integer codes
    declared : states that belong to the domain whether or not a row has them
    dtype : dtype of the labels as an array, where they came from one

    Examples
    --------
    >>> colour = Variable("colour", ("blue", "red"))
    >>> colour.union(Variable("colour", ("green",))).states
    ('blue', 'green', 'red')
    """

    name: str
    states: Sequence[Any]
    declared: frozenset[Any] = frozenset()
    dtype: Any = field(default=None, compare=False)

    @classmethod
    def of_codes(cls, name: str, n_codes: int, declared: frozenset[int] = frozenset()) -> "Variable":
        """Make a column of the codes 0 .. n_codes - 1; more of them than a table of counts can have are refused."""
        require_table_bytes(
            8 * n_codes,
            f"counting the {n_codes:.10g} codes of column {name!r}",
            "encode its labels as 0, 1, 2, ... (OrdinalEncoder), leave it out if it is an identifier, or bin it",
        )
        return cls(name, range(n_codes), declared)

    @property
    def n_states(self) -> int:
        """Number of states of the domain."""
        return len(self.states)

    @property
    def is_coded(self) -> bool:
        """Whether the column holds integer codes rather than labels."""
        return isinstance(self.states, range)

    @property
    def is_undecided(self) -> bool:
        """Whether nothing was seen or declared yet that would tell codes from labels."""
        return not self.states and not self.declared

    @cached_property
    def code_of(self) -> dict[Any, int]:
        """The code of each label."""
        return {state: code for code, state in enumerate(self.states)}

    @cached_property
    def labels(self) -> Array:
        """The states as an array, in the dtype they came in."""
        if self.is_coded:
            return np.arange(self.n_states)
        if self.dtype is not None and np.dtype(self.dtype).kind in "biufmM":
            return np.array(self.states, dtype=self.dtype)
        if all(isinstance(state, str) for state in self.states) and self.dtype != object:
            return text_array(self.states)
        return np.fromiter(self.states, dtype=object, count=self.n_states)  # labels that are tuples stay so

    def union(self, other: "Variable") -> "Variable":
        """Join two domains: equal ones stay as they are, others become all their states sorted by label.

        Codes and labels do not join, but a domain of which nothing is known yet takes the kind of the other. Nor do
        names join what is none: "1" and 1 would be two states, where somebody read the same column in two ways.
        """
        if self.is_coded != other.is_coded:
            if self.is_undecided or other.is_undecided:
                return max(self, other, key=lambda variable: (not variable.is_undecided, variable.is_coded))
            raise SchemaError(
                f"column {self.name!r} holds {'integer codes' if self.is_coded else 'labels'} in one table and "
                f"{'integer codes' if other.is_coded else 'labels'} in the other; give it the same type in both"
            )
        declared = self.declared | other.declared
        if self.is_coded:
            return Variable(self.name, range(max(self.n_states, other.n_states)), declared)
        dtype = _common_dtype(self.dtype, other.dtype)
        same = tuple(self.states) == tuple(other.states)
        if self.states and other.states:
            self._require_one_type(self.states[0], other.states[0])
        # One after the other, not mixed up in a set: two sorted lists are merged in time of their length.
        states = tuple(self.states) if same else sorted_labels(dict.fromkeys([*self.states, *other.states]))
        return Variable(self.name, states, declared, dtype)

    def _require_one_type(self, mine: Any, other: Any) -> None:
        if isinstance(mine, str) != isinstance(other, str):
            raise SchemaError(
                f"{self.name!r} has labels of type {type(mine).__name__} in one table, such as {mine!r}, and of type "
                f"{type(other).__name__} in the other, such as {other!r}; give them the same type in both"
            )

    def shared_codes(self, other: "Variable") -> tuple[Array, Array]:
        """My codes of the states that both domains hold, and the codes of the same states there."""
        if self.is_coded:
            codes = np.arange(min(self.n_states, other.n_states))
            return codes, codes
        place = np.fromiter(map(other.code_of.get, self.states, repeat(-1)), dtype=np.int64, count=self.n_states)
        mine = np.flatnonzero(place >= 0)
        return mine, place[mine]

    def keeping(self, counted: Array) -> "Variable":
        """Drop the states that are neither declared nor `counted` (n_states,): a domain as if never seen."""
        if self.is_coded:
            n_states = max([-1, *np.flatnonzero(counted)[-1:].tolist(), *self.declared]) + 1
            return Variable(self.name, range(n_states), self.declared)
        states = tuple(s for s, seen in zip(self.states, counted.tolist(), strict=True) if seen or s in self.declared)
        return Variable(self.name, states, self.declared, self.dtype)


def sorted_labels(labels: Any) -> tuple[Any, ...]:
    """Sort labels; those of different types by the name of the type first.

    >>> sorted_labels(["b", 2, "a", 1])
    (1, 2, 'a', 'b')
    """
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(sorted(labels, key=lambda label: (type(label).__name__, label)))


def _common_dtype(a: Any, b: Any) -> Any:
    if a is None or b is None or np.dtype(a).kind not in "biuf" or np.dtype(b).kind not in "biuf":
        return a if a == b else None
    return np.result_type(a, b)


@record
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
