"""Rows of which some cells are not known: a dict, a list of dicts, or a Series whose index names columns.

A cell that is None is missing. One whose key is not there is not known: it is left out, also in a column where empty is
a state, and also by a model that refuses missing cells.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayeswater.data.frames import NOT_IN_ARROW
from bayeswater.data.matrix import column_name
from bayeswater.errors import DataError, SchemaError, nearest_names
from bayeswater.typing import Array

Model = TypeVar("Model")


def partial_rows(model: Any, X: Any) -> tuple[Any, Any]:
    """Give rows that are dicts as a table, and the model for which the cells that they lack are not known.

    All else is left as it is.
    """
    rows = rows_of_cells(X)
    if rows is None:
        return model, X
    check_is_fitted(model)
    names = cell_names(model)
    for row in rows:
        for name in row:
            if name not in names:
                raise SchemaError(
                    f"a row names {name!r}, but there is no such column; {nearest_names(str(name), names)}"
                )
    lacking = {name: np.array([name not in row for row in rows]) for name in names}
    absent = {name: mask for name, mask in lacking.items() if mask.any()}
    if absent:
        model = not_knowing(letting_missing_in(model), absent)
    is_named = hasattr(model, "columns_") or hasattr(model, "feature_names_in_")
    return model, table_of_rows(rows, names) if is_named else _array(rows, names)


def cell_names(model: Any) -> Sequence[str]:
    """Name the columns that a model reads, by number where it was fitted without names."""
    if hasattr(model, "columns_"):
        return list(model.columns_.sources)
    named = getattr(model, "feature_names_in_", None)
    return [column_name(named, j) for j in range(model.n_features_in_)]


def rows_of_cells(X: Any) -> Sequence[Mapping[str, Any]] | None:
    """Give the rows of X, if it is a dict of cells, a list of such, or a Series with names for an index; else None."""
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):  # a sparse matrix may be kept in a dict
        is_row = all(isinstance(cell, str) or not hasattr(cell, "__len__") for cell in X.values())
        return [X] if is_row else None  # lists are columns
    if isinstance(X, list | tuple):
        return X if X and all(isinstance(row, Mapping) for row in X) else None
    is_row = type(X).__name__ == "Series" and hasattr(X, "index") and len(X) > 0
    return [dict(X)] if is_row and all(isinstance(label, str) for label in X.index) else None


def table_of_rows(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Any:
    """Make an Arrow table of rows; a cell that is not there is missing."""
    import pyarrow as pa

    columns = {}
    for name in names:
        cells = [row.get(name) for row in rows]
        try:
            columns[name] = pa.array(cells, from_pandas=True)
        except NOT_IN_ARROW as error:
            raise DataError(f"the cells of {name!r} are of several kinds: {error}; give them one type") from None
    return pa.table(columns)


def _array(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Array:
    cells = [[row.get(name, np.nan) for name in names] for row in rows]
    return np.array(cells, dtype=object if any(isinstance(cell, str) for row in cells for cell in row) else None)


def letting_missing_in(model: Model) -> Model:
    """Give the same model, for which a missing cell is one that is not known yet."""
    if vars(model).get("missing") != "error":
        return model
    asking = copy(model)
    vars(asking).update(missing="ignore", _memo={})
    return asking


def not_knowing(model: Model, absent: Mapping[str, Array | slice] | Sequence[str]) -> Model:
    """Give the same model, for which columns, or marked cells of them, are not known, also where empty is a state."""
    if not absent:
        return model
    absent = absent if isinstance(absent, Mapping) else dict.fromkeys(absent, slice(None))
    asking = object.__new__(type(model))
    vars(asking).update(vars(model), _unknown=absent)  # what was read off its sums serves it, too
    return asking
