"""EM for a network of states and numbers: parameters of largest likelihood from rows with missing cells.

The sums that the rows would have are expected under the network so far. A row is spread over the states of its missing
cells by their posterior, and given these, missing numbers are normal: a row adds their means, and to the scatter their
covariance, too (`inference.mixed.strong_elimination`). Rounds divide squared residuals by the number of rows, which is
what raises the likelihood; the last reading by n - k - 1, as without missing cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.errors import ConvergenceWarning, DataError, warn_user
from bayeswater.estimate.dirichlet import conditional_table
from bayeswater.estimate.regression import Regressed, regress
from bayeswater.inference.mixed.strong_elimination import MixedRows, Pattern, StrongElimination
from bayeswater.networks.conditionals import Table
from bayeswater.networks.mixed_core import MixedCore
from bayeswater.networks.network import Network
from bayeswater.networks.regressions import Regressions
from bayeswater.typing import Array

MOST_ROUNDS = 500

TOLERANCE = 1e-7
"""What a round has to add to the log-likelihood of a row, for another to follow."""


@dataclass
class ExpectedSums:
    """Sums of all families that rows are expected to have, on their way; numbers lie around an origin."""

    counts: list[Array]
    weight: dict[int, Array]  # (*n_states of the discrete parents)
    first: dict[int, Array]  # (*n_states, n_members)
    second: dict[int, Array]  # (*n_states, n_members, n_members)
    log_likelihood: float = 0.0

    @classmethod
    def none(cls, core: MixedCore) -> "ExpectedSums":
        """No rows."""
        shapes = {node: (core.numbers[node].intercept.shape, len(core.numeric(node)) + 1) for node in core.numbers}
        return cls(
            [np.zeros(table.shape) for table in core.states.tables],
            {node: np.zeros(shape) for node, (shape, _) in shapes.items()},
            {node: np.zeros((*shape, m)) for node, (shape, m) in shapes.items()},
            {node: np.zeros((*shape, m, m)) for node, (shape, m) in shapes.items()},
        )

    def regressed(self, node: int, origin: Array) -> Regressed:
        """Regress a number on its parents."""
        weight = self.weight[node]
        share = np.where(weight > 0, weight, 1.0)
        mean = self.first[node] / share[..., None]
        scatter = self.second[node] - weight[..., None, None] * mean[..., :, None] * mean[..., None, :]
        return regress(weight, mean + origin, scatter)


def fit_mixed_by_em(
    start: MixedCore,
    rows: MixedRows,
    weight: Array | None,
    pseudo_counts: Sequence[Array],
) -> MixedCore:
    """Estimate all tables and regressions.

    Parameters
    ----------
    start : network to begin with
    rows, weight : what is learned from
    pseudo_counts : for each variable with states, what is added to its counts
    """
    weight = np.ones(len(rows)) if weight is None else weight.astype(np.float64)
    origin = np.array([_middle(values) for values in rows.values])
    core, before = _spread_out(start, rows), -np.inf
    for n_rounds in range(MOST_ROUNDS + 1):
        sums = expected_sums(core, rows, weight, origin)
        if not sums.log_likelihood > -np.inf:
            raise DataError("rows are impossible under the network that EM begins with; check constant columns")
        is_done = sums.log_likelihood - before <= TOLERANCE * weight.sum() and n_rounds > 0
        if is_done or n_rounds == MOST_ROUNDS:
            if not is_done:
                warn_user(f"EM was stopped after {MOST_ROUNDS} rounds, while they still gained", ConvergenceWarning)
            return _read(core, sums, pseudo_counts, origin, is_last=True)
        before = sums.log_likelihood
        core = _read(core, sums, pseudo_counts, origin, is_last=False)
    raise AssertionError("the last round returns")


def _middle(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else 0.0


def _spread_out(core: MixedCore, rows: MixedRows) -> MixedCore:
    """Give numbers of variance zero that of their column: from an exact start, EM would not move."""
    numbers = {}
    for node, own in core.numbers.items():
        known = rows.values[node][~np.isnan(rows.values[node])]
        spread = float(known.var()) if len(known) else 1.0
        numbers[node] = Regressions(own.intercept, own.slopes, np.where(own.variance > 0, own.variance, spread or 1.0))
    return MixedCore.of(core.dag, core.states, numbers)


def _read(
    core: MixedCore, sums: ExpectedSums, pseudo_counts: Sequence[Array], origin: Array, *, is_last: bool
) -> MixedCore:
    tables = [Table(conditional_table(c, pseudo)) for c, pseudo in zip(sums.counts, pseudo_counts, strict=True)]
    states = Network.of(core.states.variables, core.states.dag, tables)
    numbers = {}
    for node, old in core.numbers.items():
        found = sums.regressed(node, origin[[*core.numeric(node), node]])
        here = found.weight > 0
        variance = found.variance if is_last else found.left / np.where(here, found.weight, 1.0)
        numbers[node] = Regressions(
            np.where(here, found.intercept, old.intercept),
            np.where(here[..., None], found.slopes, old.slopes),
            np.where(here, variance, old.variance),
        )
    return MixedCore.of(core.dag, states, numbers)


def expected_sums(core: MixedCore, rows: MixedRows, weight: Array, origin: Array) -> ExpectedSums:
    """Sums that rows are expected to have under a network, and their log-likelihood."""
    engine, sums = StrongElimination(core), ExpectedSums.none(core)
    for whole in engine.patterns(rows):
        questions: list[tuple[list[int], list[int]]] = [([], _hidden_family(core, whole, node)) for node in core.place]
        questions += [_hidden_moments(core, whole, node) for node in core.numbers]
        for pattern in engine.blocks(whole, questions):
            part, own_weight = rows.take(pattern.rows), weight[pattern.rows]
            sums.log_likelihood += float(own_weight @ engine.joint(part, pattern, [])[1])
            for node in core.place:
                _add_counts(engine, part, pattern, own_weight, node, sums)
            for node in core.numbers:
                _add_moments(engine, part, pattern, own_weight, node, origin, sums)
    return sums


def _hidden_family(core: MixedCore, pattern: Pattern, node: int) -> list[int]:
    """Unobserved members of the family of a variable with states."""
    return [member for member in (*core.dag.parents[node], node) if member not in pattern.given]


def _hidden_moments(core: MixedCore, pattern: Pattern, node: int) -> tuple[list[int], list[int]]:
    """Unobserved numbers of the family of a number, and its unobserved parents with states."""
    hidden = [member for member in (*core.numeric(node), node) if member not in pattern.numbers]
    return hidden, [parent for parent in core.discrete(node) if parent not in pattern.given]


def _add_counts(
    engine: StrongElimination, rows: MixedRows, pattern: Pattern, weight: Array, node: int, sums: ExpectedSums
) -> None:
    """Add the expected counts of a variable with its parents."""
    core = engine.core
    members = (*core.dag.parents[node], node)
    hidden = _hidden_family(core, pattern, node)
    posterior = engine.joint(rows, pattern, hidden)[0] if hidden else np.ones(len(rows))
    index = []
    for member in members:
        if member in pattern.given:
            index.append(rows.codes[member].reshape(-1, *[1] * len(hidden)))
        else:
            shape = [1] * (len(hidden) + 1)
            shape[1 + hidden.index(member)] = -1
            index.append(np.arange(core.variable(member).n_states).reshape(shape))
    shares = posterior * weight.reshape(-1, *[1] * len(hidden))
    if len(hidden) == len(members):  # then all rows add to the same cells
        shares = shares.sum(axis=0, keepdims=True)
    np.add.at(sums.counts[core.place[node]], tuple(index), shares)


def _add_moments(
    engine: StrongElimination,
    rows: MixedRows,
    pattern: Pattern,
    weight: Array,
    node: int,
    origin: Array,
    sums: ExpectedSums,
) -> None:
    """Add the expected moments of a number and its numeric parents, for each configuration of the others."""
    core = engine.core
    members, discrete = [*core.numeric(node), node], core.discrete(node)
    hidden, open_states = _hidden_moments(core, pattern, node)
    found, _ = engine.mixtures(rows, pattern, hidden, open_states)
    shares = found.weights * weight[:, None]  # (n_rows, n_components)
    values = np.empty((len(members), *shares.shape))
    covariance = np.zeros((len(members), len(members), shares.shape[1]))
    for i, member in enumerate(members):
        if member in pattern.numbers:
            values[i] = (rows.values[member] - origin[member])[:, None]
        else:
            values[i] = found.means[hidden.index(member)] - origin[member]
    places = [members.index(member) for member in hidden]
    covariance[np.ix_(places, places)] = found.covariance
    # Observed parents of numbers are the same in all rows of a pattern: a component is one configuration.
    n = shares.shape[1]
    index = tuple(
        found.states[parent] if parent in found.states else np.full(n, pattern.fixed[parent]) for parent in discrete
    )
    total = shares.sum(axis=0)
    second = np.einsum("rc,irc,jrc->cij", shares, values, values) + (covariance * total).transpose(2, 0, 1)
    if index:
        np.add.at(sums.weight[node], index, total)
        np.add.at(sums.first[node], index, np.einsum("rc,irc->ci", shares, values))
        np.add.at(sums.second[node], index, second)
    else:
        sums.weight[node] += total.sum()
        sums.first[node] += np.einsum("rc,irc->i", shares, values)
        sums.second[node] += second.sum(axis=0)
