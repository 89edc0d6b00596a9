"""What stands before a pass: which tables are read in pieces, in which types, and how far reading has come.

Files, queries, streams and frames of engines are read in pieces; all else is here already. The types of columns come
from the model and not from a file: a column of the labels "1" and "2" that were read as text is text also in a file
where it looks like numbers.
"""

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import is_frame, library_of
from bayeswater.data.reading.cell_style import CellStyle
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.parts import Progress
from bayeswater.data.sources.paths import is_path
from bayeswater.data.sources.queries import is_query
from bayeswater.data.sources.recognising import are_paths, local_rows
from bayeswater.data.sources.rows import Rows
from bayeswater.engines.finding import engine_rows, rows_of
from bayeswater.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa


def rows_to_learn(X: Any) -> Rows | None:
    """Give the rows behind a source of which a column holds the labels; None for what has no columns with names."""
    if isinstance(X, Rows):
        return X
    return None if isinstance(X, np.ndarray) or hasattr(X, "tocsr") else rows_of(X)


def rows_to_answer(X: Any) -> Rows | None:
    """Give the rows behind a source that is to be answered for in pieces; None for all that is answered at once.

    These are arrays, lists of rows, and frames, of whatever library, that can be read again.
    """
    if isinstance(X, Rows):
        return X
    if isinstance(X, np.ndarray) or is_in_memory(X) or hasattr(X, "tocsr"):
        return None
    rows = engine_rows(X)
    if rows is not None:
        return rows
    return local_rows(X) if is_path(X) or are_paths(X) or is_query(X) or _comes_in_tables(X) else None


def is_in_memory(X: Any) -> bool:
    """Tell whether X is a frame whose rows are all here."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.Table | pyarrow.RecordBatch):
        return True
    return is_frame(X) and (library_of(X) == "pandas" or (library_of(X) == "polars" and hasattr(X, "to_numpy")))


def _comes_in_tables(X: Any) -> bool:
    """Tell tables that come one after the other from rows in a list, and from what is an array or becomes one."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(is_frame(part) and hasattr(part, "columns") for part in X)
    if isinstance(X, Iterator):  # also a reader of Arrow batches
        return True
    if hasattr(X, "__array__") or is_frame(X):
        return False
    return callable(X) or (isinstance(X, Iterable) and not hasattr(X, "__len__"))


STRINGS = re.compile(r"(large_|)string(_view|)|str|object|category|String|Utf8|Categorical.*|Enum.*")
DICTIONARY = re.compile(r"dictionary<values=([^,]+),.*")
NUMBERS = re.compile(r"(u?int|float|Int|UInt|Float)\d+|double|halffloat|decimal.*")


def column_names(model: Any) -> list[str]:
    """Name the columns that a model reads."""
    return [str(name) for name in model.feature_names_in_]


def column_types(model: Any) -> "dict[str, pa.DataType]":
    """Give the types in which a model has to be handed its columns."""
    import pyarrow as pa

    found: dict[str, pa.DataType | None]
    if hasattr(model, "columns_"):
        # A date is several columns, of which the first has the type of the source.
        found = {c.source: _type_of(c.family, c.dtype or "") for c in reversed(list(model.columns_))}
    elif hasattr(model, "categories_"):
        labels = zip(column_names(model), model.categories_, strict=True)
        found = {name: pa.array(states.tolist()).type for name, states in labels if len(states)}
    else:
        found = dict.fromkeys(column_names(model), pa.float64())
    found |= dict.fromkeys(name for name, style in column_styles(model).items() if style.kind != "plain")
    return {name: kind for name, kind in found.items() if kind is not None}


def column_styles(model: Any) -> Mapping[str, CellStyle]:
    """Say how cells were written in the columns that a model was fitted on."""
    if not hasattr(model, "columns_"):
        return model.read_as_.styles
    return {c.source: c.style for c in model.columns_ if c.style is not None}


def note_reading(model: Any, rows: Rows) -> None:
    """Let a model know how the files were read that it has learned from; a plan of columns has their styles already."""
    if not isinstance(rows, LocalRows):
        return
    read_as, reads_words = rows.read_as(), model.__sklearn_tags__().input_tags.string
    names = () if hasattr(model, "columns_") else read_as.styles.keys() & set(column_names(model))
    styles = {name: read_as.styles[name].of_states if reads_words else read_as.styles[name] for name in sorted(names)}
    model.read_as_ = replace(read_as, styles=styles)


def read_as_learned(model: Any, rows: Rows) -> None:
    """Let files be read as those that a model has learned from, before they are looked at."""
    if isinstance(rows, LocalRows):
        rows.expect(column_names(model))
        rows.suppose(model.read_as_)
        rows.declare({}, column_styles(model))  # so that no doubt is said that the model has settled


def label_type(model: Any) -> "pa.DataType":
    """Give the type of the classes of a model."""
    import pyarrow as pa

    return pa.array(model.classes_.tolist()).type


def _type_of(family: str, dtype: str) -> "pa.DataType | None":
    """Give the type for a family and the name that a library has for the type it was fitted with; None for any."""
    import pyarrow as pa

    values = DICTIONARY.fullmatch(dtype)
    dtype = values[1] if values else dtype
    if family == "ignored" and "<" in dtype:  # objects and lists, which no string can be made of
        return None
    if STRINGS.fullmatch(dtype) or family == "ignored":  # what is left out may hold anything
        return pa.string()
    if NUMBERS.fullmatch(dtype):
        # As labels, numbers have to be the same type again; as amounts, 3 and 3.0 are one.
        return pa.int64() if family == "categorical" and "int" in dtype.lower() else pa.float64()
    try:
        return pa.type_for_alias(dtype.lower())
    except ValueError:
        return None


EVERY_SECONDS = 0.5
"""Time between two lines."""


@contextmanager
def reported_progress(rows: Rows, progress: Any) -> Iterator[None]:
    """Tell how far the rows of files have come; the rows of an engine are shown by the engine."""
    if progress is None or progress is False or not isinstance(rows, LocalRows):
        yield
        return
    if progress is not True and not callable(progress):
        raise ParameterError(f"progress is {progress!r}; give True, or a function that takes a Progress")
    before, rows.progress = rows.progress, ProgressLine() if progress is True else progress
    try:
        yield
    finally:
        if isinstance(rows.progress, ProgressLine):
            rows.progress.end()
        rows.progress = before


class ProgressLine:
    """A line on standard error that says how many rows were read, how fast, and how long the rest will take."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began, self._said = clock, clock(), float("-inf")
        self._last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Say it, not too often; another pass begins anew."""
        now = self._clock()
        if self._last is None or progress.n_rows < self._last.n_rows:
            self._began = now
        self._last = progress
        if now - self._said >= EVERY_SECONDS:
            self._said = now
            sys.stderr.write(f"\r{in_words(progress, now - self._began)}\x1b[K")
            sys.stderr.flush()

    def end(self) -> None:
        """Clear the line."""
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def in_words(progress: Progress, seconds: float) -> str:
    """Say how far reading has come after so many seconds.

    >>> in_words(Progress(n_rows=1000, total_rows=4000, n_bytes=0, total_bytes=None), 2.0)
    '1,000 rows, 25 %, 500 rows/s, 0:06 left'
    """
    said = [f"{progress.n_rows:,} rows"]
    share = progress.fraction
    if share is not None:
        said.append(f"{100 * share:.0f} %")
    if seconds > 0:
        said.append(f"{progress.n_rows / seconds:,.0f} rows/s")
        if share:
            left = round(seconds * (1 - share) / share)
            said.append(f"{left // 60}:{left % 60:02d} left")
    return ", ".join(said)
