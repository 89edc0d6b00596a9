"""`Knowledge`: what is known about a graph before the rows are looked at: arcs that must, may or cannot be there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.records import record
from bayeswater.structure.dag import Dag
from bayeswater.structure.notation import read_edges
from bayeswater.typing import Array

ANY = "*"
"""In an arc: every variable."""

Arcs = Iterable[tuple[str, str]] | str | None


@record
class Knowledge:
    """Arcs from parent to child, as squares (n_variables, n_variables) indexed ``[parent, child]``.

    Parameters
    ----------
    names : of the variables
    allowed : whether an arc may be there
    required : whether it must be
    max_parents : most parents of a variable
    """

    names: tuple[str, ...]
    allowed: Array
    required: Array
    max_parents: int

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        required: Arcs = None,
        forbidden: Arcs = None,
        tiers: Sequence[Sequence[str]] | None = None,
        max_parents: int | None = None,
    ) -> "Knowledge":
        """Read what a user knows; contradictions are refused, and named.

        Parameters
        ----------
        names : of the variables
        required, forbidden : pairs (parent, child), or text such as ``"age -> income; sex <- *"``, where ``*`` is every
            variable
        tiers : lists of names; no arc leads from a later list to an earlier one
        max_parents : most parents of a variable
        """
        names = tuple(names)
        n = len(names)
        if not _are_tiers(tiers):
            raise ParameterError(f"tiers is {tiers!r}; give lists of names, the earliest first: [['age'], ['income']]")
        must, cannot = _square(required, names, "required"), _square(forbidden, names, "forbidden")
        allowed = ~cannot & ~np.eye(n, dtype=bool) & _by_tiers(tiers, names)
        if must.diagonal().any():
            name = names[int(np.argmax(must.diagonal()))]
            raise ParameterError(f"an arc from {name!r} to itself is required; leave it out")
        if (must & cannot).any():
            raise ParameterError(f"the arc {_first(must & cannot, names)} is both required and forbidden; give up one")
        if (must & ~allowed).any():
            raise ParameterError(
                f"the arc {_first(must & ~allowed, names)} is required, but leads from a later tier to an earlier one"
            )
        if max_parents is None:
            max_parents = n - 1
        if not isinstance(max_parents, int | np.integer) or isinstance(max_parents, bool) or max_parents < 0:
            raise ParameterError(f"max_parents is {max_parents!r}; give a whole number, 0 or more")
        crowded = np.flatnonzero(must.sum(axis=0) > max_parents)
        if len(crowded):
            raise ParameterError(
                f"{int(must[:, crowded[0]].sum())} parents of {names[crowded[0]]!r} are required, "
                f"but max_parents is {max_parents}"
            )
        try:
            Dag(names, parents_of(must))
        except ParameterError as error:
            raise ParameterError(f"the required arcs contradict one another: {error}") from None
        return cls(names, allowed, must, int(max_parents))

    def take(self, order: Array) -> "Knowledge":
        """Give the same with the variables in another order."""
        square = np.ix_(order, order)
        return replace(
            self,
            names=tuple(self.names[node] for node in order),
            allowed=self.allowed[square],
            required=self.required[square],
        )

    @property
    def start(self) -> tuple[frozenset[int], ...]:
        """The parents that are required."""
        return tuple(map(frozenset, parents_of(self.required)))

    def check(self, dag: Dag) -> None:
        """Refuse a graph that what is known rules out."""
        arcs = np.zeros_like(self.allowed)
        for child, own in enumerate(dag.parents):
            arcs[list(own), child] = True
        if (arcs & ~self.allowed).any():
            arc = _first(arcs & ~self.allowed, self.names)
            raise ParameterError(f"the start has the arc {arc}, which is forbidden; start without it")
        if (self.required & ~arcs).any():
            raise ParameterError(
                f"the start lacks the arc {_first(self.required & ~arcs, self.names)}, which is required"
            )
        crowded = np.flatnonzero(arcs.sum(axis=0) > self.max_parents)
        if len(crowded):
            raise ParameterError(
                f"the start gives {self.names[crowded[0]]!r} more than {self.max_parents} parents; raise max_parents"
            )


def parents_of(arcs: Array) -> tuple[tuple[int, ...], ...]:
    """Parents of every node of a square of arcs."""
    return tuple(tuple(np.flatnonzero(column).tolist()) for column in arcs.T)


def _square(arcs: Any, names: tuple[str, ...], what: str) -> Array:
    square = np.zeros((len(names), len(names)), dtype=bool)
    if arcs is None:
        return square
    if isinstance(arcs, str):
        _, arcs = read_edges(arcs, both_ways=what == "forbidden")
    if isinstance(arcs, Dag):
        arcs = arcs.edges()
    if not isinstance(arcs, Iterable):
        raise ParameterError(f"{what} is {arcs!r}; give pairs of names, (parent, child), or text: 'age -> income'")
    place: Mapping[str, int] = {name: j for j, name in enumerate(names)}
    for arc in arcs:
        try:
            parent, child = [arc] if isinstance(arc, str) else arc  # a text of two letters is no pair
        except (TypeError, ValueError):
            raise ParameterError(
                f"{what} holds {arc!r}; give pairs of names, (parent, child), or all as one text: 'a -> b; c -> d'"
            ) from None
        for name in (parent, child):
            if name != ANY and (not isinstance(name, str) or name not in place):
                raise ParameterError(f"{what} names {name!r}, but there is no such variable; there are {names[:10]}")
        rows = slice(None) if parent == ANY else place[parent]
        columns = slice(None) if child == ANY else place[child]
        if parent == ANY or child == ANY:
            own = np.zeros_like(square)
            own[rows, columns] = True
            np.fill_diagonal(own, False)
            square |= own
        else:
            square[rows, columns] = True
    return square


def _are_tiers(tiers: Any) -> bool:
    """Whether tiers are none, or names and lists of names in an order."""
    if tiers is None:
        return True
    in_order = isinstance(tiers, Sequence | np.ndarray) and not isinstance(tiers, str)
    return in_order and all(isinstance(tier, Iterable) for tier in tiers)


def _by_tiers(tiers: Sequence[Sequence[str]] | None, names: tuple[str, ...]) -> Array:
    if tiers is None:
        return np.ones((len(names), len(names)), dtype=bool)
    tier_of: dict[str, int] = {}
    for number, tier in enumerate(tiers):
        for name in [tier] if isinstance(tier, str) else tier:
            if name not in names:
                raise ParameterError(f"tiers name {name!r}, but there is no such variable; there are {names[:10]}")
            if tier_of.setdefault(name, number) != number:
                raise ParameterError(f"tiers name {name!r} twice, in list {tier_of[name] + 1} and list {number + 1}")
    # A variable that is in no tier is held back by none.
    number_of = np.array([tier_of.get(name, -1) for name in names])
    free = number_of < 0
    return (number_of[:, None] <= number_of) | free[:, None] | free


def _first(arcs: Array, names: tuple[str, ...]) -> str:
    parent, child = np.argwhere(arcs)[0]
    return f"{names[parent]} -> {names[child]}"
