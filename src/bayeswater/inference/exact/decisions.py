"""Influence diagrams solved exactly: variables are summed out and decisions maximised in the reverse order of time.

Time runs: what is known before the first decision, that decision, what is known before the second one, and so on, and
last what nobody sees. Nothing is forgotten. From the end, a variable is summed out with the tables that have it, and
expected utilities take its place; a decision takes its best alternative for all that is known and matters (Jensen,
Jensen and Dittmer 1994: the order of a strong junction tree).

    sum out x:    p' = sum over x of p,    u' = sum over x of p u / p'
    maximise d:   p' = p for any d,        u' = max over d of u
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayeswater.inference.exact.forecast import of_elimination
from bayeswater.inference.exact.scoped_tables import Scope, ScopedTable, neighbours, sum_of_products, sum_of_tables
from bayeswater.kernels.elimination_order import MIN_FILL, order_of_masks
from bayeswater.typing import Array

ROUNDING = 1e-12
"""Utilities that differ by less than this share of the largest are equal, and the first alternative is taken."""


class Rule(NamedTuple):
    """What to do at one decision: the variables that it depends on, and utilities (*their states, alternatives)."""

    scope: Scope
    utilities: Array
    choice: Array  # (*states of the scope)


class Solved(NamedTuple):
    """The largest expected utility, the rules that reach it, and the logarithm of P(evidence)."""

    expected_utility: float
    rules: dict[int, Rule]
    log_evidence: float


def solve(
    probabilities: Sequence[ScopedTable],
    utilities: Sequence[ScopedTable],
    stages: Sequence[tuple[Sequence[int], int | None]],
    cards: Sequence[int],
) -> Solved:
    """Solve an influence diagram.

    Parameters
    ----------
    probabilities, utilities : tables, at what is known
    stages : the variables that are seen before each decision, and the decision; last those never seen, and None
    cards : number of states of each variable

    >>> ill, good = ScopedTable((0,), np.array([0.1, 0.9])), ScopedTable((0, 1), np.array([[0.0, -10.0], [-1.0, 0.0]]))
    >>> solve([ill], [good], [([], 1), ([0], None)], (2, 2)).expected_utility
    -0.9
    """
    log_scale, rules = 0.0, {}
    p, u = list(probabilities), list(utilities)
    for seen, decision in reversed(stages):
        if decision is not None:
            rules[decision], p, u = _maximised(p, u, decision, cards)
        masks = neighbours([*p, *u])
        kept = [v for v in masks if v not in seen]
        order, _, cells = order_of_masks(masks, cards, MIN_FILL, kept)
        of_elimination(cells).require_room()
        for v in order:
            p, u, log_top = _summed(p, u, v, cards)
            log_scale += log_top
    with np.errstate(divide="ignore"):
        log_evidence = log_scale + sum(float(np.log(table.values)) for table in p)
    return Solved(float(sum(float(table.values) for table in u)), rules, log_evidence)


def _summed(
    p: list[ScopedTable], u: list[ScopedTable], v: int, cards: Sequence[int]
) -> tuple[list[ScopedTable], list[ScopedTable], float]:
    with_v, of_v = [t for t in p if v in t.scope], [t for t in u if v in t.scope]
    p, u = [t for t in p if v not in t.scope], [t for t in u if v not in t.scope]
    ones = ScopedTable((v,), np.ones(cards[v]))
    scope = _scope(with_v, v)
    total = np.asarray(sum_of_products([ones, *with_v], scope))
    top = float(total.max())
    p.append(ScopedTable(scope, total / top if top > 0 else total))
    if of_v:
        wide = tuple(dict.fromkeys([*scope, *_scope(of_v, v)]))
        own = ScopedTable((*wide, v), sum_of_tables(of_v, (*wide, v), cards))
        mean = np.asarray(sum_of_products([*with_v, own], wide))
        divisor = total.reshape([cards[w] if w in scope else 1 for w in wide])
        u.append(ScopedTable(wide, np.where(divisor > 0, mean, 0.0) / np.where(divisor > 0, divisor, 1.0)))
    return p, u, float(np.log(top)) if top > 0 else 0.0


def _maximised(
    p: list[ScopedTable], u: list[ScopedTable], v: int, cards: Sequence[int]
) -> tuple[Rule, list[ScopedTable], list[ScopedTable]]:
    # No probability of what is known before depends on a decision, so that any of its alternatives gives it.
    p = [ScopedTable(tuple(w for w in t.scope if w != v), _at_first(t, v)) for t in p]
    of_v, u = [t for t in u if v in t.scope], [t for t in u if v not in t.scope]
    scope = _scope(of_v, v)
    own = sum_of_tables(of_v, (*scope, v), cards)
    best = own.max(axis=-1)
    slack = ROUNDING * float(np.abs(own).max(initial=0.0))
    choice = (own >= best[..., None] - slack).argmax(axis=-1)
    u.append(ScopedTable(scope, best))
    return Rule(scope, own, choice), p, u


def _scope(tables: Sequence[ScopedTable], v: int) -> Scope:
    return tuple({w: None for table in tables for w in table.scope if w != v})


def _at_first(table: ScopedTable, v: int) -> Array:
    return np.take(table.values, 0, axis=table.scope.index(v)) if v in table.scope else table.values


def stages_of(
    parents: Mapping[int, Sequence[int]], decisions: Sequence[int], chance: Sequence[int]
) -> list[tuple[list[int], int | None]]:
    """Lay chance variables out in time: each is seen before the first decision that it is a parent of, or never."""
    left = set(chance)
    stages: list[tuple[list[int], int | None]] = []
    for decision in decisions:
        seen = [v for v in parents[decision] if v in left]
        left.difference_update(seen)
        stages.append((seen, decision))
    return [*stages, (sorted(left), None)]
