"""Factors over variables with states, for many rows at once: their product, summed over all but a few variables.

The values of a factor have the rows first, one where all rows share them, and then an axis for each of its variables.
Variables are summed out one by one, always the one whose product is smallest; every product is divided by its largest
value in each row, whose logarithm is kept, so that no row underflows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, Protocol, TypeVar

import numpy as np

from bayeswater.limits import require_table_axes, require_table_bytes
from bayeswater.records import record
from bayeswater.typing import Array


class HasVariables(Protocol):
    """What has variables that can be summed out."""

    @property
    def variables(self) -> tuple[int, ...]:
        """Which it is a function of."""


Factor = TypeVar("Factor", bound=HasVariables)


@record
class StateFactor:
    """A function of some variables, and of the row."""

    variables: tuple[int, ...]
    values: Array  # (n_rows or 1, *n_states of the variables)


def summed(
    factors: Iterable[StateFactor], cards: Mapping[int, int], targets: Sequence[int], n_rows: int
) -> tuple[Array, Array]:
    """Give the distribution of the targets in each row, (n_rows, *n_states), and the logarithm of the total, (n_rows,).

    A row whose total is zero has zeros, and -inf.
    """
    log_total = np.zeros(n_rows)
    left = []
    for factor in factors:
        left.append(_scaled(factor, log_total))

    def sum_out(touched: Sequence[StateFactor], _: int, kept: tuple[int, ...]) -> StateFactor:
        return _scaled(_product(touched, kept, cards), log_total)

    left = eliminated(left, cards, targets, sum_out)
    joint = _product(left, tuple(targets), cards).values
    joint = np.broadcast_to(joint, (n_rows, *joint.shape[1:]))
    total = joint.sum(axis=tuple(range(1, joint.ndim)))
    possible = (total > 0) & (log_total > -np.inf)
    with np.errstate(divide="ignore"):
        log_total += np.where(possible, np.log(np.where(possible, total, 1.0)), -np.inf)
    share = np.where(possible, 1.0 / np.where(possible, total, 1.0), 0.0)
    return joint * share.reshape(-1, *[1] * len(targets)), log_total


def eliminated(
    left: list[Factor],
    cards: Mapping[int, int],
    targets: Sequence[int],
    sum_out: Callable[[Sequence[Factor], int, tuple[int, ...]], Factor],
) -> list[Factor]:
    """Sum out all variables but the targets; `sum_out` multiplies factors over one of them, and keeps the others."""
    hidden = {v for factor in left for v in factor.variables} - set(targets)
    while hidden:
        sizes = {v: _size(left, v, cards) for v in hidden}
        chosen = min(sorted(hidden), key=sizes.__getitem__)
        hidden.discard(chosen)
        touched = [factor for factor in left if chosen in factor.variables]
        left = [factor for factor in left if chosen not in factor.variables]
        kept = tuple(sorted({v for factor in touched for v in factor.variables} - {chosen}))
        left.append(sum_out(touched, chosen, kept))
    return left


def _scaled(factor: StateFactor, log_total: Array) -> StateFactor:
    """Divide the values of each row by the largest, and add its logarithm to the total."""
    top = factor.values.max(axis=tuple(range(1, factor.values.ndim)), keepdims=True)
    with np.errstate(divide="ignore"):
        log_total += np.log(top).reshape(-1)
    return StateFactor(factor.variables, factor.values / np.where(top > 0, top, 1.0))


def _size(factors: Sequence[Factor], variable: int, cards: Mapping[int, int]) -> int:
    joined = {v for factor in factors if variable in factor.variables for v in factor.variables}
    return prod(cards[v] for v in joined)


def _product(factors: Sequence[StateFactor], kept: tuple[int, ...], cards: Mapping[int, int]) -> StateFactor:
    """Multiply factors and sum over all variables that are not kept."""
    joined = sorted({v for factor in factors for v in factor.variables} | set(kept))
    n_rows = max((len(factor.values) for factor in factors), default=1)
    what = f"a table of {len(joined)} variables for {n_rows} rows"
    require_table_axes(len(joined) + 1, what, "ask for fewer variables together, or observe more of them")
    require_table_bytes(
        8 * n_rows * prod(cards[v] for v in kept), what, "ask for fewer variables together, or observe more of them"
    )
    label = {v: j + 1 for j, v in enumerate(joined)}
    operands: list[Any] = []
    for factor in factors:
        values = factor.values if len(factor.values) > 1 else factor.values[0]
        rows = [0] if len(factor.values) > 1 else []
        operands += [values, [*rows, *(label[v] for v in factor.variables)]]
    for v in kept:
        if not any(v in factor.variables for factor in factors):
            operands += [np.ones(cards[v]), [label[v]]]
    out = [*([0] if n_rows > 1 else []), *(label[v] for v in kept)]
    found = np.einsum(*operands, out, optimize=len(factors) > 2) if operands else np.ones(())
    return StateFactor(kept, found if n_rows > 1 else found[None])
