"""What a user gives for the tables of a network: arrays, dicts by label, frames, labelled tables, noisy-ORs and rules.

States come from ``states=``, or else from the table of the variable itself: the labels it names, or the codes 0, 1, ...
where it is a bare array.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from bayeswater.data.cells import is_missing, label_values
from bayeswater.data.frames import Frame, is_frame, numeric_column, read_frame
from bayeswater.data.reading.coded_table import Rules, encode_frame
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import BayesError, ParameterError, nearest_names
from bayeswater.models.network.conditional_table import ConditionalTable
from bayeswater.models.network.distribution import Distribution, probability_column
from bayeswater.networks.conditionals import Conditional, Table, require_room, table_shape
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array


def require_by_name(given: Any, what: str) -> None:
    """Refuse what is no dict."""
    if not isinstance(given, Mapping):
        raise ParameterError(f"{what} is a {type(given).__name__}; give a dict from the names of the nodes to {what}")


def read_variables(dag: Dag, tables: Mapping[str, Any], states: Mapping[str, Any]) -> tuple[Variable, ...]:
    """Find the states of every node of the graph."""
    for what, given in (("tables", tables), ("states", states)):
        require_by_name(given, what)
        for name in given:
            if name not in dag.position:
                raise ParameterError(f"{what} names {name!r}, which is no node; {nearest_names(str(name), dag.names)}")
    missing = [name for name in dag.names if name not in tables]
    if missing:
        raise ParameterError(f"there is no table for {missing[:10]}; give one for every node, or learn them: from_data")
    return tuple(
        declared_variable(name, states[name]) if name in states else _inferred(name, tables[name]) for name in dag.names
    )


def declared_variable(name: str, states: Any) -> Variable:
    """Make a variable of the states that a user declares: labels, or their number for the codes 0, 1, ...

    >>> declared_variable("size", 3).states, declared_variable("colour", ["red", "green"]).states
    (range(0, 3), ('red', 'green'))
    """
    if isinstance(states, int | np.integer) and not isinstance(states, bool):
        states = range(int(states))
    for listing in ("tolist", "to_list", "to_pylist"):  # as arrays, and columns of frames, give Python's own labels
        if hasattr(states, listing):
            states = getattr(states, listing)()
            break
    if isinstance(states, str) or not isinstance(states, Sequence) or len(states) == 0:
        raise ParameterError(f"the states of {name!r} are {states!r}; give a list of labels, or how many there are")
    if any(map(is_missing, states)):
        raise ParameterError(
            f"the states of {name!r} are {list(states)[:10]}; None and NaN are cells that are not observed, so call "
            "that state by a label"
        )
    if isinstance(states, range) and states == range(len(states)):
        return Variable.of_codes(name, len(states), frozenset({len(states) - 1}))
    try:
        return Variable(name, tuple(states), frozenset(states))
    except TypeError:
        raise ParameterError(f"the states of {name!r} are {states!r}; labels must be hashable") from None


def _inferred(name: str, table: Any) -> Variable:
    """Read the states off a table that names them, or off the last axis of an array."""
    if isinstance(table, ConditionalTable):
        return declared_variable(name, table.variable.states)
    if isinstance(table, Distribution):
        return declared_variable(name, table.variables[-1].states)
    if isinstance(table, Conditional) and not isinstance(table, Table):
        raise ParameterError(
            f"the states of {name!r} are not known, since a {type(table).__name__} does not name them all; "
            f"give states={{{name!r}: [...]}}"
        )
    if isinstance(table, Mapping) and table:
        first = next(iter(table.values()))
        if isinstance(first, Mapping):
            return declared_variable(name, list(first))
        if np.ndim(first) == 0:
            return declared_variable(name, list(table))
        return declared_variable(name, len(first))
    if is_frame(table):
        frame = read_frame(table)
        if name in frame.names:
            return declared_variable(name, label_values(frame.table.column(name).unique(), name))
    shape = np.shape(table.values if isinstance(table, Table) else table)
    if not shape or isinstance(table, Mapping):
        raise ParameterError(f"the table of {name!r} is {table!r}; give an array, a dict by label or a frame")
    return declared_variable(name, shape[-1])


def read_conditional(table: Any, variable: Variable, parents: Sequence[Variable]) -> Conditional:
    """Read what was given for one variable, whose states and parents are known."""
    if isinstance(table, Conditional):
        return table
    require_room(variable, parents)
    if isinstance(table, Distribution):
        table = ConditionalTable(table.variables[-1], table.variables[:-1], table.probabilities)
    if isinstance(table, ConditionalTable):
        return Table(_from_labelled(table, variable, parents))
    if is_frame(table):
        return Table(_from_frame(read_frame(table), variable, parents))
    if isinstance(table, Mapping):
        return Table(_from_mapping(table, variable, parents))
    return Table(table)


def _from_mapping(table: Mapping[Any, Any], variable: Variable, parents: Sequence[Variable]) -> Array:
    """Read ``{state: p}``, or with parents ``{(state of each parent): {state: p}}``."""
    if not parents:
        return _row(table, variable, f"P({variable.name})")
    values = np.empty(table_shape(variable, parents))
    rows = {key if isinstance(key, tuple) else (key,): row for key, row in table.items()}
    for place in product(*(range(parent.n_states) for parent in parents)):
        states = tuple(parent.states[code] for parent, code in zip(parents, place, strict=True))
        given = ", ".join(f"{parent.name}={state!r}" for parent, state in zip(parents, states, strict=True))
        if states not in rows:
            raise ParameterError(
                f"the table of {variable.name!r} has no row for {given}; its keys are states of "
                f"{[parent.name for parent in parents]}, such as {states if len(states) > 1 else states[0]!r}"
            )
        values[place] = _row(rows.pop(states), variable, f"P({variable.name} | {given})")
    if rows:
        raise ParameterError(
            f"the table of {variable.name!r} has a row for {next(iter(rows))}, which are no states of its parents "
            f"{[parent.name for parent in parents]}"
        )
    return values


def _row(row: Any, variable: Variable, what: str) -> Array:
    if not isinstance(row, Mapping):
        if np.shape(row) != (variable.n_states,):
            raise ParameterError(f"{what} is {row!r}; give a probability for each of {list(variable.states)[:10]}")
        return np.asarray(row)
    if set(row) != set(variable.states):
        raise ParameterError(f"{what} names {list(row)[:10]}, and the states are {list(variable.states)[:10]}")
    return np.array([row[state] for state in variable.states])


def _from_labelled(table: ConditionalTable, variable: Variable, parents: Sequence[Variable]) -> Array:
    """Bring a labelled table into the order of the parents and of the states."""
    given = {v.name: v for v in (*table.parents, table.variable)}
    wanted = (*parents, variable)
    for v in wanted:
        if set(given) != {w.name for w in wanted} or table.variable.name != variable.name:
            raise ParameterError(
                f"a table of {table.variable.name!r} given {[p.name for p in table.parents]} is none of "
                f"{variable.name!r} given {[p.name for p in parents]}"
            )
        if set(given[v.name].states) != set(v.states):
            raise ParameterError(
                f"the table of {variable.name!r} has the states {list(given[v.name].states)[:10]} of {v.name!r}, and "
                f"not {list(v.states)[:10]}"
            )
    place = {name: axis for axis, name in enumerate(given)}
    values = np.transpose(table.values, [place[v.name] for v in wanted])
    return values[np.ix_(*([given[v.name].code_of[state] for state in v.states] for v in wanted))]


def _from_frame(frame: Frame, variable: Variable, parents: Sequence[Variable]) -> Array:
    """Read a frame of one line for each cell: a column for every parent, the variable, and "probability"."""
    variables = (*parents, variable)
    names = [v.name for v in variables]
    number = probability_column(tuple(names))
    if set(frame.names) != {*names, number}:
        raise ParameterError(
            f"the frame of {variable.name!r} has the columns {list(frame.names)}; give {[*names, number]}, with one "
            "line for each cell of the table"
        )
    labels = Frame(frame.table.select(names), frame.library, frame.declared)
    try:
        coded = encode_frame(labels, Rules("BayesianNetwork", True, Schema(tuple(variables)), grow=False))
    except BayesError as error:
        raise ParameterError(f"the frame of {variable.name!r} cannot be read: {error}") from None
    if coded.unseen:
        first = coded.unseen[0]
        raise ParameterError(
            f"the frame of {variable.name!r} holds {first.label!r}, which is no state of {first.column!r}"
        )
    place = tuple(coded.block(slice(0, frame.table.num_rows)).T)
    found = np.zeros(table_shape(variable, parents), dtype=np.int64)
    np.add.at(found, place, 1)
    if (found != 1).any():
        cell = tuple(int(code[0]) for code in np.nonzero(found != 1))
        states = ", ".join(f"{v.name}={v.states[code]!r}" for v, code in zip(variables, cell, strict=True))
        raise ParameterError(f"the frame of {variable.name!r} has {found[cell]} lines for {states}; give one")
    values = np.empty(found.shape)
    values[place] = numeric_column(frame, number, "give a probability in each row")
    return values
