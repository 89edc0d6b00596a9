"""Domains of sums in the document of a model file."""

from collections.abc import Collection, Iterable
from reprlib import repr as shortened
from typing import Any

from bayeswater.data.variable import Schema, Variable
from bayeswater.files.model_file import require
from bayeswater.models.stored.values import CODEC


def require_arrays(found: Collection[str], needed: Collection[str]) -> None:
    """Refuse arrays that are not those needed."""
    require(set(found) == set(needed), f"its arrays are {sorted(found)}, and not {sorted(needed)}")


def written_states(variables: Iterable[Variable]) -> list[Any]:
    """Write the states of columns."""
    return [CODEC.encode(variable, f"a state of column {variable.name!r}") for variable in variables]


def read_states(written: Any) -> Schema:
    """Read the states of columns; of those that have none there is an empty list."""
    variables = CODEC.decode(written, "a state of a column")
    are_states = isinstance(variables, list) and all(isinstance(variable, Variable) for variable in variables)
    require(are_states, "it has no columns with states")
    return Schema(tuple(variables))


def read_names(written: Any, n_columns: int) -> tuple[str, ...] | None:
    """Read the names of columns, where they have any."""
    if written is None:
        return None
    are_names = isinstance(written, list) and all(isinstance(name, str) for name in written)
    require(are_names and len(written) == n_columns, f"its columns {shortened(written)} are not {n_columns} names")
    return tuple(written)
