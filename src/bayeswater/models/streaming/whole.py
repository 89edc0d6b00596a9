"""Labelled rows of a source, in memory: for models that look at them many times, and could not learn from pieces.

The same door as that of `fitting`, `fit(source, target=...)`; behind it the rows are read once, as long as there is
room for them (`data.sources.whole`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from bayeswater.data.sources.cutting import Stretch
from bayeswater.data.sources.row_names import places_told, rows_named
from bayeswater.data.sources.whole import whole_table
from bayeswater.models.streaming.finding import is_in_memory
from bayeswater.models.streaming.fitting import labelled_rows, parted, require_target, warn_of_unlabelled
from bayeswater.models.streaming.labelled import LabelledRows
from bayeswater.models.streaming.progress import told
from bayeswater.typing import Array

WAY_OUT = (
    "read fewer columns, bayeswater.local_rows(source, columns=[...]), or fewer rows; take a model that is counted in "
    "pieces, such as NaiveBayes or AODE; or give a table that is in memory already"
)
"""Of one who has more rows than memory holds."""


class Whole(NamedTuple):
    """All rows that have a label, their labels and weights; of a source, its name and which of its rows these are."""

    X: Any
    y: Any
    weight: Any
    name: str | None = None
    kept: Array | None = None

    @contextmanager
    def named(self) -> Iterator[None]:
        """Give errors about rows the name of the source, and the numbers that rows have there."""
        if self.name is None or self.kept is None:
            yield
            return
        with rows_named([Stretch(self.name, 0, len(self.kept))]), places_told(self.kept):
            yield


def fit_whole(model: Any, source: Any, y: Any, sample_weight: Any, target: Any, progress: Any = None) -> Any:
    """Fit a model that looks at its rows many times to a source, of which one column holds the labels."""
    whole = whole_source(source, y, sample_weight, target, type(model).__name__, progress)
    with whole.named():
        return model.fit(whole.X, whole.y, whole.weight)


def whole_source(source: Any, y: Any, sample_weight: Any, target: Any, holder: str, progress: Any = None) -> Whole:
    """Read a source, of which one column holds the labels, into memory; a frame is there already."""
    require_target(target, y)
    if is_in_memory(source):
        return Whole(*parted(source, target, sample_weight))
    examples = labelled_rows(source, target, sample_weight)
    with told(examples.rows, progress):
        return whole_rows(examples, holder)


def whole_rows(examples: LabelledRows, holder: str, way_out: str = WAY_OUT) -> Whole:
    """Read labelled rows into memory; those without a label are left out, with a warning."""
    examples.under_way = "reading"
    table = whole_table(examples.rows, examples.needed(examples.columns), holder, way_out)
    piece, kept = examples.at_once(table)
    if examples.n_unlabelled:
        warn_of_unlabelled(examples.n_unlabelled, examples.target)
    return Whole(piece.X, piece.y, piece.weight, examples.name, kept)
