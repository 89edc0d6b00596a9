"""`Question`: what is left of a network once evidence is put in, and what is asked of it.

Families that are no ancestors of anything asked or observed are left out; observed variables, and those of which
evidence leaves one state, are fixed in the tables; states that evidence makes impossible are struck out. Of what
remains, only the parts that hang together with the targets are sampled: the others have no say in the answer. But all
have to be possible, or else the evidence is not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.errors import ImpossibleEvidence
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.sampling.possible_states import Constraints, Domains, Scope
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False)
class Piece:
    """A table over free variables, one axis each, in their own numbering of possible states."""

    scope: Scope
    values: Array
    of: int | None  # variable whose distribution given its parents it is; None for likelihoods


@dataclass(frozen=True, eq=False)
class Question:
    """What is sampled."""

    factors: Factors
    targets: Scope
    states: Mapping[int, Array]  # codes of the possible states of every variable that matters
    free: Scope  # variables with more than one, parents before children, that hang together with the targets
    pieces: tuple[Piece, ...]  # tables of these

    def n_states(self, v: int) -> int:
        """How many states of a variable are possible."""
        return len(self.states[v])

    @property
    def constraints(self) -> Constraints:
        """Zeros of the tables."""
        return Constraints([(piece.scope, piece.values) for piece in self.pieces])


def ask(
    network: Factors,
    targets: Sequence[int],
    evidence: Mapping[int, int],
    soft: Mapping[int, Array],
    rng: np.random.Generator,
) -> Question:
    """Put evidence in.

    Raises
    ------
    ParameterError
        A target comes twice, or a state is none of its variable.
    ImpossibleEvidence
        No states of all variables have a positive probability.
    SamplingError
        That could not be settled.
    """
    network.require_known(targets, evidence)
    relevant = 0
    for v in (*targets, *evidence, *soft):
        relevant |= network.ancestors[v]
    order = [v for v in network.order if relevant >> v & 1]
    domains: Domains = {v: np.ones(network.cards[v], dtype=bool) for v in order}
    for v, state in evidence.items():
        domains[v] = np.arange(network.cards[v]) == state
    tables: list[tuple[Scope, Array, int | None]] = [((*network.parents[v], v), network.tables[v], v) for v in order]
    tables += [((v,), np.asarray(values, dtype=np.float64), None) for v, values in soft.items()]
    constraints = Constraints([(scope, values) for scope, values, _ in tables])
    if not constraints.strike_out(domains):
        raise _impossible(evidence, soft)
    states = {v: np.flatnonzero(domain) for v, domain in domains.items()}
    pieces = [_sliced(table, states) for table in tables]
    parts = connected([piece.scope for piece in pieces])
    left = Constraints([(piece.scope, piece.values) for piece in pieces])
    if left.find_together({v: np.ones(len(some), dtype=bool) for v, some in states.items()}, rng) is None:
        raise _impossible(evidence, soft)
    asked = {parts[v] for v in targets if len(states[v]) > 1}
    free = tuple(v for v in order if len(states[v]) > 1 and parts[v] in asked)
    kept = tuple(piece for piece in pieces if piece.scope and parts[piece.scope[0]] in asked)
    return Question(network, tuple(targets), states, free, kept)


def connected(scopes: Iterable[Scope]) -> dict[int, int]:
    """Find which variables hang together by tables: for each, one that stands for all of them.

    >>> connected([(1, 2), (5,), (2, 3)])
    {1: 3, 2: 3, 5: 5, 3: 3}
    """
    above: dict[int, int] = {}

    def top(v: int) -> int:
        above.setdefault(v, v)
        while above[v] != v:
            above[v] = above[above[v]]
            v = above[v]
        return v

    for scope in scopes:
        for v in scope:
            above[top(scope[0])] = top(v)
    return {v: top(v) for v in above}


def _sliced(table: tuple[Scope, Array, int | None], states: Mapping[int, Array]) -> Piece:
    scope, values, of = table
    if any(len(states[v]) < n for v, n in zip(scope, values.shape, strict=True)):
        values = values[np.ix_(*(states[v] for v in scope))]
    fixed = tuple(axis for axis, v in enumerate(scope) if len(states[v]) == 1)
    left = tuple(v for v in scope if len(states[v]) > 1)
    return Piece(left, np.squeeze(values, axis=fixed), of if of in left else None)


def _impossible(evidence: Mapping[int, int], soft: Mapping[int, Array]) -> ImpossibleEvidence:
    told = [f"variable {v} in state {state}" for v, state in evidence.items()]
    told += [f"likelihoods of variable {v}" for v in soft]
    return ImpossibleEvidence(f"the evidence has probability zero: {', '.join(told)}")
