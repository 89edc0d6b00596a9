"""``bayeswater merge``: the sums of several models, as one."""

import re
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bayeswater.cli.options import AsJson


def merge(
    first: Annotated[str, Parameter(help="Model whose parameters are kept.")],
    second: Annotated[str, Parameter(help="Model to add.")],
    /,
    *more: Annotated[str, Parameter(help="Further models to add.")],
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="File for the sum.")],
    as_json: AsJson = False,
) -> None:
    """Add models that were fitted apart, as if fitted on all their rows."""
    from bayeswater.cli.model_report import report
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
