"""`fit(source, target=...)` and `score(source, target=...)`: where labelled rows are found, and which road they go.

A table that is in memory is parted into columns and labels and fitted as ever. So is a source whose first rows are all
its rows. All others are read in pieces (`passes`); models that look at rows many times read them into memory, once and
as long as there is room for them (`data.sources.whole`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeswater.data.frames import frame_names, take_columns
from bayeswater.data.labels import one_dimensional
from bayeswater.data.row_places import Stretch, original_rows, rows_named
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.rows import Rows
from bayeswater.data.sources.source import TypesWidened
from bayeswater.data.sources.whole import whole_table
from bayeswater.data.weights import take_rows
from bayeswater.errors import BayesWarning, DataError, ParameterError, SchemaError, nearest_names, warn_user
from bayeswater.models.streaming.labelled import LabelledRows, require_labels_alone
from bayeswater.models.streaming.passes import Piece, require_no_checkpoint, require_rereading
from bayeswater.models.streaming.sources import (
    column_names,
    column_styles,
    column_types,
    is_in_memory,
    label_type,
    note_reading,
    read_as_learned,
    reported_progress,
    rows_to_learn,
)
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.streaming.checkpoint import Checkpoint


def fit_source(
    model: Any, source: Any, y: Any, sample_weight: Any, target: Any, checkpoint: Any = None, progress: Any = None
) -> Any:
    """Fit a model to a source, of which one column holds the labels."""
    require_target(target, y)
    if is_in_memory(source):
        require_no_checkpoint(checkpoint)
        return model.fit(*parted(source, target, sample_weight))
    examples = labelled_rows(source, target, sample_weight)
    with reported_progress(examples.rows, progress):
        learned_from(model, examples, checkpoint)
    return model


def require_target(target: Any, y: Any) -> None:
    """Refuse what is no name of a column, and labels beside it."""
    if y is not None:
        raise ParameterError(f"target names the column of labels, {target!r}, so there is no y to give; leave y out")
    if not isinstance(target, str):
        raise ParameterError(f"target is {target!r}; give the name of the column of labels")


def labelled_rows(source: Any, target: str, sample_weight: Any, model: Any = None) -> LabelledRows:
    """Give the rows of a source that is read in pieces, as a model does; refuse what has no columns with names."""
    rows = rows_to_learn(source)
    if rows is None:
        raise DataError(
            f"X is a {type(source).__name__}, whose columns have no names, so none can be the target; give a frame, a "
            "file or another source with names, or fit(X, y)"
        )
    if not (sample_weight is None or isinstance(sample_weight, str)):
        raise ParameterError("sample_weight must be the name of a column of the source")
    columns = _columns_of(model)
    if columns is not None:
        read_as_learned(model, rows)
    return LabelledRows(rows, target, sample_weight, columns)


def _columns_of(model: Any) -> list[str] | None:
    """Names of the columns that a model predicts from, if it knows them."""
    return column_names(model) if hasattr(model, "feature_names_in_") else None


def learned_from(
    model: Any, examples: LabelledRows, checkpoint: Any = None, then: Callable[[], Any] = lambda: None
) -> Any:
    """Fit a model to labelled rows, at once where they are few; give what is found `then`, in the same count."""
    while True:
        try:
            found = _learned(model, examples, checkpoint, then)
            break
        except TypesWidened as change:  # the rows are read in other types from now on
            warn_user(str(change), BayesWarning)
            examples.begin_anew()
    note_reading(model, examples.rows)
    if examples.n_unlabelled:
        warn_of_unlabelled(examples.n_unlabelled, examples.target)
    return found


def _learned(model: Any, examples: LabelledRows, path: Any, then: Callable[[], Any]) -> Any:
    if path is not None:
        examples.checkpoint = _checkpoint(model, examples, path)
    try:
        if examples.fits_into_head:
            rows = examples.whole()
            with examples.head_named():
                model.fit(*rows[:3])
                return then()
        if examples.checkpoint is not None:
            examples.checkpoint.begin()
        model.fit(examples)
        found = then()
    except TypesWidened:
        if examples.checkpoint is not None:
            examples.checkpoint.remove()  # what was counted so far was read otherwise
        raise
    if examples.checkpoint is not None:
        examples.checkpoint.remove()
    return found


def _checkpoint(model: Any, examples: LabelledRows, path: Any) -> "Checkpoint":
    if not isinstance(examples.rows, LocalRows):
        raise ParameterError(
            f"checkpoint is {str(path)!r}, but {examples.name} is counted by an engine, which runs lost tasks again by "
            "itself; leave the checkpoint out"
        )
    require_rereading(examples, "a count that goes on from a checkpoint reads the rows again")
    from bayeswater.models.streaming.checkpoint import Checkpoint  # few ask for one

    return Checkpoint(path, examples.rows, examples.needed(examples.columns), model)


def warn_of_unlabelled(n_rows: int, target: str) -> None:
    """Say that rows without a label were left out."""
    rows, were = ("row has", "was") if n_rows == 1 else ("rows have", "were")
    warn_user(f"{n_rows:,} {rows} no value in {target!r} and {were} left out", BayesWarning)


def parted(frame: Any, target: str, sample_weight: Any, columns: Sequence[str] = ()) -> tuple[Any, Any, Any]:
    """Part a frame into columns, labels and weights, of which a model may read some as `columns`, too.

    Rows without a label are left out.
    """
    weight = sample_weight if isinstance(sample_weight, str) else None
    names = frame_names(frame)
    for name, what in ((target, "target column"), *([(weight, "column of weights")] if weight else [])):
        if name not in names:
            raise SchemaError(f"there is no {what} {name!r} in X; {nearest_names(str(name), names)}")
    require_labels_alone(target, weight, columns)
    kept = [name for name in names if name not in (target, weight) or name in columns]
    known = _have_labels(frame[target])
    if not known.all():
        warn_of_unlabelled(int((~known).sum()), target)
        frame = take_rows(frame, known)
        sample_weight = sample_weight if sample_weight is None or weight else np.asarray(sample_weight)[known]
    return take_columns(frame, kept), frame[target], sample_weight if weight is None else frame[weight]


def _have_labels(labels: Any) -> Array:
    """Mark the rows that have a label: (n_rows,)."""
    if hasattr(labels, "isna"):  # pandas
        return np.asarray(labels.notna())
    import pyarrow as pa
    import pyarrow.compute as pc

    column = labels if isinstance(labels, pa.ChunkedArray) else pa.chunked_array([pa.array(labels)])
    return ~np.asarray(pc.is_null(column, nan_is_null=True))


WAY_OUT = (
    "read fewer columns, bayeswater.local_rows(source, columns=[...]), or fewer rows; take a model that is counted in "
    "pieces, such as NaiveBayes or AODE; or give a table that is in memory already"
)
"""Of one who has more rows than memory holds."""


class Whole(NamedTuple):
    """All rows that have a label, their labels and weights; the source that they are of, and which of its rows."""

    X: Any
    y: Any
    weight: Any
    rows: Rows | None = None
    kept: Array | None = None

    @contextmanager
    def named(self) -> Iterator[None]:
        """Give errors about rows the name of the source, and the numbers that rows have there."""
        if self.rows is None or self.kept is None:
            yield
            return
        with rows_named([Stretch(self.rows.name, 0, len(self.kept))]), original_rows(self.kept):
            yield


def fit_whole(model: Any, source: Any, y: Any, sample_weight: Any, target: Any, progress: Any = None) -> Any:
    """Fit a model that looks at its rows many times to a source, of which one column holds the labels."""
    whole = whole_source(source, y, sample_weight, target, type(model).__name__, progress)
    with whole.named():
        model.fit(whole.X, whole.y, whole.weight)
    if whole.rows is not None:
        note_reading(model, whole.rows)
    return model


def whole_source(source: Any, y: Any, sample_weight: Any, target: Any, holder: str, progress: Any = None) -> Whole:
    """Read a source, of which one column holds the labels, into memory; a frame is there already."""
    require_target(target, y)
    if is_in_memory(source):
        return Whole(*parted(source, target, sample_weight))
    examples = labelled_rows(source, target, sample_weight)
    with reported_progress(examples.rows, progress):
        return whole_rows(examples, holder)


def whole_rows(examples: LabelledRows, holder: str, way_out: str = WAY_OUT) -> Whole:
    """Read labelled rows into memory; those without a label are left out, with a warning."""
    examples.under_way = "reading"
    table = whole_table(examples.rows, examples.needed(examples.columns), holder, way_out)
    piece, kept = examples.at_once(table)
    if examples.n_unlabelled:
        warn_of_unlabelled(examples.n_unlabelled, examples.target)
    return Whole(piece.X, piece.y, piece.weight, examples.rows, kept)


def score_source(model: Any, source: Any, y: Any, sample_weight: Any, target: Any) -> float:
    """Give the accuracy of a model on a source, of which one column holds the labels."""
    require_target(target, y)
    if is_in_memory(source):
        share: float = model.score(*parted(source, target, sample_weight, _columns_of(model) or ()))
        return share
    examples = labelled_rows(source, target, sample_weight, model)
    if hasattr(model, "feature_names_in_"):
        examples.rows.require_columns(examples.columns)
        if isinstance(examples.rows, LocalRows):
            examples.rows.declare({**column_types(model), target: label_type(model)}, column_styles(model))
    found: Hits = examples.sum(partial(_hits, model))
    if examples.n_unlabelled:
        warn_of_unlabelled(examples.n_unlabelled, target)
    return found.right / found.total


@record
class Hits:
    """Weights of the rows whose class was predicted, and of all."""

    right: float
    total: float

    def __add__(self, other: "Hits") -> "Hits":
        return Hits(self.right + other.right, self.total + other.total)


def _hits(model: Any, piece: Piece) -> Hits:
    """Say how often the class of the rows of a piece is predicted."""
    hit = np.asarray(model.predict(piece.X) == one_dimensional(piece.y))
    weight = np.ones(len(hit)) if piece.weight is None else piece.weight
    return Hits(float(weight[hit].sum()), float(weight.sum()))
