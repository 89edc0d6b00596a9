"""`ConditionalTable`: P(variable | parents) as an array that knows its labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import write_frame
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.models.network.distribution import Distribution, probability_column
from bayeswater.models.network.state_codes import state_code
from bayeswater.typing import Array

ROWS_SHOWN = 20
"""Rows of a table that are printed."""


@dataclass(frozen=True, eq=False)
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
        return Distribution((self.variable,), self.values[row])

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line for each cell: a column for every parent, the variable, and "probability"."""
        variables = (*self.parents, self.variable)
        cells = np.indices(self.shape).reshape(len(variables), -1)
        columns = {v.name: v.labels[codes] for v, codes in zip(variables, cells, strict=True)}
        names = tuple(columns)
        return write_frame(columns | {probability_column(names): self.values.ravel()}, library)

    def __repr__(self) -> str:
        names = [parent.name for parent in self.parents]
        heading = f"P({self.variable.name}{' | ' + ', '.join(names) if names else ''})"
        flat = self.values.reshape(-1, self.shape[-1])
        configurations = product(*(parent.states for parent in self.parents))
        rows = [[*names, *map(str, self.variable.states)]]
        for states, row in zip(configurations, flat[:ROWS_SHOWN].tolist(), strict=False):
            rows.append([*(on_one_line(str(state)) for state in states), *(f"{p:.6g}" for p in row)])
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
