"""How the probability of evidence changes with every entry of every table (Darwiche 2003).

P(evidence) is linear in each entry, and its derivative is what the sum over everything leaves of it without that entry.
One elimination gives P(evidence); gone through backwards, as one differentiates by the chain rule, it gives all
derivatives, of entries that are zero too: nothing is divided by an entry.

Derivative times entry is the probability of the entry's states together with the evidence, so that the posteriors of
all families come from the same two passes.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from bayeswater.errors import ImpossibleEvidence
from bayeswater.inference.exact.factors import Factors, NetworkLike
from bayeswater.inference.exact.scoped_tables import (
    ScopedTable,
    elimination_order,
    sliced_tables,
    sum_of_products,
)
from bayeswater.records import record
from bayeswater.typing import Array

ROUNDING = 1e-14
"""Share of P(evidence) below which what a change leaves of it is rounding."""


@record
class Derivatives:
    """P(evidence) and its derivatives, both divided by exp(log_scale).

    Attributes
    ----------
    log_scale : logarithm of what all numbers are divided by
    value : P(evidence)
    of_tables : d P(evidence) / d table, of the shape of each table
    """

    log_scale: float
    value: float
    of_tables: tuple[Array, ...]

    @property
    def log_evidence(self) -> float:
        """Logarithm of P(evidence)."""
        return self.log_scale + float(np.log(self.value)) if self.value > 0 else -np.inf


def derivatives(
    network: NetworkLike, evidence: Mapping[int, int] | None = None, soft: Mapping[int, Array] | None = None
) -> Derivatives:
    """Differentiate P(evidence) by every entry of every table, each on its own.

    >>> coin = Factors((2, 2), ((), (0,)), (np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])))
    >>> found = derivatives(coin, {1: 0})
    >>> (np.exp(found.log_scale) * found.of_tables[0]).round(4)
    array([0.9, 0.2])

    Raises
    ------
    ResourceLimitError
        A table would be larger than the limit.
    """
    factors, evidence = Factors.of(network), dict(evidence or {})
    tables = sliced_tables(factors, range(factors.n_variables), evidence, soft or {})
    log_scale, value, slopes = _differentiated(tables, elimination_order(tables, factors.cards), factors.cards)
    found = []
    for node in range(factors.n_variables):
        full = np.zeros(factors.tables[node].shape)
        full[tuple(evidence.get(v, slice(None)) for v in factors.scopes[node])] = slopes[node]
        found.append(full)
    return Derivatives(log_scale, value, tuple(found))


def _differentiated(
    given: Sequence[ScopedTable], order: Sequence[int], cards: Sequence[int]
) -> tuple[float, float, list[Array]]:
    """Sum over everything, step by step, and go back: the logarithm of the scale, the sum, and its derivatives."""
    log_scale = 0.0
    tables, scale = [], []

    def scaled(table: ScopedTable) -> None:
        nonlocal log_scale
        top = float(table.values.max())
        top = top if top > 0 else 1.0
        log_scale += float(np.log(top))
        tables.append(ScopedTable(table.scope, table.values / top))
        scale.append(top)

    for table in given:
        scaled(table)
    waiting: dict[int, list[int]] = {v: [] for v in order}
    turn = {v: i for i, v in enumerate(order)}
    alone: list[int] = []

    def put(j: int) -> None:
        scope = tables[j].scope
        (waiting[min(scope, key=turn.__getitem__)] if scope else alone).append(j)

    for j in range(len(given)):
        put(j)
    steps = []
    for v in order:
        inputs = waiting[v]
        scope = tuple({u: None for j in inputs for u in tables[j].scope if u != v})
        scaled(ScopedTable(scope, np.asarray(sum_of_products([tables[j] for j in inputs], scope))))
        steps.append((v, inputs, len(tables) - 1))
        put(len(tables) - 1)
    numbers = np.array([float(tables[j].values) for j in alone])
    slope: dict[int, Array] = {}
    for place, j in enumerate(alone):
        slope[j] = np.asarray(np.delete(numbers, place).prod())
    for v, inputs, made in reversed(steps):
        above = ScopedTable(tables[made].scope, slope.pop(made) / scale[made])
        ones = ScopedTable((v,), np.ones(cards[v]))
        for j in inputs:
            others = [tables[k] for k in inputs if k != j]
            slope[j] = np.asarray(sum_of_products([above, ones, *others], tables[j].scope))
    return log_scale, float(numbers.prod()), [slope[j] / scale[j] for j in range(len(given))]


def family_posteriors(network: NetworkLike, found: Derivatives) -> tuple[Array, ...]:
    """P(family | evidence) of every variable with its parents, of the shape of its table."""
    tables = Factors.of(network).tables
    return tuple(table * slope / found.value for table, slope in zip(tables, found.of_tables, strict=True))


@record
class Slopes:
    """A posterior as a function of each entry, all others of its row shrinking or growing in proportion.

    posterior(entry = x) = (hit + hit_slope * (x - entry)) / (known + known_slope * (x - entry))

    Attributes
    ----------
    hit, known : P(target and evidence), P(evidence), up to a factor
    hit_slopes, known_slopes : their derivatives, of the shape of each table
    """

    hit: float
    known: float
    hit_slopes: tuple[Array, ...]
    known_slopes: tuple[Array, ...]

    def posterior(self, node: int, place: tuple[int, ...], change: float) -> float:
        """Give the posterior where one entry changes by so much; refuse a change that makes the evidence impossible."""
        known = self.known + self.known_slopes[node][place] * change
        hit = self.hit + self.hit_slopes[node][place] * change
        if known <= ROUNDING * self.known:
            raise ImpossibleEvidence("the evidence has probability zero where that entry is so; take another value")
        return float(np.clip(hit / known, 0.0, 1.0))

    def posteriors(self, node: int, change: Array) -> Array:
        """Give the posterior where each entry of a table changes by so much, and no other."""
        known = self.known + self.known_slopes[node] * change
        possible = known > 0
        hit = np.where(possible, self.hit + self.hit_slopes[node] * change, self.hit)
        return np.clip(hit / np.where(possible, known, self.known), 0.0, 1.0)

    def derivative(self, node: int) -> Array:
        """Give the derivative of the posterior by each entry of a table."""
        of_hit, of_known = self.hit_slopes[node], self.known_slopes[node]
        return (of_hit * self.known - of_known * self.hit) / self.known**2


def posterior_slopes(
    network: NetworkLike,
    target: int,
    state: int,
    evidence: Mapping[int, int] | None = None,
    soft: Mapping[int, Array] | None = None,
) -> Slopes | None:
    """Say how P(target = state | evidence) follows every entry; None where the evidence is impossible."""
    factors = Factors.of(network)
    known = derivatives(factors, evidence, soft)
    if not known.value > 0:
        return None
    hit = derivatives(factors, {**(evidence or {}), target: state}, soft)
    unit = float(np.exp(hit.log_scale - known.log_scale))
    slopes = [
        tuple(_in_proportion(table, slope * factor) for table, slope in zip(factors.tables, of_tables, strict=True))
        for of_tables, factor in ((hit.of_tables, unit), (known.of_tables, 1.0))
    ]
    return Slopes(hit.value * unit, known.value, slopes[0], slopes[1])


def _in_proportion(table: Array, slope: Array) -> Array:
    """Let the other entries of a row give way in proportion; those of a row whose entry is 1 share evenly."""
    n_states = table.shape[-1]
    if n_states == 1:
        return np.zeros(table.shape)
    rest = 1.0 - table
    weighted = (table * slope).sum(axis=-1, keepdims=True) - table * slope
    evenly = (slope.sum(axis=-1, keepdims=True) - slope) / (n_states - 1)
    return slope - np.where(rest > 0, weighted / np.where(rest > 0, rest, 1.0), evenly)
