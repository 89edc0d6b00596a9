"""`fit(source, target=...)`: where the rows are found, and which road they go.

A table that is in memory is parted into columns and labels and fitted as ever. So is a source whose first rows are all
its rows. All others are read in pieces (`walking`), or into memory by models that look at rows many times (`whole`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import frame_names, take_columns
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.source import TypesWidened
from bayeswater.data.weights import take_rows
from bayeswater.errors import BayesWarning, DataError, ParameterError, SchemaError, nearest_names, warn_user
from bayeswater.models.streaming.finding import is_in_memory, rows_to_learn
from bayeswater.models.streaming.labelled import LabelledRows
from bayeswater.models.streaming.progress import told
from bayeswater.models.streaming.walking import require_rereading, walked
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
    with told(examples.rows, progress):
        learned_from(model, examples, checkpoint)
    return model


def require_target(target: Any, y: Any) -> None:
    """Refuse what is no name of a column, and labels beside it."""
    if y is not None:
        raise ParameterError(f"target names the column of labels, {target!r}, so there is no y to give; leave y out")
    if not isinstance(target, str):
        raise ParameterError(f"target is {target!r}; give the name of the column of labels")


def labelled_rows(source: Any, target: str, sample_weight: Any) -> LabelledRows:
    """Give the rows of a source that is read in pieces; refuse what has no columns with names."""
    rows = rows_to_learn(source)
    if rows is None:
        raise DataError(
            f"X is a {type(source).__name__}, whose columns have no names, so none can be the target; give a frame, a "
            "file or another source with names, or fit(X, y)"
        )
    if not (sample_weight is None or isinstance(sample_weight, str)):
        raise ParameterError("sample_weight must be the name of a column of the source")
    return LabelledRows(rows, target, sample_weight)


def require_no_checkpoint(checkpoint: Any) -> None:
    """Refuse a checkpoint of rows that are in memory: it would never be written."""
    if checkpoint is not None:
        raise ParameterError(
            f"checkpoint is {str(checkpoint)!r}, but these rows are in memory and are counted at once; leave it out, "
            "or give a source that is read in pieces, fit(source, target=...)"
        )


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
        walked(model._walk(examples), examples)
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
    from bayeswater.models.streaming.checkpoint import Checkpoint  # models import this file

    return Checkpoint(path, examples.rows, examples.needed(examples.columns), model)


def warn_of_unlabelled(n_rows: int, target: str) -> None:
    """Say that rows without a label were left out."""
    are = "row has no value" if n_rows == 1 else "rows have no value"
    warn_user(f"{n_rows:,} {are} in {target!r} and were left out", BayesWarning)


def parted(frame: Any, target: str, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Part a frame into columns, labels and weights; rows without a label are left out."""
    weight = sample_weight if isinstance(sample_weight, str) else None
    names = frame_names(frame)
    for name, what in ((target, "target column"), *([(weight, "column of weights")] if weight else [])):
        if name not in names:
            raise SchemaError(f"there is no {what} {name!r} in X; {nearest_names(str(name), names)}")
    kept = [name for name in names if name not in (target, weight)]
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
