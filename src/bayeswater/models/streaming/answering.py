"""Answers for rows that are no table in memory: those of a source, in pieces, and partial rows.

Files and streams give an iterator of Arrow tables, read and answered as they are asked for; an engine gives a lazy
frame of its own. A piece without rows has an answer without rows, in the same types. Where there are many classes, the
rows of a piece are scored a few at a time, and where an answer has many columns, files are cut into smaller pieces:
neither takes more than `BATCH_CELLS` numbers at once.

=========================  =============================================================
``predict``                prediction
``predict_proba``          P(yes), P(no), ..., a column for each class
``predict_log_proba``      log P(yes), ...
``predict_joint_log_proba``  log P(row, yes), ...
``log_evidence``           log P(row)
``decide``                 action; with ``return_risk=True`` also risk(refuse), ...
``expected_loss``          risk
=========================  =============================================================

A partial row is a dict, one of a list of dicts, or a Series whose index names columns. A cell that is None is missing.
One whose key is not there is not known: it is left out, also in a column where empty is a state, and also by a model
that refuses missing cells. Of counted features, one that is not there was not met: its count is 0.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import field
from functools import wraps
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeswater.data.frames import NOT_IN_ARROW
from bayeswater.data.matrix import column_name
from bayeswater.data.row_places import rows_among
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.paths import names_rows
from bayeswater.data.sources.rows import Rows
from bayeswater.data.sources.source import BATCH_CELLS
from bayeswater.data.sources.whole import whole_table
from bayeswater.decision.loss import as_loss
from bayeswater.errors import DataError, ParameterError, SchemaError, nearest_names
from bayeswater.models.streaming.sources import (
    column_names,
    column_styles,
    column_types,
    label_type,
    read_as_learned,
    rows_to_answer,
)
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

Method = TypeVar("Method", bound=Callable[..., Any])

TITLES = {
    "predict_proba": "P({})",
    "predict_log_proba": "log P({})",
    "predict_joint_log_proba": "log P(row, {})",
}
"""Names of columns that there are for each class."""

HEADING = "Parameters\n----------\n"

ROWS = """X : rows with the columns of `fit`
    A table in memory, or a source of rows (a file, a query, a frame of an engine): then answers come in pieces, as
    batches or as a lazy frame of the engine. Or partial rows: a dict {column: value}, a list of dicts, a Series with
    the names of columns for an index; a cell that is not there is not known.
"""
"""What methods that answer row by row are given."""


def over_rows(method: Method) -> Method:
    """Let a method that answers for rows in memory also answer for partial ones, and piece by piece for a source.

    Its docstring says what X may be.
    """
    said = cleandoc(method.__doc__ or "") + "\n"
    if HEADING in said:
        method.__doc__ = said.replace(HEADING, HEADING + ROWS, 1)
    else:
        method.__doc__ = said.replace("Returns\n", f"{HEADING}{ROWS}\nReturns\n", 1)

    @wraps(method)
    def answered(self: Any, X: Any, **given: Any) -> Any:
        model, X = partial_rows(self, X)
        rows = None if _are_texts(X, model) else rows_to_answer(X)
        return method(model, X, **given) if rows is None else answers(model, rows, method.__name__, given)

    return answered  # type: ignore[return-value]


def _are_texts(X: Any, model: Any) -> bool:
    """Tell texts to answer for from names of files: one for each row of a model that reads one column.

    Names are those that all have the ending of a file of rows, and no blank, or are there.
    """
    is_list = isinstance(X, list | tuple) and bool(X) and all(isinstance(text, str) for text in X)
    return is_list and vars(model).get("n_features_in_") == 1 and not all(map(names_rows, X))


def _require_fitted(model: Any) -> None:
    from sklearn.utils.validation import check_is_fitted  # it takes its time, and is there where a classifier is

    check_is_fitted(model)


def answers(model: Any, rows: Rows, method: str, given: Mapping[str, Any]) -> Any:
    """Give what a method of a fitted model says of every piece of rows, with the schema of the answers fixed before."""
    _require_fitted(model)
    if isinstance(given.get("prior"), str):
        raise ParameterError(
            "prior='estimate' looks at all rows before it decides the first, and these are read in pieces; estimate it "
            "from some rows, estimate_class_prior(X), and give that"
        )
    model, columns = _reading(model, rows)
    schema = _schema(model, method, given)
    own = {**given, "loss": as_loss(given["loss"], model.classes_)} if given.get("loss") is not None else dict(given)
    read = [*columns, *_cost_columns(own.get("loss"), rows, columns)]
    rows.require_columns(read)
    return rows.map(Answering(model, method, own, schema), schema, read)


def in_memory(model: Any, X: Any, what: str) -> tuple[Any, Any]:
    """Read partial rows, and those of a source, into a table, with the model that knows which cells are not known."""
    model, X = partial_rows(model, X)
    rows = None if _are_texts(X, model) else rows_to_answer(X)
    if rows is None:
        return model, X
    model, columns = _reading(model, rows)
    return model, whole_table(rows, columns, what, "give fewer rows")


@record
class Answering:
    """A function of an Arrow table: what a method of a model says of its rows."""

    model: Any
    method: str
    given: Mapping[str, Any]
    schema: "pa.Schema" = field(repr=False)

    def __call__(self, table: "pa.Table") -> "pa.Table":
        """Answer for the rows of a table."""
        import pyarrow as pa

        if not table.num_rows:
            return self.schema.empty_table()
        n_all, n_at_once = table.num_rows, max(1, BATCH_CELLS // len(self.model.classes_))
        if n_all <= n_at_once:
            return self._answer(table)
        parts = []
        for start in range(0, n_all, n_at_once):
            with rows_among(start, n_at_once, n_all):
                parts.append(self._answer(table.slice(start, n_at_once)))
        return pa.concat_tables(parts)

    def _answer(self, table: "pa.Table") -> "pa.Table":
        import pyarrow as pa

        found = getattr(self.model, self.method)(table, **self.given)
        if isinstance(found, tuple):
            parts = [found[0], *np.asarray(found[1]).T]
        else:
            parts = [found] if found.ndim == 1 else [*found.T]
        arrays = [_array(part, kind) for part, kind in zip(parts, self.schema.types, strict=True)]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def _array(cells: Any, kind: "pa.DataType") -> "pa.Array":
    import pyarrow as pa

    is_number = isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf"
    return pa.array(np.ascontiguousarray(cells) if is_number else list(cells.tolist()), kind)


def _reading(model: Any, rows: Rows) -> tuple[Any, list[str]]:
    """Name the columns of a source that a model reads: its own, in the types it knows, or all if it has no names.

    With them comes the model that does not know those of its columns that are not there.
    """
    if hasattr(model, "feature_names_in_"):
        names = column_names(model)
        read_as_learned(model, rows)
        model = not_knowing(model, rows.let_absent(names))
        rows.require_columns(names)
        if isinstance(rows, LocalRows):
            rows.declare(column_types(model), column_styles(model))
        return model, names
    names = list(rows.schema.names)
    if len(names) != model.n_features_in_:
        raise SchemaError(
            f"{rows.name} has {len(names)} columns, but {type(model).__name__} was fitted on {model.n_features_in_} "
            "without names; give a source of just these, in the same order"
        )
    return model, names


def _cost_columns(loss: Any, rows: Rows, columns: list[str]) -> list[str]:
    """Name further columns that costs are read from; a cost that is a function may look at any."""
    if loss is None or not loss.table.by_row:
        return []
    costs = list(loss.table.by_row.values())
    if any(isinstance(cost, np.ndarray) for cost in costs):
        raise ParameterError(
            "a cost is an array, one for each row, and these are read in pieces; name the column that holds it"
        )
    wanted = costs if all(isinstance(cost, str) for cost in costs) else rows.schema.names
    return [name for name in dict.fromkeys(wanted) if name not in columns]


def _schema(model: Any, method: str, given: Mapping[str, Any]) -> "pa.Schema":
    """Say which columns the answers have."""
    import pyarrow as pa

    labels = model.classes_.tolist()
    if method == "predict":
        return pa.schema([("prediction", label_type(model))])
    if method in TITLES:
        return pa.schema([(TITLES[method].format(label), pa.float64()) for label in labels])
    if method != "decide":
        return pa.schema([("log P(row)" if method == "log_evidence" else "risk", pa.float64())])
    table = as_loss(given.get("loss"), model.classes_).table
    actions = np.asarray(table.action_labels).tolist()
    risks = [(f"risk({action})", pa.float64()) for action in actions] if given.get("return_risk") else []
    return pa.schema([("action", pa.array(actions).type), *risks])


Model = TypeVar("Model")


def partial_rows(model: Any, X: Any) -> tuple[Any, Any]:
    """Give rows that are dicts as a table, and the model for which the cells that they lack are not known.

    All else is left as it is.
    """
    rows = rows_of_cells(X)
    if rows is None:
        return model, X
    _require_fitted(model)
    names = cell_names(model)
    for row in rows:
        for name in row:
            if name not in names:
                raise SchemaError(
                    f"a row names {name!r}, but there is no such column; {nearest_names(str(name), names)}"
                )
    if getattr(model, "count_of_absent", None) is not None:
        rows = [dict.fromkeys(names, model.count_of_absent) | dict(row) for row in rows]
    lacking = {name: np.array([name not in row for row in rows]) for name in names}
    absent = {name: mask for name, mask in lacking.items() if mask.any()}
    if absent:
        model = not_knowing(letting_missing_in(model), absent)
    is_named = hasattr(model, "columns_") or hasattr(model, "feature_names_in_")
    return model, table_of_rows(rows, names) if is_named else _cells(rows, names)


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


def _cells(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Array:
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
