"""The most probable states of some variables, all others being summed out: the best of all, and those that follow.

Sums and maxima cannot be exchanged, so variables that are not asked for are summed out first. The others are maximised
out one by one, and of each the table is kept that its maximum was taken of: in the reverse order, the states before it
say what each of its states can come to at best. The best states of all have the largest entry everywhere. Whatever
differs from them first at some variable comes to the entry there, with the best that follows: so the next ones are
found without another pass (after Nilsson 1998, whose cliques are one variable here).
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count, islice
from typing import NamedTuple

import numpy as np

from bayeswater.inference.exact.factors import Factors, NetworkLike
from bayeswater.inference.exact.scoped_tables import (
    Scope,
    ScopedTable,
    elimination_order,
    sliced_tables,
    sum_of_products,
    sum_of_tables,
)
from bayeswater.typing import Array


class Choice(NamedTuple):
    """A variable, those that are known before it, and what each of its states comes to at best.

    Numbers may be complex: the real part, of which the larger wins whatever the imaginary one is, is -inf of what is
    impossible, and both add up.
    """

    variable: int
    scope: Scope
    values: Array  # (*n_states of the scope, n_states)


def most_probable_states(
    network: NetworkLike,
    targets: Sequence[int],
    evidence: Mapping[int, int],
    soft: Mapping[int, Array] | None = None,
    most: int = 1,
) -> list[tuple[list[int], float]]:
    """Give up to `most` states of the targets, the most probable first, each with log P(targets, evidence).

    What is impossible is none of them, so there may be fewer.

    >>> coin = Factors((2, 2), ((), (0,)), (np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])))
    >>> [states for states, _ in most_probable_states(coin, [0], {1: 0}, most=2)]
    [[0], [1]]

    Raises
    ------
    ResourceLimitError
        A table would be larger than the limit.
    """
    factors = Factors.of(network)
    free = [v for v in targets if v not in evidence]
    tables, log_scale = sliced_tables(factors, range(factors.n_variables), evidence, soft or {}), 0.0
    for v in elimination_order(tables, factors.cards, free):
        tables, product, scope = _taken(tables, v)
        values = np.asarray(sum_of_products(product, scope))
        top = float(values.max())
        if top > 0:
            values, log_scale = values / top, log_scale + float(np.log(top))
        tables.append(ScopedTable(scope, values))
    with np.errstate(divide="ignore"):
        tables = [ScopedTable(table.scope, np.log(table.values)) for table in tables]
    choices = []
    for v in elimination_order(tables, factors.cards):
        tables, product, scope = _taken(tables, v)
        values = sum_of_tables(product, (*scope, v), factors.cards)
        choices.append(Choice(v, scope, values))
        tables.append(ScopedTable(scope, values.max(axis=-1)))
    best = log_scale + sum(float(table.values) for table in tables)
    if best == -np.inf:
        return []
    found = islice(best_choices(choices[::-1]), most)
    return [([{**evidence, **states}[v] for v in targets], best + lost.real) for states, lost in found]


def best_choices(choices: Sequence[Choice]) -> Iterator[tuple[dict[int, int], complex]]:
    """Give the states of all variables, the best first, and how far each is from the best.

    Parameters
    ----------
    choices : each after those of its scope; the best is possible
    """
    turn = count()
    # Of each what it loses, and states up to the first that is not the best after those before; all after it are best.
    waiting: list[tuple[float, float, int, list[int], int, list[int]]] = [(0.0, 0.0, 0, [], 0, [])]
    while waiting:
        *loss, _, before, place, here = heappop(waiting)
        lost = -complex(*loss)
        states = before[:place] + here
        known = {choice.variable: state for choice, state in zip(choices, states, strict=False)}
        for choice in choices[len(states) :]:
            entries = choice.values[tuple(known[v] for v in choice.scope)]
            best = int(entries.argmax())
            for state in np.flatnonzero(entries.real > -np.inf).tolist():
                if state != best:
                    loses = entries[best] - entries[state] - lost
                    heappush(waiting, (loses.real, loses.imag, next(turn), states, len(states), [state]))
            states.append(best)
            known[choice.variable] = best
        yield known, lost


def _taken(tables: Sequence[ScopedTable], v: int) -> tuple[list[ScopedTable], list[ScopedTable], tuple[int, ...]]:
    """Divide tables into those without a variable and those with it, whose other variables are the scope."""
    product = [table for table in tables if v in table.scope]
    scope = tuple({u: None for table in product for u in table.scope if u != v})
    return [table for table in tables if v not in table.scope], product, scope
