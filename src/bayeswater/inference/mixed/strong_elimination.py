"""Exact posteriors of a network with states and numbers: numbers are summed out first, then states.

This is the order of the strong junction tree (Lauritzen 1992; Lauritzen and Jensen 2001), and it is exact: given the
variables with states, the numbers are jointly normal, so that

1. the arcs among numbers are turned until the observed ones come first (`lines`), for each configuration of the
   variables with states that they depend on, and once for all rows of one pattern;
2. the density of the observed numbers, in a row, is a factor over these variables;
3. the variables with states are summed out with the factors of their tables (`state_factors`);
4. a number is a mixture of normals, one for each configuration, weighed by its posterior.

A number of variance zero has no density but a probability: observed where it must lie, it outweighs every density;
elsewhere it is impossible. Of the configurations that are possible in a row, those count that have the most such
numbers, whichever these are, and their densities are compared (`point_masses`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import prod

import numpy as np

from bayeswater.inference.mixed.lines import ConditionalLine, NumberPlan, plan_numbers
from bayeswater.inference.mixed.point_masses import MassFactor, summed_masses
from bayeswater.inference.mixed.state_factors import StateFactor, summed
from bayeswater.limits import require_table_axes
from bayeswater.networks.mixed_core import MixedCore
from bayeswater.records import record
from bayeswater.typing import Array

BLOCK_CELLS = 2**20
"""Cells of the arrays of a block of rows, about."""

SAME = 1e-9
"""Share of the numbers a mean is made of by which an exact number may differ from it by rounding."""


@record
class MixedRows:
    """Rows of evidence.

    Attributes
    ----------
    codes : (n_nodes, n_rows), of nodes with states; one past the last state, or more, where nothing is observed
    values : (n_nodes, n_rows), of nodes that are numbers; NaN where nothing is observed
    soft : by node, likelihoods of its states, (n_rows, n_states) or (1, n_states) for all rows
    """

    codes: Array
    values: Array
    soft: Mapping[int, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.codes.shape[1]

    def take(self, rows: Array) -> "MixedRows":
        """Give some of the rows."""
        soft = {node: own if len(own) == 1 else own[rows] for node, own in self.soft.items()}
        return MixedRows(self.codes[:, rows], self.values[:, rows], soft)


@record
class Mixtures:
    """Normals of some numbers in some rows, weighed by the posterior of the states that they depend on.

    Attributes
    ----------
    weights : (n_rows, n_components)
    means : (n_targets, n_rows, n_components)
    covariance : (n_targets, n_targets, n_components)
    states : for each variable of the components, its code in each of them
    """

    weights: Array
    means: Array
    covariance: Array
    states: Mapping[int, Array]

    def moments(self) -> tuple[Array, Array]:
        """Mean (n_rows, n_targets) and covariance (n_rows, n_targets, n_targets) over all components."""
        mean = np.einsum("rc,trc->rt", self.weights, self.means)
        apart = self.means - mean.T[:, :, None]
        within = np.einsum("rc,tuc->rtu", self.weights, self.covariance)
        return mean, within + np.einsum("rc,trc,urc->rtu", self.weights, apart, apart)


@record
class Pattern:
    """Rows that have the same cells observed, and the same states where numbers depend on them.

    Attributes
    ----------
    rows : their numbers
    fixed : codes of the observed variables with states that are parents of numbers
    given : all observed variables with states
    numbers : observed numbers
    """

    rows: Array
    fixed: Mapping[int, int]
    given: frozenset[int]
    numbers: tuple[int, ...]


@record
class StrongElimination:
    """A network made ready for questions."""

    core: MixedCore
    _plans: dict[object, tuple[NumberPlan, dict[int, int]]] = field(default_factory=dict)

    @cached_property
    def cards(self) -> dict[int, int]:
        """Number of states of each node that has them."""
        return {node: self.core.states.cards[j] for node, j in self.core.place.items()}

    @cached_property
    def _above_numbers(self) -> frozenset[int]:
        return frozenset(parent for node in self.core.numbers for parent in self.core.discrete(node))

    def patterns(self, rows: MixedRows) -> Iterator[Pattern]:
        """Group rows by what is observed; rows of many cells in blocks."""
        core = self.core
        with_states, numbers = list(core.place), list(core.numbers)
        observed = rows.codes[with_states] < np.array([[self.cards[n]] for n in with_states]).reshape(-1, 1)
        is_above = np.array([node in self._above_numbers for node in with_states], dtype=bool)
        states = np.where(observed & is_above[:, None], rows.codes[with_states], -1)
        key = np.concatenate([states, observed, ~np.isnan(rows.values[numbers])]).astype(np.int32)
        if not key.size:
            key = np.zeros((1, len(rows)), dtype=np.int32)
        which = np.unique(key, axis=1, return_inverse=True)[1].reshape(-1)
        order = np.argsort(which, kind="stable")
        for group in np.split(order, np.cumsum(np.bincount(which))[:-1]) if len(rows) else ():
            j = group[0]
            given = frozenset(node for node, is_there in zip(with_states, observed[:, j], strict=True) if is_there)
            fixed = {node: int(rows.codes[node, j]) for node in with_states if node in given & self._above_numbers}
            seen = tuple(node for node in numbers if not np.isnan(rows.values[node, j]))
            yield Pattern(group, fixed, given, seen)

    def plan(self, pattern: Pattern, targets: Sequence[int]) -> tuple[NumberPlan, dict[int, int]]:
        """Plan for numbers, and the axis of each variable with states in it."""
        key = (tuple(sorted(pattern.fixed.items())), pattern.numbers, tuple(targets))
        found = self._plans.get(key)
        if found is None:
            core = self.core
            wanted = {*pattern.numbers, *targets}
            above = core.dag.ancestors(frozenset(wanted)) | wanted
            matter = {p for node in above if node in core.numbers for p in core.discrete(node)} - set(pattern.fixed)
            axes = {node: axis for axis, node in enumerate(sorted(matter))}
            require_table_axes(
                len(axes) + 1, f"numbers that depend on {len(axes)} variables", "observe some of these variables"
            )
            found = plan_numbers(core, pattern.fixed, axes, pattern.numbers, targets), axes
            if len(self._plans) > 1000:
                self._plans.clear()
            self._plans[key] = found
        return found

    def joint(self, rows: MixedRows, pattern: Pattern, states: Sequence[int]) -> tuple[Array, Array]:
        """Posterior of variables with states together, (n_rows, *n_states), and the log of the evidence, (n_rows,).

        None of them is observed; `rows` are those of the pattern alone.
        """
        logs, exact, nodes, tables = self._evidence(rows, pattern, states)
        if all(own.all() or not own.any() for own in exact):  # all configurations have as many point masses
            factors, shift = _merged(logs, nodes)
            found, log_evidence = summed([*factors, *tables], self.cards, states, len(rows))
            return found, log_evidence + shift
        return summed_masses(_mass_factors(logs, exact, nodes, tables), self.cards, states, len(rows))

    def mass_factors(self, rows: MixedRows, pattern: Pattern, states: Sequence[int]) -> list[MassFactor]:
        """Give the factors whose product is the probability of these states and of the evidence."""
        return _mass_factors(*self._evidence(rows, pattern, states))

    def _evidence(
        self, rows: MixedRows, pattern: Pattern, states: Sequence[int]
    ) -> tuple[list[Array], list[Array], list[int], list[StateFactor]]:
        """Log-densities of observed numbers, where they are exact, the variables of their axes, and tables of states.

        Tables of states that neither the evidence nor what is asked for depends on sum to one, and are left out.
        """
        plan, axes = self.plan(pattern, ())
        nodes = sorted(axes, key=axes.__getitem__)
        logs = [_log_density(node, line, rows) for node, line in plan.evidence]
        own = {nodes[axis] for log in logs for axis, length in enumerate(log.shape[1:]) if length > 1}
        wanted = {*states, *pattern.given, *own, *rows.soft}
        above = self.core.dag.ancestors(frozenset(wanted)) | wanted
        tables = [self._table(node, rows, pattern.given) for node in sorted(above)]
        for node, likelihood in rows.soft.items():
            if node in pattern.given:
                place = np.arange(len(rows)) if len(likelihood) > 1 else 0
                tables.append(StateFactor((), likelihood[place, rows.codes[node]]))
            else:
                tables.append(StateFactor((node,), likelihood))
        return logs, [line.variance == 0 for _, line in plan.evidence], nodes, tables

    def _table(self, node: int, rows: MixedRows, given: frozenset[int]) -> StateFactor:
        table = self.core.states.tables[self.core.place[node]]
        members = (*self.core.dag.parents[node], node)
        seen = [axis for axis, member in enumerate(members) if member in given]
        rest = [axis for axis in range(len(members)) if axis not in seen]
        values = table.transpose([*seen, *rest])
        values = values[tuple(rows.codes[members[axis]] for axis in seen)] if seen else values[None]
        return StateFactor(tuple(members[axis] for axis in rest), values)

    def mixtures(
        self, rows: MixedRows, pattern: Pattern, targets: Sequence[int], beside: Sequence[int] = ()
    ) -> tuple[Mixtures, Array]:
        """Mixtures of numbers that are not observed, and the log of the evidence.

        Parameters
        ----------
        targets : numbers
        beside : unobserved variables with states that tell components apart though no target depends on them
        """
        plan, axes = self.plan(pattern, targets)
        matter = _components(plan, axes, beside)
        states = [*matter, *(node for node in beside if node not in matter)]
        weights, log_evidence = self.joint(rows, pattern, states)
        cards = [self.cards[node] for node in states]
        n = int(np.prod(cards))

        def flat(array: Array) -> Array:  # (..., *axes) to (..., n_components)
            lead = array.shape[: array.ndim - len(axes)]
            kept = array.reshape((*lead, *(array.shape[len(lead) + axes[node]] for node in matter)))
            kept = kept.reshape((*kept.shape, *[1] * (len(states) - len(matter))))
            return np.broadcast_to(kept, (*lead, *cards)).reshape((*lead, n))

        means = np.empty((len(targets), len(rows), n))
        covariance = np.empty((len(targets), len(targets), n))
        for i, t in enumerate(targets):
            means[i] = flat(_mean(plan.means[t], rows))
            for j, u in enumerate(targets[: i + 1]):
                covariance[i, j] = covariance[j, i] = flat(plan.covariance[min(t, u), max(t, u)])
        codes = np.indices(cards).reshape(len(cards), n)
        found = Mixtures(weights.reshape(len(rows), n), means, covariance, dict(zip(states, codes, strict=True)))
        return found, log_evidence

    def blocks(
        self, pattern: Pattern, questions: Iterable[tuple[Sequence[int], Sequence[int]]] = ()
    ) -> Iterator[Pattern]:
        """Divide the rows of a pattern so that the arrays of a block stay small.

        Parameters
        ----------
        questions : targets, and variables beside them, of the `mixtures` that are asked for one after the other; those
            of a `joint` have no targets
        """
        evidence = self.plan(pattern, ())[0].evidence
        n_cells = sum(prod(line.shape) for _, line in evidence)
        n_cells += max((self._n_cells(pattern, *question) for question in questions), default=1)
        size = max(1, BLOCK_CELLS // n_cells)
        for start in range(0, len(pattern.rows), size):
            part = pattern.rows[start : start + size]
            yield Pattern(part, pattern.fixed, pattern.given, pattern.numbers)

    def _n_cells(self, pattern: Pattern, targets: Sequence[int], beside: Sequence[int]) -> int:
        """Cells that the mixtures of a row have."""
        components = {*_components(*self.plan(pattern, targets), beside), *beside}
        return (len(targets) + 1) * prod(self.cards[node] for node in components)


def _components(plan: NumberPlan, axes: Mapping[int, int], beside: Sequence[int]) -> list[int]:
    """Variables of the plan that tell the components of its targets apart, or are asked for."""
    shapes = [line.shape for line in plan.means.values()] + [own.shape for own in plan.covariance.values()]
    shape = tuple(map(max, (1,) * len(axes), *shapes)) if shapes else (1,) * len(axes)
    return [node for node, axis in axes.items() if shape[axis] > 1 or node in beside]


def _mean(line: ConditionalLine, rows: MixedRows) -> Array:
    """Mean in each row: (n_rows, *axes)."""
    mean = np.broadcast_to(line.intercept, (len(rows), *line.intercept.shape))
    for node, slope in line.slopes.items():
        mean = mean + rows.values[node].reshape(-1, *[1] * slope.ndim) * slope
    return mean


def node_log_density(core: MixedCore, rows: MixedRows, node: int) -> Array:
    """Log of the probability, or density, of a variable given its parents in rows that have these cells: (n_rows,)."""
    if node not in core.numbers:
        table = core.states.tables[core.place[node]]
        with np.errstate(divide="ignore"):
            return np.log(table[tuple(rows.codes[member] for member in (*core.dag.parents[node], node))])
    own, place = core.numbers[node], tuple(rows.codes[parent] for parent in core.discrete(node))
    slopes = {parent: own.slopes[(*place, j)] for j, parent in enumerate(core.numeric(node))}
    apart, size = rows.values[node] - own.intercept[place], np.abs(rows.values[node]) + np.abs(own.intercept[place])
    for parent, slope in slopes.items():
        apart, size = apart - slope * rows.values[parent], size + np.abs(slope * rows.values[parent])
    variance = np.broadcast_to(own.variance[place], apart.shape)
    sure = np.where(variance > 0, variance, 1.0)
    density = -0.5 * (np.log(2 * np.pi * sure) + apart * (apart / sure))
    return np.where(variance > 0, density, np.where(np.abs(apart) <= SAME * size, 0.0, -np.inf))


def _log_density(node: int, line: ConditionalLine, rows: MixedRows) -> Array:
    """Log-density in each row, (n_rows, *axes); of an exact number 0 where it lies as it must, else -inf."""
    value = rows.values[node].reshape(-1, *[1] * line.variance.ndim)
    apart = value - _mean(line, rows)
    sure = line.variance > 0
    variance = np.where(sure, line.variance, 1.0)
    with np.errstate(over="ignore"):
        log_density = -0.5 * (np.log(2 * np.pi * variance) + apart * (apart / variance))
    if sure.all():
        return log_density
    size = np.abs(value) + np.abs(line.intercept)
    for other, slope in line.slopes.items():
        size = size + np.abs(rows.values[other].reshape(-1, *[1] * slope.ndim) * slope)
    return np.where(sure, log_density, np.where(np.abs(apart) <= SAME * size, 0.0, -np.inf))


def _mass_factor(log: Array, exact: Array, nodes: Sequence[int]) -> MassFactor:
    """Make a factor of the log-densities of one number; where it is exact they are masses."""
    possible = log > -np.inf
    masses = np.where(possible, np.broadcast_to(exact.astype(np.float64), log.shape), -np.inf)
    own = [axis for axis, length in enumerate(log.shape[1:]) if length > 1]
    shape = (len(log), *(log.shape[1 + axis] for axis in own))
    logs = np.where(possible, log, 0.0)
    return MassFactor(tuple(nodes[axis] for axis in own), masses.reshape(shape), logs.reshape(shape))


def _mass_factors(
    logs: Sequence[Array], exact: Sequence[Array], nodes: Sequence[int], tables: Iterable[StateFactor]
) -> list[MassFactor]:
    masses = [_mass_factor(log, own, nodes) for log, own in zip(logs, exact, strict=True)]
    return [*masses, *map(MassFactor.of, tables)]


def _merged(logs: Sequence[Array], nodes: Sequence[int]) -> tuple[list[StateFactor], Array]:
    """Make factors of log-densities, one of all that depend on no other states; and give what they are scaled by."""
    total: dict[tuple[int, ...], Array] = {}
    for log in sorted(logs, key=lambda log: -np.count_nonzero(np.array(log.shape[1:]) > 1)):
        own = tuple(axis for axis, length in enumerate(log.shape[1:]) if length > 1)
        home = next((wide for wide in total if set(own) <= set(wide)), own)
        total[home] = total[home] + log if home in total else log
    factors, shift = [], np.zeros(1)
    for own, log in total.items():
        top = log.max(axis=tuple(range(1, log.ndim)), keepdims=True)
        top = np.where(top > -np.inf, top, 0.0)
        shift = shift + top.reshape(-1)
        values = np.exp(log - top).reshape(len(log), *(log.shape[1 + axis] for axis in own))
        factors.append(StateFactor(tuple(nodes[axis] for axis in own), values))
    return factors, shift
