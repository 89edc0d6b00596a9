"""`export`: a fitted model as a file of another language, or as its text."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bayeswater.errors import ParameterError
from bayeswater.exports.form import ScoringForm
from bayeswater.exports.forming import form_of
from bayeswater.records import record

DIALECTS = ("duckdb", "sqlite", "postgres", "mysql", "bigquery", "snowflake", "spark")

LANGUAGES = ("en", "zh")


@record
class ExportOptions:
    """What was asked for beside the model; None where nothing was."""

    name: str
    dialect: str | None = None
    single: bool = False
    lang: str | None = None
    table: str | None = None
    keep: tuple[str, ...] | None = None
    whole_rows: bool | None = None


Files = dict[str, str | bytes]
"""What is written, by the ending of its file, the main one first."""


def _python(form: ScoringForm, options: ExportOptions) -> Files:
    from bayeswater.exports.scripts import python_text

    return {".py": python_text(form)}


def _javascript(form: ScoringForm, options: ExportOptions) -> Files:
    from bayeswater.exports.scripts import javascript_text

    return {".js": javascript_text(form)}


def _sql(form: ScoringForm, options: ExportOptions) -> Files:
    from bayeswater.exports.sql.select import sql_text

    _require_whole_rows(form, options)
    return {".sql": sql_text(form, options.dialect or "duckdb", options.table or "rows", options.keep)}


def _c(form: ScoringForm, options: ExportOptions) -> Files:
    from bayeswater.exports.c.source import c_files

    return {**c_files(form, options.name, single=options.single)}


def _html(form: ScoringForm, options: ExportOptions) -> Files:
    from bayeswater.exports.scripts import html_text

    return {".html": html_text(form, options.name, options.lang or "en")}


def _onnx(form: ScoringForm, options: ExportOptions) -> Files:
    from bayeswater.exports.onnx.model import onnx_bytes

    _require_whole_rows(form, options)
    return {".onnx": onnx_bytes(form)}


def _require_whole_rows(form: ScoringForm, options: ExportOptions) -> None:
    """Refuse a model that sums over what is missing, unless it is said that nothing is."""
    needed = form.needed()
    if needed and not options.whole_rows:
        raise ParameterError(
            f"if {needed[0]!r} is missing or unseen in a row, {form.model} sums over its possible values, which SQL "
            "and ONNX cannot do; if all your rows are complete, give whole_rows=True (others are answered with NULL "
            "or NaN), or export it as C, JavaScript, Python or a page"
        )


@record
class Target:
    """A language: endings of its files, who writes them, and the options that it takes."""

    endings: tuple[str, ...]
    write: Callable[[ScoringForm, ExportOptions], Files]
    options: tuple[str, ...] = ()


TARGETS = {
    "sql": Target((".sql",), _sql, ("dialect", "table", "keep", "whole_rows")),
    "onnx": Target((".onnx",), _onnx, ("whole_rows",)),
    "c": Target((".c",), _c, ("single",)),
    "javascript": Target((".js", ".mjs"), _javascript),
    "html": Target((".html", ".htm"), _html, ("lang",)),
    "python": Target((".py",), _python),
}


def export(
    model: Any,
    target: Any,
    *,
    dialect: str | None = None,
    loss: Any = None,
    single: bool = False,
    lang: str | None = None,
    table: str | None = None,
    keep: Sequence[str] | None = None,
    whole_rows: bool = False,
) -> Any:
    """Write a fitted classifier as a program that gives the same answers without this library.

    Parameters
    ----------
    model : fitted classifier
        A NaiveBayes, drop-in, SPODE, TAN, AODE, KDB, SKDB or GaussianClassifier.
    target : path, or kind
        A path says by its ending what is written: .sql, .onnx, .c (and a .h beside it), .js or .mjs, .html, .py. A
        kind, "sql", "onnx", "c", "javascript", "html" or "python", gives the text (of "onnx" the bytes) instead.
    dialect : {"duckdb", "sqlite", "postgres", "mysql", "bigquery", "snowflake", "spark"}, optional
        Dialect of SQL; default "duckdb".
    loss : Loss, or anything that `Loss` reads, optional
        Costs; the program then also gives the action with the least expected cost.
    single : bool, default False
        Whether C calculates in single precision.
    lang : {"en", "zh"}, optional
        Language of the HTML page; default English.
    table : str, optional
        Name of the table that SQL selects from; default "rows".
    keep : names of columns, optional
        Columns of that table that SQL gives before its answers; default those of the model.
    whole_rows : bool, default False
        Whether rows lack no cell. SQL and ONNX cannot sum over what others depend on: `KDB`, `SKDB` and a
        `GaussianClassifier` of correlated columns are refused there without it, and with it such rows are NULL or NaN.

    Returns
    -------
    Path, str or bytes
        The file, or what would stand in it.

    Raises
    ------
    ParameterError, ResourceLimitError
        If the target cannot hold the model, or not at its size; an export is never an approximation.

    See Also
    --------
    save : Write a fitted model to a file; an existing one is replaced.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeswater import GaussianNB
    >>> model = GaussianNB().fit(np.array([[-1.0], [-2.0], [1.0], [2.0]]), ["left", "left", "right", "right"])
    >>> text = export(model, "python")
    >>> scope = {"__name__": "left_or_right"}
    >>> exec(text, scope)
    >>> scope["MODEL"].predict({"x0": -1.5})
    'left'
    """
    kind, path = _asked_for(target)
    given = {"dialect": dialect, "single": single or None, "lang": lang, "table": table, "keep": keep}
    given["whole_rows"] = whole_rows or None
    for option, value in given.items():
        if value is not None and option not in TARGETS[kind].options:
            raise ParameterError(f"{option}={value!r} has no meaning for {kind}; leave it out")
    for option, value, known in (("dialect", dialect, DIALECTS), ("lang", lang, LANGUAGES)):
        if value is not None and value not in known:
            raise ParameterError(f"{option} is {value!r}; it can be one of {list(known)}")
    name = "model" if path is None else path.stem
    options = ExportOptions(name, dialect, single, lang, table, None if keep is None else tuple(keep), whole_rows)
    files = TARGETS[kind].write(form_of(model, loss), options)
    if path is None:
        return next(iter(files.values()))
    for ending, content in files.items():
        own = path if ending == path.suffix or len(files) == 1 else path.with_suffix(ending)
        own.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def _asked_for(target: Any) -> tuple[str, Path | None]:
    """Tell the kind of a target, and its path, if it is one."""
    if isinstance(target, str) and target in TARGETS:
        return target, None
    path = Path(target)
    kind = next((kind for kind, known in TARGETS.items() if path.suffix.lower() in known.endings), None)
    if kind is None:
        endings = [ending for known in TARGETS.values() for ending in known.endings]
        raise ParameterError(
            f"target is {str(target)!r}; give a file that ends in one of {endings}, or a kind: {list(TARGETS)}"
        )
    return kind, path
