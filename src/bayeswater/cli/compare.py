"""``bayeswater compare``: the whole ladder of models on the same folds of a file, and the best one saved."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.options import (
    AS_USUAL,
    AsJson,
    BinsOfTarget,
    ColumnFamilies,
    DataFile,
    MinClassRows,
    ModelName,
    ReadingOptions,
    Target,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from bayeswater.models.comparing.comparison import Comparison


def compare(
    *data: DataFile,
    target: Target,
    target_bins: BinsOfTarget = None,
    min_class_rows: MinClassRows = None,
    model: list[ModelName] | None = None,
    column: ColumnFamilies = None,
    ignore: list[str] | None = None,
    folds: Annotated[int, Parameter(validator=Number(gte=2))] = 5,
    seed: int = 0,
    calibrate: bool = True,
    peers: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    save: Path | None = None,
    plot: Path | None = None,
    as_json: AsJson = False,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Compare all kinds of models on the same folds of a table, which is held in memory.

    Parameters
    ----------
    model
        Model to compare; all by default.
    ignore
        Column to leave out.
    folds
        Number of folds, stratified by class and shuffled.
    seed
        Seed of the folds.
    calibrate
        Whether probabilities are calibrated, by training rows alone.
    peers
        Also compare scikit-learn's naive Bayes, logistic regression, random forest and gradient boosting.
    save
        Model file to write: the best model of Bayeswater, fitted on all rows.
    plot
        Picture to write, such as compared.png or compared.svg.
    """
    from bayeswater.cli.fit import column_choice, stated_families, warn_of_few_rows, without_ignored
    from bayeswater.cli.models import require_other_files, whole
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings, fits_shown, passes_shown, warnings_once
    from bayeswater.data.sources.target_rules import target_rule
    from bayeswater.errors import DataError
    from bayeswater.models.comparing.compare import compare as compared
    from bayeswater.models.stored.folders import require_folder
    from bayeswater.models.streaming.labelled import LabelledRows

    for output in (save, plot):
        if output is not None:
            require_folder(output)
    if plot is not None:
        require_picture(plot)
    families, ignored = without_ignored(stated_families(column), ignore or [])
    with reading.rows(list(data)) as rows, warnings_once():
        require_other_files(rows, save, plot)
        names = column_choice(rows, target, ignored, families or ())
        rule = target_rule(rows, target, target_bins, min_class_rows)
        examples = LabelledRows(rows, target, columns=names, rule=rule)
        with passes_shown(rows, lambda: examples.under_way):
            X, y = whole(examples, "compare")
        labels, counts = (y.value_counts().field(place).to_pylist() for place in range(2))
        warn_of_few_rows(labels, counts, target)
        with fits_shown() as progress:
            found = compared(
                X,
                y,
                models=model,
                columns=families,
                folds=folds,
                calibrate=calibrate,
                peers=peers,
                random_state=seed,
                progress=progress,
            )
        if not found.cells():
            raise DataError(f"no model could be fitted; {'; '.join(map(': '.join, found.alike_failures()))}")
        if as_json:
            print_document(document(found))
        else:
            print_comparison(findings(), found)
        if plot is not None:
            from bayeswater.plots.finding_displays import ComparisonDisplay

            draw(ComparisonDisplay(found), plot)
        if save is not None:
            _save(found, X, y, save)


def print_comparison(console: "Console", found: "Comparison") -> None:
    """Print the figures, then what they do not say."""
    from rich.text import Text

    from bayeswater.cli.terminal import in_words_of_the_command

    for table in comparison_tables(found, console.width):
        console.print(table)
    for line in (*(": ".join(failure) for failure in found.alike_failures()), *found.remarks()):
        console.print(Text(f"  {in_words_of_the_command(line)}"), soft_wrap=True)


def comparison_tables(found: "Comparison", width: int) -> Iterator["Table"]:
    """Lay out the figures of each model, the best one first, in tables no wider than the screen."""
    from bayeswater.cli.terminal import pieces
    from bayeswater.models.comparing.comparison import TITLES

    rows = found.cells()
    columns = {title: [row[place] for row in rows] for place, title in enumerate(TITLES)}
    return pieces(found.title, columns, width, len(rows))


def document(found: "Comparison") -> dict[str, Any]:
    """Give the findings as a document."""
    columns = found.to_frame().to_pydict()
    models = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {
        "n_rows": found.n_rows,
        "n_classes": found.n_classes,
        "n_folds": found.n_folds,
        "n_rows_left_out": found.n_left_out,
        "best": found.best.name,
        "models": models,
        "remarks": found.remarks(),
    }


def require_picture(path: Path) -> None:
    """Refuse a picture that cannot be drawn before anything is compared."""
    from bayeswater.errors import ParameterError

    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ParameterError("--plot needs matplotlib; install it with: pip install 'bayeswater[plot]'") from None
    kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower().removeprefix(".") not in kinds:
        raise ParameterError(f"the ending of {str(path)!r} is no format of pictures; end the name in one of {kinds}")


def draw(display: Any, path: Path) -> None:
    """Draw a display into a file."""
    import matplotlib

    from bayeswater.cli.terminal import say
    from bayeswater.models.stored.folders import appearing

    matplotlib.use("Agg")  # draws into files, also where there is no screen
    with appearing(path) as file:
        display.plot().figure_.savefig(file, format=path.suffix.lower().removeprefix("."), bbox_inches="tight", dpi=150)
    say(f"drawn as {path}", "bold green")


def _save(found: "Comparison", X: Any, y: Any, path: Path) -> None:
    from bayeswater.cli.terminal import say
    from bayeswater.models.persistence import save

    ours = found.ours
    save(ours.fit_best(X, y), path)
    say(f"{ours.best.name}, fitted on all rows, saved as {path} ({path.stat().st_size:,} bytes)", "bold green")
    if found.best.is_peer:
        say(f"note: {found.best.name} did better, but model files hold our models alone", "yellow")
