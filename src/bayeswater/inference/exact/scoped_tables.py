"""Tables over variables: products and sums of them, and the tables of a network once some variables are known."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.forecast import of_elimination
from bayeswater.kernels.elimination_order import MIN_FILL, MIN_WEIGHT, order_of_masks
from bayeswater.typing import Array

AT_ONCE = 8
"""Tables multiplied at a time; NumPy takes no more than 32, or 64."""

Scope = tuple[int, ...]


class WithScope(Protocol):
    """Anything that has an axis for each variable of a scope."""

    @property
    def scope(self) -> Scope:
        """Variables of the axes."""
        ...

    @property
    def values(self) -> Array:
        """The numbers."""
        ...


class ScopedTable(NamedTuple):
    """Numbers with an axis for each variable of a scope."""

    scope: Scope
    values: Array


def sum_of_products(tables: Sequence[WithScope], scope: Scope) -> Array:
    """Multiply tables, a few at a time, and sum over all that is not in `scope`.

    >>> one, two = ScopedTable((0,), np.array([0.5, 0.5])), ScopedTable((0, 1), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> sum_of_products([one, two], (1,))
    array([0.55, 0.45])
    """
    tables = list(tables)
    while len(tables) > AT_ONCE:
        some, tables = tables[:AT_ONCE], tables[AT_ONCE:]
        together = tuple({u: None for table in some for u in table.scope})
        tables.insert(0, ScopedTable(together, sum_of_products(some, together)))
    label: dict[int, int] = {}
    for table in tables:
        for v in table.scope:
            label.setdefault(v, len(label))
    operands: list[Any] = []
    for table in tables:
        operands += [table.values, [label[v] for v in table.scope]]
    return np.einsum(*operands, [label[v] for v in scope])


def sum_of_tables(tables: Sequence[WithScope], scope: Scope, cards: Sequence[int]) -> Array:
    """Add tables, as logarithms or utilities are, each spread over the states of a scope that holds all of them."""
    total = np.zeros([cards[v] for v in scope])
    for table in tables:
        order = sorted(range(len(table.scope)), key=lambda i, own=table.scope: scope.index(own[i]))  # type: ignore[misc]
        total = total + table.values.transpose(order).reshape([cards[v] if v in table.scope else 1 for v in scope])
    return total


def sliced_tables(
    factors: Factors, nodes: Iterable[int], evidence: Mapping[int, int], soft: Mapping[int, Array]
) -> list[ScopedTable]:
    """Give the tables of some families at what is known, and behind them likelihoods of soft evidence."""
    found = []
    for node in nodes:
        place = tuple(evidence.get(v, slice(None)) for v in factors.scopes[node])
        free = tuple(v for v in factors.scopes[node] if v not in evidence)
        found.append(ScopedTable(free, np.asarray(factors.tables[node][place])))
    for v, likelihood in soft.items():
        values = np.asarray(likelihood, dtype=np.float64)
        known = v in evidence
        found.append(ScopedTable(() if known else (v,), np.asarray(values[evidence[v]]) if known else values))
    return found


def elimination_order(tables: Iterable[WithScope], cards: Sequence[int], kept: Collection[int] = ()) -> list[int]:
    """Order all variables but those `kept` by the better greedy rule; tables that do not fit are refused."""
    masks = neighbours(tables)
    found = [order_of_masks(masks, cards, rule, kept) for rule in (MIN_FILL, MIN_WEIGHT)]
    order, _, cells = min(found, key=lambda one: sum(one[2]))
    of_elimination(cells).require_room()
    return order


def neighbours(tables: Iterable[WithScope]) -> dict[int, int]:
    """Give the variables that share a table with each, as bit masks."""
    masks: dict[int, int] = {}
    for table in tables:
        together = sum(1 << v for v in table.scope)
        for v in table.scope:
            masks[v] = (masks.get(v, 0) | together) & ~(1 << v)
    return masks
