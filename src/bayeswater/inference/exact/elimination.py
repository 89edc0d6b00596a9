"""One question answered by eliminating variables: P(targets | evidence), with no tree and nothing compiled.

Observed variables are fixed in the tables, families that are no ancestors of anything asked or observed are left out,
and so are the parts of the graph that evidence cuts off from the targets, once it is known that they do not make the
evidence impossible. The other variables are summed out in a greedy order, each with the product of its tables.

Each product is divided by its largest entry. Where entries might become too small for a float all the same, the
question is answered once more in logarithms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from typing import NamedTuple

import numpy as np

from bayeswater.errors import ImpossibleEvidence
from bayeswater.inference.exact.factors import Factors, NetworkLike
from bayeswater.inference.exact.forecast import Forecast, of_elimination
from bayeswater.inference.exact.junction_tree import LOG_TINY
from bayeswater.inference.exact.scoped_tables import Scope, sum_of_products
from bayeswater.kernels.elimination_order import MIN_FILL, MIN_WEIGHT, bits_of, order_of_masks
from bayeswater.records import record
from bayeswater.typing import Array


class _TooSmall(Exception):
    """A product might be too small for a float."""


class _ScopedTable(NamedTuple):
    scope: Scope
    values: Array
    least: float  # no positive entry has a smaller logarithm
    family: int = -1  # that it is a slice of, -1 for none


@record
class _Question:
    """Sliced tables of the families that count, as a graph."""

    factors: Factors
    targets: Scope  # that are free
    evidence: Mapping[int, int]
    tables: list[_ScopedTable]
    numbers: list[float]  # of families with nothing free
    fixed: list[int]  # these families
    masks: dict[int, int]
    may_be_zero: int  # variables whose tables have zeros


def query(
    network: NetworkLike,
    targets: Sequence[int],
    evidence: Mapping[int, int] | None = None,
    soft: Mapping[int, Array] | None = None,
) -> Array:
    """P(targets | evidence), one axis for each target.

    `evidence` gives the state of observed variables, `soft` the likelihoods (card,) of the states of some others.

    >>> coin = Factors((2, 2), ((), (0,)), (np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])))
    >>> query(coin, [0], {1: 0}).round(4)
    array([0.8182, 0.1818])

    Raises
    ------
    ImpossibleEvidence
        The evidence has probability zero, also where it would not matter to the targets.
    ResourceLimitError
        A table would be larger than the limit.
    """
    return prepare(network, targets, evidence, soft).answer()


@record
class Prepared:
    """A question whose order of elimination is found: what it will take, and the answer."""

    question: _Question
    targets: Scope
    order: list[int]
    forecast: Forecast

    def answer(self) -> Array:
        """P(targets | evidence), one axis for each target."""
        self.forecast.require_room()
        try:
            table, _ = _eliminate(self.question, self.order, logarithmic=False)
        except _TooSmall:
            table, _ = _eliminate(self.question, self.order, logarithmic=True)
        return _with_observed(self.question.factors, table / table.sum(), self.targets, self.question.evidence)


def prepare(
    network: NetworkLike,
    targets: Sequence[int],
    evidence: Mapping[int, int] | None = None,
    soft: Mapping[int, Array] | None = None,
) -> Prepared:
    """Find out how a question, as for `query`, is answered; that the evidence is impossible may show already here."""
    factors = Factors.of(network)
    evidence = dict(evidence or {})
    factors.require_known(targets, evidence)
    key = tuple(targets), frozenset(evidence)
    if not soft and (known := factors.asked.get(key)) is not None:
        return replace(known, question=_asked_again(known.question, evidence))
    question = _ask(factors, targets, evidence, soft or {}, keep_all=False)
    order, cells = _order(question)
    prepared = Prepared(question, tuple(targets), order, of_elimination(cells))
    if not soft:
        if len(factors.asked) >= MOST_ASKED:
            factors.asked.clear()
        factors.asked[key] = prepared
    return prepared


MOST_ASKED = 32
"""Questions that are remembered: asked again with other states observed, one has the same order and the same tables."""


def _asked_again(question: _Question, evidence: Mapping[int, int]) -> _Question:
    """Put other states of the observed variables into a question."""
    factors = question.factors
    known = {**factors.only_states, **evidence}
    numbers = [float(factors.tables[f][tuple([known[v] for v in factors.scopes[f]])]) for f in question.fixed]
    if 0.0 in numbers:
        raise _impossible(evidence)
    tables = list(question.tables)
    for i, (scope, _, least, f) in enumerate(tables):
        if len(scope) < len(factors.scopes[f]):
            own = tuple([known.get(v, _ALL) for v in factors.scopes[f]])
            tables[i] = _ScopedTable(scope, factors.tables[f][own], least, f)
    return replace(question, evidence=evidence, tables=tables, numbers=numbers)


def log_evidence(
    network: NetworkLike, evidence: Mapping[int, int] | None = None, soft: Mapping[int, Array] | None = None
) -> float:
    """Logarithm of P(evidence), also below the least float; -inf for impossible evidence.

    >>> coin = Factors((2, 2), ((), (0,)), (np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])))
    >>> round(float(np.exp(log_evidence(coin, {1: 0}))), 4)
    0.55
    """
    factors = Factors.of(network)
    evidence = dict(evidence or {})
    factors.require_known((), evidence)
    try:
        question = _ask(factors, (), evidence, soft or {}, keep_all=True)
        order, cells = _order(question)
        of_elimination(cells).require_room()
        try:
            _, log_total = _eliminate(question, order, logarithmic=False)
        except _TooSmall:
            _, log_total = _eliminate(question, order, logarithmic=True)
    except ImpossibleEvidence:
        return -np.inf
    return log_total


def forecast_query(network: NetworkLike, targets: Sequence[int], observed: Sequence[int] = ()) -> Forecast:
    """What one question would cost, for evidence on these variables."""
    factors = Factors.of(network)
    question = _ask(factors, targets, dict.fromkeys(observed, 0), {}, keep_all=False, check=False)
    return of_elimination(_order(question)[1])


def _ask(
    factors: Factors,
    targets: Sequence[int],
    evidence: Mapping[int, int],
    soft: Mapping[int, Array],
    *,
    keep_all: bool,
    check: bool = True,
) -> _Question:
    relevant = 0
    for v in (*targets, *evidence, *soft):
        relevant |= factors.ancestors[v]
    known = dict.fromkeys(bits_of(factors.of_one_state & relevant), 0) | dict(evidence)  # one state: nothing to sum
    observed = sum(1 << v for v in known)
    tables: list[_ScopedTable] = []
    numbers: list[float] = []
    fixed: list[int] = []
    masks: dict[int, int] = {}
    may_be_zero = 0
    for f in bits_of(relevant):
        scope, together, values = factors.scopes[f], factors.scope_masks[f], factors.tables[f]
        if together & observed:
            values = values[tuple([known.get(v, _ALL) for v in scope])]
            scope = tuple([v for v in scope if v not in known])
            together &= ~observed
            if not together:
                numbers.append(float(values))
                fixed.append(f)
                continue
        for v in scope:
            masks[v] = (masks.get(v, 0) | together) & ~(1 << v)
        if factors.has_zero[f]:
            may_be_zero |= together
        tables.append(_ScopedTable(scope, values, factors.least[f], f))
    for v, likelihood in soft.items():
        values = np.asarray(likelihood, dtype=np.float64)
        if v in known:
            numbers.append(float(values[known[v]]))
            continue
        if not values.any():
            numbers.append(0.0)
            continue
        numbers.append(float(values.max()))
        values = values / values.max()
        if (values == 0).any():
            may_be_zero |= 1 << v
        tables.append(_ScopedTable((v,), values, float(np.log(values[values > 0].min()))))
    free = tuple(v for v in targets if v not in known)
    question = _Question(factors, free, evidence, tables, numbers, fixed, masks, may_be_zero)
    if check and any(number == 0 for number in numbers):
        raise _impossible(evidence)
    return question if keep_all else _without_parts_cut_off(question, check)


_ALL = slice(None)


def _without_parts_cut_off(question: _Question, check: bool) -> _Question:
    # Leave out what evidence separates from the targets, unless its zeros may make the evidence impossible.
    kept, rest = 0, 0
    for v in question.masks:
        rest |= 1 << v
    targets = sum(1 << v for v in question.targets)
    while rest:
        part, edge = 0, rest & -rest
        while edge:
            part |= edge
            reached = 0
            for v in bits_of(edge):
                reached |= question.masks[v]
            edge = reached & ~part
        rest &= ~part
        if part & targets or (check and part & question.may_be_zero):
            kept |= part
    tables = [table for table in question.tables if kept >> table.scope[0] & 1]
    masks = {v: mask for v, mask in question.masks.items() if kept >> v & 1}
    return replace(question, tables=tables, masks=masks)


def _order(question: _Question) -> tuple[list[int], list[float]]:
    """Variables to sum out, and the cells of each step, that of the targets last."""
    cards = question.factors.cards
    order, _, cells = order_of_masks(question.masks, cards, MIN_FILL, question.targets)
    if sum(cells) > MANY_CELLS:  # worth the time of a second opinion
        other, _, other_cells = order_of_masks(question.masks, cards, MIN_WEIGHT, question.targets)
        if sum(other_cells) < sum(cells):
            order, cells = other, other_cells
    return order, [*cells, _states(question.factors, question.targets)]


MANY_CELLS = 200_000


def _states(factors: Factors, variables: Sequence[int]) -> float:
    product = 1.0
    for v in variables:
        product *= factors.cards[v]
    return product


def _eliminate(question: _Question, order: list[int], *, logarithmic: bool) -> tuple[Array, float]:
    """Table over the free targets, up to a factor, and the logarithm of the sum of everything."""
    factors = question.factors
    log_scale = sum(log(number) for number in question.numbers)
    bucket: dict[int, list[_ScopedTable]] = {v: [] for v in (*order, *question.targets)}
    turn = {v: i for i, v in enumerate((*order, *question.targets))}
    for table in question.tables:
        if logarithmic:
            with np.errstate(divide="ignore"):
                table = _ScopedTable(table.scope, np.log(table.values), table.least)
        bucket[min(table.scope, key=turn.__getitem__)].append(table)
    combine = _log_product if logarithmic else _product
    for v in order:
        tables = bucket.pop(v)
        around = set().union(*[table.scope for table in tables])
        around.discard(v)
        scope = tuple(around)
        table, log_top = combine(tables, scope)
        if log_top == -np.inf:
            raise _impossible(question.evidence)
        log_scale += log_top
        if scope:
            bucket[min(scope, key=turn.__getitem__)].append(table)
        # A part without targets ends in a single number, which is 1 after the division.
    rest = [table for v in question.targets for table in bucket[v]]
    if rest:
        table, log_top = combine(rest, question.targets)
        if log_top == -np.inf:
            raise _impossible(question.evidence)
        values = np.exp(table.values) if logarithmic else table.values
        total = float(values.sum())
        if total == 0:
            raise _impossible(question.evidence)
        return values, log_scale + log_top + log(total)
    return np.ones([factors.cards[v] for v in question.targets]), log_scale


def _product(tables: Sequence[_ScopedTable], scope: Scope) -> tuple[_ScopedTable, float]:
    """Multiply tables and sum over what is not in `scope`; the logarithm of what the result was divided by.

    That is its largest entry where others may be small, and nothing else: most products need no care.
    """
    least = sum(table.least for table in tables)
    if least < LOG_TINY:  # the bounds are old and wide: look at the tables themselves
        least = sum(float(np.log(table.values[table.values > 0].min(initial=1.0))) for table in tables)
        if least < LOG_TINY:
            raise _TooSmall
    values = sum_of_products(tables, scope)
    if scope and least > LOG_TINY / 2:
        return _ScopedTable(scope, values, least), 0.0
    top = float(values.max())
    if top == 0:
        return _ScopedTable(scope, values, 0.0), -np.inf
    return _ScopedTable(scope, values / top, least - log(top)), log(top)


def _log_product(tables: Sequence[_ScopedTable], scope: Scope) -> tuple[_ScopedTable, float]:
    rest = tuple({u: None for table in tables for u in table.scope if u not in scope})
    axes = (*scope, *rest)
    total: Array = np.zeros([1] * len(axes))
    for table in tables:
        order = sorted(range(len(table.scope)), key=lambda i, scope=table.scope: axes.index(scope[i]))  # type: ignore[misc]
        shape = [1] * len(axes)
        for v, n in zip(table.scope, table.values.shape, strict=True):
            shape[axes.index(v)] = n
        total = total + table.values.transpose(order).reshape(shape)
    over = tuple(range(len(scope), len(axes)))
    top = np.maximum(total.max(axis=over, keepdims=True), np.finfo(float).min)
    with np.errstate(divide="ignore"):
        values = np.log(np.exp(total - top).sum(axis=over)) + top.reshape(total.shape[: len(scope)])
    highest = float(values.max())
    return _ScopedTable(scope, values if highest == -np.inf else values - highest, 0.0), highest


def _with_observed(factors: Factors, table: Array, targets: Sequence[int], evidence: Mapping[int, int]) -> Array:
    # Observed targets, and those of one state, get their axis back.
    full = np.zeros([factors.cards[v] for v in targets])
    full[tuple(evidence[v] if v in evidence else (0 if factors.cards[v] == 1 else _ALL) for v in targets)] = table
    return full


def _impossible(evidence: Mapping[int, int]) -> ImpossibleEvidence:
    shown = ", ".join(f"variable {v} = state {state}" for v, state in evidence.items())
    return ImpossibleEvidence(
        f"the evidence has probability zero: {shown or 'soft evidence alone'}; check it, or a table with zeros"
    )
