"""Learning as a walk over rows, pass by pass.

A model writes what it learns from rows as a generator: it yields `Pass`es, each a function of a piece of rows whose
sum over all pieces it is sent back, and returns itself. How often rows are read is then what it asks for, and rows
that can be read only once are refused before the first of several readings, not after it.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from bayeswater.errors import ParameterError
from bayeswater.models.streaming.examples import Examples, Piece

Learned = TypeVar("Learned")

Walk = Generator["Pass", Any, Learned]
"""Passes over rows, and what is learned by them."""


@dataclass(frozen=True)
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


def walked(walk: "Walk[Learned]", examples: Examples) -> Learned:
    """Make the passes that a model asks for, one after the other."""
    found = None
    while True:
        try:
            step = walk.send(found)
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
            f"{why}, and {examples.name} can be read but once; give a file, a list or another source that begins anew "
            "whenever it is read, or lay the rows down in a temporary file: with bayeswater.spooled(source) as rows"
        )


def together(*walks: "Walk[Any]") -> "Walk[tuple[Any, ...]]":
    """Walk several ways over the same rows, each pass for all of them that still have one to make."""
    learned: dict[int, Any] = {}
    found: dict[int, Any] = dict.fromkeys(range(len(walks)))
    while found:
        steps: dict[int, Pass] = {}
        for place, sent in found.items():
            try:
                steps[place] = walks[place].send(sent)
            except StopIteration as end:
                learned[place] = end.value
        if not steps:
            break
        first, *_ = steps.values()
        whole = any(step.columns is None for step in steps.values())
        columns = None if whole else [*dict.fromkeys(name for step in steps.values() for name in step.columns or ())]
        then = next((step.then for step in steps.values() if step.then), "")
        sums = yield Pass(SideBySide(tuple(step.of for step in steps.values())), first.why, columns, then)
        found = dict(zip(steps, sums.parts, strict=True))
    return tuple(learned[place] for place in range(len(walks)))


@dataclass(frozen=True)
class SideBySide:
    """Several functions of a piece as one."""

    functions: tuple[Callable[[Piece], Any], ...]

    def __call__(self, piece: Piece) -> "Parts":
        """Give what each of them gives."""
        return Parts(tuple(of(piece) for of in self.functions))


@dataclass(frozen=True)
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
