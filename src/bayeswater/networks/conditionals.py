"""How a variable depends on its parents: a table of probabilities, causes that act on their own, or a rule.

Each kind is `bound` to a variable and its parents once, which checks it, and then gives its table of shape (*n_states
of the parents, n_states of the variable).

A row of a table, the distribution of the variable for one state of every parent, sums to one. Within `EXACT` of one it
is kept as it is; up to `DRIFT` away, as numbers printed with few digits are, it is divided by its sum; anything more is
refused.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.limits import require_table_axes, require_table_bytes
from bayeswater.records import record
from bayeswater.typing import Array, is_number

EXACT = 1e-12
"""A sum this near to one is one, but for rounding."""

DRIFT = 1e-6 + EXACT
"""A sum this near to one was one before it was printed: three times 0.333333 are a millionth off, but for rounding."""


class Checked(NamedTuple):
    """A table that can be used, and how far the sum of its worst row was from one before it was divided by it."""

    table: Array
    drift: float


def table_shape(variable: Variable, parents: Sequence[Variable]) -> tuple[int, ...]:
    """Shape of the table of a variable.

    >>> table_shape(Variable("b", range(2)), [Variable("a", range(3))])
    (3, 2)
    """
    return (*(parent.n_states for parent in parents), variable.n_states)


def require_room(
    variable: Variable,
    parents: Sequence[Variable],
    way_out: str = "give it fewer parents, or put a variable between some of them and it",
) -> None:
    """Refuse a table that is too large, before it is made."""
    what = f"the table of {variable.name!r} given its {len(parents)} parents"
    require_table_bytes(8 * prod(table_shape(variable, parents)), what, way_out)
    require_table_axes(len(parents) + 1, what, way_out)


def checked_table(values: Any, variable: Variable, parents: Sequence[Variable]) -> Checked:
    """Check a table; the one that is returned cannot be written to.

    Raises
    ------
    ParameterError
        Where the shape is wrong, a number is negative or not finite, or a row does not sum to one: with the node, the
        states of its parents, and the value.

    Examples
    --------
    >>> smoke, cancer = Variable("smoke", ("yes", "no")), Variable("cancer", ("yes", "no"))
    >>> checked_table([[0.1, 0.9], [0.01, 0.98]], cancer, [smoke])
    Traceback (most recent call last):
        ...
    bayeswater.errors.ParameterError: P(cancer | smoke='no') sums to 0.99, and not to 1; the states are ['yes', 'no']
    """
    shape = table_shape(variable, parents)
    try:
        table = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ParameterError(
            f"the table of {variable.name!r} is no array of numbers; give one of shape {shape}{_axes(parents)}"
        ) from None
    if table.shape != shape:
        raise ParameterError(
            f"the table of {variable.name!r} has shape {table.shape}, and should have {shape}{_axes(parents)}, "
            f"its own states last"
        )
    with np.errstate(invalid="ignore", over="ignore"):  # what is no probability is refused below
        total = table.sum(axis=-1, keepdims=True)
        distance = np.abs(total - 1)
    drift = float(distance.max(initial=0.0))
    if not (table.min(initial=0.0) >= 0 and drift <= DRIFT):  # NaN is not, either
        raise _refusal(table, variable, parents)
    table += 0.0  # -0.0 becomes 0.0: there is one zero
    if drift > EXACT:
        np.divide(table, total, out=table, where=distance > EXACT)
    table.flags.writeable = False
    return Checked(table, drift if drift > EXACT else 0.0)


def _refusal(table: Array, variable: Variable, parents: Sequence[Variable]) -> ParameterError:
    """Name the first number that is no probability, or else the row whose sum is farthest from one."""
    wrong = ~(np.isfinite(table) & (table >= 0))
    if wrong.any():
        *row, own = (int(index[0]) for index in np.nonzero(wrong))
        what = _row_name(variable, parents, row, f"={variable.states[own]!r}")
        return ParameterError(f"{what} is {table[*row, own]}; probabilities are finite and not negative")
    with np.errstate(over="ignore"):
        total = table.sum(axis=-1)
    row = [int(index) for index in np.unravel_index(int(np.abs(total - 1).argmax()), total.shape)]
    return ParameterError(
        f"{_row_name(variable, parents, row)} sums to {total[*row]:.12g}, and not to 1; the states are "
        f"{list(variable.states)[:10]}"
    )


def _axes(parents: Sequence[Variable]) -> str:
    return f" for the parents {[parent.name for parent in parents]}" if parents else " (it has no parents)"


def _row_name(variable: Variable, parents: Sequence[Variable], row: Sequence[int], state: str = "") -> str:
    """Name a row of a table as it is written in books: P(cancer | smoke='yes', pollution='low')."""
    given = ", ".join(f"{parent.name}={parent.states[code]!r}" for parent, code in zip(parents, row, strict=True))
    return f"P({variable.name}{state}{' | ' + given if given else ''})"


Parents = Sequence[Variable]


class Conditional(ABC):
    """The distribution of a variable for every state of its parents."""

    drift: float = 0.0
    """How far a row was from summing to one before it was divided by its sum."""

    @abstractmethod
    def bound(self, variable: Variable, parents: Parents) -> "Conditional":
        """Check that it fits a variable and its parents."""

    @abstractmethod
    def table(self, variable: Variable, parents: Parents) -> Array:
        """Write the probabilities out."""

    @abstractmethod
    def n_parameters(self, variable: Variable, parents: Parents) -> int:
        """Count the free parameters."""


@record(eq=False)
class Table(Conditional):
    """Probabilities, one for each state of the parents and of the variable."""

    values: Any
    drift: float = 0.0

    def bound(self, variable: Variable, parents: Parents) -> "Table":
        """Check shape, signs and sums."""
        return Table(*checked_table(self.values, variable, parents))

    def table(self, variable: Variable, parents: Parents) -> Array:
        """Give the probabilities."""
        return self.values

    def n_parameters(self, variable: Variable, parents: Parents) -> int:
        """One less than there are states, for every state of the parents."""
        *outer, own = table_shape(variable, parents)
        return prod(outer) * (own - 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]


@record(eq=False)
class Deterministic(Conditional):
    """A variable whose state is a function of the states of its parents.

    Parameters
    ----------
    rule : function, dict or array
        A function of the states of the parents, in their order, that gives the state; a dict from tuples of states (or,
        with one parent, from its states) to states; or an array of codes, ``(*n_states of the parents)``.

    See Also
    --------
    NoisyOr : Causes that each bring the effect about on their own; the leak is its probability without any cause.
    BayesianNetwork : A network of discrete variables.

    Examples
    --------
    >>> yes_no = ("yes", "no")
    >>> either, tub, lung = (Variable(name, yes_no) for name in ("either", "tub", "lung"))
    >>> rule = Deterministic(lambda tub, lung: "yes" if "yes" in (tub, lung) else "no").bound(either, [tub, lung])
    >>> rule.rule
    array([[0, 0],
           [0, 1]])
    """

    rule: Callable[..., Any] | Mapping[Any, Any] | Array
    drift: float = field(default=0.0, init=False)

    def bound(self, variable: Variable, parents: Parents) -> "Deterministic":
        """Write the rule out as codes.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        Deterministic
            The rule as an array of codes.

        See Also
        --------
        table : Put a one at the state that follows.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> Deterministic({"no": "no", "yes": "yes"}).bound(fire, [fuel]).rule
        array([0, 1])
        """
        require_room(variable, parents)
        shape = table_shape(variable, parents)[:-1]
        if callable(self.rule) or isinstance(self.rule, Mapping):
            states = product(*(parent.states for parent in parents))
            codes = np.array([self._code(given, variable) for given in states], dtype=np.int64).reshape(shape)
        else:
            codes = np.array(self.rule)
            is_code = codes.dtype.kind in "iu" and codes.shape == shape
            if not is_code or not ((codes >= 0) & (codes < variable.n_states)).all():
                raise ParameterError(
                    f"the rule of {variable.name!r} has shape {codes.shape} and dtype {codes.dtype}; give the codes "
                    f"0 to {variable.n_states - 1} of its states in an array of shape {shape}"
                )
            codes = codes.astype(np.int64)
        codes.flags.writeable = False
        return Deterministic(codes)

    def _code(self, given: tuple[Any, ...], variable: Variable) -> int:
        if callable(self.rule):
            state = self.rule(*given)
        else:
            assert isinstance(self.rule, Mapping)
            state = self.rule.get(given, self.rule.get(given[0]) if len(given) == 1 else None)
        if state not in variable.code_of:
            raise ParameterError(
                f"the rule of {variable.name!r} gives {state!r} where its parents are {given}; its states are "
                f"{list(variable.states)[:10]}"
            )
        return variable.code_of[state]

    def table(self, variable: Variable, parents: Parents) -> Array:
        """Put a one at the state that follows.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        array
            Probabilities, 0 and 1: ``(*n_states of the parents, n_states)``.

        See Also
        --------
        bound : Write the rule out as codes.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> Deterministic({"no": "no", "yes": "yes"}).bound(fire, [fuel]).table(fire, [fuel])
        array([[1., 0.],
               [0., 1.]])
        """
        table = np.eye(variable.n_states)[np.asarray(self.rule)]
        table.flags.writeable = False
        return table

    def n_parameters(self, variable: Variable, parents: Parents) -> int:
        """Count no parameter: the rule is given.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        int
            It is 0.

        See Also
        --------
        table : Put a one at the state that follows.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> Deterministic({"no": "no", "yes": "yes"}).n_parameters(fire, [fuel])
        0
        """
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deterministic) and np.array_equal(np.asarray(self.rule), np.asarray(other.rule))

    __hash__ = None  # type: ignore[assignment]


def require_probability(value: Any, what: str) -> None:
    """Refuse what is no probability."""
    if not (is_number(value) and 0 <= value <= 1):
        raise ParameterError(f"{what} is {value!r}; it is a probability, from 0 to 1")
