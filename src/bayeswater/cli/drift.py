"""``bayeswater drift``: what changed between two models, or between a model and new rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayeswater.cli.options import AS_USUAL, AsJson, ReadingOptions

if TYPE_CHECKING:
    from bayeswater.explain.drift import Drift

LINES = 40
"""Columns that are printed at most; --json has all."""


def drift(
    old: Annotated[str, Parameter(help="Model file of the old rows.")],
    new: Annotated[
        str, Parameter(help="Model file of the new rows, fitted with --like OLD; or a table of the new rows.")
    ],
    /,
    *more: Annotated[str, Parameter(name="ROWS", help="Further files of the table.")],
    target: Annotated[str | None, Parameter(name=["--target", "-t"])] = None,
    plot: Path | None = None,
    as_json: AsJson = False,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Say which columns follow another law than before, how certain that is, and how large the change is.

    Parameters
    ----------
    target
        Column that holds the class of each row; needed if NEW is a table.
    plot
        Picture to write: .png, .svg or .pdf.
    """
    from bayeswater.cli.compare import draw, require_picture
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings, warnings_once
    from bayeswater.models.persistence import load
    from bayeswater.plots.finding_displays import DriftDisplay

    if plot is not None:
        require_picture(plot)
    with warnings_once():
        before = load(old)
        found = _found(before, old, [new, *more], target, reading)
    if as_json:
        print_document(found.to_dict())
    else:
        for line in found.lines(LINES):
            findings().print(line, soft_wrap=True, markup=False, highlight=False)
    if plot is not None:
        draw(DriftDisplay(found), plot)


def _found(before: Any, old: str, new: list[str], target: str | None, reading: ReadingOptions) -> "Drift":
    from bayeswater.errors import BayesError, ParameterError
    from bayeswater.models.drifting import drift as drift_between
    from bayeswater.models.persistence import load

    if target is None:
        if len(new) > 1 or not new[0].endswith(".bayes"):
            raise ParameterError(f"the rows of {new[0]} are compared class by class; name the column with --target")
        try:
            return drift_between(before, load(new[0]))
        except BayesError as error:
            raise type(error)(f"{old} and {new[0]}: {error} (fit the second with --like {old})") from error
    rows = _labelled(before, old, new, target, reading)
    return drift_between(before, rows.X, rows.y)


def _labelled(before: Any, old: str, data: list[str], target: str, reading: ReadingOptions) -> Any:
    """Read all rows that have a label."""
    from bayeswater.cli.models import labels_explained, load_model, open_for
    from bayeswater.data.sources.target_rules import TargetBins
    from bayeswater.models.streaming.fitting import whole_rows
    from bayeswater.models.streaming.labelled import LabelledRows
    from bayeswater.models.streaming.sources import column_names

    rows = open_for(load_model(old), old, reading, data, target=target)
    rule = TargetBins.of_classes(before.classes_)
    examples = LabelledRows(rows, target, columns=column_names(before), rule=rule)
    with labels_explained(before, old, target):
        return whole_rows(examples, "drift", "fit a model of them with --like, which is counted in pieces")
