"""What a decision costs in the one row it is about, and what it costs to ask for the facts that are missing there."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.decision.loss import Loss
from bayeswater.decision.row_costs import for_one_row
from bayeswater.errors import ParameterError, SchemaError
from bayeswater.typing import is_number


def loss_of_row(loss: Loss, X: Any) -> Loss:
    """Give the costs of the one row X, where they differ from row to row."""
    return Loss._of(for_one_row(loss.table, X))


def costs_of_asking(costs: Any, names: Sequence[str], what: str = "column") -> dict[str, float]:
    """Say what it costs to ask for each column, or whatever has the names, that can be asked for.

    Parameters
    ----------
    costs : a number for all, a dict {name or place: cost} of those that can be asked for, or None for nothing
    names : names of all of them
    what : what has the names

    >>> costs_of_asking(2, ["cough", "fever"]), costs_of_asking({"fever": 0.5}, ["cough", "fever"])
    ({'cough': 2.0, 'fever': 2.0}, {'fever': 0.5})
    """
    if isinstance(costs, Mapping):
        found = {names[key] if _is_place(key, names) else key: cost for key, cost in costs.items()}
        unknown = [name for name in found if name not in names]
        if unknown:
            raise SchemaError(f"costs names {unknown[0]!r}, but there is no such {what}; there are {list(names)[:10]}")
    else:
        found = dict.fromkeys(names, 0.0 if costs is None else costs)
    for name, cost in found.items():
        if not is_number(cost):
            raise ParameterError(f"the cost of asking for {name!r} is {cost!r}; give a number")
    return {name: float(cost) for name, cost in found.items()}


def _is_place(key: Any, names: Sequence[str]) -> bool:
    return isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= int(key) < len(names)
