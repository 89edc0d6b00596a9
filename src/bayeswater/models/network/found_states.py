"""States that a network finds in rows: the values that occur, sorted, of the type they have.

Numbers are labels like any other, so that 2019, 2020, 2021 are three states; a column of booleans declares False and
True. What counts pieces finds the labels of each, and `settled` tells once for all rows what they are together: the
type of numbers is that of all of them, and 0, 1, ..., n - 1 without a gap are codes, which are read faster.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bayeswater.data.frames import Frame
from bayeswater.data.reading.coded_table import Rules, encode_frame
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.data.variable import Variable
from bayeswater.errors import BayesWarning, DataError, warn_user
from bayeswater.families.planning import FEW_VALUES
from bayeswater.models.network.given_tables import declared_variable


def labelled(frame: Frame, states: Mapping[str, Any]) -> Frame:
    """Make labels of the cells of all columns whose states are not declared by the user; leave the others."""
    import pyarrow as pa

    open_names = [name for name in frame.names if name not in states]
    columns = dict(zip(frame.names, frame.table.columns, strict=True))
    flags = [name for name in open_names if pa.types.is_boolean(columns[name].type)]
    raw = RawTable(columns, frame.table.num_rows, frame.declared, named=True, stored=frame.stored)
    found = raw.labels(open_names, flags, learning=True)
    labels = dict(zip(found.names, found.table.columns, strict=True))
    return Frame(pa.table(columns | labels), frame.library, found.declared, frame.stored)


def domains(frame: Frame, states: Mapping[str, Any]) -> tuple[Variable, ...]:
    """States of every column of `labelled` rows: those declared, by the user or by its type, or those of the rows."""
    open_names = [name for name in frame.names if name not in states]
    found = {}
    if open_names:
        rest = Frame(frame.table.select(open_names), frame.library, frame.declared, frame.stored)
        found = {v.name: v for v in encode_frame(rest, Rules("BayesianNetwork", refuse_missing=False)).schema}
    return tuple(found.get(name) or declared_variable(name, states[name]) for name in frame.names)


def settled(variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """Give the states of all rows together, in the same order; refuse a variable without any.

    >>> settled([Variable("year", (2019.0, 2021.0)), Variable("dose", (0.5, 1)), Variable("size", (0, 1, 2))])
    (Variable(name='year', states=(2019, 2021), declared=frozenset(), dtype=None), \
Variable(name='dose', states=(0.5, 1.0), declared=frozenset(), dtype=None), \
Variable(name='size', states=range(0, 3), declared=frozenset(), dtype=None))
    """
    return tuple(_settled(variable) for variable in variables)


def _settled(variable: Variable) -> Variable:
    name, states = variable.name, variable.states
    if not states:
        raise DataError(
            f"column {name!r} has no value in any row, so its states are unknown; give states={{{name!r}: [...]}}"
        )
    if variable.declared or not all(isinstance(state, int | float) for state in states):
        return variable
    if any(state != int(state) for state in states):
        _tell_of_many(name, len(states))
        return Variable(name, tuple(map(float, states)))
    whole = tuple(map(int, states))
    return Variable.of_codes(name, len(whole)) if whole == tuple(range(len(whole))) else Variable(name, whole)


def _tell_of_many(name: str, n_states: int) -> None:
    """Warn of numbers that are hardly states: they have fractions, and there are many."""
    if n_states > FEW_VALUES:
        warn_user(
            f"column {name!r} holds {n_states} different numbers, not all whole, and each becomes a state of its own; "
            "put them into bins first, with Discretizer(method='equal_frequency'), or let learn_structure do it",
            BayesWarning,
        )
