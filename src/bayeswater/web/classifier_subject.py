"""What a page about a classifier holds: the model, rows to look at, and what was worked out of them so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.sources.target_rules import TargetBins
from bayeswater.errors import BayesError, SchemaError, nearest_names
from bayeswater.models.streaming.answering import cell_names
from bayeswater.records import record
from bayeswater.typing import Array
from bayeswater.web.fields import Field, fields_of
from bayeswater.web.network_subjects import Subject
from bayeswater.web.plain import written

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ROWS = 50_000
"""Rows that a page holds: the first ones."""

NOVELTY_ROWS = 5_000
"""Rows up to which the novelty of all is worked out."""


@dataclass(eq=False)
class Background:
    """One piece of work: how far it is, and what came of it."""

    n_done: int = 0
    n_all: int = 0
    step: str = ""
    found: Any = None
    failure: str | None = None
    _has_begun: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def begin(self, work: Callable[[Callable[[int, int, str], None]], Any]) -> None:
        """Start it, unless that has been done; `work` takes a function to tell how far it is."""
        with self._lock:
            if self._has_begun:
                return
            self._has_begun = True
        Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[Callable[[int, int, str], None]], Any]) -> None:
        try:
            self.found = work(self._progress)
        except (BayesError, MemoryError) as error:
            self.failure = str(error) or type(error).__name__

    def _progress(self, n_done: int, n_all: int, step: str) -> None:
        self.n_done, self.n_all, self.step = n_done, n_all, step


@record(eq=False)
class ClassifierSubject(Subject):
    """A fitted classifier, rows to look at, and their true classes as codes, -1 where none is known."""

    rows: "pa.Table | None" = None
    truth: Array | None = None
    target: str | None = None
    is_cut: bool = False
    comparison: Background = field(default_factory=Background, repr=False)

    @cached_property
    def labels(self) -> list[Any]:
        """Classes, in their order."""
        return list(np.asarray(self.model.classes_).tolist())

    @cached_property
    def fields(self) -> dict[str, Field]:
        """Columns as fields of a form, by name."""
        return {own.name: own for own in fields_of(self.model, self.rows)}

    @cached_property
    def log_proba(self) -> Array:
        """Log-probabilities of the rows: (n_rows, n_classes)."""
        assert self.rows is not None
        return np.asarray(self.model.predict_log_proba(self.rows))

    @cached_property
    def frequencies(self) -> Array:
        """What the model says of a row of which nothing is known: (n_classes,)."""
        return np.asarray(self.model.predict_proba({}))[0]

    @cached_property
    def novelty(self) -> Array:
        """Novelty of the rows (n_rows,); NaN where the model has none, or where they are too many to wait for."""
        assert self.rows is not None
        if not hasattr(self.model, "novelty") or not 0 < self.rows.num_rows <= NOVELTY_ROWS:
            return np.full(self.rows.num_rows, np.nan)
        return np.asarray(self.model.novelty(self.rows))

    @property
    def has_truth(self) -> bool:
        """Whether the true class of some rows is known."""
        return self.truth is not None and bool((self.truth >= 0).any())

    def facts(self) -> dict[str, Any]:
        """Say what the page has to know before it asks."""
        views = ["row", "learned", "decisions"]
        if self.rows is not None:
            views += ["rows", "compare"] if self.has_truth else ["rows"]
        calibration = vars(self.model).get("calibration_")
        return {
            "name": self.name,
            "kind": type(self.model).__name__,
            "views": views,
            "classes": [written(label) for label in self.labels],
            "frequencies": self.frequencies,
            "fields": [own.facts() for own in self.fields.values()],
            "n_rows": 0 if self.rows is None else self.rows.num_rows,
            "is_cut": self.is_cut,
            "has_truth": self.has_truth,
            "target": self.target,
            "is_calibrated": calibration is not None,
            "is_stale": bool(calibration is not None and calibration.is_stale),
        }


def classifier_subject(name: str, model: Any, rows: Any, y: Any, target: str | None) -> ClassifierSubject:
    """Make a subject of a classifier, with its rows in the order of its columns; see `subject_of`."""
    if rows is None:
        return ClassifierSubject(name, model)
    names = [str(column) for column in cell_names(model)]
    table = _in_arrow(rows, names)
    absent = [column for column in names if column not in table.column_names]
    if absent:
        raise SchemaError(
            f"the rows have no column {absent[0]!r}, which the model reads; "
            f"{nearest_names(absent[0], table.column_names)}"
        )
    is_cut, table = table.num_rows > MOST_ROWS, table.slice(0, MOST_ROWS)
    classes = np.asarray(model.classes_).tolist()
    if y is None:
        target = _target(table, names, classes, target)
        y = None if target is None else _true_classes(table.column(target), classes)
    labels = None if y is None else list(y)[: table.num_rows]
    truth = None if labels is None else _codes(labels, classes)
    if labels and truth is not None and truth.max() < 0 and any(label is not None for label in labels):
        some = list(dict.fromkeys(label for label in labels if label is not None))[:3]
        raise SchemaError(
            f"no row has a class of the model, which are {classes[:5]}: the labels are {some}; give them as the model "
            f"learned them"
        )
    return ClassifierSubject(name, model, table.select(names), truth, target, is_cut)


def _in_arrow(rows: Any, names: Sequence[str]) -> "pa.Table":
    """Give rows as a table; an array has the columns of the model, in their order."""
    import pyarrow as pa

    from bayeswater.data.column_types import without_views
    from bayeswater.data.frames import as_arrow, is_frame, materialised, read_frame

    rows = materialised(rows)
    if is_frame(rows):
        return without_views(read_frame(rows).table)
    cells = np.asarray(rows[: MOST_ROWS + 1].toarray() if hasattr(rows, "toarray") else rows)
    if cells.ndim != 2 or cells.shape[1] != len(names):
        raise SchemaError(f"the rows have shape {cells.shape}; the model reads {len(names)} columns: {names[:5]}")
    return pa.table({name: as_arrow(cells[:, j], name) for j, name in enumerate(names)})


def _target(table: "pa.Table", names: Sequence[str], classes: Sequence[Any], given: str | None) -> str | None:
    """Find the column of true classes: the one that is named, or the only one whose cells are all classes."""
    others = [column for column in table.column_names if column not in names]
    if given is not None:
        if given not in table.column_names:
            raise SchemaError(f"the rows have no column {given!r}; {nearest_names(given, table.column_names)}")
        return given
    known = {written(label) for label in classes}

    def holds_classes(column: str) -> bool:
        cells = {written(cell) for cell in table.column(column).unique().to_pylist() if cell is not None}
        return bool(cells) and cells <= known

    found = [column for column in others if holds_classes(column)]
    return found[0] if len(found) == 1 else None


def _true_classes(column: "pa.ChunkedArray", classes: Sequence[Any]) -> list[Any]:
    """Give the labels of a target; of amounts, the bins that the classes of the model are."""
    from pyarrow.types import is_floating, is_integer

    bins = TargetBins.of_classes(classes)
    is_amount = is_floating(column.type) or is_integer(column.type)
    return (bins(column) if bins is not None and is_amount else column).to_pylist()


def _codes(y: Sequence[Any], classes: Sequence[Any]) -> Array:
    """Give labels as codes; -1 for what is none of the classes."""
    code = {written(label): k for k, label in enumerate(classes)}
    return np.array([-1 if label is None else code.get(written(label), -1) for label in y], dtype=np.int64)
