"""The best graph of all, proven: every set of parents that could be in it is scored, and all orders are gone through.

A set of parents is in no best graph if a part of it scores as well, since the arcs it has more can only be in the way.
For penalised likelihoods a set needs no counting where even a perfect fit could not pay for its parameters: the
log-likelihood is at most zero, so neither it nor any larger set can beat its parts. What is left is searched by dynamic
programming over subsets (Silander and Myllymaki 2006): exact, and of 2^n steps.

`chow_liu_tree` is the tree of the highest score: every variable has at most one parent (Chow and Liu 1968). For a score
that equivalent graphs share, an arc gains the same in both directions, so the best tree is a maximum spanning tree of
the gains; arcs that do not gain are left out, which makes it a forest. Of equal gains the arc to the earlier variable
goes first. Each tree hangs from its earliest variable. With knowledge, or another score, arcs have directions, and the
best forest is a maximum branching (Edmonds 1967).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import comb, prod
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError, ResourceLimitError
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.variable_orders import best_last
from bayeswater.limits import bytes_in_words
from bayeswater.records import record
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.hill_climbing import TIE, Parents
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.scores import Score
from bayeswater.typing import Array

MOST_VARIABLES = 28
"""Variables beyond which the subsets alone (9 bytes each) take over 2.3 GB, and all orders some minutes."""

AT_A_TIME = 256
"""Sets of parents that are counted together, between two looks at the clock."""

MOST_PARENT_SETS = 20_000_000
"""Sets of parents beyond which counting them would take an hour and more."""


@record
class ExactForecast:
    """What an exact search will cost at most."""

    n_families: int
    n_bytes: int

    def __str__(self) -> str:
        return f"up to {self.n_families:,} different families, {bytes_in_words(self.n_bytes)} for all subsets"


def forecast(knowledge: Knowledge) -> ExactForecast:
    """Say what an exact search costs at most, before bounds spare some of it."""
    free = (knowledge.allowed & ~knowledge.required).sum(axis=0)
    most = knowledge.max_parents - knowledge.required.sum(axis=0)
    n_families = sum(
        times * (2**n if limit >= n else sum(comb(n, k) for k in range(limit + 1)))
        for (n, limit), times in Counter(zip(free.tolist(), most.tolist(), strict=True)).items()
    )
    return ExactForecast(n_families, 9 * 2 ** len(knowledge.names))


def exact_search(
    local_scores: FamilyScores, knowledge: Knowledge, goes_on: Callable[[], bool] = lambda: True
) -> tuple[Parents, float]:
    """Find the graph of the highest score, as long as `goes_on` says.

    Raises
    ------
    ResourceLimitError
        Where there are too many variables or parent sets, with their number and the way out; and where time is up.
    """
    n = local_scores.n_variables
    cost = forecast(knowledge)
    if n > MOST_VARIABLES or cost.n_families > MOST_PARENT_SETS:
        raise ResourceLimitError(
            f"an exact search over {n} variables has {cost}; the limits are {MOST_VARIABLES} variables and "
            f"{MOST_PARENT_SETS:,} families. Limit max_parents, forbid arcs or give tiers, or use method='order'"
        )
    local_scores.expect(cost.n_families)
    found = best_graph([parent_sets(local_scores, knowledge, y, goes_on) for y in range(n)], knowledge)
    return found, local_scores.total(found)


def best_graph(lists: Sequence[dict[frozenset[int], float]], knowledge: Knowledge) -> Parents:
    """Find the best of all graphs in which the parents of each variable are one of its sets, which have scores."""
    n = len(lists)
    first = np.cumsum([0, *map(len, lists)])
    best_first = [sorted((-score, sorted(one)) for one, score in own.items()) for own in lists]
    sets = np.array([_bits(one) for own in best_first for _, one in own], dtype=np.int64)
    scores = np.array([-score for own in best_first for score, _ in own])
    required = np.array([_bits(np.flatnonzero(column)) for column in knowledge.required.T], dtype=np.int64)
    best, last = np.empty(2**n), np.empty(2**n, dtype=np.int8)
    (best_last if worth_compiling(n * 2**n) else best_last.loop)(first, sets, scores, required, best, last)
    parents: list[frozenset[int]] = [frozenset()] * n
    subset = 2**n - 1
    while subset:
        y = int(last[subset])
        subset &= ~(1 << y)
        own = next(int(s) for s in sets[first[y] : first[y + 1]] if not int(s) & ~subset)
        parents[y] = frozenset(x for x in range(n) if own >> x & 1)
    return tuple(parents)


def parent_sets(
    local_scores: FamilyScores, knowledge: Knowledge, y: int, goes_on: Callable[[], bool] = lambda: True
) -> dict[frozenset[int], float]:
    """Sets of parents of y that no part of them matches, and their scores."""
    fixed = frozenset(np.flatnonzero(knowledge.required[:, y]).tolist())
    free = [int(x) for x in np.flatnonzero(knowledge.allowed[:, y]) if int(x) not in fixed]
    most = min(len(free), knowledge.max_parents - len(fixed))
    start = local_scores.column(y, fixed)
    best: dict[frozenset[int], float] = {fixed: float(start[y])}  # the best score among a set and all its parts
    kept: dict[frozenset[int], float] = dict(best)
    layer = [fixed]
    cards, price = local_scores.n_states.tolist(), _price_of_a_configuration(local_scores, y)
    for _ in range(most):
        grown: dict[frozenset[int], float] = {}
        for place in range(0, len(layer), AT_A_TIME):
            if not goes_on():
                raise ResourceLimitError(
                    "the time limit came before the best graph was proven; give more time, limit max_parents, or "
                    "use method='order'"
                )
            some = layer[place : place + AT_A_TIME]
            for own, column in zip(some, local_scores.columns([(y, own) for own in some]), strict=True):
                for x in free:
                    if x not in own and (own | {x}) not in grown:
                        grown[own | {x}] = float(column[x])
        layer = []
        for own, score in grown.items():
            parts = [best[own - {x}] for x in own - fixed if own - {x} in best]
            if len(parts) < len(own - fixed):
                continue  # a part was out of the question, and so is the whole
            top = max(parts)
            if score == -np.inf or (price and price * prod(cards[x] for x in own) <= top):
                continue  # it costs more, and so does every larger set, than a perfect fit gains over its parts
            best[own] = max(score, top)
            layer.append(own)
            if score > top + TIE * abs(top):
                kept[own] = score
    return kept


def _price_of_a_configuration(local_scores: FamilyScores, y: int) -> float:
    """What each configuration of parents adds to the score, whatever the fit: nothing where that has no bound."""
    score = local_scores.score
    if not isinstance(score, Score) or score.name not in ("aic", "bic"):
        return 0.0
    return score.terms(1.0, int(local_scores.n_states[y]), local_scores.n_rows).constant


def _bits(members: Iterable[int]) -> int:
    return sum(1 << int(x) for x in members)


def chow_liu_tree(local_scores: FamilyScores, knowledge: Knowledge) -> Parents:
    """Find the best tree."""
    several = np.flatnonzero(knowledge.required.sum(axis=0) > 1)
    if len(several):
        raise ParameterError(
            f"method='tree' gives every variable one parent at most, but {knowledge.names[several[0]]!r} has several "
            "required ones; take another method"
        )
    n = local_scores.n_variables
    none: frozenset[int] = frozenset()
    if knowledge.max_parents == 0:
        return (none,) * n
    least = TIE * abs(local_scores.total([none] * n))
    is_free = (knowledge.allowed | np.eye(n, dtype=bool)).all() and not knowledge.required.any()
    is_free &= local_scores.score.is_equivalent
    gain: Any = local_scores.pair_gains() if is_free else None  # of each variable with each other
    if gain is None:
        local_scores.columns([(y, none) for y in range(n)])
        gain = np.array([local_scores.column(y, none) - local_scores.column(y, none)[y] for y in range(n)]).T
    if not is_free:
        required = knowledge.required.T
        must, joined = required.sum(axis=1) > 0, gain.T  # what a child gains by each parent
        may = np.where(must[:, None], required, knowledge.allowed.T & (joined > least))
        # One more variable stands above all others, as the parent of those that need none.
        weight = np.full((n + 1, n + 1), -np.inf)
        weight[:n, :n], weight[:n, n] = np.where(may, joined, -np.inf), np.where(must, -np.inf, 0.0)
        return tuple(frozenset() if x == n else frozenset([x]) for x in _branching(weight).tolist())
    # Prim's rule from the earliest variable of each tree; gain[y][x] of the variables x outside to their best y inside.
    inside = np.zeros(n, dtype=bool)
    parents = [none] * n
    best, best_parent = np.full(n, -np.inf), np.zeros(n, dtype=np.int64)
    for _ in range(n):
        outside = np.flatnonzero(~inside)
        top = best[outside].max()
        if top > least:
            y = int(outside[np.argmax(best[outside] >= top - least)])
            parents[y] = frozenset([int(best_parent[y])])
        else:
            y = int(outside[0])
        inside[y] = True
        gain_of = gain[y]
        better = ~inside & (gain_of > np.maximum(best, 0.0) + least)
        best[better], best_parent[better] = gain_of[better], y
    return tuple(parents)


def _branching(weight: Array) -> Array:
    """Parent of each variable but the last, above all: arcs of the greatest sum of ``weight[child, parent]``."""
    n = len(weight) - 1
    parent = np.argmax(weight[:n], axis=1)
    # Going up from a variable that is on a cycle, or below one, never ends at the last.
    top = np.append(parent, n)
    for _ in range(n.bit_length()):
        top = top[top]
    lost = np.flatnonzero(top[:n] < n)
    if not len(lost):
        return parent
    on_cycle = np.zeros(n + 1, dtype=bool)
    node = int(top[lost[0]])
    while not on_cycle[node]:
        on_cycle[node] = True
        node = int(parent[node])
    # The cycle becomes one variable: whoever enters it at y gains weight[y, x] in place of the arc of y in the cycle.
    cycle, rest = np.flatnonzero(on_cycle), np.flatnonzero(~on_cycle)
    entering = weight[np.ix_(cycle, rest)] - weight[cycle, parent[cycle]][:, None]
    leaving = weight[np.ix_(rest, cycle)]
    smaller = np.full((len(rest) + 1,) * 2, -np.inf)  # the cycle first
    smaller[1:, 1:], smaller[0, 1:], smaller[1:, 0] = (
        weight[np.ix_(rest, rest)],
        entering.max(axis=0),
        leaving.max(axis=1),
    )
    found = _branching(smaller)
    entry = int(found[0]) - 1
    parent[cycle[np.argmax(entering[:, entry])]] = rest[entry]
    for y, x in zip(rest[:-1].tolist(), found[1:].tolist(), strict=True):
        parent[y] = cycle[np.argmax(weight[y, cycle])] if x == 0 else rest[x - 1]
    return parent
