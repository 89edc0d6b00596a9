"""Learning as passes over rows: what a model asks of rows, and who hands it the pieces.

A model writes what it learns from rows as a generator: it yields `Pass`es, each a function of a piece of rows whose
sum over all pieces it is sent back, and returns itself. How often rows are read is then what it asks for, and rows
that can be read only once are refused before the first of several readings, not after it.

`Examples` are rows with their labels and weights, in pieces. All that learning asks of them is a sum of what a function
gives for each `Piece`, and such a function knows no other piece: so pieces may be counted anywhere and in any order.
Rows in memory are the case of one piece (`Batches`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

from bayeswater.data.frames import is_frame
from bayeswater.data.variable import Variable
from bayeswater.data.weights import CountedRows
from bayeswater.errors import DataError, ParameterError
from bayeswater.records import record
from bayeswater.statistics.sums import Sums

Batch = tuple[Any, ...]
"""X and y of some rows, and perhaps their weights."""


def as_triple(batch: Batch, name: str = "a batch") -> tuple[Any, Any, Any]:
    """Give X, y and the weights of a batch, None where it has none; `name` is what a message calls it."""
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        raise ParameterError(f"{name} must be (X, y) or (X, y, sample_weight)")
    return batch[0], batch[1], batch[2] if len(batch) == 3 else None


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

    def hold_read(self, read: Callable[[Any], Any]) -> None:  # noqa: B027  # others are read piece by piece
        """Hold rows that are all in memory as `read` gives them, so that several passes read them but once."""

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


def require_no_checkpoint(checkpoint: Any) -> None:
    """Refuse a checkpoint of rows that are in memory: it would never be written."""
    if checkpoint is not None:
        raise ParameterError(
            f"checkpoint is {str(checkpoint)!r}, but these rows are in memory and are counted at once; leave it out, "
            "or give a source that is read in pieces, fit(source, target=...)"
        )


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
        self._is_one = isinstance(batches, list | tuple | Sequence) and len(batches) == 1
        self._began: Iterator[CountedRows] | None = None
        self._head: CountedRows | None = None

    @cached_property
    def head(self) -> Piece:
        """The first batch."""
        return Piece(*self._first.triple, 0)

    @property
    def _first(self) -> CountedRows:
        """Rows of the first batch; where batches can be read but once, they are begun."""
        if self._head is None and self._is_one:
            self._head = CountedRows.of(*as_triple(self.batches[0]), self._model)  # type: ignore[index]
        if self._head is None:
            self._began = self._pieces()
            self._head = next(self._began, None)
            if self._head is None:
                raise DataError("there are no rows to learn from: the batches are empty")
        return self._head

    def head_named(self) -> AbstractContextManager[None]:
        """Give errors about a row of the first batch the place it has there."""
        return self._first.named()

    def hold_read(self, read: Callable[[Any], Any]) -> None:
        """Read the only batch, if it is a frame; an array is read where it lies."""
        if self._is_one and is_frame(self.head.X):
            with self.head_named():
                self.head = self.head._replace(X=read(self.head.X))

    @property
    def fits_into_head(self) -> bool:
        """Whether there is but one batch."""
        return self._is_one

    @property
    def can_be_reread(self) -> bool:
        """Whether they begin anew whenever they are iterated over."""
        return iter(self.batches) is not self.batches

    def sum(self, of: Callable[[Piece], Any], columns: Sequence[str] | None = None) -> Any:
        """Add up what a function gives for every batch."""
        head = self.head
        with self.head_named():
            total = of(head)
        if self._is_one:
            return total
        n_before = len(head.y)
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


Learned = TypeVar("Learned")

Passes = Generator["Pass", Any, Learned]
"""Passes over rows, and what is learned by them."""


@record
class Pass:
    """One reading of all rows.

    Parameters
    ----------
    of : picklable function of a piece; what it gives can be added, and the sum does not depend on the order
    why : what the pass is for, in a word: "counting"
    columns : those of X that the function looks at; default all
    then : what further readings there will be, for a message; empty where this is the last
    """

    of: Callable[[Piece], Any]
    why: str = "counting"
    columns: Sequence[str] | None = None
    then: str = ""


def run_passes(passes: "Passes[Learned]", examples: Examples) -> Learned:
    """Make the passes that a model asks for, one after the other."""
    found = None
    while True:
        try:
            step = passes.send(found)
        except StopIteration as end:
            learned: Learned = end.value
            return learned
        if step.then:
            require_rereading(examples, step.then)
        examples.under_way = step.why
        found = examples.sum(step.of, step.columns)


def require_rereading(examples: Examples, why: str) -> None:
    """Refuse rows that can be read but once."""
    if not examples.can_be_reread:
        raise ParameterError(
            f"{why}, and {examples.name} can be read only once; give a file, a list or another source that can be read "
            "again, or write the rows to a temporary file: with bayeswater.spooled(source) as rows"
        )


def together(*several: "Passes[Any]") -> "Passes[tuple[Any, ...]]":
    """Learn several things of the same rows: each pass is made for all that still ask for one."""
    learned: dict[int, Any] = {}
    found: dict[int, Any] = dict.fromkeys(range(len(several)))
    while found:
        steps: dict[int, Pass] = {}
        for place, sent in found.items():
            try:
                steps[place] = several[place].send(sent)
            except StopIteration as end:
                learned[place] = end.value
        if not steps:
            break
        first, *_ = steps.values()
        whole = any(step.columns is None for step in steps.values())
        columns = None if whole else [*dict.fromkeys(name for step in steps.values() for name in step.columns or ())]
        then = next((step.then for step in steps.values() if step.then), "")
        of_all = partial(side_by_side, [step.of for step in steps.values()])
        sums = yield Pass(of_all, first.why, columns, then)
        found = dict(zip(steps, sums.parts, strict=True))
    return tuple(learned[place] for place in range(len(several)))


def side_by_side(functions: Sequence[Callable[[Piece], Any]], piece: Piece) -> "Parts":
    """Give what each of several functions gives for a piece."""
    return Parts(tuple(of(piece) for of in functions))


@record
class Parts:
    """Sums side by side; None for one over no rows."""

    parts: tuple[Any, ...]

    def __add__(self, other: "Parts") -> "Parts":
        return Parts(tuple(map(plus, self.parts, other.parts)))


def plus(a: Any, b: Any) -> Any:
    """Add two sums, either of which may be None: one over no rows.

    >>> plus(1, 2), plus(None, 2), plus(None, None)
    (3, 2, None)
    """
    return b if a is None else a if b is None else a + b


@record
class Counting:
    """A function of a piece: its sums, as a model counts them that has seen no other rows.

    `grouped_as` says what they can be read off where a place of rows groups them by itself (`grouping`).
    """

    sums_of: Callable[..., Sums[Any]]
    classes: Variable | None = None
    grouped_as: str | None = None

    def __call__(self, piece: Piece) -> Sums[Any]:
        """Count the rows of a piece."""
        return self.sums_of(piece.X, piece.y, piece.weight, self.classes)
