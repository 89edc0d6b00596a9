"""What a network is made of: its variables, its tables, and what exact answers will take."""

from itertools import product
from typing import TYPE_CHECKING, Any

from bayeswater.errors import SchemaError

if TYPE_CHECKING:
    from bayeswater.models.network.bayesian_network import BayesianNetwork

LABELS_SHOWN = 6
"""States of a variable that are named in the list of variables."""

KINDS = {"Table": "table", "NoisyOr": "noisy-or", "Deterministic": "rule"}


def inspect_network(network: "BayesianNetwork", path: str, names: list[str], rows: int, *, as_json: bool) -> None:
    """Show the variables of a network and its size, or the tables of those that are named.

    Parameters
    ----------
    network, path : the network and its file
    names : variables whose tables to show
    rows : how many rows of each table to show
    as_json : whether to print a document with all of it
    """
    from bayeswater.cli.documents import print_document
    from bayeswater.cli.tables import pieces
    from bayeswater.cli.words import findings
    from bayeswater.errors import nearest_names

    for name in names:
        if name not in network.dag.position:
            raise SchemaError(f"{path}: there is no variable {name!r}; {nearest_names(name, network.names)}")
    if as_json:
        tables = {name: _table_document(network, name) for name in names}
        size = {"treewidth": network.treewidth, **_cost(network)}
        print_document(
            {"network": path, "title": network.title, **_facts(network), **size, "variables": _variables(network)}
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


def _print_overview(network: "BayesianNetwork", path: str) -> None:
    from rich.text import Text

    from bayeswater.cli.tables import plain_table
    from bayeswater.cli.words import amount, findings

    console, facts = findings(), _facts(network)
    counts = ", ".join(amount(facts[f"n_{noun}s"], noun) for noun in ("variable", "edge", "parameter"))
    named = f" {network.title!r}" if network.title else ""
    console.print(Text(f"{path}: network{named} of {counts}", style="bold"), soft_wrap=True)
    table = plain_table("variable", "states", "parents", "given as", "parameters", numbers=("parameters",))
    for own in _variables(network):
        labels = list(map(str, own["states"]))
        more = ", ..." if len(labels) > LABELS_SHOWN else ""
        states = f"{len(labels)}: {', '.join(labels[:LABELS_SHOWN])}{more}"
        cells = (own["name"], states, ", ".join(own["parents"]), own["given_as"], f"{own['n_parameters']:,}")
        table.add_row(*map(Text, cells))
    console.print(table, "")
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


def _facts(network: "BayesianNetwork") -> dict[str, Any]:
    return {
        "n_variables": len(network.names),
        "n_edges": len(network.edges),
        "n_parameters": network.n_parameters,
    }


MANY_ROWS = 10_000
"""Rows of which the seconds of one are told: many are taken together."""


def _cost(network: "BayesianNetwork") -> dict[str, float]:
    cost = network.cost(n_rows=MANY_ROWS)
    return {"cells": cost.cells, "bytes": cost.bytes, "seconds_per_row": cost.seconds / MANY_ROWS}


def _variables(network: "BayesianNetwork") -> list[dict[str, Any]]:
    core = network.core
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


def _table_columns(network: "BayesianNetwork", name: str) -> tuple[str, dict[str, list[Any]], int]:
    """Title and columns of P(variable | parents), a row for the states of the parents; how many columns are theirs."""
    from bayeswater.models.network.answers import probability_column

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


def _table_document(network: "BayesianNetwork", name: str) -> dict[str, Any]:
    import pyarrow as pa

    frame: pa.Table = network.cpt(name).to_frame()
    return frame.to_pydict()
