"""Which tables are read in pieces: files, queries, streams and frames of engines; and which are here already."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayeswater.data.frames import is_frame, library_of
from bayeswater.data.sources.recognising import local_rows
from bayeswater.data.sources.rows import Rows
from bayeswater.engines.finding import engine_rows, rows_of

QUERIES = ("polars", "duckdb", "_duckdb", "pyarrow._dataset", "pyarrow.dataset")
"""Modules of types that are read in pieces though they can be made a table."""


def rows_to_learn(X: Any) -> Rows | None:
    """Give the rows behind a source of which a column holds the labels; None for what has no columns with names."""
    if isinstance(X, Rows):
        return X
    if _is_query(X):
        return local_rows(X)
    return None if isinstance(X, np.ndarray) or hasattr(X, "tocsr") else rows_of(X)


def rows_to_answer(X: Any) -> Rows | None:
    """Give the rows behind a source that is to be answered for in pieces; None for all that is answered at once.

    An Arrow stream is answered at once, as any table is: who wants it in pieces gives an iterator of its batches.
    """
    if isinstance(X, Rows):
        return X
    if isinstance(X, np.ndarray) or is_in_memory(X) or hasattr(X, "tocsr"):
        return None
    if isinstance(X, str | os.PathLike) or _are_paths(X):
        return rows_of(X)
    if _is_query(X):
        return local_rows(X)
    rows = engine_rows(X)
    if rows is not None:
        return rows
    return rows_of(X) if isinstance(X, Iterator) and not hasattr(X, "__arrow_c_stream__") else None


def is_in_memory(X: Any) -> bool:
    """Tell whether X is a frame whose rows are all here."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.Table | pyarrow.RecordBatch):
        return True
    return is_frame(X) and (library_of(X) == "pandas" or (library_of(X) == "polars" and hasattr(X, "to_numpy")))


def _is_query(X: Any) -> bool:
    return type(X).__module__.startswith(QUERIES) and not hasattr(X, "__array__")


def _are_paths(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(part, str | os.PathLike) for part in X)
