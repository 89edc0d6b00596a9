"""The k most probable explanations, and the most probable states of some variables with all others summed out.

The best explanation splits all others into disjoint sets: those that agree with it up to some variable and differ there
(Lawler 1972, Nilsson 1998). The best of each set is found as the first was, all sets of one explanation in one call;
the best of these bests comes next.

Marginal MAP sums before it maximises, which cannot be exchanged: variables that are not asked for are eliminated first.
"""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from itertools import count

import numpy as np

from bayeswater.inference.exact.factors import Factors, NetworkLike
from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.log_passes import most_probable_explanation
from bayeswater.inference.exact.scoped_tables import (
    ScopedTable,
    elimination_order,
    sliced_tables,
    sum_of_products,
    sum_of_tables,
)
from bayeswater.typing import Array


def best_explanations(
    tree: JunctionTree, row: Array, soft: Mapping[int, Array] | None, most: int
) -> list[tuple[Array, float]]:
    """Give up to `most` explanations of a row (n_variables,), the best first, with their log-probabilities.

    What is impossible is no explanation, so there may be fewer.
    """
    cards, soft = tree.factors.card_array, dict(soft or {})
    first = most_probable_explanation(tree, row[None], soft)
    heap: list[tuple[float, int, Array, Array, int, frozenset[int]]] = []
    turn = count()

    def wait(states: Array, log_probability: float, fixed: Array, pivot: int, excluded: frozenset[int]) -> None:
        if log_probability > -np.inf:
            heappush(heap, (-log_probability, next(turn), states, fixed, pivot, excluded))

    wait(first.states[0], float(first.log_probability[0]), row, -1, frozenset())
    found: list[tuple[Array, float]] = []
    while heap and len(found) < most:
        minus, _, states, fixed, pivot, excluded = heappop(heap)
        found.append((states, -minus))
        if len(found) == most:
            break
        # The set in which v is the first to differ has all free variables before v as they are here. That at which this
        # set itself was split off comes first, so that no set is restricted in two variables.
        free = sorted((v for v in range(len(cards)) if fixed[v] >= cards[v]), key=lambda v: v != pivot)
        if not free:
            continue
        rows, without = np.repeat(fixed[None], len(free), axis=0), {v: np.ones((len(free), cards[v])) for v in free}
        gone = [frozenset({int(states[v])}) | (excluded if v == pivot else frozenset()) for v in free]
        for k, v in enumerate(free):
            rows[k, free[:k]] = states[free[:k]]
            without[v][k, list(gone[k])] = 0.0
        for v, likelihood in soft.items():
            without[v] = np.ones((len(free), cards[v])) * likelihood * without.get(v, 1.0)
        best = most_probable_explanation(tree, rows, without)
        for k, v in enumerate(free):
            wait(best.states[k], float(best.log_probability[k]), rows[k], v, gone[k])
    return found


def marginal_map(
    network: NetworkLike, targets: Sequence[int], evidence: Mapping[int, int], soft: Mapping[int, Array]
) -> tuple[list[int], float]:
    """Give the states of the targets that are together most probable, and log P(targets, evidence).

    >>> coin = Factors((2, 2), ((), (0,)), (np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])))
    >>> marginal_map(coin, [0], {1: 0}, {})[0]
    [0]

    Raises
    ------
    ResourceLimitError
        A table would be larger than the limit.
    """
    factors = Factors.of(network)
    free = [v for v in targets if v not in evidence]
    tables, log_scale = sliced_tables(factors, range(factors.n_variables), evidence, soft), 0.0
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
        choices.append((v, scope, values.argmax(axis=-1)))
        tables.append(ScopedTable(scope, values.max(axis=-1)))
    states = dict(evidence)
    for v, scope, choice in reversed(choices):
        states[v] = int(choice[tuple(states[u] for u in scope)])
    return [states[v] for v in targets], log_scale + sum(float(table.values) for table in tables)


def _taken(tables: Sequence[ScopedTable], v: int) -> tuple[list[ScopedTable], list[ScopedTable], tuple[int, ...]]:
    """Divide tables into those without a variable and those with it, whose other variables are the scope."""
    product = [table for table in tables if v in table.scope]
    scope = tuple({u: None for table in product for u in table.scope if u != v})
    return [table for table in tables if v not in table.scope], product, scope
