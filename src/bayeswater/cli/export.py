"""``bayeswater export``: a model as a program in another language."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from bayeswater.cli.options import ModelFile


def export(
    model: ModelFile,
    target: Annotated[str, Parameter(help="File to write: .sql, .onnx, .c, .js, .html or .py.")],
    /,
    *,
    dialect: Literal["duckdb", "sqlite", "postgres", "mysql", "bigquery", "snowflake", "spark"] | None = None,
    loss: Path | None = None,
    single: Annotated[bool, Parameter(name="--float", negative=())] = False,
    lang: Literal["en", "zh"] | None = None,
    table: str | None = None,
    whole_rows: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Write a model as a program that gives the same answers without this library.

    Parameters
    ----------
    dialect
        Dialect of SQL; default duckdb.
    loss
        File of costs: the action of least expected cost is given, too.
    single
        Let C calculate in single precision.
    lang
        Language of the page.
    table
        Table that SQL selects from; default rows.
    whole_rows
        Rows lack no cell: for models that SQL and ONNX could not sum over what is missing in.
    """
    from bayeswater.cli.costs import Costs
    from bayeswater.cli.models import load_model
    from bayeswater.cli.terminal import say
    from bayeswater.exports.exporting import export as write

    classifier = load_model(model)
    costs = None if loss is None else Costs.read(loss, classifier).loss
    path = write(
        classifier,
        Path(target),
        dialect=dialect,
        loss=costs,
        single=single,
        lang=lang,
        table=table,
        whole_rows=whole_rows,
    )
    say(f"wrote {path}")
