"""Questions to a network of states and numbers."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.frames import Alongside
from bayeswater.data.variable import Variable
from bayeswater.errors import DataError, ParameterError
from bayeswater.inference.mixed.strong_elimination import MixedRows, StrongElimination, node_log_density
from bayeswater.models.mixed_networks.mixed_answers import JointMoments, MixedPosteriors, NumberDistribution
from bayeswater.models.mixed_networks.mixed_rows import row_of, rows_of
from bayeswater.models.network.answers import Distribution
from bayeswater.models.network.evidence import named
from bayeswater.models.network.queries import Given, impossible_evidence, tell_impossible
from bayeswater.networks.mixed_core import MixedCore
from bayeswater.typing import Array


class MixedQuestions(ABC):
    """What a joint distribution of states and numbers says of some, given others; all answers are exact."""

    library: str | None = None
    """Library of the frame that it was learned from, in which answers are written; None for Arrow."""

    @property
    @abstractmethod
    def core(self) -> MixedCore:
        """Graph, tables and regressions."""

    @cached_property
    def _engine(self) -> StrongElimination:
        return StrongElimination(self.core)

    def query(
        self, target: str, evidence: Given = None, *, soft_evidence: Given = None
    ) -> Distribution | NumberDistribution:
        """Distribution of a variable, given states and numbers of others.

        Parameters
        ----------
        target : name of the variable
        evidence : ``{name: state or number}``
        soft_evidence : ``{name: {state: likelihood}}``, or likelihoods in the order of the states

        Returns
        -------
        Distribution or NumberDistribution
            Of a number, the mixture of normals that it is, one for each configuration of states it depends on.

        Raises
        ------
        ImpossibleEvidence
            Where the evidence is impossible, also where it would not matter to the target.
        """
        core, engine = self.core, self._engine
        if not isinstance(target, str):
            raise ParameterError(
                f"target is {target!r}; give the name of one variable, or ask moments(targets) of numbers and "
                "joint(targets) of variables with states"
            )
        node = core.dag.node(target)
        if node not in core.numbers:
            return self.joint(target, evidence, soft_evidence=soft_evidence)
        row = row_of(evidence, core, soft_evidence)
        (pattern,) = engine.patterns(row)
        if node in pattern.numbers:
            _, log_evidence = engine.joint(row, pattern, [])
            weights, means, variances = np.ones(1), row.values[node], np.zeros(1)
        else:
            found, log_evidence = engine.mixtures(row, pattern, [node])
            weights, means, variances = found.weights[0], found.means[0, 0], found.covariance[0, 0]
        require_possible(log_evidence[0], evidence, soft_evidence)
        return NumberDistribution(target, weights, means, variances)

    def joint(
        self, targets: str | Iterable[str], evidence: Given = None, *, soft_evidence: Given = None
    ) -> Distribution:
        """Distribution of several variables with states together, given states and numbers of others; see `query`."""
        core, engine = self.core, self._engine
        nodes = nodes_with_states(core, targets)
        row = row_of(evidence, core, soft_evidence)
        (pattern,) = engine.patterns(row)
        found, log_evidence = engine.joint(row, pattern, [node for node in nodes if node not in pattern.given])
        require_possible(log_evidence[0], evidence, soft_evidence)
        together = np.zeros([engine.cards[node] for node in nodes])
        together[tuple(int(row.codes[n, 0]) if n in pattern.given else slice(None) for n in nodes)] = found[0]
        return Distribution(tuple(core.variable(node) for node in nodes), together, library=self.library)

    def moments(
        self, targets: str | Iterable[str] | None = None, evidence: Given = None, *, soft_evidence: Given = None
    ) -> JointMoments:
        """Means and covariances of several numbers, by default all, given states and numbers of others."""
        core = self.core
        names = [core.names[n] for n in sorted(core.numbers)] if targets is None else named(targets, "targets")
        nodes = [core.dag.node(name) for name in names]
        for name, node in zip(names, nodes, strict=True):
            if node not in core.numbers:
                raise ParameterError(f"{name!r} has states and is no number; ask query({name!r})")
        if len(set(nodes)) < len(nodes):
            raise ParameterError(f"the targets {names} name a variable twice; name each once")
        row = row_of(evidence, core, soft_evidence)
        (pattern,) = self._engine.patterns(row)
        hidden = [node for node in nodes if node not in pattern.numbers]
        found, log_evidence = self._engine.mixtures(row, pattern, hidden)
        require_possible(log_evidence[0], evidence, soft_evidence)
        mean, covariance = row.values[nodes, 0], np.zeros((len(nodes), len(nodes)))
        if hidden:
            own, spread = found.moments()
            places = [nodes.index(node) for node in hidden]
            mean[places] = own[0]
            covariance[np.ix_(places, places)] = spread[0]
        return JointMoments(tuple(names), mean, covariance, self.library)

    def posteriors(
        self,
        X: Any,
        targets: str | Iterable[str] | None = None,
        *,
        soft_evidence: Given = None,
        as_frame: bool = False,
        unseen: str = "error",
    ) -> Any:
        """Distributions of variables for every row of a frame, whose missing cells are what is not observed.

        Parameters
        ----------
        X : frame whose columns are variables, in any order; a row, ``{name: state or number}``, or a list of such; or
            the name of a file of rows
        targets : names of the variables asked for; default all
        soft_evidence : likelihoods of states by name, (n_states,) for all rows or (n_rows, n_states)
        as_frame : give a frame in the library of X instead of a dict of arrays
        unseen : "error", or "ignore" to take a label that is no state for a missing cell

        Returns
        -------
        MixedPosteriors or frame
            A dict from names to P(state | row), (n_rows, n_states), or to the mean of a number, (n_rows,), with the
            attributes `std`, `log_evidence` and `impossible`.
        """
        core = self.core
        names = list(core.names) if targets is None else named(targets, "targets")
        nodes = [core.dag.node(name) for name in names]
        found, mean, std, log_evidence = row_answers(self._engine, rows_of(X, core, unseen, soft_evidence), nodes)
        impossible = ~(log_evidence > -np.inf)
        tell_impossible(impossible, "answers are zeros")
        for array in (*found.values(), *mean.values(), *std.values()):
            array[impossible] = 0.0
        answers = {core.names[n]: found[n] if n in found else mean[n] for n in nodes}
        result = MixedPosteriors(
            answers,
            {core.names[n]: own for n, own in std.items()},
            [core.variable(n) for n in found],
            log_evidence,
            impossible,
        )
        return result.to_frame(Alongside.of(X)) if as_frame else result

    def log_evidence(self, X: Any, *, soft_evidence: Given = None, given: Given = None, unseen: str = "error") -> Any:
        """Logarithm of the probability, or density, of what each row observes: (n_rows,); -inf where impossible.

        Of a single row that is given as ``{name: state or number}``, it is one number. With `given`, states and numbers
        by name, it is that of each row given these.
        """
        core = self.core
        rows, known = rows_of(X, core, unseen, soft_evidence), row_of(given, core)
        against = np.zeros(len(rows), dtype=bool)
        for name in given or {}:
            node = core.dag.node(name)
            part, own = (rows.values, known.values) if node in core.numbers else (rows.codes, known.codes)
            observed = ~np.isnan(part[node]) if node in core.numbers else part[node] < self._engine.cards[node]
            against |= observed & (part[node] != own[node])
            part[node] = own[node]
        found = row_answers(self._engine, rows, ())[-1]
        if given:
            of_given = row_answers(self._engine, known, ())[-1][0]
            require_possible(of_given, given, None)
            found = np.where(against, -np.inf, found - of_given)
        return float(found[0]) if isinstance(X, Mapping) else found

    def log_probability(self, X: Any, *, unseen: str = "error") -> Any:
        """Logarithm of the probability or density of every row, none of whose cells is missing: (n_rows,)."""
        found = self.node_log_probabilities(X, unseen=unseen)
        total = sum(found.values(), np.zeros(1))
        return float(total[0]) if isinstance(X, Mapping) else total

    def node_log_probabilities(self, X: Any, *, unseen: str = "error") -> dict[str, Array]:
        """Give what each variable given its parents adds to `log_probability`, by name: (n_rows,) each."""
        core, rows = self.core, rows_of(X, self.core, unseen)
        for node in range(len(core)):
            column = np.isnan(rows.values[node]) if node in core.numbers else _missing(rows, core, node)
            if column.any():
                raise DataError(
                    f"{core.names[node]!r} is missing in row {int(column.argmax())} ({int(column.sum())} in all); "
                    "the probability of rows that are known in part is log_evidence(frame)"
                )
        return {name: node_log_density(core, rows, node) for node, name in enumerate(core.names)}


def require_possible(log_evidence: float, evidence: Given, soft_evidence: Given) -> None:
    """Refuse what cannot be."""
    if not log_evidence > -np.inf:
        raise impossible_evidence(evidence, soft_evidence)


def nodes_with_states(core: MixedCore, targets: str | Iterable[str]) -> list[int]:
    """Nodes that are named, each once, and none of them a number."""
    names = named(targets, "targets")
    nodes = [core.dag.node(name) for name in names]
    for name, node in zip(names, nodes, strict=True):
        if node in core.numbers:
            raise ParameterError(f"{name!r} is a number and has no states; ask query({name!r}), or moments of several")
    if len(set(nodes)) < len(nodes):
        raise ParameterError(f"the targets {names} name a variable twice; name each once")
    return nodes


def row_answers(
    engine: StrongElimination, rows: MixedRows, nodes: Sequence[int]
) -> tuple[dict[int, Array], dict[int, Array], dict[int, Array], Array]:
    """Give by node P(state | row), means and standard deviations, and the logarithm of the evidence of each row."""
    found = {n: np.zeros((len(rows), engine.cards[n])) for n in nodes if n in engine.cards}
    mean = {n: np.zeros(len(rows)) for n in nodes if n not in found}
    std = {n: np.zeros(len(rows)) for n in mean}
    log_evidence = np.zeros(len(rows))
    for whole in engine.patterns(rows):
        hidden = [node for node in mean if node not in whole.numbers]
        states = [node for node in found if node not in whole.given]
        for pattern in engine.blocks(whole, [*(([node], []) for node in hidden), *(([], [node]) for node in states)]):
            own, place = rows.take(pattern.rows), pattern.rows
            for node, posterior in found.items():
                if node in pattern.given:
                    posterior[place, own.codes[node]] = 1.0
                else:
                    posterior[place] = engine.joint(own, pattern, [node])[0]
            for node in mean:
                if node in pattern.numbers:
                    mean[node][place] = own.values[node]
            for node in hidden:
                average, spread = engine.mixtures(own, pattern, [node])[0].moments()
                mean[node][place], std[node][place] = average[:, 0], np.sqrt(spread[:, 0, 0])
            log_evidence[place] = engine.joint(own, pattern, [])[1]
    return found, mean, std, log_evidence


def _missing(rows: MixedRows, core: MixedCore, node: int) -> Array:
    variable: Variable = core.variable(node)
    return rows.codes[node] >= variable.n_states
