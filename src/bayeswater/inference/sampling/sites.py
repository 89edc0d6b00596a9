"""Sites of Gibbs sampling: variables that are drawn together, so that every possible state is reached.

Drawn one at a time, variables tied by zeros stay where they are: of two that are always equal none can move first.
So all variables of a table with a zero make one site, and sites that share a variable are one. Then each zero lies
within a site; what is possible for a site does not depend on the others; and since every possible state of a site has
a positive probability whatever the others are, one sweep can lead from any possible state to any other. The chains
have one limiting distribution, the one that is asked for, from whatever state they start.

The states of a site are those possible together, found table by table. Where they are too many, nothing is sampled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.errors import SamplingError
from bayeswater.inference.sampling.question import Piece, Question, connected
from bayeswater.typing import Array

MOST_STATES = 2**12
"""Of one site: a draw has to look at all of them."""

MOST_PARTIAL_STATES = 2**18
"""Of some variables of a site, while its states are found."""


@dataclass(frozen=True, eq=False)
class Site:
    """Variables that are drawn together."""

    variables: tuple[int, ...]
    states: Array  # (n_states, n_variables) that are possible together, by their numbers
    pieces: tuple[Piece, ...]  # tables that any of them is in

    @property
    def neighbours(self) -> tuple[int, ...]:
        """Variables of the tables that are of other sites."""
        return tuple(dict.fromkeys(v for piece in self.pieces for v in piece.scope if v not in self.variables))

    def columns(self, piece: Piece) -> tuple[list[int], list[int], Array]:
        """Split a table: axes of other sites; axes of this one, flattened; and the cell of each state in these."""
        outside = [axis for axis, v in enumerate(piece.scope) if v not in self.variables]
        inside = [axis for axis, v in enumerate(piece.scope) if v in self.variables]
        shape = [piece.values.shape[axis] for axis in inside]
        columns = [self.variables.index(piece.scope[axis]) for axis in inside]
        return outside, inside, np.ravel_multi_index(tuple(self.states[:, columns].T), shape)


def make_sites(question: Question, name: Callable[[int], str]) -> list[Site]:
    """Group the free variables into sites.

    Raises
    ------
    SamplingError
        Zeros tie more variables together than can be drawn at once.
    """
    tied = connected(
        [(v,) for v in question.free] + [piece.scope for piece in question.pieces if (piece.values == 0).any()]
    )
    groups: dict[int, list[int]] = {}
    for v in question.free:
        groups.setdefault(tied[v], []).append(v)
    touching: dict[int, list[int]] = {}
    for i, piece in enumerate(question.pieces):
        for v in piece.scope:
            touching.setdefault(v, []).append(i)
    sites = []
    for variables in groups.values():
        pieces = tuple(question.pieces[i] for i in sorted({i for v in variables for i in touching[v]}))
        states = _possible_states(question, variables, pieces, name)
        sites.append(Site(tuple(variables), states, pieces))
    return sites


def _possible_states(
    question: Question, variables: Sequence[int], pieces: Sequence[Piece], name: Callable[[int], str]
) -> Array:
    """States of some variables that no table makes impossible, (n_states, n_variables)."""
    zeros = [piece for piece in pieces if (piece.values == 0).any()]
    column: dict[int, int] = {}
    states = np.zeros((1, 0), dtype=np.int64)
    while len(column) < len(variables):
        v = _next_variable(variables, zeros, column)
        n, n_before = question.n_states(v), len(states)
        if n_before * n > MOST_PARTIAL_STATES:
            raise _too_many(variables, name)
        states = np.column_stack([np.repeat(states, n, axis=0), np.tile(np.arange(n), n_before)])
        column[v] = len(column)
        for piece in zeros:
            if v in piece.scope and all(u in column for u in piece.scope):
                states = states[piece.values[tuple(states[:, column[u]] for u in piece.scope)] > 0]
    if len(states) > MOST_STATES:
        raise _too_many(variables, name)
    return np.ascontiguousarray(states[:, [column[v] for v in variables]])


def _next_variable(variables: Sequence[int], zeros: Sequence[Piece], column: dict[int, int]) -> int:
    # The one that completes a table, or leaves the fewest open: zeros should strike states out as early as they can.
    def still_open(v: int) -> tuple[int, int]:
        open_in = [sum(u not in column for u in piece.scope) for piece in zeros if v in piece.scope]
        return min(open_in, default=0), -len(open_in)

    return min((v for v in variables if v not in column), key=still_open)


def _too_many(variables: Sequence[int], name: Callable[[int], str]) -> SamplingError:
    shown = ", ".join(name(v) for v in variables[:8]) + (", ..." if len(variables) > 8 else "")
    return SamplingError(
        f"Gibbs sampling would have to draw {len(variables)} variables together ({shown}): zeros in their tables tie "
        f"them, and drawn apart they might never reach every possible state; together they have more than the "
        f"{MOST_STATES} states that can be drawn at once. Ask by method='likelihood_weighting' or 'exact', or observe "
        "one of them"
    )
