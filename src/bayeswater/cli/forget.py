"""``bayeswater forget``: rows taken out of a model again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bayeswater.cli.options import AsJson, DataFile, ModelFile, Target
from bayeswater.cli.reading import AS_USUAL, Reading

if TYPE_CHECKING:
    from bayeswater.models.streaming.passes import Piece


def forget(
    model: ModelFile,
    /,
    *data: DataFile,
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
    from bayeswater.cli.models import labels_explained, load_model, open_for
    from bayeswater.cli.progress import passes_shown
    from bayeswater.cli.rows import require_other_files
    from bayeswater.cli.words import amount, warnings_told_once
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
    examples = LabelledRows(rows, target, columns=column_names(classifier))

    def forgotten(piece: "Piece") -> int:
        classifier.forget(piece.X, piece.y)
        return len(piece.y)

    with warnings_told_once():
        with labels_explained(classifier, model, target), passes_shown(rows, lambda: "forgetting"):
            n_rows = examples.sum(forgotten)
        if examples.n_unlabelled:
            warn_of_unlabelled(examples.n_unlabelled, target)
    save(classifier, where)
    report(classifier, str(where), f"{amount(n_rows, 'row')} forgotten", as_json=as_json)
