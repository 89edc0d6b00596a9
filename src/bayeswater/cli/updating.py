"""``bayeswater merge`` and ``forget``: models of more rows, or of fewer.

``merge`` adds the sums of several models; ``forget`` takes rows out of a model again. Both report in a few words what
was done, and which rows the model stands for now.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayeswater.cli.options import AS_USUAL, AsJson, DataFile, ModelFile, ReadingOptions, Target

if TYPE_CHECKING:
    from bayeswater.models.streaming.passes import Piece


def merge(
    first: Annotated[str, Parameter(help="Model file whose settings (smoothing and such) the sum keeps.")],
    second: Annotated[str, Parameter(help="Model file to add.")],
    /,
    *more: Annotated[str, Parameter(help="Further model files to add.")],
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="Model file to write.")],
    as_json: AsJson = False,
) -> None:
    """Add models that were fitted apart, as if fitted on all their rows."""
    from bayeswater.models.persistence import load, save
    from bayeswater.models.stored.folders import require_folder

    require_folder(output)
    paths = [first, second, *more]
    _require_different(paths)
    models = [load(path) for path in paths]
    total = models[0]
    for path, model in zip(paths[1:], models[1:], strict=True):
        total = _sum(total, model, first, path)
    save(total, output)
    report(total, str(output), f"the sum of {len(paths)} models", as_json=as_json)


def _require_different(paths: list[str]) -> None:
    """Refuse a model that is named twice, under whatever names."""
    from bayeswater.data.sources.paths import named_twice
    from bayeswater.errors import DataError

    twice = named_twice(paths)
    if twice is not None:
        raise DataError(f"{twice!r} is named twice, and its rows would be counted twice; name each model once")


def _sum(total: Any, model: Any, first: str, path: str) -> Any:
    from bayeswater.errors import BayesError, StatisticsError

    if type(model) is not type(total):
        raise StatisticsError(
            f"cannot add {path}, a {type(model).__name__}, to {first}, a {type(total).__name__}; merge models of one "
            "kind"
        )
    try:
        return total + model
    except BayesError as error:
        why = re.sub(r"with (columns|parents)=first\.\w+", lambda _: f"again with --like {first}", str(error))
        raise type(error)(f"cannot add {path} to {first}: {why}") from error


def forget(
    model: ModelFile,
    /,
    *data: DataFile,
    target: Target,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    as_json: AsJson = False,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Take rows out of a model again, as if it had never seen them.

    All rows of the data go, or none: one that was never counted leaves the model as it was.

    Parameters
    ----------
    output
        Model file to write; by default MODEL is replaced.
    """
    from bayeswater.cli.models import labels_explained, load_model, open_for, require_other_files
    from bayeswater.cli.terminal import amount, passes_shown, warnings_once
    from bayeswater.data.sources.target_rules import TargetBins
    from bayeswater.models.persistence import save
    from bayeswater.models.stored.folders import require_folder
    from bayeswater.models.streaming.fitting import warn_of_unlabelled
    from bayeswater.models.streaming.labelled import LabelledRows
    from bayeswater.models.streaming.sources import column_names

    classifier = load_model(model)
    where = output or Path(model)
    require_folder(where)
    rows = open_for(classifier, model, reading, list(data), target=target)
    require_other_files(rows, output)
    rule = TargetBins.of_classes(classifier.classes_)
    examples = LabelledRows(rows, target, columns=column_names(classifier), rule=rule)

    def forgotten(piece: "Piece") -> int:
        classifier.forget(piece.X, piece.y)
        return len(piece.y)

    with warnings_once():
        with labels_explained(classifier, model, target), passes_shown(rows, lambda: "forgetting"):
            n_rows = examples.sum(forgotten)
        if examples.n_unlabelled:
            warn_of_unlabelled(examples.n_unlabelled, target)
    save(classifier, where)
    report(classifier, str(where), f"{amount(n_rows, 'row')} forgotten", as_json=as_json)


def report(model: Any, path: str, done: str, *, as_json: bool) -> None:
    """Say what was done on standard error, or as JSON on standard output."""
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import say

    counts = dict(zip(map(str, model.classes_.tolist()), model.class_count_.tolist(), strict=True))
    if as_json:
        document = {"model": path, "done": done, "n_rows": sum(counts.values()), "classes": counts}
        print_document(document)
        return
    say(f"{done}; {path} now stands for {sum(counts.values()):,.6g} rows", "bold green")
    say("  " + ", ".join(f"{label}: {count:,.6g}" for label, count in counts.items()))
    calibration = getattr(model, "calibration_", None)
    if getattr(calibration, "is_stale", False):
        say("note: the calibration is that of the rows before; fit again to renew it", "yellow")
    if getattr(getattr(model, "term_weights_", None), "is_stale", False):
        say("note: the weights of columns are those of the rows before; fit again to renew them", "yellow")
    if getattr(getattr(model, "report_", None), "is_stale", False):
        say("note: structures and weights are those of the rows before; fit again to renew them", "yellow")
