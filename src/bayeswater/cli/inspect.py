"""``bayeswater inspect``: what a model has learned, table by table."""

from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.networks import Tolerance, read_network
from bayeswater.cli.options import AsJson


def inspect(
    model: Annotated[str, Parameter(help="File that `fit` or `save` wrote, or a network: .bif, .xdsl, .net, ...")],
    /,
    *,
    column: list[str] | None = None,
    rows: Annotated[int, Parameter(validator=Number(gte=1))] = 20,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model has learned: classes, columns and their tables; of a network its variables and its size.

    Parameters
    ----------
    column
        Column to show; all by default, and of a network none.
    rows
        How many rows of each table to show.
    """
    from bayeswater.cli.documents import print_document
    from bayeswater.cli.inspect_network import inspect_network
    from bayeswater.cli.words import warnings_told_once
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.models.network.network_files import is_network_file
    from bayeswater.models.persistence import load

    with warnings_told_once(of_rounding=True):
        classifier = read_network(model, tolerance) if is_network_file(model) else load(model)
    if isinstance(classifier, BayesianNetwork):
        inspect_network(classifier, model, column or [], rows, as_json=as_json)
        return
    tables = {str(name): _columns(frame) for name, frame in classifier.tables().items()}
    chosen = _chosen(tables, column, model)
    if as_json:
        document = {"model": model, **_facts(classifier), "columns": _plan(classifier), "tables": chosen}
        print_document(document)
    else:
        _print(classifier, model, chosen, rows, with_plan=column is None)


def _print(model: Any, path: str, tables: dict[str, dict[str, list[Any]]], rows: int, *, with_plan: bool) -> None:
    from rich.text import Text

    from bayeswater.cli.fit_report import families
    from bayeswater.cli.tables import pieces
    from bayeswater.cli.words import amount, findings

    console, facts = findings(), _facts(model)
    rows_in_all = f"{facts['n_rows']:,.6g} row{'' if facts['n_rows'] == 1 else 's'}"  # weights may be no whole numbers
    classes, parameters = amount(facts["n_classes"], "class", "classes"), amount(facts["n_parameters"], "parameter")
    title = f"{path}: {facts['kind']} of {rows_in_all}, {classes}, {amount(facts['n_columns'], 'column')}, {parameters}"
    console.print(Text(title, style="bold"), soft_wrap=True)
    if with_plan and _plan(model):
        console.print(families(model), "")
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


def _plan(model: Any) -> list[dict[str, str]]:
    return [{"name": c.name, "family": c.family, "why": c.why} for c in getattr(model, "columns_", ())]


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
