"""Which tables are read in pieces: files, queries, streams and frames of engines; and which are here already."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bayeswater.data.frames import is_frame, library_of
from bayeswater.data.sources.paths import is_path
from bayeswater.data.sources.queries import is_query
from bayeswater.data.sources.recognising import are_paths, local_rows
from bayeswater.data.sources.rows import Rows
from bayeswater.engines.finding import engine_rows, rows_of


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
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr") or is_in_memory(X):
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
