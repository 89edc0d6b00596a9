"""Factors of densities beside point masses: where an exact number lies as it must, its mass outweighs every density.

A cell has the number of masses of its configuration, -inf where it is impossible, and the logarithm of what they are
multiplied by. A product adds both. A sum keeps the cells of most masses, whatever the densities of others are: it is
the limit of normals whose variances all become zero together. Masses of all numbers count together, and those of
impossible states do not, as only cells that are possible have any.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import prod

import numpy as np

from bayeswater.inference.mixed.state_factors import StateFactor, eliminated
from bayeswater.limits import require_table_axes, require_table_bytes
from bayeswater.records import record
from bayeswater.typing import Array


@record
class MassFactor:
    """Masses and logarithms, as a function of some variables and of the row."""

    variables: tuple[int, ...]
    masses: Array  # (n_rows or 1, *n_states of the variables)
    logs: Array  # of the same shape; finite

    @classmethod
    def of(cls, factor: StateFactor) -> "MassFactor":
        """Give a factor that has no masses."""
        possible = factor.values > 0
        return cls(factor.variables, np.where(possible, 0.0, -np.inf), np.log(np.where(possible, factor.values, 1.0)))

    def at(self, variable: int, state: int) -> "MassFactor":
        """Give the part of one state."""
        if variable not in self.variables:
            return self
        axis = self.variables.index(variable)
        rest = self.variables[:axis] + self.variables[axis + 1 :]
        return MassFactor(rest, self.masses.take(state, axis + 1), self.logs.take(state, axis + 1))


def masses_of(factors: Iterable[MassFactor], cards: Mapping[int, int], targets: Sequence[int]) -> list[MassFactor]:
    """Sum out all variables but the targets."""

    def sum_out(touched: Sequence[MassFactor], variable: int, kept: tuple[int, ...]) -> MassFactor:
        parts = (
            product_of_masses([own.at(variable, k) for own in touched], kept, cards) for k in range(cards[variable])
        )
        return reduce(_sum, parts)

    return eliminated(list(factors), cards, targets, sum_out)


def summed_masses(
    factors: Iterable[MassFactor], cards: Mapping[int, int], targets: Sequence[int], n_rows: int
) -> tuple[Array, Array]:
    """Give the distribution of the targets in each row, and the logarithm of the total, as `state_factors.summed`."""
    joint = product_of_masses(masses_of(factors, cards, targets), tuple(targets), cards)
    axes = tuple(range(1, joint.masses.ndim))
    top = joint.masses.max(axis=axes, keepdims=True)
    logs = np.where((joint.masses == top) & (top > -np.inf), joint.logs, -np.inf)
    highest = logs.max(axis=axes, keepdims=True)
    shares = np.exp(logs - np.where(highest > -np.inf, highest, 0.0))
    total = shares.sum(axis=axes, keepdims=True)
    found = shares / np.where(total > 0, total, 1.0)
    with np.errstate(divide="ignore"):
        log_total = (highest + np.log(total)).reshape(-1)
    return np.broadcast_to(found, (n_rows, *found.shape[1:])).copy(), np.broadcast_to(log_total, n_rows).copy()


def _sum(a: MassFactor, b: MassFactor) -> MassFactor:
    masses = np.maximum(a.masses, b.masses)
    terms = (np.where(part.masses == masses, part.logs, -np.inf) for part in (a, b))
    return MassFactor(a.variables, masses, np.logaddexp(*terms))


def product_of_masses(factors: Sequence[MassFactor], kept: tuple[int, ...], cards: Mapping[int, int]) -> MassFactor:
    """Multiply factors whose variables are all kept."""
    n_rows = max((len(own.masses) for own in factors), default=1)
    what, fix = f"a table of {len(kept)} variables for {n_rows} rows", "ask for fewer variables together"
    require_table_axes(len(kept) + 1, what, fix)
    require_table_bytes(16 * n_rows * prod(cards[v] for v in kept), what, fix)
    masses = np.zeros((n_rows, *(cards[v] for v in kept)))
    logs = np.zeros_like(masses)
    for own in factors:
        order = np.argsort([kept.index(v) for v in own.variables]).astype(int)
        shape = (len(own.masses), *(cards[v] if v in own.variables else 1 for v in kept))
        for total, part in ((masses, own.masses), (logs, own.logs)):
            total += part.transpose(0, *(order + 1)).reshape(shape)
    return MassFactor(kept, masses, logs)
