"""``bayeswater forget``: rows taken out of a model again."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bayeswater.cli.options import AsJson, DataFile, ModelFile, Target
from bayeswater.cli.reading import AS_USUAL, Reading


def forget(
    model: ModelFile,
    data: DataFile,
    /,
    *,
    target: Target,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    as_json: AsJson = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Take rows out of a model again, as if it had never seen them.

    All rows of the data go, or none: one that was never counted leaves the model as it was.

    Parameters
    ----------
    output
        File for the model without the rows; by default it takes the place of the model.
    """
    from bayeswater.cli.model_report import report
    from bayeswater.cli.models import load_model, open_for
    from bayeswater.cli.rows import LabelledRows
    from bayeswater.cli.words import warnings_told_once
    from bayeswater.models.persistence import save
    from bayeswater.models.streaming.cell_types import column_names

    classifier = load_model(model)
    source = open_for(classifier, model, reading, data, target)
    rows = LabelledRows(source, target, column_names(classifier))
    with warnings_told_once(), rows.named():
        for X, y in rows.read("forgetting"):
            classifier.forget(X, y)
    rows.say_what_was_left_out()
    where = output or Path(model)
    save(classifier, where)
    report(classifier, str(where), f"{rows.n_rows:,} rows forgotten", as_json=as_json)
