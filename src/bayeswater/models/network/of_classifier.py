"""A fitted classifier of columns with states, as a network: the class is a parent of every column.

    P(class, row) = P(class) * product over the columns of P(state | class, states of its other parents)

What its variables, parents and tables are, each classifier says for itself: ``network_tables()``.
"""

from typing import Any

from bayeswater.errors import ParameterError
from bayeswater.models.network.empty_states import EMPTY
from bayeswater.models.network.given_tables import declared_variable
from bayeswater.networks.conditionals import Table
from bayeswater.networks.network import Network
from bayeswater.structure.dag import Dag


def network_of(model: Any, class_name: str | None = None) -> Network:
    """Give the network of a fitted `NaiveBayes`, `CategoricalNB`, `TAN`, `SPODE`, `KDB` or `SKDB`.

    Parameters
    ----------
    model : fitted classifier, whose columns all have states
    class_name : name of the class variable; "class" unless told, or "(class)" beside a column of that name
    """
    if not hasattr(model, "network_tables"):
        raise ParameterError(
            f"a {type(model).__name__} is no network of variables with states; give a NaiveBayes, CategoricalNB, TAN, "
            "SPODE, KDB or SKDB"
        )
    fitted: Any = model
    fitted._require_fitted()
    if fitted.missing == "state":
        raise ParameterError(
            "missing='state' makes a missing cell a state of its own, and in a network it is what is not observed; "
            "fit with missing='ignore'"
        )
    found = model.network_tables()
    names = (class_name or found.names[0], *found.names[1:])
    if len(set(names)) < len(names):
        raise ParameterError(f"class_name is {class_name!r}, which is the name of a column; give another")
    for name, states in zip(names, found.states, strict=True):
        if not states:
            raise ParameterError(
                f"column {name!r} has no value in any row, so its states are not known; leave it out: "
                f"columns={{{name!r}: 'ignored'}}"
            )
    named = [[EMPTY if state is None else state for state in states] for states in found.states]
    variables = [declared_variable(name, states) for name, states in zip(names, named, strict=True)]
    # Probabilities that come from logarithms sum to one only within rounding.
    tables = [Table(table / table.sum(axis=-1, keepdims=True)) for table in found.tables]
    return Network.of(variables, Dag(names, found.parents), tables)
