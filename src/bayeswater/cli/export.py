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
        Dialect of SQL; duckdb by default.
    loss
        File of costs: the program then also gives the action with the least expected cost.
    single
        Use single precision in C.
    lang
        Language of the HTML page.
    table
        Name of the table that the SQL selects from; "rows" by default.
    whole_rows
        Promise that no row has a missing cell; SQL and ONNX need it for some models.
    """
    from bayeswater.cli.costs import Costs
    from bayeswater.cli.models import load_model
    from bayeswater.cli.terminal import say
    from bayeswater.exports.exporting import export as write
    from bayeswater.models.stored.folders import require_folder

    if Path(target).suffix:
        require_folder(Path(target))
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
