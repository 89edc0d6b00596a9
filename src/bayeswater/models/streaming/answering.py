"""Answers for the rows of a source, in pieces: batches in, batches out.

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
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayeswater.data.row_places import rows_among
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.paths import names_rows
from bayeswater.data.sources.rows import Rows
from bayeswater.data.sources.source import BATCH_CELLS
from bayeswater.data.sources.whole import whole_table
from bayeswater.decision.loss import as_loss
from bayeswater.errors import ParameterError, SchemaError
from bayeswater.models.streaming.partial_rows import not_knowing, partial_rows
from bayeswater.models.streaming.sources import (
    column_names,
    column_styles,
    column_types,
    label_type,
    read_as_learned,
    rows_to_answer,
)

if TYPE_CHECKING:
    import pyarrow as pa

Method = TypeVar("Method", bound=Callable[..., Any])

TITLES = {
    "predict_proba": "P({})",
    "predict_log_proba": "log P({})",
    "predict_joint_log_proba": "log P(row, {})",
}
"""Names of columns that there are for each class."""


def over_rows(method: Method) -> Method:
    """Let a method that answers for rows in memory also answer for partial ones, and piece by piece for a source."""

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


def answers(model: Any, rows: Rows, method: str, given: Mapping[str, Any]) -> Any:
    """Give what a method of a fitted model says of every piece of rows, with the schema of the answers fixed before."""
    check_is_fitted(model)
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


@dataclass(frozen=True)
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
