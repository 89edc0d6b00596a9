"""A network from rows and a graph: count every family, and smooth.

A missing cell leaves its row out of the families it belongs to, and of no other: available cases, family by family. Or
it is summed over, and the tables are those of largest likelihood: EM.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.data.coded_table import Rules, encode_frame
from bayeswater.data.frames import Frame, held, is_frame, read_frame
from bayeswater.data.sources.source import nearest_names
from bayeswater.data.variable import Variable
from bayeswater.data.weights import checked_weight
from bayeswater.errors import DataError, ParameterError, SchemaError
from bayeswater.estimate.dirichlet import Dirichlet
from bayeswater.estimate.families import conditional_table
from bayeswater.inference.exact.factors import Factors
from bayeswater.learning.network_em import Expectation, fit_by_em
from bayeswater.models.given_tables import declared_variable
from bayeswater.models.network_rows import encode_rows
from bayeswater.models.settings import checked_alpha, column_priors
from bayeswater.networks.conditionals import Table
from bayeswater.networks.network import Network
from bayeswater.statistics.joint_counts import joint_counts
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array, is_number


def fitted_network(
    dag: Dag,
    X: Any,
    *,
    alpha: Any,
    equivalent_sample_size: float | None,
    columns: Any,
    states: Mapping[str, Any],
    sample_weight: Any,
    missing: str = "available",
) -> Network:
    """Estimate the table of every node of the graph; see `BayesianNetwork.from_data`."""
    X = held(X)
    if not is_frame(X):
        raise DataError(f"X is a {type(X).__name__} without names; give a frame with a column for every node")
    frame = read_frame(X)
    there = frame.names
    absent = sorted(set(dag.names).difference(there), key=dag.node)
    if absent:
        raise SchemaError(f"no column {absent[0]!r} for that node; {nearest_names(absent[0], there)}")
    if missing not in ("available", "em"):
        raise ParameterError(f"missing is {missing!r}; it can be 'available' or 'em'")
    table = frame.table.select(list(dag.names))
    weight = checked_weight(sample_weight, table.num_rows)
    if weight is not None and not weight.all():  # a row of weight zero is no row: its labels are no states
        table, weight = table.filter(weight > 0), weight[weight > 0]
    frame = Frame(table, frame.library, frame.declared, frame.stored)
    variables = _domains(frame, dag, states)
    codes = encode_rows(frame.table, variables)
    priors = column_priors(columns, dag.names, len(dag), Dirichlet)
    smoothing = checked_alpha(alpha, len(dag), force_alpha=True)
    if equivalent_sample_size is not None and not (is_number(equivalent_sample_size) and equivalent_sample_size > 0):
        raise ParameterError(f"equivalent_sample_size is {equivalent_sample_size!r}; give a number over 0")
    counts, pseudo_counts = [], []
    for node, variable in enumerate(variables):
        members = [*dag.parents[node], node]
        count = joint_counts(codes, members, [variables[member].n_states for member in members], weight)
        if node in priors:
            pseudo_count = priors[node].concentration(variable)
        elif equivalent_sample_size is not None:
            pseudo_count = np.full(variable.n_states, equivalent_sample_size / count.size)
        else:
            pseudo_count = np.full(variable.n_states, smoothing[node])
        counts.append(count)
        pseudo_counts.append(pseudo_count)
    if missing == "em":
        # From a start without zeros, which EM would keep.
        begin = tuple(
            conditional_table(count, np.maximum(own, 1e-3)) for count, own in zip(counts, pseudo_counts, strict=True)
        )
        start = Factors(tuple(variable.n_states for variable in variables), dag.parents, begin)
        rows = Expectation(codes, start.parents, start.cards, weight)
        tables: Sequence[Array] = fit_by_em(start, rows, pseudo_counts).tables
    else:
        tables = [conditional_table(count, own) for count, own in zip(counts, pseudo_counts, strict=True)]
    return Network.of(variables, dag, [Table(table) for table in tables])


def _domains(frame: Frame, dag: Dag, states: Mapping[str, Any]) -> tuple[Variable, ...]:
    """States of every column: those declared, by the user or by the type of the column, or those of the rows."""
    unknown = [name for name in states if name not in dag.position]
    if unknown:
        raise ParameterError(f"states names {unknown[0]!r}, which is no node; {nearest_names(unknown[0], dag.names)}")
    open_names = [name for name in dag.names if name not in states]
    found = {}
    if open_names:
        rest = Frame(frame.table.select(open_names), frame.library, frame.declared, frame.stored)
        found = {v.name: v for v in encode_frame(rest, Rules("BayesianNetwork", refuse_missing=False)).schema}
    for variable in found.values():
        if variable.n_states == 0:
            raise DataError(
                f"column {variable.name!r} has no value in any row, so its states are unknown; "
                f"give states={{{variable.name!r}: [...]}}"
            )
    return tuple(found.get(name) or declared_variable(name, states[name]) for name in dag.names)
