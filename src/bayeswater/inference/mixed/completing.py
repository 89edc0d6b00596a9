"""Rows filled in: states that are most probable together, or drawn from their joint posterior, and numbers drawn.

Numbers are summed out first, so states are chosen by what all that is observed says of them. As in
`inference.exact.best_states`, variables are taken out one by one, by maxima or by sums, and chosen in the reverse order
from the tables that were met on the way; here for many rows at once. Once all states are there, each number is drawn
given those before it, the observed ones being the first.
"""

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from bayeswater.inference.exact.best_states import Choice, best_choices
from bayeswater.inference.mixed.lines import ConditionalLine
from bayeswater.inference.mixed.point_masses import MassFactor, masses_of, product_of_masses
from bayeswater.inference.mixed.state_factors import eliminated
from bayeswater.inference.mixed.strong_elimination import MixedRows, Pattern, StrongElimination
from bayeswater.records import record
from bayeswater.typing import Array


def with_best_states(engine: StrongElimination, rows: MixedRows, targets: Sequence[int]) -> tuple[MixedRows, Array]:
    """Fill in the targets that a row does not observe: the states that are together most probable.

    All other variables are summed out. Given are the rows, and the logarithm of P(states, what is observed), (n_rows,);
    -inf where the evidence is impossible, and such rows stay as they are.
    """
    return _with_states(engine, rows, targets, _best, _first)


def with_drawn_states(engine: StrongElimination, rows: MixedRows, rng: np.random.Generator) -> tuple[MixedRows, Array]:
    """Draw all states that a row does not observe; and give the logarithm of the probability of what it does."""

    def drawn(values: Array) -> Array:
        logs = np.where(values.real == values.real.max(axis=-1, keepdims=True), values.imag, -np.inf)
        below = np.cumsum(np.exp(logs - logs.max(axis=-1, keepdims=True)), axis=-1)
        return (below[:, :-1] <= rng.random((len(values), 1)) * below[:, -1:]).sum(axis=-1)

    return _with_states(engine, rows, list(engine.core.place), _total, drawn)


def best_states(
    engine: StrongElimination, row: MixedRows, pattern: Pattern, targets: Sequence[int], most: int
) -> list[tuple[dict[int, int], float]]:
    """Give up to `most` states of unobserved targets, the most probable first, and log P(states, evidence) of each."""
    choices, total = _choices(engine, row, pattern, targets, _best)
    if total.real[0] == -np.inf:
        return []
    found = islice(best_choices([Choice(one.variable, one.scope, one.values[0]) for one in choices[::-1]]), most)
    # Where exact numbers lie as they must in one configuration and not in another, only the first can be.
    return [(states, float(total.imag[0] + lost.imag)) for states, lost in found if lost.real == 0]


def with_drawn_numbers(engine: StrongElimination, rows: MixedRows, rng: np.random.Generator) -> MixedRows:
    """Draw the numbers that are not observed, in rows of which all states are known."""
    values = rows.values.copy()
    observed = ~np.isnan(values)
    numbers = list(engine.core.numbers)
    kinds, kind = np.unique(observed[numbers], axis=1, return_inverse=True)
    for place, seen in enumerate(kinds.T):
        own = np.flatnonzero(kind.ravel() == place)
        known = tuple(node for node, is_there in zip(numbers, seen, strict=True) if is_there)
        plan, axes = engine.plan(Pattern(own, {}, frozenset(), known), [n for n in numbers if n not in known])
        codes = rows.codes[sorted(axes, key=axes.__getitem__)][:, own]
        for node, line in plan.targets:
            mean, variance = _at(line, codes, values[:, own])
            values[node, own] = mean + np.sqrt(variance) * rng.standard_normal(len(own))
    return MixedRows(rows.codes, values)


def _at(line: ConditionalLine, codes: Array, values: Array) -> tuple[Array, Array]:
    """Mean and variance in each row, by its states, (n_axes, n_rows), and by the numbers before."""

    def here(array: Array) -> Array:
        return array[tuple(code if length > 1 else 0 for code, length in zip(codes, array.shape, strict=True))]

    mean = here(line.intercept) + sum((here(slope) * values[node] for node, slope in line.slopes.items()), 0.0)
    return mean, here(line.variance)


@record
class _RowChoice:
    """A `Choice` for many rows; values are masses, and logarithms times the imaginary unit."""

    variable: int
    scope: tuple[int, ...]
    values: Array  # (n_rows or 1, *n_states of the scope, n_states)


Taking = Callable[[Array], Array]
"""Takes the last axis out."""


def _best(values: Array) -> Array:
    found: Array = values.max(axis=-1)
    return found


def _first(values: Array) -> Array:
    return values.argmax(axis=-1)


def _total(values: Array) -> Array:
    top = values.real.max(axis=-1)
    logs = np.where(values.real == top[..., None], values.imag, -np.inf)
    return _both(top, np.logaddexp.reduce(logs, axis=-1))


def _both(masses: Array, logs: Array) -> Array:
    """Make complex numbers, of which the larger real part wins, and then the larger imaginary one."""
    values = np.empty(masses.shape, dtype=np.complex128)
    values.real, values.imag = masses, logs
    return values


def _choices(
    engine: StrongElimination, rows: MixedRows, pattern: Pattern, targets: Sequence[int], taking: Taking
) -> tuple[list[_RowChoice], Array]:
    """Take the targets out one by one; and give what is left at the end, (n_rows,)."""
    cards, choices = engine.cards, []

    def take_out(touched: Sequence[MassFactor], variable: int, kept: tuple[int, ...]) -> MassFactor:
        joint = product_of_masses(touched, (*kept, variable), cards)
        values = _both(joint.masses, joint.logs)
        choices.append(_RowChoice(variable, kept, values))
        rest = taking(values)
        return MassFactor(kept, rest.real, rest.imag)

    left = masses_of(engine.mass_factors(rows, pattern, targets), cards, targets)
    total = product_of_masses(eliminated(left, cards, (), take_out), (), cards)
    return choices, np.broadcast_to(_both(total.masses, total.logs), len(rows))


def _with_states(
    engine: StrongElimination, rows: MixedRows, targets: Sequence[int], taking: Taking, choose: Taking
) -> tuple[MixedRows, Array]:
    codes, log_total = rows.codes.copy(), np.empty(len(rows))
    for whole in engine.patterns(rows):
        hidden = [node for node in targets if node not in whole.given]
        for pattern in engine.blocks(whole):
            own = rows.take(pattern.rows)
            choices, total = _choices(engine, own, pattern, hidden, taking)
            possible = total.real > -np.inf
            log_total[pattern.rows] = np.where(possible, total.imag, -np.inf)
            if not possible.any():
                continue
            found: dict[int, Array] = {}
            for choice in reversed(choices):
                row = np.arange(len(own)) if len(choice.values) > 1 else np.zeros(len(own), dtype=np.int64)
                found[choice.variable] = choose(choice.values[(row, *(found[v] for v in choice.scope))])
            for node, chosen in found.items():
                codes[node, pattern.rows] = np.where(possible, chosen, own.codes[node])
    return MixedRows(codes, rows.values, rows.soft), log_total
