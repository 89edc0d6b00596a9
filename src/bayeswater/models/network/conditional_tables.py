"""`ConditionalTable`, P(variable | parents) as an array that knows its labels, and what a user may give for one.

A table is given as an array, a dict by label, a frame, a labelled table, a noisy-OR or a rule. States come from
``states=``, or else from the table of the variable itself: the labels it names, or the codes 0, 1, ... where it is a
bare array. A state is named by its label, or by a number where the states are bins of numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import product
from typing import Any

import numpy as np

from bayeswater.data.cells import label_values
from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import Frame, is_frame, numeric_column, read_frame, write_frame
from bayeswater.data.reading.coded_table import Rules, encode_frame
from bayeswater.data.reading.known_labels import known_code
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import BayesError, ParameterError, nearest_names
from bayeswater.markup import html_table, paragraphs
from bayeswater.models.network.answers import Distribution, probability_column
from bayeswater.models.network.network_rows import declared_variable
from bayeswater.networks.conditionals import Conditional, Table, require_room, table_shape
from bayeswater.records import record
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array


def state_code(variable: Variable, state: Any) -> int:
    """Find the code of a state by its label, of a bin by a number in it; what is none is refused with those there are.

    >>> state_code(Variable("smoke", ("yes", "no")), "no"), state_code(Variable("age", ("under 30", "from 30 on")), 42)
    (1, 1)
    """
    code = known_code(state, variable)
    are_several = code is None and isinstance(state, list | tuple | set)
    several = {known_code(one, variable) for one in state} if are_several else set()
    if len(several) > 1 and None not in several:
        likelihood = {one: int(place in several) for place, one in enumerate(variable.states)}
        raise ParameterError(
            f"{state!r} are several states of {variable.name!r}; to say that it has one of them, give "
            f"soft_evidence={{{variable.name!r}: {likelihood}}}"
        )
    if code is None:
        raise ParameterError(f"{state!r} is no state of {variable.name!r}; its states are {list(variable.states)[:10]}")
    return code


ROWS_SHOWN = 20
"""Rows of a table that are printed."""


@record(eq=False)
class ConditionalTable:
    """A table of conditional probabilities, with the states of its axes.

    Parameters
    ----------
    variable : the variable that the rows are distributions of
    parents : the variables of the first axes
    values : (*n_states of the parents, n_states)

    Examples
    --------
    >>> smoke, cancer = Variable("smoke", ("yes", "no")), Variable("cancer", ("yes", "no"))
    >>> table = ConditionalTable(cancer, (smoke,), np.array([[0.1, 0.9], [0.01, 0.99]]))
    >>> table
    P(cancer | smoke)
    smoke   yes    no
    yes     0.1   0.9
    no     0.01  0.99
    >>> table.given(smoke="yes")["yes"]
    0.1
    """

    variable: Variable
    parents: tuple[Variable, ...]
    values: Array
    library: str | None = field(default=None, compare=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of states along each axis."""
        return self.values.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype, copy=copy)

    def given(self, states: Mapping[str, Any] | None = None, /, **more: Any) -> Distribution:
        """Give the row for one state of every parent."""
        wanted = {**(states or {}), **more}
        names = [parent.name for parent in self.parents]
        if set(wanted) != set(names):
            raise ParameterError(f"the states of {sorted(wanted)} are given; name those of all parents, {names}")
        row = tuple(state_code(parent, wanted[parent.name]) for parent in self.parents)
        return Distribution((self.variable,), self.values[row], library=self.library)

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line for each cell: a column for every parent, the variable, and "probability"."""
        variables = (*self.parents, self.variable)
        cells = np.indices(self.shape).reshape(len(variables), -1)
        columns = {v.name: v.labels[codes] for v, codes in zip(variables, cells, strict=True)}
        names = tuple(columns)
        return write_frame(columns | {probability_column(names): self.values.ravel()}, library or self.library)

    def _heading(self) -> str:
        names = [parent.name for parent in self.parents]
        return f"P({self.variable.name}{' | ' + ', '.join(names) if names else ''})"

    def _cells(self) -> list[list[str]]:
        """Give the names of the columns, and the first rows below them."""
        configurations = product(*(parent.states for parent in self.parents))
        rows = [[*(parent.name for parent in self.parents), *map(str, self.variable.states)]]
        flat = self.values.reshape(-1, self.shape[-1])
        for states, row in zip(configurations, flat[:ROWS_SHOWN].tolist(), strict=False):
            rows.append([*(on_one_line(str(state)) for state in states), *(f"{p:.6g}" for p in row)])
        return rows

    def _repr_html_(self) -> str:
        heads, *rows = self._cells() if self.parents else [["", *own] for own in self._cells()]
        n_more = self.values.size // self.shape[-1] - len(rows)
        more = paragraphs([f"... and {n_more} more rows"] if n_more else [])
        return paragraphs([self._heading()]) + html_table(heads, rows) + more

    def __repr__(self) -> str:
        names, heading = [parent.name for parent in self.parents], self._heading()
        flat, rows = self.values.reshape(-1, self.shape[-1]), self._cells()
        widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
        lines = [heading]
        for row in rows:
            cells = [
                padded(cell, width) if j < len(names) else " " * (width - display_width(cell)) + cell
                for j, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        if len(flat) > ROWS_SHOWN:
            lines.append(f"... and {len(flat) - ROWS_SHOWN} more rows")
        return "\n".join(lines)


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
