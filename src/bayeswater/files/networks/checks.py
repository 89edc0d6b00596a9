"""What holds for a network in any format, checked in one place, with the place in the file that breaks it.

- Variables are declared once, with at least one state and no state twice.
- Every variable has one table, of variables that are declared; no variable depends on itself, over others or directly.
- Probabilities are finite and not negative. A row that sums to one within `KEPT` stays as it was read. One that does
  within the tolerance (`ROUNDED` unless a user or a format says otherwise) is divided by its sum, once, and noted; any
  other is refused.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from difflib import get_close_matches
from math import isfinite, prod
from typing import Protocol

import numpy as np

from bayeswater.errors import NetworkFileError, ResourceLimitError
from bayeswater.files.networks.document import NetworkDocument, NodeDocument, Property
from bayeswater.files.networks.names import some
from bayeswater.limits import NETWORK_EXPANDED_BYTES, TABLE_AXES
from bayeswater.records import record
from bayeswater.typing import Array

KEPT = 1e-12
ROUNDED = 0.01 + KEPT
"""What numbers of two digits leave: three times 0.33 are a hundredth off, and a little more in floats."""
SIX_DIGITS = 1e-6 + KEPT
"""What numbers of six digits leave: noted apart, as hardly worth a word."""

MOST_PARENTS = TABLE_AXES - 1
"""One axis is the variable's own; of binary parents no file could hold as many."""

WAY_SHOWN = 12
"""Names of a cycle that an error shows."""

PlaceOf = Callable[[int], int]
"""Where the number with an index stands."""


class Located(Protocol):
    """A file that can say where its places are."""

    def error(self, place: int, problem: str) -> NetworkFileError:
        """Make an error at a place."""


@record
class DeclaredVariable:
    """A variable as a file declares it, with the places of its name and of its states."""

    name: str
    states: tuple[str, ...]
    place: int
    state_places: Sequence[int]
    properties: tuple[Property, ...] = ()
    codes: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", {state: code for code, state in enumerate(self.states)})


@record
class ParentSet:
    """A variable whose table a file gives, and its parents, with their places."""

    name: str
    parents: tuple[str, ...]
    place: int
    parent_places: Sequence[int]


class NetworkChecks:
    """The state of one reading: what has been declared and defined so far, and what there is to note."""

    def __init__(self, places: Located, tolerance: float | None) -> None:
        self.places = places
        self.tolerance = ROUNDED if tolerance is None else tolerance
        self.notes: list[str] = []
        self.variables: dict[str, DeclaredVariable] = {}
        self.parent_sets: dict[str, ParentSet] = {}
        self._drift: dict[str, tuple[int, float]] = {}
        self._expanded = 0

    def declare(self, variable: DeclaredVariable) -> None:
        """Add a variable."""
        error, name = self.places.error, variable.name
        if name in self.variables:
            raise error(variable.place, f"variable {name!r} is declared a second time; leave one out or rename it")
        if not variable.states:
            raise error(variable.place, f"variable {name!r} has no states; a variable has at least one")
        if len(variable.codes) < len(variable.states):
            seen: set[str] = set()
            for state, place in zip(variable.states, variable.state_places, strict=True):
                if state in seen:
                    raise error(place, f"variable {name!r} has the state {state!r} twice; rename one")
                seen.add(state)
        self.variables[name] = variable

    def require_size(self, name: str, n_declared: str, n_states: int, place: int) -> None:
        """Refuse a number of states that is not that of the states which follow."""
        if not n_declared.isdecimal() or len(n_declared) > 9 or int(n_declared) != n_states:
            raise self.places.error(
                place, f"variable {name!r} should have {n_declared[:40]} states, and {n_states} are listed"
            )

    def define(self, parent_set: ParentSet) -> tuple[int, ...]:
        """Add a parent set, once all variables are declared; give the shape of its table, the own axis last."""
        error, name = self.places.error, parent_set.name
        self._require_known(name, parent_set.place)
        if name in self.parent_sets:
            raise error(parent_set.place, f"variable {name!r} has a second table; leave one out")
        seen: set[str] = set()
        for parent, place in zip(parent_set.parents, parent_set.parent_places, strict=True):
            self._require_known(parent, place)
            if parent == name:
                raise error(place, f"variable {name!r} is its own parent; networks have no cycles")
            if parent in seen:
                raise error(place, f"variable {name!r} has the parent {parent!r} twice; leave one out")
            seen.add(parent)
        if len(seen) > MOST_PARENTS:
            raise error(
                parent_set.place, f"variable {name!r} has {len(seen)} parents; a table has at most {MOST_PARENTS}"
            )
        self.parent_sets[name] = parent_set
        return tuple(len(self.variables[member].states) for member in (*parent_set.parents, name))

    def node(self, parent_set: ParentSet, table: Array) -> NodeDocument:
        """Give a variable that was declared with its parents and table."""
        variable = self.variables[parent_set.name]
        return NodeDocument(parent_set.name, variable.states, parent_set.parents, table, properties=variable.properties)

    def _require_known(self, name: str, place: int) -> None:
        if name not in self.variables:
            near = get_close_matches(name[:100], list(self.variables)[:1000], n=1)
            hint = f"did you mean {near[0]!r}?" if near else "declare it, with its states"
            raise self.places.error(place, f"variable {name!r} is not declared; {hint}")

    def numbers(self, words: Sequence[str], place_of: PlaceOf, n_expected: int | None, what: str) -> Array:
        """Make probabilities of words: as many as expected (if that is told), finite and not negative."""
        if n_expected is not None and len(words) != n_expected:
            raise self.places.error(
                place_of(min(len(words), n_expected)), f"{what} needs {n_expected} numbers, and {len(words)} are given"
            )
        joined = "".join(words)
        try:
            # float() reads digits of all scripts, and 1_000
            values = np.array(list(map(float, words))) if joined.isascii() and "_" not in joined else None
        except ValueError:
            values = None
        low, high = (0.0, 0.0) if values is None or not values.size else (values.min(), values.max())
        if values is None or not -np.inf < low <= high < np.inf:
            raise self._not_a_number(words, place_of, what)
        if low < 0:
            k = int(np.argmax(values < 0))
            raise self.places.error(place_of(k), f"{what} has the probability {words[k][:40]}, which is negative")
        return values

    def _not_a_number(self, words: Sequence[str], place_of: PlaceOf, what: str) -> NetworkFileError:
        k = next(k for k, word in enumerate(words) if not _is_probability(word))
        return self.places.error(place_of(k), f"{what} has {words[k][:40]!r} in the place of a number")

    def reserve(self, shape: tuple[int, ...], place: int) -> None:
        """Refuse a table that the file does not write out, before memory is taken for it."""
        self._expanded += 8 * prod(shape)
        if self._expanded > NETWORK_EXPANDED_BYTES:
            at = str(self.places.error(place, "this table is too large")).replace("\n", "\n  ")
            raise ResourceLimitError(
                f"{at}\nwritten out, it and those before it would take {self._expanded / 2**30:.4g} GiB, over the "
                f"limit of {NETWORK_EXPANDED_BYTES / 2**30:.4g} GiB; give the variable fewer parents"
            )

    def table(self, rows: Array, shape: tuple[int, ...], name: str, place_of_row: PlaceOf) -> Array:
        """Make the table of a variable of its rows, each of which has to sum to one."""
        rows = rows.reshape(-1, shape[-1])
        with np.errstate(over="ignore"):
            sums = np.add.reduce(rows, axis=1)
        drift = np.abs(sums - 1.0)
        worst = float(np.maximum.reduce(drift))
        if worst <= KEPT:
            return rows.reshape(shape)
        hopeless = (sums == 0) | (sums == np.inf)
        refused = hopeless | (drift > max(self.tolerance, KEPT))
        if refused.any():
            r = int(np.argmax(refused))
            way_out = (
                "that is no distribution"
                if hopeless[r]
                else f"they are put right if they do within {self.tolerance:g}; a larger tolerance= lets it pass"
            )
            raise self.places.error(
                place_of_row(r),
                f"a row of the table of {name!r} sums to {float(sums[r])!r}; probabilities have to sum to one, and "
                f"{way_out}",
            )
        off = drift > KEPT
        self._drift[name] = int(off.sum()), worst
        return np.where(off[:, None], rows / sums[:, None], rows).reshape(shape)

    def require_whole(self) -> None:
        """Refuse variables without a table, and cycles."""
        for name, variable in self.variables.items():
            if name not in self.parent_sets:
                raise self.places.error(variable.place, f"variable {name!r} has no table; give its probabilities")
        cycle = cycle_among({name: parent_set.parents for name, parent_set in self.parent_sets.items()})
        if cycle:
            first = min((self.parent_sets[name] for name in cycle), key=lambda parent_set: parent_set.place)
            start = cycle.index(first.name)
            way = _way_around([*cycle[start:], *cycle[:start]])
            raise self.places.error(first.place, f"variable {first.name!r} depends on itself: {way}")

    def document(
        self, name: str, nodes: Iterable[NodeDocument], properties: Iterable[Property] = ()
    ) -> NetworkDocument:
        """Put the document together, in the order in which the variables were declared."""
        by_name = {node.name: node for node in nodes}
        ordered = tuple(by_name[variable] for variable in self.variables)
        worst = max(self._drift, key=lambda name: self._drift[name][1], default=None)
        note = "" if worst is None else _drift_note(self._drift, worst)
        if worst is None or self._drift[worst][1] <= SIX_DIGITS:
            return NetworkDocument(name, ordered, tuple(properties), tuple(self.notes), rounded=note)
        return NetworkDocument(name, ordered, tuple(properties), (*self.notes, note))


def _is_probability(word: str) -> bool:
    """Tell whether a word is a finite number, in our digits."""
    try:
        return isfinite(float(word)) and word.isascii() and "_" not in word
    except ValueError:
        return False


def cycle_among(parents: dict[str, tuple[str, ...]]) -> list[str]:
    """Give the members of a cycle, each followed by a parent, or nothing.

    >>> cycle_among({"a": (), "b": ("a", "d"), "c": ("b",), "d": ("c",)})
    ['b', 'd', 'c']
    """
    children: dict[str, list[str]] = {name: [] for name in parents}
    waiting = {name: len(above) for name, above in parents.items()}
    for name, above in parents.items():
        for parent in above:
            children[parent].append(name)
    free = [name for name, n in waiting.items() if n == 0]
    while free:
        name = free.pop()
        del waiting[name]
        for child in children[name]:
            waiting[child] -= 1
            if waiting[child] == 0:
                free.append(child)
    if not waiting:
        return []
    steps: dict[str, int] = {}  # who waits has a parent that waits: going up from it ends in a circle
    name = next(iter(waiting))
    while name not in steps:
        steps[name] = len(steps)
        name = next(parent for parent in parents[name] if parent in waiting)
    return list(steps)[steps[name] :]


def _way_around(cycle: list[str]) -> str:
    """Show a cycle, a long one without its middle.

    >>> _way_around(["a", "b"])
    "'a' <- 'b' <- 'a'"
    """
    way = list(map(repr, [*cycle, cycle[0]]))
    return " <- ".join(way if len(way) <= WAY_SHOWN else [*way[: WAY_SHOWN - 2], "...", way[-1]])


def _drift_note(drift: dict[str, tuple[int, float]], worst: str) -> str:
    n_rows = sum(n for n, _ in drift.values())
    names = some(list(map(repr, drift)))
    return (
        f"{n_rows} rows of {len(drift)} tables ({names}) did not sum to one and were normalised; the largest "
        f"difference is {drift[worst][1]:.2g}, of {worst!r}"
    )


def require_writable(document: NetworkDocument) -> None:
    """Refuse to write what could not be read again."""
    states = {node.name: len(node.states) for node in document.nodes}
    if len(states) < len(document.nodes):
        names = [node.name for node in document.nodes]
        twice = next(name for name in names if names.count(name) > 1)
        raise NetworkFileError(f"two nodes have the name {twice!r}; rename one")
    for node in document.nodes:
        what = f"node {node.name!r}"
        if not node.states or len(set(node.states)) < len(node.states):
            raise NetworkFileError(f"{what} has the states {node.states}; give it at least one, and none twice")
        unknown = [parent for parent in node.parents if parent not in states]
        if unknown or len(set(node.parents)) < len(node.parents):
            raise NetworkFileError(f"{what} has the parents {node.parents}; each has to be a node, and named once")
        shape = (*(states[parent] for parent in node.parents), len(node.states))
        if node.table.shape != shape:
            raise NetworkFileError(f"the table of {what} has shape {node.table.shape}; its states need {shape}")
        if not np.isfinite(node.table).all() or (node.table < 0).any():
            raise NetworkFileError(f"the table of {what} has a probability that is negative or no number")
        drift = float(np.abs(node.table.reshape(-1, shape[-1]).sum(axis=1) - 1.0).max())
        if drift > KEPT:
            raise NetworkFileError(f"a row of the table of {what} differs from one by {drift:.2g}; normalise it")
        if node.kind == "deterministic" and not np.isin(node.table, (0.0, 1.0)).all():
            raise NetworkFileError(f"{what} is said to be deterministic, and its table has other numbers than 0 and 1")
        for kind, rule, word in (("noisy_or", node.noisy_or, "noisy-OR"), ("noisy_max", node.noisy_max, "noisy-MAX")):
            if node.kind == kind and not (rule and _follows(node.table, rule.table())):
                raise NetworkFileError(f"{what} is said to be a {word}, and its table is not the one that follows")
    cycle = cycle_among({node.name: node.parents for node in document.nodes})
    if cycle:
        raise NetworkFileError(f"node {cycle[0]!r} depends on itself: {_way_around(cycle)}")


def _follows(table: Array, expected: Array) -> bool:
    """Say whether a table is the one expected, but for the rounding of products taken in another order."""
    return table.shape == expected.shape and bool((np.abs(table - expected) <= KEPT).all())
