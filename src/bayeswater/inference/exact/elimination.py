"""One question answered by eliminating variables: P(targets | evidence), with no tree and nothing compiled.

Observed variables are fixed in the tables, families that are no ancestors of anything asked or observed are left out,
and so are the parts of the graph that evidence cuts off from the targets, once it is known that they do not make the
evidence impossible. The other variables are summed out in a greedy order, each with the product of its tables.

Each product is divided by its largest entry. Where entries might become too small for a float all the same, the
question is answered once more in logarithms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
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


_Step = tuple[list[int], Scope]
"""A product that is summed over all but a scope: of tables by their number, and behind them results of steps."""


@record
class Prepared:
    """A question whose order of elimination is found: what it will take, and the answer.

    Results of steps in which no table shows what was observed are `kept`, once it `comes_again`.
    """

    question: _Question
    targets: Scope
    steps: list[_Step]
    forecast: Forecast
    kept: "dict[int, tuple[_ScopedTable, float]]" = field(default_factory=dict)
    comes_again: bool = False

    def answer(self) -> Array:
        """P(targets | evidence), one axis for each target."""
        self.forecast.require_room()
        try:
            table, _ = _eliminate(
                self.question, self.steps, self.kept, MOST_KEPT if self.comes_again and not self.kept else 0
            )
        except _TooSmall:
            table, _ = _eliminate(self.question, self.steps)
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
        return replace(known, question=_asked_again(known.question, evidence), comes_again=True)
    question = _ask(factors, targets, evidence, soft or {}, keep_all=False)
    steps, cells = _steps(question)
    prepared = Prepared(question, tuple(targets), steps, of_elimination(cells))
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
        steps, cells = _steps(question)
        of_elimination(cells).require_room()
        try:
            _, log_total = _eliminate(question, steps, {})
        except _TooSmall:
            _, log_total = _eliminate(question, steps)
    except ImpossibleEvidence:
        return -np.inf
    return log_total


def forecast_query(network: NetworkLike, targets: Sequence[int], observed: Sequence[int] = ()) -> Forecast:
    """What one question would cost, for evidence on these variables."""
    factors = Factors.of(network)
    question = _ask(factors, targets, dict.fromkeys(observed, 0), {}, keep_all=False, check=False)
    return of_elimination(_steps(question)[1])


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


def _steps(question: _Question) -> tuple[list[_Step], list[float]]:
    """Steps that sum out one variable each, and one that leaves the targets; and the cells of each."""
    cards = question.factors.cards
    order, _, cells = order_of_masks(question.masks, cards, MIN_FILL, question.targets)
    if sum(cells) > MANY_CELLS:  # worth the time of a second opinion
        other, _, other_cells = order_of_masks(question.masks, cards, MIN_WEIGHT, question.targets)
        if sum(other_cells) < sum(cells):
            order, cells = other, other_cells
    targets = question.targets
    turn = {v: i for i, v in enumerate((*order, *targets))}.__getitem__
    waiting: list[list[int]] = [[] for _ in range(len(order) + len(targets))]
    scopes = [table.scope for table in question.tables]
    for number, scope in enumerate(scopes):
        waiting[min(map(turn, scope))].append(number)
    steps: list[_Step] = []
    for i, v in enumerate(order):
        around = set().union(*[scopes[number] for number in waiting[i]])
        around.discard(v)
        scope = tuple(around)
        if scope:  # a part without targets ends in a single number, which is 1 after the division
            waiting[min(map(turn, scope))].append(len(scopes))
        steps.append((waiting[i], scope))
        scopes.append(scope)
    steps.append(([number for own in waiting[len(order) :] for number in own], targets))
    return steps, [*cells, _states(question.factors, targets)]


MANY_CELLS = 200_000


def _states(factors: Factors, variables: Sequence[int]) -> float:
    product = 1.0
    for v in variables:
        product *= factors.cards[v]
    return product


def _eliminate(
    question: _Question, steps: list[_Step], kept: "dict[int, tuple[_ScopedTable, float]] | None" = None, room: int = 0
) -> tuple[Array, float]:
    """Table over the free targets, up to a factor, and the logarithm of the sum of everything.

    In logarithms, unless it is said where results are `kept` that evidence does not change, as far as there is room.
    """
    factors, found = question.factors, list(question.tables)
    log_scale = sum(log(number) for number in question.numbers)
    if kept is None:
        with np.errstate(divide="ignore"):
            found = [table._replace(values=np.log(table.values)) for table in found]
    whole = {i for i, one in enumerate(found) if room and len(one.scope) == len(factors.scopes[one.family])}
    for i, (numbers, scope) in enumerate(steps):
        if not numbers:  # no target is free
            return np.ones([factors.cards[v] for v in scope]), log_scale
        result = kept.get(i) if kept else None
        if result is None:
            tables = [found[number] for number in numbers]
            result = _log_product(tables, scope) if kept is None else _product(tables, scope)
            if kept is not None and whole.issuperset(numbers) and result[0].values.size <= room:
                whole.add(len(found))
                kept[i], room = result, room - result[0].values.size
        table, log_top = result
        if log_top == -np.inf:
            raise _impossible(question.evidence)
        log_scale += log_top
        found.append(table)
    values = np.exp(table.values) if kept is None else table.values
    total = float(values.sum())
    if total == 0:
        raise _impossible(question.evidence)
    return values, log_scale + log(total)


MOST_KEPT = 2**17
"""Entries of all results of a question that are kept: a megabyte."""


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
