"""`SamplingQuestion`: what is left of a network once evidence is put in, what is asked of it, and the `Estimate`.

Families that are no ancestors of anything asked or observed are left out; observed variables, and those of which
evidence leaves one state, are fixed in the tables; states that evidence makes impossible are struck out. Of what
remains, only the parts that hang together with the targets are sampled: the answer does not depend on the others. But
all have to be possible, or else the evidence is not.

A state of a variable is possible as far as every table of the variable has a positive entry for it among the possible
states of the others (`Constraints`). Striking out the rest until nothing changes is no proof that what remains is
possible together; `find_together` searches for such states, and where it has tried all of them there are none.

An `Estimate` holds probabilities found by sampling, how far off each may be, and whether that can be relied on.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bayeswater.errors import ImpossibleEvidence, SamplingError
from bayeswater.inference.exact.factors import Factors
from bayeswater.records import record
from bayeswater.typing import Array

MOST_CELLS = 256
"""States of all targets together: each is reported with an error of its own."""


@record(eq=False)
class Estimate:
    """What sampling found.

    `effective_size` is the number of independent draws from the distribution itself that would give the same standard
    error, p (1 - p) / se^2; where there is no error, it is infinite. `doubts` say why the errors cannot be relied on;
    there are none in an estimate that can.

    >>> coin = exactly(np.array([0.25, 0.75]))
    >>> coin.is_reliable, coin.verdict
    (True, 'reliable')
    """

    probability: Array  # (*n_states of the targets)
    standard_error: Array
    effective_size: Array
    r_hat: Array | None  # None where draws are independent
    method: str
    n_draws: int
    n_chains: int | None
    doubts: tuple[str, ...] = ()
    is_reached: bool = True  # the standard error that was asked for

    @property
    def is_reliable(self) -> bool:
        """Whether nothing speaks against the errors."""
        return not self.doubts

    @property
    def verdict(self) -> str:
        """Say whether the errors can be relied on, and why not."""
        if self.doubts:
            return f"not reliable: {'; '.join(self.doubts)}"
        return "reliable" if self.is_reached else "reliable, but the error asked for was not reached in the time given"


def exactly(probability: Array) -> Estimate:
    """Give what follows without a draw."""
    size = np.full(probability.shape, np.inf)
    return Estimate(probability, np.zeros(probability.shape), size, None, "exact", 0, None)


FEW_HITS = 25
"""Where fewer draws had a state, or had another one, their spread tells too little of the error."""


def error_of_few(probability: Array, n_draws: float) -> Array:
    """Standard error where few of some independent draws had a state, or all of them.

    One draw more might have been different: p is moved by the rule of succession before its error is taken.

    >>> float(error_of_few(np.array(0.0), 1000).round(5))
    0.001
    """
    moved = (probability * n_draws + 1) / (n_draws + 2)
    return np.asarray(np.sqrt(moved * (1 - moved) / (n_draws + 2)))


def effective_size(probability: Array, standard_error: Array) -> Array:
    """Number of independent draws with the same standard error: infinite where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(standard_error > 0, probability * (1 - probability) / standard_error**2, np.inf)


Scope = tuple[int, ...]

Domains = dict[int, Array]
"""Whether each state of a variable is possible, (n_states,) bool."""

MOST_TRIES = 20_000
"""States tried in a search before it is given up."""


class Constraints:
    """Tables with zeros: which states of their variables are possible together."""

    def __init__(self, tables: Sequence[tuple[Scope, Array]]) -> None:
        self.tables = [(scope, values > 0) for scope, values in tables if (values == 0).any()]
        self.of_variable: dict[int, list[int]] = {}
        for t, (scope, _) in enumerate(self.tables):
            for v in scope:
                self.of_variable.setdefault(v, []).append(t)

    def strike_out(self, domains: Domains, changed: Sequence[int] | None = None) -> bool:
        """Strike states out of `domains` until nothing changes; False where a variable has none left.

        `changed` are the variables that have lost states since the last time; default all of them.
        """
        waiting = (
            set(range(len(self.tables)))
            if changed is None
            else {t for v in changed for t in self.of_variable.get(v, ())}
        )
        while waiting:
            scope, positive = self.tables[waiting.pop()]
            for axis, v in enumerate(scope):
                positive = np.compress(domains[v], positive, axis=axis)
            for axis, v in enumerate(scope):
                left = positive.any(axis=tuple(a for a in range(len(scope)) if a != axis))
                if left.all():
                    continue
                if not left.any():
                    return False
                domains[v] = domains[v].copy()
                domains[v][domains[v]] = left
                positive = np.compress(left, positive, axis=axis)
                waiting.update(self.of_variable[v])
        return True

    def find_together(self, domains: Mapping[int, Array], rng: np.random.Generator) -> dict[int, int] | None:
        """Find states of all variables in these tables that are possible together, at random; None if there are none.

        Raises
        ------
        SamplingError
            After `MOST_TRIES` states tried, nothing is known.
        """
        open_choices: list[tuple[Domains, int, list[int]]] = []
        here = dict(domains)
        fine = all(domain.any() for domain in here.values()) and self.strike_out(here)
        for _ in range(MOST_TRIES):
            if fine:
                free = [v for v in self.of_variable if here[v].sum() > 1]
                if not free:
                    return {v: int(here[v].argmax()) for v in self.of_variable}
                v = min(free, key=lambda v: (here[v].sum(), -len(self.of_variable[v])))
                open_choices.append((here, v, rng.permutation(np.flatnonzero(here[v])).tolist()))
            while open_choices and not open_choices[-1][2]:
                open_choices.pop()
            if not open_choices:
                return None
            before, v, left = open_choices[-1]
            here = dict(before)
            here[v] = np.arange(len(before[v])) == left.pop()
            fine = self.strike_out(here, [v])
        raise SamplingError(
            f"it is not known whether the evidence is possible: {MOST_TRIES} tries found no states of all variables "
            "that agree with it, and did not show that there are none; ask for an exact answer, or observe less"
        )


@record(eq=False)
class FreeTable:
    """A table over free variables, one axis each, in their own numbering of possible states."""

    scope: Scope
    values: Array
    of: int | None  # variable whose distribution given its parents it is; None for likelihoods


@record(eq=False)
class SamplingQuestion:
    """What is sampled."""

    factors: Factors
    targets: Scope
    states: Mapping[int, Array]  # codes of the possible states of every variable that matters
    free: Scope  # variables with more than one, parents before children, that hang together with the targets
    pieces: tuple[FreeTable, ...]  # tables of these

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
) -> SamplingQuestion:
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
    return SamplingQuestion(network, tuple(targets), states, free, kept)


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


def _sliced(table: tuple[Scope, Array, int | None], states: Mapping[int, Array]) -> FreeTable:
    scope, values, of = table
    if any(len(states[v]) < n for v, n in zip(scope, values.shape, strict=True)):
        values = values[np.ix_(*(states[v] for v in scope))]
    fixed = tuple(axis for axis, v in enumerate(scope) if len(states[v]) == 1)
    left = tuple(v for v in scope if len(states[v]) > 1)
    return FreeTable(left, np.squeeze(values, axis=fixed), of if of in left else None)


def _impossible(evidence: Mapping[int, int], soft: Mapping[int, Array]) -> ImpossibleEvidence:
    parts = [f"variable {v} in state {state}" for v, state in evidence.items()]
    parts += [f"likelihoods of variable {v}" for v in soft]
    return ImpossibleEvidence(f"the evidence has probability zero: {', '.join(parts)}")
