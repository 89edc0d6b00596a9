"""``bayeswater fit --by-period``: a folder with a model file for every period of a column of times."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeswater.models.streaming.labelled import LabelledRows


def require_period(by_period: str | None, time: str | None, model: str, folder: Path) -> None:
    """Refuse half of what is needed, models that keep no sums, and a folder that cannot be made."""
    from bayeswater.errors import ParameterError

    if (by_period is None) != (time is None):
        raise ParameterError("--by-period and --time COLUMN go together: the one says how long, the other when")
    if by_period is not None and model == "ensemble":
        raise ParameterError("an ensemble is no sum over rows, and has no periods; take another --model")
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
