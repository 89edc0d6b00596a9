"""Model files and data files as verbs take them: a model with its columns, and rows in the types that it asks for.

The types come from the model and not from the file: a column of the labels "1" and "2" that were read as text is text
also in a file where it looks like numbers. Rows are read all at once, or in pieces of few rows, with cells as they are
written.
"""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from bayeswater.errors import DataError, ParameterError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.cli.costs import Costs
    from bayeswater.cli.options import ReadingOptions
    from bayeswater.data.sources.local_rows import LocalRows
    from bayeswater.data.sources.source import Source
    from bayeswater.models.streaming.labelled import LabelledRows

WORTH_TELLING = 2**28
"""Bytes of a table from which on it is said that it is held in memory."""

MOST_ROWS = 2**16
MOST_CELLS = 2**22
"""Rows that are answered at once, and probabilities of them."""


def files_of(rows: "LocalRows") -> "list[Source]":
    """Give the files that rows are read from."""
    from bayeswater.data.sources.source import Source

    return [part for part in rows.parts if isinstance(part, Source)]


def require_other_files(rows: "LocalRows", *outputs: Path | None) -> None:
    """Refuse to write a file over one of those that the rows are read from, under whatever name."""
    for output in outputs:
        if output is None or not output.is_file():
            continue
        for path in (file.origin.path for file in files_of(rows)):
            if path is not None and path.is_file() and output.samefile(path):
                raise ParameterError(f"{str(output)!r} holds the data, and would be written over; name another file")


def few_rows(n_rows: int, n_classes: int) -> Iterator[tuple[int, int]]:
    """Part rows so that the answers for those of a part need little room: where each begins, and how many they are.

    >>> list(few_rows(100_000, 2))
    [(0, 65536), (65536, 34464)]
    """
    n_at_once = max(1, min(MOST_ROWS, MOST_CELLS // n_classes))
    return ((start, min(n_at_once, n_rows - start)) for start in range(0, n_rows, n_at_once))


def whole(examples: "LabelledRows", holder: str) -> "tuple[pa.Table, pa.ChunkedArray]":
    """Read all rows that have a label at once, for what holds them; say so where they are many."""
    from bayeswater.models.streaming.fitting import whole_rows

    found = whole_rows(examples, holder, "leave out columns with --ignore, or take a model that is counted in pieces")
    say_what_is_held(found.X)
    return found.X, found.y


def say_what_is_held(table: "pa.Table") -> None:
    """Say that a large table is in memory."""
    from bayeswater.cli.terminal import say

    if table.nbytes >= WORTH_TELLING:
        say(f"note: all rows are held in memory at once, {table.nbytes / 1e6:,.0f} MB", "yellow")


def keep_as_written(source: "Source", added: list[str]) -> None:
    """Read columns that are kept beside the answers as they are written, where no type was declared for them."""
    import pyarrow as pa

    from bayeswater.data.sources.delimited import DelimitedSource

    clash = [name for name in source.schema.names if name in added]
    if clash:
        raise SchemaError(f"{source.name} has a column {clash[0]!r} of its own; rename it, or leave --keep out")
    source.keeps_dictionaries = False  # some batches would have dictionaries, and others not
    if isinstance(source, DelimitedSource):
        source.declare(dict.fromkeys(source.schema.names, pa.string()))


COUNTED = re.compile(r"x\d+")
"""Names of columns that have none, but are counted."""


def require_classifier(model: Any, path: str) -> None:
    """Refuse what stands around a classifier: it has no plan of columns to read a file by."""
    from bayeswater.models.persistence import WRAPPERS

    if type(model).__name__ in WRAPPERS:
        raise SchemaError(
            f"{path}: a {type(model).__name__} around a classifier is used from Python, on frames: "
            f"bayeswater.load({path!r}).predict(frame)"
        )


def load_model(path: str) -> Any:
    """Load a model that knows its columns by name."""
    from bayeswater.models.persistence import load

    model = load(path)
    require_classifier(model, path)
    if not hasattr(model, "predict"):
        raise SchemaError(
            f"{path}: a {type(model).__name__} has no class that it predicts; "
            f'ask it: bayeswater query {path} "P(A | B=b)"'
        )
    if not hasattr(model, "feature_names_in_"):
        raise SchemaError(
            f"{path}: this {type(model).__name__} was fitted on an array without column names, so no file can be "
            "matched to it; use it from Python, or fit it on a frame"
        )
    return model


def open_for(
    model: Any,
    path: str,
    reading: "ReadingOptions",
    data: list[str],
    *,
    target: str | None = None,
    costs: "Costs | None" = None,
    keep: bool = False,
) -> "LocalRows":
    """Open data files as one table in the types that a model needs, its columns checked in each of them.

    Parameters
    ----------
    model, path : the model and its file
    reading, data : how to read, and what
    target : column of labels, if there is one
    costs : of which some may stand in columns
    keep : whether all columns are read, and not only those that are needed; files may differ in the others
    """
    import pyarrow as pa

    from bayeswater.data.sources.target_rules import TargetBins, read_amounts
    from bayeswater.models.streaming.sources import (
        column_names,
        column_styles,
        column_types,
        label_type,
        read_as_learned,
    )

    of_costs = costs.columns if costs else ()
    further = {**dict.fromkeys(of_costs, "column of costs"), **({target: "target column"} if target else {})}
    types = {**dict.fromkeys(of_costs, pa.float64()), **column_types(model)}
    is_binned = TargetBins.of_classes(model.classes_) is not None
    if target is not None:
        require_no_column(model, path, target)
        types |= {} if is_binned else {target: label_type(model)}
    rows = reading.open_rows(data, None if keep else list(dict.fromkeys([*column_names(model), *further])))
    read_as_learned(model, rows)
    if target is None:
        _name_in_order(rows, column_names(model))
    absent = rows.let_absent(column_names(model))
    for file in files_of(rows):
        if not absent:
            require_columns(file, model, path)
        for name, what in further.items():
            file.require_column(name, what)
    rows.declare(types, column_styles(model))
    if target is not None and is_binned:
        read_amounts(rows, target)
    return rows


def _name_in_order(rows: "LocalRows", names: list[str]) -> None:
    """Call the columns of files without a header as a model does that was fitted on such a file, beside a target.

    There, columns were counted with the target among them; here it may not be there. Who has as many columns as the
    model reads, but not under their numbers, has them without the target.
    """
    from bayeswater.cli.terminal import say
    from bayeswater.data.sources.delimited import DelimitedSource

    if not all(map(COUNTED.fullmatch, names)):
        return
    for file in files_of(rows):
        if not isinstance(file, DelimitedSource) or file.has_names or len(file.schema.names) != len(names):
            continue
        if file.schema.names != names:
            file.call_columns(names)
            say(f"note: {file.name} has no target column; its columns are read as {', '.join(names)}", "yellow")


def require_no_column(model: Any, path: str, target: str) -> None:
    """Refuse a target that the model reads: it was fitted on another."""
    from bayeswater.models.streaming.sources import column_names

    if target in column_names(model):
        raise ParameterError(
            f"--target {target} names a column that {path} predicts from; name the one that holds its classes, "
            f"{_classes(model)}"
        )


def _classes(model: Any) -> str:
    return ", ".join(map(str, model.classes_.tolist()[:10])) + ", ..." * (len(model.classes_) > 10)


@contextmanager
def labels_explained(model: Any, path: str, target: str) -> Iterator[None]:
    """Name the classes of a model where a cell of the target column cannot be one of them."""
    from bayeswater.data.column_types import Misfit

    try:
        yield
    except Misfit as misfit:
        if misfit.column != target:
            raise
        raise DataError(
            f"{misfit.where}, column {target!r} holds {misfit.cell!r}, and the classes of {path} are "
            f"{_classes(model)}; is {target!r} the right column? If it is, {misfit.way_out}"
        ) from None


def require_columns(source: "Source | LocalRows", model: Any, path: str) -> None:
    """Refuse a file that lacks columns of the model, naming them."""
    from bayeswater.models.streaming.sources import column_names

    names = column_names(model)
    absent = [name for name in names if name not in source.schema.names]
    if not absent:
        return
    from bayeswater.errors import nearest_names

    unknown = [name for name in source.schema.names if name not in names]
    listed = ", ".join(map(repr, absent[:10])) + (f" and {len(absent) - 10} more" if len(absent) > 10 else "")
    raise SchemaError(
        f"{source.name}: column{'s' * (len(absent) > 1)} {listed} of the model {path} "
        f"{'is' if len(absent) == 1 else 'are'} missing"
        + (f"; {nearest_names(absent[0], unknown)}" if unknown else "")
        + (
            f" (a file without a header needs {_of_no_header(names, source)})"
            if len(absent) == len(names)
            else "; if nothing is known of them, give the rows as JSON lines, which may lack columns"
        )
    )


def _of_no_header(names: list[str], source: "Source | LocalRows") -> str:
    """Say how the columns of a file without a header get the names that a model knows."""
    if all(map(COUNTED.fullmatch, names)):
        return "--no-header"
    n_columns = len(source.schema.names)
    if n_columns != len(names):
        return f"--names, with {n_columns} names in the order of its columns"
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return f"--names {quote(line.getvalue())}, in the order of its columns"


def known_class(model: Any, name: str) -> Any:
    """Find the class that a person names."""
    from bayeswater.errors import nearest_names

    of_name = {str(label): label for label in model.classes_.tolist()}
    if name not in of_name:
        raise DataError(f"there is no class {name!r} in the model; {nearest_names(name, [*of_name])}")
    return of_name[name]


def require_explanations(model: Any) -> None:
    """Refuse a model that cannot give reasons."""
    if not hasattr(model, "explain"):
        raise SchemaError(f"a {type(model).__name__} gives no reasons; fit the data with `bayeswater fit`, which does")
