"""`Examples`: rows with their labels and weights, in pieces, as learning asks for them.

All that learning asks of rows is a sum of what a function gives for each piece. Such a function takes a `Piece` and
knows no other: so pieces may be counted anywhere and in any order.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from bayeswater.data.counted_rows import CountedRows
from bayeswater.errors import DataError, ParameterError
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

    @abstractmethod
    def head_named(self) -> AbstractContextManager[None]:
        """Give errors about the first rows the names and numbers that a person knows them by."""

    @property
    def columns_of_X(self) -> Any:
        """A table with the columns of X, of which only these are looked at."""
        return self.head.X

    @property
    def fits_into_head(self) -> bool:
        """Whether all rows are known to be among the first ones."""
        return False

    @property
    @abstractmethod
    def can_be_reread(self) -> bool:
        """Whether `sum` may be asked more than once."""

    @abstractmethod
    def sum(self, of: Callable[[Piece], Any], columns: Sequence[str] | None = None) -> Any:
        """Add up what a function gives for every piece that has rows; `columns` are those of X that it looks at."""


class Batches(Examples):
    """Batches (X, y) or (X, y, sample_weight) of tables of any kind; the first that has rows is the head.

    Parameters
    ----------
    batches : iterable of them
    model : name of who learns from them
    """

    name = "these batches"

    def __init__(self, batches: Iterable[Batch], model: str) -> None:
        if not (hasattr(batches, "__iter__") or hasattr(batches, "__getitem__")):
            raise ParameterError(f"batches is a {type(batches).__name__}; give an iterable of (X, y), such as a list")
        self.batches, self._model = batches, model
        self._began: Iterator[CountedRows] | None = None
        self._head: CountedRows | None = None

    @property
    def head(self) -> Piece:
        """The first batch."""
        return Piece(*self._first.triple, 0)

    @property
    def _first(self) -> CountedRows:
        """Rows of the first batch; where batches can be read but once, they are begun."""
        if self._head is None:
            self._began = self._pieces()
            self._head = next(self._began, None)
            if self._head is None:
                raise DataError("there are no rows to learn from: the batches are empty")
        return self._head

    def head_named(self) -> AbstractContextManager[None]:
        """Give errors about a row of the first batch the place it has there."""
        return self._first.named()

    @property
    def fits_into_head(self) -> bool:
        """Whether there is but one batch."""
        return isinstance(self.batches, Sequence) and len(self.batches) == 1

    @property
    def can_be_reread(self) -> bool:
        """Whether they begin anew whenever they are iterated over."""
        return iter(self.batches) is not self.batches

    def sum(self, of: Callable[[Piece], Any], columns: Sequence[str] | None = None) -> Any:
        """Add up what a function gives for every batch."""
        with self.head_named():
            total, n_before = of(self.head), len(self.head.y)
        if self._began is None:  # read to the end before
            self._began = self._pieces()
            next(self._began)
        for rows in self._began:
            with rows.named():
                total, n_before = total + of(Piece(*rows.triple, n_before)), n_before + len(rows.y)
        self._began = None
        return total

    def _pieces(self) -> Iterator[CountedRows]:
        """Go over the batches that have rows; where none has, over the first, which whoever learns from it refuses."""
        empty, n_rows = None, 0
        for batch in self.batches:
            rows = CountedRows.of(*as_triple(batch), self._model)
            if len(rows.y):
                n_rows += len(rows.y)
                yield rows
            elif empty is None:
                empty = rows
        if empty is not None and not n_rows:
            yield empty
