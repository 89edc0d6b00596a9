"""What a network file says, whatever its format: nodes with states, parents and tables of probabilities.

A document is plain data. The table of a node has one axis for each of its parents, in their order, and the node's own
states on the last, so that ``table[..., :]`` sums to one:

    table[i, j, k] = P(node = states[k] | parents[0] = its state i, parents[1] = its state j)
"""

from typing import Literal, NamedTuple

import numpy as np

from bayeswater.noisy_max import noisy_max_table, noisy_or_table
from bayeswater.records import record
from bayeswater.typing import Array

Kind = Literal["table", "deterministic", "noisy_or", "noisy_max"]

Property = tuple[str, str]
"""Name and value of what a format lets be said beside the probabilities; a remark without a name has the name ''."""

UNTITLED = "unknown"
"""What a network without a name is called in files that want one, as bnlearn does; "network" is a keyword of BIF."""


@record
class WrittenNoisyOr:
    """Causes that each bring the effect about on their own; the node and all its parents have two states.

    P(node = effect | parents) = 1 - (1 - leak) * product of (1 - link[i]) over the parents i that are in state cause[i]
    """

    effect: int
    cause: tuple[int, ...]
    link: tuple[float, ...]
    leak: float

    @classmethod
    def of(cls, columns: list[Array], leak: Array, strongest: list[int]) -> "WrittenNoisyOr | None":
        """Recognise a noisy-MAX of causes with two states, one of which does nothing; None for anything else.

        Where both do nothing, the cause is the state that is named as the strongest one of its parent.

        >>> WrittenNoisyOr.of([np.array([[0.8, 0.2], [0.0, 1.0]])], np.array([0.1, 0.9]), [0])
        WrittenNoisyOr(effect=0, cause=(0,), link=(0.8,), leak=0.1)
        """
        if leak.size != 2 or any(column.shape != (2, 2) for column in columns):
            return None
        causes, links = [], []
        for column, first in zip(columns, strongest, strict=True):
            idle = next((state for state in (1 - first, first) if column[state].tolist() == [0.0, 1.0]), None)
            if idle is None:
                return None
            causes.append(1 - idle)
            links.append(float(column[1 - idle, 0]))
        return cls(0, tuple(causes), tuple(links), float(leak[0]))

    def table(self) -> Array:
        """Write the probabilities out, (2, ..., 2)."""
        causes = zip(self.cause, self.link, strict=True)
        strengths = [np.array([link, 0.0] if cause == 0 else [0.0, link]) for cause, link in causes]
        table = noisy_or_table(strengths, self.leak)
        return table if self.effect == 0 else table[..., ::-1]


@record
class WrittenNoisyMax:
    """Causes that each bring the node to some state on their own, of which the first is the strongest.

    Parameters
    ----------
    ranking : for each parent its states, the strongest first
    rows : what each of these states does, parent after parent, and last the leak
    """

    ranking: tuple[tuple[int, ...], ...]
    rows: tuple[tuple[float, ...], ...]

    def columns(self) -> list[Array]:
        """Give what each parent does in the order of its states: (n_states of the parent, n_states)."""
        found, start = [], 0
        for order in self.ranking:
            column = np.empty((len(order), len(self.rows[-1])))
            column[list(order)] = self.rows[start : start + len(order)]
            found.append(column)
            start += len(order)
        return found

    def table(self) -> Array:
        """Write the probabilities out."""
        return noisy_max_table(self.columns(), np.array(self.rows[-1]))


@record(eq=False)
class NodeDocument:
    """A node; equal to another one if all is, tables bit for bit.

    Parameters
    ----------
    name, states, parents
        Labels, as text.
    table : float64 array of shape (*n_states of the parents, n_states)
        Every kind of node has it; it cannot be written to.
    kind : {"table", "deterministic", "noisy_or", "noisy_max"}
        Where the format says that the table follows from less.
    properties : tuple of (name, value)
    noisy_or, noisy_max : WrittenNoisyOr, WrittenNoisyMax or None
        What the table of a node of that kind is made of.
    """

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    table: Array
    kind: Kind = "table"
    properties: tuple[Property, ...] = ()
    noisy_or: WrittenNoisyOr | None = None
    noisy_max: WrittenNoisyMax | None = None

    def __post_init__(self) -> None:
        table = np.add(self.table, 0.0, dtype=np.float64, order="C")  # a copy, in which -0.0 has become 0.0
        table.flags.writeable = False
        object.__setattr__(self, "table", table)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeDocument):
            return NotImplemented
        return self._labels() == other._labels() and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash(self._labels())

    def _labels(self) -> tuple[object, ...]:
        return self.name, self.states, self.parents, self.kind, self.properties, self.noisy_or, self.noisy_max


@record
class NetworkDocument:
    """A network: its nodes in the order of the file, and notes that say in words what was changed in reading it.

    `rounded` is the note on rows that sum to one but for the digits they are written with, '' if there are none.
    """

    name: str
    nodes: tuple[NodeDocument, ...]
    properties: tuple[Property, ...] = ()
    notes: tuple[str, ...] = ()
    rounded: str = ""

    def topological(self) -> tuple[NodeDocument, ...]:
        """Give the nodes in an order in which parents come first, and that of the file where it may stay."""
        done: set[str] = set()
        ordered: list[NodeDocument] = []
        nodes = {node.name: node for node in self.nodes}
        for first in self.nodes:
            path = [first]
            while path:
                waiting = next((name for name in path[-1].parents if name not in done), None)
                if waiting is not None:
                    path.append(nodes[waiting])
                    continue
                node = path.pop()
                if node.name not in done:
                    done.add(node.name)
                    ordered.append(node)
        return tuple(ordered)


class Written(NamedTuple):
    """The text of a network file, and in words what it could not take along."""

    text: str
    notes: tuple[str, ...]
