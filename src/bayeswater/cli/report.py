"""``bayeswater report``: how good a model is, as one file that can be mailed."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from bayeswater.cli.options import AS_USUAL, DataFile, LossFile, ModelFile, ReadingOptions, Target

MOST_ROWS = 200_000
"""Rows that a report is made of: the first ones."""


def report(
    model: ModelFile,
    /,
    *data: DataFile,
    target: Target,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    group: str | None = None,
    positive: str | None = None,
    loss: LossFile = None,
    peers: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    lang: Literal["en", "zh"] = "en",
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Write how good a model is into one HTML file, which opens without server or network.

    Parameters
    ----------
    output
        HTML file to write.
    group
        Column whose groups are compared, such as sex; the model need not use it.
    positive
        Class for which curves are drawn; by default the last one.
    peers
        Also compare with models of scikit-learn, cross-validated on these rows.
    lang
        Language of the report: English or Chinese.
    """
    from bayeswater.cli.costs import Costs
    from bayeswater.cli.models import known_class, labels_explained, load_model, open_for, require_other_files
    from bayeswater.cli.terminal import say, warnings_once
    from bayeswater.data.sources.target_rules import TargetBins
    from bayeswater.errors import ParameterError
    from bayeswater.models.stored.folders import require_folder
    from bayeswater.reports.model_report import model_report
    from bayeswater.reports.sentences import sentences

    if output.suffix.lower() not in (".html", ".htm"):
        raise ParameterError(f"--output {str(output)!r} is no HTML file; end the name in .html")
    require_folder(output)
    classifier = load_model(model)
    costs = None if loss is None else Costs.read(loss, classifier).loss
    wanted = None if positive is None else known_class(classifier, positive)
    with warnings_once():
        rows = open_for(classifier, model, reading, list(data), target=target, keep=True)
        require_other_files(rows, output)
        with labels_explained(classifier, model, target):
            table = rows.head(rows.schema.names, MOST_ROWS + 1)
    if (bins := TargetBins.of_classes(classifier.classes_)) is not None:
        table = table.set_column(table.column_names.index(target), target, bins(table.column(target)))
    notes = (sentences(lang).say("first rows", n=f"{MOST_ROWS:,}"),) if table.num_rows > MOST_ROWS else ()
    wishes: dict[str, Any] = {"group": group, "positive": wanted, "loss": costs, "peers": peers, "lang": lang}
    text = model_report(classifier, table.slice(0, MOST_ROWS), target, name=rows.name, notes=notes, **wishes)
    output.write_text(text, encoding="utf-8")
    say(f"saved as {output} ({len(text.encode()):,} bytes)")
