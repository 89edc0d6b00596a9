"""Tables of conditional probabilities, checked once: (*n_states of the parents, n_states of the variable).

A row, the distribution of the variable for one state of every parent, sums to one. Within `EXACT` of one it is kept as
it is; up to `DRIFT` away, as numbers printed with few digits are, it is divided by its sum; anything more is refused.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.limits import require_table_axes, require_table_bytes
from bayeswater.typing import Array

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
