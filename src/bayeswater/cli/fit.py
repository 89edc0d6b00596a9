"""``bayeswater fit``: count files, choose families, leave one out, calibrate, save.

Rows are read in pieces, as often as the model needs, and once more to leave each out in turn; only an ensemble holds
them in memory.
"""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayeswater.cli.options import (
    AS_USUAL,
    AsJson,
    BinsOfTarget,
    ColumnFamilies,
    DataFile,
    MinClassRows,
    ModelName,
    Preset,
    ReadingOptions,
    Target,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.cli.fit_report import FittedModel
    from bayeswater.data.sources.local_rows import LocalRows
    from bayeswater.models.streaming.labelled import LabelledRows


def fit(
    *data: DataFile,
    target: Target,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    target_bins: BinsOfTarget = None,
    min_class_rows: MinClassRows = None,
    model: ModelName = "naive-bayes",
    column: ColumnFamilies = None,
    ignore: list[str] | None = None,
    like: str | None = None,
    alpha: str = "auto",
    calibrate: bool = True,
    preset: Preset | None = None,
    time_limit: float | None = None,
    checkpoint: Path | None = None,
    by_period: Literal["hour", "day", "week", "month", "year"] | None = None,
    time: str | None = None,
    as_json: AsJson = False,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Learn a model from a table, and save it.

    Parameters
    ----------
    output
        Model file to write; .bayes is the usual ending.
    model
        Kind of model. All but ensemble read a large table in pieces; an ensemble holds it in memory.
    ignore
        Column to leave out.
    like
        Model file whose kind, columns, families, bins and smoothing to use, so that both models can be merged.
    alpha
        Smoothing: a number, or auto, which chooses it for each column in naive-bayes and is 1 in other models.
    calibrate
        Whether probabilities are calibrated by leave-one-out scores; those of an ensemble always are.
    preset
        For an ensemble: which families of members it has; balanced by default.
    time_limit
        For an ensemble: about how many seconds learning may take; it then has fewer members.
    checkpoint
        File that keeps the counts so far. If the command is stopped, the same command continues from there.
    by_period
        Write one model for each hour, day, week, month or year into the folder --output.
    time
        With --by-period: column that holds the time of each row; it is not learned from.
    """
    from bayeswater.cli.fit_report import print_report
    from bayeswater.cli.models import require_other_files
    from bayeswater.cli.terminal import warnings_once
    from bayeswater.data.sources.target_rules import target_rule
    from bayeswater.errors import ParameterError
    from bayeswater.models.persistence import save
    from bayeswater.models.stored.folders import require_folder
    from bayeswater.models.streaming.fitting import learned_from
    from bayeswater.models.streaming.labelled import LabelledRows

    require_period(by_period, time, model, output)
    if by_period is None:
        require_folder(output)
    if checkpoint is not None:
        _require_checkpoint(checkpoint, list(data), model)
        if target_bins is not None or min_class_rows is not None:
            raise ParameterError("--checkpoint keeps counts of classes as they stand in the file; leave it out")
    families, ignored = stated_families(column), [*(ignore or []), *([time] if time is not None else [])]
    if model.startswith("gaussian"):  # without families of columns: what is told to be ignored is left out before
        families, ignored = without_ignored(families, ignored)
    kind, settings = _kind_and_settings(model, families, _number_or_auto(alpha))
    settings |= _of_ensemble(model, preset, time_limit)
    if like is not None and (column or ignore or alpha != "auto" or model != "naive-bayes"):
        raise ParameterError(
            "--like takes over columns and smoothing; leave out --model, --column, --ignore and --alpha"
        )
    with reading.rows(list(data)) as rows, warnings_once():
        require_other_files(rows, output, checkpoint)
        if like is None:
            names = column_choice(rows, target, ignored, settings.get("columns") or ())
        else:
            kind, settings, names = _like(like, rows, target)
        rule = target_rule(rows, target, target_bins, min_class_rows)
        examples = LabelledRows(rows, target, columns=names, rule=rule)
        if time is not None and by_period is not None:
            of_all = kind(**{**settings, "calibrate": False})
            learned_from(of_all, examples, checkpoint)
            write_periods(of_all, examples, time, by_period, output, as_json=as_json)
            return
        learned = _learned(examples, kind, settings, calibrate=calibrate, checkpoint=checkpoint)
        warn_of_few_rows(learned.model.classes_.tolist(), learned.model.class_count_.tolist(), target)
    save(learned.model, output)
    print_report(learned, str(output), as_json=as_json)


def warn_of_few_rows(labels: list[Any], counts: list[float], target: str) -> None:
    """Say which classes have a single row, as one of totals has, and where there is only one class."""
    from bayeswater.errors import BayesWarning, warn_user

    lone = [label for label, count in zip(labels, counts, strict=True) if count == 1]
    if len(labels) == 1:
        warn_user(f"all rows have {labels[0]!r} in {target!r}: there is no other class to tell it from", BayesWarning)
    elif lone:
        shown = ", ".join(map(repr, lone[:5])) + f" and {len(lone) - 5:,} more" * (len(lone) > 5)
        are = f"{len(lone):,} of {len(labels):,} classes in {target!r} have" if len(lone) > 1 else "a class has"
        warn_user(
            f"{are} a single row: {shown}; if that is no class, but a row of totals or a slip, leave it out "
            "(--min-class-rows 2 leaves out all such rows) or correct it",
            BayesWarning,
        )


def _kind_and_settings(name: str, columns: dict[str, str] | None, alpha: Any) -> tuple[Any, dict[str, Any]]:
    """Give the class of a model and its parameters; refuse those that it does not have."""
    from bayeswater.errors import ParameterError
    from bayeswater.models.kinds import LADDER

    rung = LADDER[name]
    if rung.calibrates_itself and alpha != "auto":
        raise ParameterError(f"--model {name} smooths by what it finds in the rows; leave out --alpha")
    if rung.needs_numbers and (columns or alpha != "auto"):
        raise ParameterError(f"--model {name} reads all columns as numbers; leave out --column and --alpha")
    said = {"columns": columns} if columns or rung.kind == "NaiveBayes" else {}
    smoothing = {"alpha": alpha} if alpha != "auto" or rung.kind == "NaiveBayes" else {}
    return rung.model, {**rung.parameters, **rung.fixed, **said, **smoothing}


def _of_ensemble(name: str, preset: str | None, time_limit: float | None) -> dict[str, Any]:
    """Give the settings that only an ensemble has."""
    from bayeswater.errors import ParameterError

    given = {"preset": preset, "time_limit": time_limit}
    chosen = {setting: value for setting, value in given.items() if value is not None}
    if chosen and name != "ensemble":
        option = f"--{next(iter(chosen)).replace('_', '-')}"
        raise ParameterError(f"{option} is of an ensemble; leave it out, or say --model ensemble")
    return chosen


def column_choice(rows: "LocalRows", target: str, ignored: list[str], families: Collection[str]) -> list[str]:
    """Name the columns to learn from, all that a command names checked."""
    require_target(rows, target)
    rows.require_columns([*ignored, *families])
    return [name for name in rows.schema.names if name != target and name not in ignored]


def require_target(rows: "LocalRows", target: str) -> None:
    """Refuse a name that no column has, with the nearest ones."""
    from bayeswater.cli.models import files_of

    for file in files_of(rows):
        file.require_column(target, "target column")


def _like(path: str, rows: "LocalRows", target: str) -> tuple[Any, dict[str, Any], list[str]]:
    """Give the kind, the parameters and the columns of a model; the rows are read in the types that it needs."""
    from bayeswater.cli.models import load_model, require_columns, require_no_column
    from bayeswater.errors import SchemaError
    from bayeswater.families.settings import settings_like
    from bayeswater.models.kinds import LADDER
    from bayeswater.models.streaming.sources import (
        column_names,
        column_styles,
        column_types,
        label_type,
        read_as_learned,
    )

    model = load_model(path)
    if type(model).__name__ not in {rung.kind for rung in LADDER.values()}:
        raise SchemaError(f"{path} is a {type(model).__name__}; --like takes a model that `bayeswater fit` made")
    read_as_learned(model, rows)
    require_target(rows, target)
    require_no_column(model, path, target)
    require_columns(rows, model, path)
    rows.declare({**column_types(model), target: label_type(model)}, column_styles(model))
    settings = model.get_params()
    if "calibrate" in settings:
        settings["calibrate"] = False
    if "columns" in settings:
        settings["columns"] = settings_like(model.columns_, model.columns)
    if hasattr(model, "counted_parents_"):
        settings["parents"] = model.counted_parents_
    return type(model), settings, column_names(model)


def _learned(
    examples: "LabelledRows", kind: Any, settings: dict[str, Any], *, calibrate: bool, checkpoint: Path | None
) -> "FittedModel":
    """Count the rows, then read them again, each left out in turn."""
    from bayeswater.cli.fit_report import FittedModel
    from bayeswater.cli.terminal import passes_shown
    from bayeswater.families.settings import MDL
    from bayeswater.models.streaming.fitting import learned_from
    from bayeswater.models.streaming.sources import note_reading

    rows: Any = examples.rows
    if kind.__name__ == "BayesEnsemble":
        with passes_shown(rows, lambda: examples.under_way):
            X, y = _whole(examples, checkpoint)
        learned = kind(**settings).fit(X, y)
        note_reading(learned, rows)
        return FittedModel(learned, examples, None)
    # What leaving one out shows of naive Bayes is enough to calibrate it, unless the labels have cut its bins.
    at_once = kind.__name__ == "NaiveBayes" and MDL not in (settings.get("columns") or {}).values()
    model = kind(**{**settings, "calibrate": calibrate and not at_once})
    with passes_shown(rows, lambda: examples.under_way):
        review = learned_from(model, examples, checkpoint, lambda: model.leave_one_out(examples))
    if calibrate and at_once and model.weights is None:  # weights have their temperature in them
        model.calibrate_with(review)
    return FittedModel(model, examples, review)


def _whole(examples: "LabelledRows", checkpoint: Path | None) -> "tuple[pa.Table, pa.ChunkedArray]":
    """Read all rows that have a label, for a model that holds them in memory."""
    from bayeswater.cli.models import whole

    if checkpoint is not None:
        raise _without_checkpoint()
    return whole(examples, "an ensemble")


def stated_families(pairs: list[str] | None) -> dict[str, Any] | None:
    """Read what is said of columns, each as column=family, with a period as hour=von_mises:24."""
    from bayeswater.errors import ParameterError

    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, family = pair.rpartition("=")
        if not equals:
            raise ParameterError(f"--column {pair!r} names no family; write column=family, for example age=binned")
        family, colon, period = family.partition(":")
        found[name] = family
        if colon:
            try:
                found[name] = {"family": family, "period": float(period)}
            except ValueError:
                raise ParameterError(
                    f"--column {pair!r} gives no number after ':'; write the period, for example hour=von_mises:24"
                ) from None
    return found or None


def without_ignored(families: dict[str, Any] | None, ignored: list[str]) -> tuple[dict[str, Any] | None, list[str]]:
    """Part what is said of columns from those that are to be ignored, which join others."""
    from bayeswater.data.reading.column_plan import IGNORED

    left_out = [name for name, family in (families or {}).items() if family == IGNORED]
    rest = {name: family for name, family in (families or {}).items() if family != IGNORED}
    return rest or None, [*ignored, *left_out]


def _number_or_auto(alpha: str) -> Any:
    from bayeswater.errors import ParameterError

    try:
        return alpha if alpha == "auto" else float(alpha)
    except ValueError:
        raise ParameterError(f"--alpha is {alpha!r}; give auto, or a number that is 0 or more") from None


def _require_checkpoint(path: Path, data: list[str], model: str) -> None:
    """Refuse a checkpoint that cannot be written, or never be of use, before anything is read."""
    from bayeswater.data.sources.origin import Origin
    from bayeswater.errors import ParameterError
    from bayeswater.models.stored.folders import require_folder

    require_folder(path)
    if model == "ensemble":
        raise _without_checkpoint()
    once = [origin.name for origin in map(Origin, data) if not origin.can_be_reread]
    if once:
        raise ParameterError(
            f"--checkpoint: to continue, the rows are read again, and {once[0]} can be read only once; give a file"
        )


def _without_checkpoint() -> Exception:
    from bayeswater.errors import ParameterError

    return ParameterError("--checkpoint is for models that are counted; an ensemble looks at its rows many times")


def require_period(by_period: str | None, time: str | None, model: str, folder: Path) -> None:
    """Refuse half of what is needed, models that keep no sums, and a folder that cannot be made."""
    from bayeswater.errors import ParameterError

    if (by_period is None) != (time is None):
        raise ParameterError("--by-period and --time COLUMN go together: a length and a column of times")
    if by_period is not None and model == "ensemble":
        raise ParameterError("an ensemble is not a sum over rows, so it has no periods; take another --model")
    if by_period is not None and (folder.is_file() or not folder.absolute().parent.is_dir()):
        raise ParameterError(f"--output {str(folder)!r} is no folder, and none can be made there; name another")


def write_periods(
    learned: Any, examples: "LabelledRows", time: str, period: str, folder: Path, *, as_json: bool
) -> None:
    """Count each period by itself, and write its model into the folder."""
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import amount, passes_shown, say
    from bayeswater.models.drifting import models_by_period
    from bayeswater.models.persistence import save
    from bayeswater.models.streaming.labelled import LabelledRows

    rows: Any = examples.rows
    timed = LabelledRows(rows, examples.target, columns=[*examples.columns, time], rule=examples.rule)
    with passes_shown(rows, lambda: "counting periods"):
        models = models_by_period(learned, timed, time, period)
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for name, model in models.items():
        path = folder / f"{name}.bayes"
        save(model, path)
        written[str(path)] = float(model.class_count_.sum())
    if as_json:
        print_document({"folder": str(folder), "period": period, "models": written})
        return
    for path_name, n_rows in written.items():
        say(f"  {path_name}: {n_rows:,.6g} rows")
    say(
        f"{amount(len(written), 'model')} of one {period} each; any of them merge, and any two can be compared:",
        "bold green",
    )
    if len(written) > 1:
        first, last = next(iter(written)), list(written)[-1]
        say(f"  bayeswater drift {first} {last}")
