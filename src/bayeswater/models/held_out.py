"""Which rows are held out, for a calibration by rows that were not used to choose cuts and structure.

Leaving a row out of the counts is honest for probabilities. It is not for what the labels of all rows have chosen
beforehand, the cuts of numbers and the structure: on few rows these overfit. So rows are divided into three folds, and
those of one fold are scored, each left out of the counts of all rows, by cuts and structure that the others chose.

A hash of its cells decides for each row, so that neither the order of rows nor their division into pieces matters. Up
to some thousand rows every fold is scored in turn, and rows are assigned one by one in the order of that hash within
each class: every class is spread over the folds. Equal rows share their assignment, and a row of weight w is assigned
as w equal ones. Of more rows the first fold alone is scored, which is enough of them then.
"""

from functools import partial
from typing import Any

import numpy as np

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.raw_table import RawTable, read_raw
from bayeswater.data.reading.row_hashes import hashed, row_hashes, state_words
from bayeswater.data.weights import CountedRows, inconsistent_lengths, take_rows
from bayeswater.models.streaming.passes import Examples, Pass, Passes, Piece
from bayeswater.records import record
from bayeswater.typing import Array

FOLDS = 3
"""Folds of rows: one is scored, the others choose."""

CROSS_FITTED_ROWS = 5000
"""Rows up to which every fold is scored in turn; a third of more rows settles a calibration well enough."""


@record
class CellsOf:
    """A function of a table: the columns of it by whose cells its rows are assigned to folds."""

    model: str
    columns: tuple[str, ...]

    def __call__(self, X: Any) -> RawTable:
        """Read them."""
        return read_raw(X, self.model).require_columns(self.columns, self.model)

    def hashes(self, X: Any, y: Any) -> Array:
        """Hash the rows by them: (n_rows,). A table that is held as it was read is hashed once, for all passes."""
        raw = read_raw(X, self.model)
        if raw.n_rows != len(y):
            raise inconsistent_lengths(raw.n_rows, len(y))
        if self.columns not in raw.hashes:
            raw.hashes[self.columns] = row_hashes(self(raw))
        return raw.hashes[self.columns]


@record
class Folds:
    """Which share of each kind of rows is in which fold; without kinds, rows are assigned by their hash alone."""

    kind: Array | None = None  # (n_kinds,), sorted
    share: Array | None = None  # (n_kinds, FOLDS)

    @property
    def n_scored(self) -> int:
        """Number of folds that are scored."""
        return 1 if self.kind is None else FOLDS

    def shares(self, hashes: Array, y: Any) -> Array:
        """Give the share of each row, by its hash and label, that is in each fold: (n_rows, FOLDS)."""
        if self.kind is None or self.share is None:
            fold = hashed(hashes) % np.uint64(FOLDS)
            return (fold[:, None] == np.arange(FOLDS, dtype=np.uint64)).astype(np.float64)
        return self.share[np.searchsorted(self.kind, _kinds(hashes, y)[0])]


@record
class Fold:
    """The rows of one fold that are held out, or of the others that choose."""

    cells: CellsOf
    folds: Folds
    number: int
    held_out: bool

    def rows(self, X: Any, y: Any, weight: Array | None) -> tuple[Any, Any, Array | None, Array | None]:
        """Take the rows of a table, their labels, the weight they have here, and that of the whole rows."""
        share = self.folds.shares(self.cells.hashes(X, y), y)[:, self.number]
        share = share if self.held_out else 1 - share
        kept = share > 0
        if not kept.all():
            X, y, share = take_rows(X, kept), y[kept], share[kept]
            weight = None if weight is None else weight[kept]
        if (share == 1).all():
            return X, y, weight, weight
        return X, y, share if weight is None else weight * share, weight


def folds_of_rows(examples: Examples, cells: CellsOf) -> Passes[tuple[Fold, ...]]:
    """Divide the rows of some examples; where the first rows are few and not all, by a pass over all of them.

    Those folds are given that are scored, each as the rows that are held out.
    """
    with examples.head_named():
        kinds = count_kinds(cells, examples.head)
    if not (kinds.is_many or examples.fits_into_head):
        counting = partial(count_kinds, cells)
        kinds = yield Pass(counting, "dividing rows into folds", None, "calibrate=True reads the rows twice")
    return held_out_folds(kinds, cells)


def held_out_folds(kinds: "KindCounts", cells: CellsOf) -> tuple[Fold, ...]:
    """Assign rows to folds by the kinds that they are of."""
    folds = kinds.folds()
    return tuple(Fold(cells, folds, number, held_out=True) for number in range(folds.n_scored))


def count_kinds(cells: CellsOf, piece: Piece) -> "KindCounts":
    """Count the kinds of rows of a piece; one of weight 4 counts as four rows, one of 0.4 as one."""
    X, y, weight = CountedRows.of(*piece[:3], cells.model).triple
    times = np.ones(len(y)) if weight is None else np.ceil(weight)
    if times.sum() > CROSS_FITTED_ROWS:
        return MANY
    return KindCounts(*_kinds(cells.hashes(X, y), y), times).by_kind()


@record
class KindCounts:
    """Kinds of equal rows, the hash of their class, and how many there are, until they are too many to list."""

    kind: Array  # (n_kinds,), sorted
    label: Array  # (n_kinds,)
    times: Array  # (n_kinds,)
    is_many: bool = False

    def __add__(self, other: "KindCounts") -> "KindCounts":
        if self.is_many or other.is_many or self.times.sum() + other.times.sum() > CROSS_FITTED_ROWS:
            return MANY
        kind, label, times = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("kind", "label", "times")
        )
        return KindCounts(kind, label, times).by_kind()

    def by_kind(self) -> "KindCounts":
        """Put equal rows together."""
        kind, first, times = kinds_of(self.kind, self.times)
        return KindCounts(kind, self.label[first], times)

    def folds(self) -> Folds:
        """Assign the rows one by one, class by class.

        >>> kinds = KindCounts(np.array([5, 7, 9]), np.zeros(3), np.array([1.0, 4.0, 1.0]))
        >>> kinds.folds().share.tolist()
        [[1.0, 0.0, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]
        """
        if self.is_many:
            return Folds()
        order = np.lexsort((self.kind, self.label))
        first = np.empty(len(order))
        first[order] = np.cumsum(self.times[order] % FOLDS) - self.times[order] % FOLDS
        before = (np.arange(FOLDS) - first[:, None]) % FOLDS  # rows of a kind before the first that goes to each fold
        times = np.maximum((self.times[:, None] - before + FOLDS - 1) // FOLDS, 0)
        return Folds(self.kind, times / self.times[:, None])


MANY = KindCounts(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint64), np.zeros(0), is_many=True)
"""Rows that are too many."""


def kinds_of(key: Array, weight: Array, most: int | None = None) -> tuple[Array, Array, Array]:
    """Put rows of equal key (n_rows,) together: the `most` least keys, the first row of each, and the weight of all.

    A kind that is among the least of all rows is among the least of every piece of them, so that what is kept of pieces
    and then of all is the same however the rows are cut into pieces.

    >>> kinds_of(np.array([7, 5, 7]), np.array([1.0, 2.0, 3.0]))
    (array([5, 7]), array([1, 0]), array([2., 4.]))
    """
    key, first, kind = np.unique(key, return_index=True, return_inverse=True)
    return key[:most], first[:most], np.bincount(kind, weight, len(key))[:most]


def _kinds(hashes: Array, y: Any) -> tuple[Array, Array]:
    """Tell rows of different cells or class apart, and classes: (n_rows,) each."""
    labels = encode_labels(y)
    label = state_words(labels.variable)[labels.codes]
    return hashed(hashes + hashed(label)), label
