"""``bayeswater fit``: count a file, choose families, leave one out, calibrate, save.

Naive Bayes streams: its families are chosen by sums. All other models cut numbers and choose structure by the rows
themselves, so they hold the table in memory.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayeswater.cli.options import AsJson, DataFile, ModelName, Target
from bayeswater.cli.reading import AS_USUAL, Reading

if TYPE_CHECKING:
    from bayeswater.cli.rows import LabelledRows
    from bayeswater.data.sources.source import Source


def fit(
    data: DataFile,
    /,
    *,
    target: Target,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    model: ModelName = "naive-bayes",
    column: list[str] | None = None,
    ignore: list[str] | None = None,
    like: str | None = None,
    alpha: str = "auto",
    calibrate: bool = True,
    as_json: AsJson = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Learn a model from a table, and save it.

    Parameters
    ----------
    output
        File for the model; .bayes is the usual ending.
    model
        Kind of model; all but naive-bayes hold the table in memory.
    column
        Family of a column, as age=binned: auto, categorical, bernoulli, gaussian, lognormal, poisson, binned, text,
        multinomial, complement, marks, ignored; mdl is binned where that tells the classes apart.
    ignore
        Column to leave out.
    like
        Model whose kind, columns, families, bins and smoothing are taken over, so that both can be merged.
    alpha
        Smoothing: auto, which is 1 for all but naive-bayes, or a number.
    calibrate
        Whether probabilities are corrected by what leaving one out shows.
    """
    from bayeswater.cli.fit_report import print_report
    from bayeswater.cli.words import warnings_told_once
    from bayeswater.errors import ParameterError
    from bayeswater.models.persistence import save

    require_folder(output)
    kind, settings = _kind_and_settings(model, _families(column or []), _number_or_auto(alpha))
    if like is not None and (column or ignore or alpha != "auto" or model != "naive-bayes"):
        raise ParameterError(
            "--like takes over columns and smoothing; leave out --model, --column, --ignore and --alpha"
        )
    with reading.open_to_reread(data) as source, warnings_told_once():
        if like is None:
            names = column_choice(source, target, ignore or [], settings.get("columns") or ())
        else:
            kind, settings, names = _like(like, source, target)
        learned = _learned(source, target, kind, settings, names, calibrate=calibrate)
    save(learned.model, output)
    print_report(learned, str(output), as_json=as_json)


@dataclass(frozen=True)
class Batches:
    """Rows to count, read from the start whenever they are asked for: calibration by rows held out asks twice."""

    rows: "LabelledRows"

    def __iter__(self) -> Iterator[Any]:
        return self.rows.read("counting")


@dataclass(frozen=True)
class Learned:
    """A fitted model, the rows it was fitted on, and how well it does on each of them without it."""

    model: Any
    rows: "LabelledRows"
    review: Any


def _kind_and_settings(name: str, columns: dict[str, str] | None, alpha: Any) -> tuple[Any, dict[str, Any]]:
    """Give the class of a model and its parameters; refuse those that it does not have."""
    from bayeswater.errors import ParameterError
    from bayeswater.models.comparing.ladder import LADDER
    from bayeswater.models.mixed.naive_bayes import NaiveBayes

    rung = LADDER[name]
    if rung.needs_numbers and (columns or alpha != "auto"):
        raise ParameterError(f"--model {name} reads all columns as numbers; leave out --column and --alpha")
    said = {"columns": columns} if columns or rung.model is NaiveBayes else {}
    smoothing = {"alpha": alpha} if alpha != "auto" or rung.model is NaiveBayes else {}
    return rung.model, {**rung.parameters, **said, **smoothing}


def column_choice(source: "Source", target: str, ignored: list[str], told: Collection[str]) -> list[str]:
    """Name the columns to learn from, all that a command names checked."""
    source.require_column(target, "target column")
    for name in [*ignored, *told]:
        source.require_column(name)
    return [name for name in source.schema.names if name != target and name not in ignored]


def _like(path: str, source: "Source", target: str) -> tuple[Any, dict[str, Any], list[str]]:
    """Give the kind, the parameters and the columns of a model; the source is read in the types that it needs."""
    from bayeswater.cli.models import column_names, column_types, label_type, load_model, require_columns
    from bayeswater.errors import SchemaError
    from bayeswater.models.comparing.ladder import LADDER
    from bayeswater.models.mixed.column_settings import settings_like
    from bayeswater.models.semi_naive.dependence_classifier import DependenceClassifier

    model = load_model(path)
    if all(type(model) is not rung.model for rung in LADDER.values()):
        raise SchemaError(f"{path} is a {type(model).__name__}; --like takes a model that `bayeswater fit` made")
    source.require_column(target, "target column")
    require_columns(source, model, path)
    source.declare({**column_types(model), target: label_type(model)})
    settings = {**model.get_params(), "calibrate": False}
    if "columns" in settings:
        settings["columns"] = settings_like(model.columns_, model.columns)
    if isinstance(model, DependenceClassifier):
        settings["parents"] = model.parents_
    return type(model), settings, column_names(model)


def _learned(
    source: "Source", target: str, kind: Any, settings: dict[str, Any], names: list[str], *, calibrate: bool
) -> Learned:
    """Count the rows, then read them again, each left out in turn."""
    from bayeswater.cli.rows import LabelledRows
    from bayeswater.models.mixed.column_settings import MDL
    from bayeswater.models.mixed.naive_bayes import NaiveBayes

    source.keeps_dictionaries = True
    rows = LabelledRows(source, target, names)
    if kind is not NaiveBayes:
        X, y = rows.whole("reading")
        model = kind(**{**settings, "calibrate": calibrate}).fit(X, y)
        return Learned(model, rows, model.leave_one_out([(X, y)]))
    cut_by_labels = MDL in (settings.get("columns") or {}).values()
    model = _streamed(rows, {**settings, "calibrate": calibrate and cut_by_labels})
    with rows.named():
        review = model.leave_one_out(rows.read("leaving one out"))
    if calibrate and not cut_by_labels:
        model.calibrate_with(review)
    return Learned(model, rows, review)


def _streamed(rows: "LabelledRows", settings: dict[str, Any]) -> Any:
    """Count rows as they are read, again from the start where a type does not hold."""
    from bayeswater.cli.words import say
    from bayeswater.data.sources.source import TypesWidened
    from bayeswater.models.mixed.naive_bayes import NaiveBayes

    while True:
        try:
            with rows.named():
                return NaiveBayes(**settings).fit_batches(Batches(rows))
        except TypesWidened as change:
            say(f"note: {change}", "yellow")


def _families(pairs: list[str]) -> dict[str, str] | None:
    from bayeswater.errors import ParameterError

    found = {}
    for pair in pairs:
        name, equals, family = pair.rpartition("=")
        if not equals:
            raise ParameterError(f"--column {pair!r} names no family; write column=family, for example age=binned")
        found[name] = family
    return found or None


def _number_or_auto(alpha: str) -> Any:
    from bayeswater.errors import ParameterError

    try:
        return alpha if alpha == "auto" else float(alpha)
    except ValueError:
        raise ParameterError(f"--alpha is {alpha!r}; give auto, or a number that is 0 or more") from None


def require_folder(output: Path) -> None:
    """Refuse a place that cannot be written to before hours are spent on counting."""
    from bayeswater.errors import ModelFileError

    if not output.parent.is_dir():
        raise ModelFileError(f"cannot write {str(output)!r}: there is no folder {str(output.parent)!r}; make it first")
    if output.is_dir():
        raise ModelFileError(f"cannot write {str(output)!r}: it is a folder; name a file in it")
