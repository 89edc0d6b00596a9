"""`NetworkTables`: a classifier's Bayesian network as plain values, the class its first variable."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from bayeswater.records import record
from bayeswater.typing import Array

StateShares = tuple[str, Sequence[Any], Array]
"""Name of a column, its states, and P(state | class) (n_states, n_classes)."""


@record
class NetworkTables:
    """A Bayesian network as plain values.

    `names` are its variables, the class first; `states` the states of each; `parents` the places of the parents of
    each; `tables` P(variable | parents), with one axis for each parent in their order and the last for the variable.
    """

    names: tuple[str, ...]
    states: tuple[Sequence[Any], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]

    @classmethod
    def of_star(cls, classes: Array, log_prior: Array, columns: Iterable[StateShares]) -> "NetworkTables":
        """Make the class the only parent of every column; one without a value in any row tells nothing."""
        known = [column for column in columns if len(column[1])]
        names = [name for name, _, _ in known]
        return cls(
            (class_name(names), *names),
            (tuple(classes.tolist()), *(states for _, states, _ in known)),
            ((), *((0,) for _ in known)),
            (np.exp(log_prior), *(share.T for _, _, share in known)),
        )


def class_name(columns: Collection[str]) -> str:
    """Give the class a name that no column has, where it stands beside columns.

    >>> class_name(["age"]), class_name(["age", "class"]), class_name(["class", "(class)"])
    ('class', '(class)', '((class))')
    """
    name = "class"
    while name in columns:
        name = f"({name})"
    return name
