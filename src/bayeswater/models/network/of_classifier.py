"""A fitted classifier of columns with states, as a network: the class is a parent of every column.

    P(class, row) = P(class) * product over the columns of P(state | class, states of its other parents)

A classifier with more structure than naive Bayes (trees, super-parents) has a method ``network_tables()``, which gives
names, states, parents and tables.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.models.categorical_nb import CategoricalNB
from bayeswater.models.class_name import class_name
from bayeswater.models.mixed.naive_bayes import NaiveBayes
from bayeswater.models.mixed.parts.category_part import CategoryPart, StatePart
from bayeswater.models.mixed.parts.grouping import parts_of
from bayeswater.models.network.as_network import AsNetwork
from bayeswater.models.network.given_tables import declared_variable
from bayeswater.models.semi_naive.family_frames import NetworkTables
from bayeswater.networks.conditionals import Table
from bayeswater.networks.network import Network
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

Columns = Iterator[tuple[str, Any, Array]]
"""Name, states, and P(state | class) (n_classes, n_states) of each column."""


def network_of(model: Any, class_name: str | None = None) -> Network:
    """Give the network of a fitted `NaiveBayes`, `CategoricalNB`, `TAN`, `SPODE`, `KDB` or `SKDB`.

    Parameters
    ----------
    model : fitted classifier, whose columns all have states
    class_name : name of the class variable; "class" unless told, or "(class)" beside a column of that name
    """
    if not isinstance(model, AsNetwork):
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
    found: NetworkTables = _star(model) if isinstance(model, NaiveBayes | CategoricalNB) else fitted.network_tables()
    names = (class_name or found.names[0], *found.names[1:])
    if len(set(names)) < len(names):
        raise ParameterError(f"class_name is {class_name!r}, which is the name of a column; give another")
    for name, states in zip(names, found.states, strict=True):
        if not states:
            raise ParameterError(
                f"column {name!r} has no value in any row, so its states are not known; leave it out: "
                f"columns={{{name!r}: 'ignored'}}"
            )
    variables = [declared_variable(name, states) for name, states in zip(names, found.states, strict=True)]
    # Probabilities that come from logarithms sum to one only within rounding.
    tables = [Table(table / table.sum(axis=-1, keepdims=True)) for table in found.tables]
    return Network.of(variables, Dag(names, found.parents), tables)


def _star(model: NaiveBayes | CategoricalNB) -> NetworkTables:
    """Every column has the class for its only parent."""
    columns = list(_columns_of(model) if isinstance(model, NaiveBayes) else _categories_of(model))
    names = [name for name, _, _ in columns]
    return NetworkTables(
        (class_name(names), *names),
        (tuple(model.classes_.tolist()), *(states for _, states, _ in columns)),
        ((), *((0,) for _ in columns)),
        (np.exp(model._joint().log_prior), *(table for _, _, table in columns)),
    )


def _categories_of(model: CategoricalNB) -> Columns:
    for variable, log_probability in zip(model.statistics_.columns.schema, model.feature_log_prob_, strict=True):
        if variable.n_states:  # a column without a value in any row tells nothing
            yield variable.name, variable.states, np.exp(log_probability)


def _columns_of(model: NaiveBayes) -> Columns:
    plan, groups = model.columns_, model.statistics_.columns.groups
    terms = model._terms(model.statistics_)
    found: dict[str, tuple[str, Any, Array]] = {}
    for key, part in parts_of(plan).items():
        if not isinstance(part, StatePart):
            column = part.columns[0]
            raise ParameterError(
                f"column {column.name!r} is {column.family}, and a network has variables with states; fit with "
                f"columns={{{column.name!r}: 'binned'}}, or leave it out"
            )
        sums, log_probability = groups[key], terms[key].log_probability()  # type: ignore[attr-defined]
        for j, column in enumerate(part.columns):
            table = np.exp(log_probability[sums.start[j] : sums.start[j + 1] - 1]).T  # (n_classes, n_states)
            labels = sums.schema[j].states if isinstance(part, CategoryPart) else part.state_labels(sums, j)
            if table.shape[1]:
                found[column.name] = column.name, labels, table
    return (found[column.name] for column in plan.used if column.name in found)
