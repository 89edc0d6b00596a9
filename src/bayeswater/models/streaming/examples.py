"""`Examples`: rows with their labels and weights, in pieces, as learning asks for them.

All that learning asks of rows is a sum of what a function gives for each piece. Such a function takes a `Piece` and
knows no other: so pieces may be counted anywhere and in any order.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from bayeswater.errors import DataError
from bayeswater.models.batches import Batch, as_triple


class Piece(NamedTuple):
    """Some rows, their labels and weights, and how many rows that count stand before them, where there is an order."""

    X: Any
    y: Any
    weight: Any = None
    first: int | None = None


class Examples(ABC):
    """Labelled rows in pieces."""

    name: str
    """What errors call them."""

    under_way: str = ""
    """What they are read for, in a word."""

    @property
    @abstractmethod
    def head(self) -> Piece:
        """The first rows that have a label and a weight, by which a plan is made that cannot wait for all of them."""

    @property
    def columns_of_X(self) -> Any:
        """A table with the columns of X, of which only these are looked at."""
        return self.head.X

    @property
    @abstractmethod
    def can_be_reread(self) -> bool:
        """Whether `sum` may be asked more than once."""

    @abstractmethod
    def sum(self, of: Callable[[Piece], Any], columns: Sequence[str] | None = None) -> Any:
        """Add up what a function gives for every piece that has rows; `columns` are those of X that it looks at."""

    @property
    def in_order(self) -> Iterable[Batch] | None:
        """The pieces one after the other, where they have an order and come here at all."""
        return None


class Batches(Examples):
    """Batches (X, y) or (X, y, sample_weight) of tables of any kind; the first is the head.

    Parameters
    ----------
    batches : iterable of them
    checked : gives X, the labels and the weights of the rows of a batch that count
    """

    name = "these batches"

    def __init__(self, batches: Iterable[Batch], checked: Callable[..., tuple[Any, Any, Any]]) -> None:
        self.batches, self._checked = batches, checked
        self._began: Iterator[Batch] | None = None
        self._head: Piece | None = None

    @property
    def head(self) -> Piece:
        """The first batch; where batches can be read but once, they are begun."""
        if self._head is None:
            self._began = iter(self.batches)
            first = next(self._began, None)
            if first is None:
                raise DataError("there are no rows to learn from: the batches are empty")
            self._head = self._piece(first, 0)
        return self._head

    @property
    def can_be_reread(self) -> bool:
        """Whether they begin anew whenever they are iterated over."""
        return iter(self.batches) is not self.batches

    @property
    def in_order(self) -> Iterable[Batch]:
        """The batches."""
        return self.batches

    def sum(self, of: Callable[[Piece], Any], columns: Sequence[str] | None = None) -> Any:
        """Add up what a function gives for every batch."""
        total, n_before = of(self.head), len(self.head.y)
        if self._began is None:  # read to the end before
            self._began = iter(self.batches)
            next(self._began)
        for batch in self._began:
            piece = self._piece(batch, n_before)
            total, n_before = total + of(piece), n_before + len(piece.y)
        self._began = None
        return total

    def _piece(self, batch: Batch, first: int) -> Piece:
        return Piece(*self._checked(*as_triple(batch)), first)
