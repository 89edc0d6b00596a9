"""Which rows are held out, for a calibration by rows that had no part in choosing cuts and structure.

Leaving a row out of the counts is honest for probabilities. It is not for what the labels of all rows have chosen
beforehand, the cuts of numbers and the structure: on few rows these overfit. So rows are dealt into three parts, and
those of one part are scored, each left out of the counts of all rows, by cuts and structure that the others chose.

A hash of its cells decides for each row, so that neither the order of rows nor their division into pieces matters. Up
to some thousand rows every part is scored in turn, and rows are dealt one by one in the order of that hash within each
class: every class is spread over the parts. Equal rows share what they are dealt, and a row of weight w is dealt as w
equal ones. Of more rows the first part alone is scored, which is enough of them then.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.labels import encode_labels
from bayeswater.data.mixing import mixed, state_words
from bayeswater.data.raw_table import RawTable, read_raw
from bayeswater.data.row_hashes import row_hashes
from bayeswater.data.weights import take_rows
from bayeswater.models.streaming.examples import Examples, Piece
from bayeswater.models.streaming.walking import Pass, Walk
from bayeswater.typing import Array

PARTS = 3
"""Parts that rows are dealt into: one is scored, the others choose."""

CROSS_FITTED_ROWS = 5000
"""Rows up to which every part is scored in turn; a third of more rows settles a calibration well enough."""


@dataclass(frozen=True)
class CellsOf:
    """A function of a table: the columns of it by whose cells its rows are dealt."""

    model: str
    columns: tuple[str, ...]

    def __call__(self, X: Any) -> RawTable:
        """Read them."""
        return read_raw(X, self.model).require_columns(self.columns, self.model)


@dataclass(frozen=True)
class Dealing:
    """Which share of each kind of rows is in which part; without kinds, rows are dealt by their hash alone."""

    kind: Array | None = None  # (n_kinds,), sorted
    share: Array | None = None  # (n_kinds, PARTS)

    @property
    def n_scored(self) -> int:
        """Number of parts that are scored."""
        return 1 if self.kind is None else PARTS

    def shares(self, raw: RawTable, y: Any) -> Array:
        """Give the share of each row that is in each part: (n_rows, PARTS)."""
        hashes = row_hashes(raw)
        if self.kind is None or self.share is None:
            part = mixed(hashes) % np.uint64(PARTS)
            return (part[:, None] == np.arange(PARTS, dtype=np.uint64)).astype(np.float64)
        return self.share[np.searchsorted(self.kind, _kinds(hashes, y)[0])]


@dataclass(frozen=True)
class Part:
    """The rows of one part that are held out, or of the others that choose."""

    cells: CellsOf
    dealing: Dealing
    number: int
    held_out: bool

    def rows(self, X: Any, y: Any, weight: Array | None) -> tuple[Any, Any, Array | None, Array | None]:
        """Take the rows of a table, their labels, the weight they have here, and that of the whole rows."""
        share = self.dealing.shares(self.cells(X), y)[:, self.number]
        share = share if self.held_out else 1 - share
        kept = share > 0
        if not kept.all():
            X, y, share = take_rows(X, kept), y[kept], share[kept]
            weight = None if weight is None else weight[kept]
        if (share == 1).all():
            return X, y, weight, weight
        return X, y, share if weight is None else weight * share, weight


def dealing_of(model: Any, examples: Examples, cells: CellsOf) -> Walk[Dealing]:
    """Deal the rows of some examples; where the first rows are few and not all, by a pass over all of them."""
    gathering = Gathering(model, cells)
    with examples.head_named():
        deck = gathering(examples.head)
    if not (deck.is_many or examples.fits_into_head):
        deck = yield Pass(gathering, "dealing rows", None, "calibrate=True reads the rows twice")
    return deck.dealt()


@dataclass(frozen=True)
class Gathering:
    """A function of a piece: its rows to be dealt; one of weight 4 counts as four, one of 0.4 as one."""

    model: Any
    cells: CellsOf

    def __call__(self, piece: Piece) -> "Deck":
        """Gather the rows of a piece."""
        X, y, weight = self.model._rows_that_count(*piece[:3]).triple
        times = np.ones(len(y)) if weight is None else np.ceil(weight)
        if times.sum() > CROSS_FITTED_ROWS:
            return MANY
        return Deck(*_kinds(row_hashes(self.cells(X)), y), times).by_kind()


@dataclass(frozen=True)
class Deck:
    """Kinds of equal rows, the hash of their class, and how many there are, until they are too many to be dealt."""

    kind: Array  # (n_kinds,), sorted
    label: Array  # (n_kinds,)
    times: Array  # (n_kinds,)
    is_many: bool = False

    def __add__(self, other: "Deck") -> "Deck":
        if self.is_many or other.is_many or self.times.sum() + other.times.sum() > CROSS_FITTED_ROWS:
            return MANY
        kind, label, times = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("kind", "label", "times")
        )
        return Deck(kind, label, times).by_kind()

    def by_kind(self) -> "Deck":
        """Put equal rows together."""
        kind, first, of = np.unique(self.kind, return_index=True, return_inverse=True)
        return Deck(kind, self.label[first], np.bincount(of, self.times, len(kind)))

    def dealt(self) -> Dealing:
        """Deal the rows out one by one, class by class.

        >>> deck = Deck(np.array([5, 7, 9]), np.zeros(3), np.array([1.0, 4.0, 1.0]))
        >>> deck.dealt().share.tolist()
        [[1.0, 0.0, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]
        """
        if self.is_many:
            return Dealing()
        order = np.lexsort((self.kind, self.label))
        first = np.empty(len(order))
        first[order] = np.cumsum(self.times[order] % PARTS) - self.times[order] % PARTS
        before = (np.arange(PARTS) - first[:, None]) % PARTS  # rows of a kind before the first that goes to each part
        times = np.maximum((self.times[:, None] - before + PARTS - 1) // PARTS, 0)
        return Dealing(self.kind, times / self.times[:, None])


MANY = Deck(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint64), np.zeros(0), is_many=True)
"""Rows that are too many."""


def _kinds(hashes: Array, y: Any) -> tuple[Array, Array]:
    """Tell rows of different cells or class apart, and classes: (n_rows,) each."""
    labels = encode_labels(y)
    label = state_words(labels.variable)[labels.codes]
    return mixed(hashes + mixed(label)), label
