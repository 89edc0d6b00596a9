"""``bayeswater inspect``: what a model has learned, table by table, or what a network is made of.

Of a network it shows the variables, the tables, and what exact answers will take.
"""

from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.models import require_classifier
from bayeswater.cli.networks import Tolerance, has_numbers, is_mixed, read_any_network
from bayeswater.cli.options import AsJson
from bayeswater.errors import SchemaError

if TYPE_CHECKING:
    from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.networks.network import Network
    from bayeswater.phrases import Language


def inspect(
    model: Annotated[
        str, Parameter(help="Model file, written by `fit` or `save`, or a network: .bif, .xdsl, .net, ...")
    ],
    /,
    *,
    column: list[str] | None = None,
    rows: Annotated[int, Parameter(validator=Number(gte=1))] = 20,
    lang: Literal["en", "zh"] = "en",
    tolerance: Tolerance = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model has learned: classes, columns and their tables; of a network its variables and its size.

    Parameters
    ----------
    column
        Column, or variable of a network, whose table to show; by default all columns, and no variable.
    rows
        How many rows of each table to show.
    lang
        Language of the reasons for the families: English or Chinese.
    """
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import warnings_once
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.models.network.network_files import is_network_file
    from bayeswater.phrases import Language

    with warnings_once(of_rounding=True):
        if is_network_file(model) or has_numbers(model):
            classifier = read_any_network(model, tolerance)
        else:
            from bayeswater.models.persistence import load

            classifier = load(model)
            require_classifier(classifier, model)
    if isinstance(classifier, BayesianNetwork) or is_mixed(classifier):
        inspect_network(classifier, model, column or [], rows, as_json=as_json)
        return
    tables = {str(name): _columns(frame) for name, frame in classifier.tables().items()}
    chosen = _chosen(tables, column, model)
    if as_json:
        plan = _plan(classifier, Language.of(lang))
        print_document({"model": model, **_facts(classifier), "columns": plan, "tables": chosen})
    else:
        _print(classifier, model, chosen, rows, Language.of(lang) if column is None else None)


def _print(
    model: Any, path: str, tables: dict[str, dict[str, list[Any]]], rows: int, plan_in: "Language | None"
) -> None:
    """Show the facts, the tables and, in a language, how columns are read."""
    from rich.text import Text

    from bayeswater.cli.fit_report import families
    from bayeswater.cli.terminal import amount, findings, pieces

    console, facts = findings(), _facts(model)
    rows_in_all = f"{facts['n_rows']:,.6g} row{'' if facts['n_rows'] == 1 else 's'}"  # weights may be no whole numbers
    classes, parameters = amount(facts["n_classes"], "class", "classes"), amount(facts["n_parameters"], "parameter")
    title = f"{path}: {facts['kind']} of {rows_in_all}, {classes}, {amount(facts['n_columns'], 'column')}, {parameters}"
    console.print(Text(title, style="bold"), soft_wrap=True)
    if plan_in is not None and hasattr(model, "columns_"):
        console.print(families(model, plan_in), "")
    for name, columns in tables.items():
        title, shown, keys = _shortened(name, columns)
        for table in pieces(title, shown, console.width, rows, keys=keys):
            console.print(table, "")


def _shortened(name: str, columns: dict[str, list[Any]]) -> tuple[str, dict[str, list[Any]], int]:
    """Say once, in the title, what the headers of a table of probabilities all say; count the columns before them.

    >>> _shortened("hair", {"hair": ["red"], "P(hair | cat)": [0.5], "P(hair | dog)": [0.25]})
    ('P(hair | class)', {'hair': ['red'], 'cat': [0.5], 'dog': [0.25]}, 1)
    >>> _shortened("hair", {"age": [1], "hair": ["red"], "P(hair | cat, age)": [0.5]})
    ('P(hair | class, age)', {'age': [1], 'hair': ['red'], 'cat': [0.5]}, 2)
    """
    begin = f"P({name} | "
    keys = [header for header in columns if not header.startswith(begin)]
    end = "".join(f", {key}" for key in keys if key != name) + ")"
    rest = [header for header in columns if header.startswith(begin) and header.endswith(end)]
    if not rest or len(keys) + len(rest) < len(columns) or [*columns][: len(keys)] != keys:
        return name, columns, 1
    named = {header[len(begin) : -len(end)]: columns[header] for header in rest}
    return f"{begin}class{end}", {**{key: columns[key] for key in keys}, **named}, len(keys)


def _facts(model: Any) -> dict[str, Any]:
    return {
        "kind": type(model).__name__,
        "n_rows": float(model.class_count_.sum()),
        "n_classes": len(model.classes_),
        "n_columns": int(model.n_features_in_),
        "n_parameters": int(model.n_parameters),
    }


def _plan(model: Any, language: "Language") -> list[dict[str, str]]:
    from bayeswater.phrases import translated

    columns = getattr(model, "columns_", ())
    return [{"name": c.name, "family": c.family, "why": translated(c.why, language)} for c in columns]


def _columns(frame: Any) -> dict[str, list[Any]]:
    """Read a labelled frame of any library as columns."""
    import pyarrow as pa

    from bayeswater.data.frames import read_frame

    table: pa.Table = read_frame(frame).table
    return {name: column.to_pylist() for name, column in zip(table.column_names, table.columns, strict=True)}


def _chosen(tables: dict[str, Any], names: list[str] | None, path: str) -> dict[str, Any]:
    from bayeswater.errors import SchemaError, nearest_names

    for name in names or []:
        if name not in tables:
            raise SchemaError(f"{path}: there is no table of {name!r}; {nearest_names(name, [*tables])}")
    return tables if names is None else {name: tables[name] for name in names}


LABELS_SHOWN = 6
"""States of a variable that are named in the list of variables."""

KINDS = {
    "Table": "table",
    "NoisyOr": "noisy-or",
    "NoisyMax": "noisy-max",
    "NoisyAnd": "noisy-and",
    "Deterministic": "rule",
}


def inspect_network(network: Any, path: str, names: list[str], rows: int, *, as_json: bool) -> None:
    """Show the variables of a network and its size, or the tables of those that are named.

    Parameters
    ----------
    network, path : the network and its file
    names : variables whose tables to show
    rows : how many rows of each table to show
    as_json : whether to print a document with all of it
    """
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings, pieces
    from bayeswater.errors import nearest_names

    for name in names:
        if name not in network.dag.position:
            raise SchemaError(f"{path}: there is no variable {name!r}; {nearest_names(name, network.names)}")
    if as_json:
        tables = {name: _table_document(network, name) for name in names}
        size = {} if is_mixed(network) else {"title": network.title, "treewidth": network.treewidth, **_cost(network)}
        print_document(
            {
                "network": path,
                **_network_facts(network),
                **size,
                "variables": _variables(network),
            }
            | ({"tables": tables} if names else {})
        )
        return
    if not names:
        _print_overview(network, path)
    console = findings()
    for name in names:
        title, columns, n_keys = _table_columns(network, name)
        for table in pieces(title, columns, console.width, rows, keys=n_keys):
            console.print(table, "")


def _print_overview(network: Any, path: str) -> None:
    from rich.text import Text

    from bayeswater.cli.terminal import amount, findings, plain_table

    console, facts = findings(), _network_facts(network)
    counts = ", ".join(amount(facts[f"n_{noun}s"], noun) for noun in ("variable", "edge", "parameter"))
    title = "" if is_mixed(network) else network.title
    named = f" {title!r}" if title else ""
    console.print(Text(f"{path}: network{named} of {counts}", style="bold"), soft_wrap=True)
    table = plain_table("variable", "states", "parents", "given as", "parameters", numbers=("parameters",))
    for own in _variables(network):
        labels = list(map(str, own["states"]))
        more = ", ..." if len(labels) > LABELS_SHOWN else ""
        states = f"{len(labels)}: {', '.join(labels[:LABELS_SHOWN])}{more}" if labels else "a number"
        cells = (own["name"], states, ", ".join(own["parents"]), own["given_as"], f"{own['n_parameters']:,}")
        table.add_row(*map(Text, cells))
    console.print(table, "")
    if not is_mixed(network):
        console.print(Text(_forecast(network)), soft_wrap=True)


def _forecast(network: "BayesianNetwork") -> str:
    """Say what all posteriors of a row will take."""
    from bayeswater.inference.exact.forecast import seconds_in_words
    from bayeswater.limits import TABLE_BYTES, bytes_in_words

    cost, width = _cost(network), network.treewidth
    size = f"treewidth {width} at the most, {cost['cells']:,.4g} cells, {bytes_in_words(cost['bytes'])}"
    if cost["bytes"] > TABLE_BYTES:
        return (
            f"all posteriors at once, exactly: {size}, over the limit of {bytes_in_words(TABLE_BYTES)}; single "
            "questions may do with less, and are else answered by sampling"
        )
    return f"all posteriors at once, exactly: {size}, about {seconds_in_words(cost['seconds_per_row'])} a row"


def _network_facts(network: Any) -> dict[str, Any]:
    return {"n_variables": len(network.names), "n_edges": len(network.edges), "n_parameters": network.n_parameters}


MANY_ROWS = 10_000
"""Rows that are timed together, for the seconds of one."""


def _cost(network: "BayesianNetwork") -> dict[str, float]:
    cost = network.cost(n_rows=MANY_ROWS)
    return {"cells": cost.cells, "bytes": cost.bytes, "seconds_per_row": cost.seconds / MANY_ROWS}


def _variables(network: Any) -> list[dict[str, Any]]:
    if not is_mixed(network):
        return _listed(network.core)
    core = network.core
    of_states = {own["name"]: own for own in _listed(core.states)}
    return [
        of_states.get(name)
        or {
            "name": name,
            "states": [],
            "parents": [core.names[parent] for parent in core.dag.parents[node]],
            "given_as": "regression",
            "n_parameters": core.numbers[node].n_parameters,
        }
        for node, name in enumerate(core.names)
    ]


def _listed(core: "Network") -> list[dict[str, Any]]:
    return [
        {
            "name": variable.name,
            "states": list(variable.states),
            "parents": [parent.name for parent in core.parents_of(node)],
            "given_as": KINDS[type(conditional).__name__],
            "n_parameters": conditional.n_parameters(variable, core.parents_of(node)),
        }
        for node, (variable, conditional) in enumerate(zip(core.variables, core.conditionals, strict=True))
    ]


def _table_columns(network: Any, name: str) -> tuple[str, dict[str, list[Any]], int]:
    """Title and columns of P(variable | parents), a row for the states of the parents; how many columns are theirs."""
    from bayeswater.models.network.answers import probability_column

    if is_mixed(network) and name in network.numbers:
        return _regression_columns(network, name)
    table = network.cpt(name)
    parents = [parent.name for parent in table.parents]
    if not parents:
        states = list(map(str, table.variable.states))
        return f"P({name})", {name: states, probability_column((name,)): table.values.tolist()}, 1
    given = list(zip(*product(*(parent.states for parent in table.parents)), strict=True))
    columns = {parent: list(map(str, states)) for parent, states in zip(parents, given, strict=True)}
    flat = table.values.reshape(-1, table.shape[-1]).T.tolist()
    for state, probability in zip(table.variable.states, flat, strict=True):
        columns[f"{name}={state}" if str(state) in columns else str(state)] = probability
    return f"P({name} | {', '.join(parents)})", columns, len(parents)


def _regression_columns(network: "MixedNetwork", name: str) -> tuple[str, dict[str, list[Any]], int]:
    """Title and columns of a regression, a row for the states of its parents; how many columns are theirs."""
    core, node = network.core, network.dag.node(name)
    own, parents, numeric = core.numbers[node], core.discrete_parents(node), core.numeric_parents(node)
    states = zip(*product(*(parent.states for parent in parents)), strict=True)
    columns: dict[str, list[Any]] = {p.name: list(map(str, s)) for p, s in zip(parents, states, strict=True)}
    columns["intercept"] = own.intercept.ravel().tolist()
    columns |= {f"x {other}": own.slopes[..., j].ravel().tolist() for j, other in enumerate(numeric)}
    columns["variance"] = own.variance.ravel().tolist()
    return f"{name}{' | ' * bool(parents)}{', '.join(parent.name for parent in parents)}", columns, len(parents)


def _table_document(network: Any, name: str) -> dict[str, Any]:
    import pyarrow as pa

    if is_mixed(network) and name in network.numbers:
        return _regression_columns(network, name)[1]
    frame: pa.Table = network.cpt(name).to_frame()
    return frame.to_pydict()
