"""Questions to a network of states and numbers."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.frames import Alongside, write_frame
from bayeswater.data.variable import Variable
from bayeswater.errors import DataError, ParameterError
from bayeswater.inference.drawing import generator_of
from bayeswater.inference.mixed.strong_elimination import MixedRows, StrongElimination, node_log_density
from bayeswater.inference.network_joint import sample_codes
from bayeswater.models.mixed_networks.mixed_answers import JointMoments, MixedPosteriors, NumberDistribution
from bayeswater.models.mixed_networks.mixed_rows import row_of, rows_of
from bayeswater.models.network.answers import Distribution
from bayeswater.models.network.evidence import named
from bayeswater.models.network.network_rows import label_column
from bayeswater.models.network.queries import impossible_evidence, tell_impossible
from bayeswater.networks.mixed_core import MixedCore
from bayeswater.typing import Array

BATCH_ROWS = 2**16
"""Rows of a table of `sample_batches`."""


class MixedQuestions(ABC):
    """What a joint distribution of states and numbers says of some, given others; all answers are exact."""

    @property
    @abstractmethod
    def core(self) -> MixedCore:
        """Graph, tables and regressions."""

    @cached_property
    def _engine(self) -> StrongElimination:
        return StrongElimination(self.core)

    def query(self, target: str, evidence: Mapping[str, Any] | None = None) -> Distribution | NumberDistribution:
        """Distribution of a variable, given states and numbers of others.

        Parameters
        ----------
        target : name of the variable
        evidence : ``{name: state or number}``

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
            raise ParameterError(f"target is {target!r}; give the name of one variable, or ask moments(targets)")
        node, row = core.dag.node(target), row_of(evidence, core)
        (pattern,) = engine.patterns(row)
        if node in core.numbers:
            if node in pattern.numbers:
                _, log_evidence = engine.joint(row, pattern, [])
                weights, means, variances = np.ones(1), row.values[node], np.zeros(1)
            else:
                found, log_evidence = engine.mixtures(row, pattern, [node])
                weights, means, variances = found.weights[0], found.means[0, 0], found.covariance[0, 0]
            self._require_possible(log_evidence, evidence)
            return NumberDistribution(target, weights, means, variances)
        variable = core.variable(node)
        if node in pattern.given:
            _, log_evidence = engine.joint(row, pattern, [])
            posterior = np.eye(variable.n_states)[row.codes[node, 0]]
        else:
            joint, log_evidence = engine.joint(row, pattern, [node])
            posterior = joint[0]
        self._require_possible(log_evidence, evidence)
        return Distribution((variable,), posterior)

    def moments(
        self, targets: str | Iterable[str] | None = None, evidence: Mapping[str, Any] | None = None
    ) -> JointMoments:
        """Means and covariances of several numbers, all unless told, given states and numbers of others."""
        core = self.core
        names = [core.names[n] for n in sorted(core.numbers)] if targets is None else named(targets, "targets")
        nodes = [core.dag.node(name) for name in names]
        for name, node in zip(names, nodes, strict=True):
            if node not in core.numbers:
                raise ParameterError(f"{name!r} has states and is no number; ask query({name!r})")
        if len(set(nodes)) < len(nodes):
            raise ParameterError(f"the targets {names} name a variable twice; name each once")
        row = row_of(evidence, core)
        (pattern,) = self._engine.patterns(row)
        hidden = [node for node in nodes if node not in pattern.numbers]
        found, log_evidence = self._engine.mixtures(row, pattern, hidden)
        self._require_possible(log_evidence, evidence)
        mean, covariance = row.values[nodes, 0], np.zeros((len(nodes), len(nodes)))
        if hidden:
            own, spread = found.moments()
            places = [nodes.index(node) for node in hidden]
            mean[places] = own[0]
            covariance[np.ix_(places, places)] = spread[0]
        return JointMoments(tuple(names), mean, covariance)

    def _require_possible(self, log_evidence: Array, evidence: Mapping[str, Any] | None) -> None:
        if not log_evidence[0] > -np.inf:
            raise impossible_evidence(evidence, None)

    def posteriors(
        self, X: Any, targets: str | Iterable[str] | None = None, *, as_frame: bool = False, unseen: str = "error"
    ) -> Any:
        """Distributions of variables for every row of a frame, whose missing cells are what is not observed.

        Parameters
        ----------
        X : frame whose columns are variables, in any order; a row, ``{name: state or number}``, or a list of such; or
            the name of a file of rows
        targets : names of the variables asked for; all unless told
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
        rows = rows_of(X, core, unseen)
        found = {n: np.zeros((len(rows), core.variable(n).n_states)) for n in nodes if n not in core.numbers}
        mean = {n: np.zeros(len(rows)) for n in nodes if n in core.numbers}
        std = {n: np.zeros(len(rows)) for n in mean}
        log_evidence = np.zeros(len(rows))
        for whole in self._engine.patterns(rows):
            hidden = [node for node in mean if node not in whole.numbers]
            states = [node for node in found if node not in whole.given]
            questions = [*(([node], []) for node in hidden), *(([], [node]) for node in states)]
            for pattern in self._engine.blocks(whole, questions):
                self._answer(rows.take(pattern.rows), pattern, hidden, found, mean, std, log_evidence)
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

    def _answer(
        self,
        rows: MixedRows,
        pattern: Any,
        hidden: Sequence[int],
        found: Mapping[int, Array],
        mean: Mapping[int, Array],
        std: Mapping[int, Array],
        log_evidence: Array,
    ) -> None:
        """Write the answers of the rows of one pattern."""
        engine = self._engine
        for node, posterior in found.items():
            if node in pattern.given:
                posterior[pattern.rows, rows.codes[node]] = 1.0
            else:
                posterior[pattern.rows] = engine.joint(rows, pattern, [node])[0]
        for node in mean:
            if node in pattern.numbers:
                mean[node][pattern.rows] = rows.values[node]
        for node in hidden:
            mixtures, _ = engine.mixtures(rows, pattern, [node])
            own, spread = mixtures.moments()
            mean[node][pattern.rows], std[node][pattern.rows] = own[:, 0], np.sqrt(spread[:, 0, 0])
        log_evidence[pattern.rows] = engine.joint(rows, pattern, [])[1]

    def log_evidence(self, X: Any, *, unseen: str = "error") -> Any:
        """Logarithm of the probability, or density, of what each row observes: (n_rows,); -inf where impossible.

        Of a single row that is given as ``{name: state or number}``, it is one number.
        """
        rows = rows_of(X, self.core, unseen)
        found = np.zeros(len(rows))
        for whole in self._engine.patterns(rows):
            for pattern in self._engine.blocks(whole):
                found[pattern.rows] = self._engine.joint(rows.take(pattern.rows), pattern, [])[1]
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

    def sample_batches(self, n: int = 1, *, random_state: Any = None) -> Iterator[Any]:
        """Draw rows, a table of some thousand at a time, for more of them than memory holds."""
        rng = generator_of(n, random_state)
        return (self.sample(min(BATCH_ROWS, n - start), random_state=rng) for start in range(0, n, BATCH_ROWS))

    def sample(self, n: int = 1, *, random_state: Any = None) -> Any:
        """Draw rows: a pyarrow Table of labels and numbers."""
        core = self.core
        rng = generator_of(n, random_state)
        codes = sample_codes(core.states, int(n), np.random.SeedSequence(int(rng.integers(2**63))))
        values: dict[int, Array] = {}
        for node in core.dag.order:
            if node in core.numbers:
                own = core.numbers[node]
                place = tuple(codes[core.place[parent]] for parent in core.discrete(node))
                mean = own.intercept[place] + sum(
                    (own.slopes[(*place, j)] * values[parent] for j, parent in enumerate(core.numeric(node))), 0.0
                )
                values[node] = mean + np.sqrt(own.variance[place]) * rng.standard_normal(int(n))
        columns = {}
        for node, name in enumerate(core.names):
            is_number = node in core.numbers
            columns[name] = values[node] if is_number else label_column(codes[core.place[node]], core.variable(node))
        return write_frame(columns, None)


def _missing(rows: MixedRows, core: MixedCore, node: int) -> Array:
    variable: Variable = core.variable(node)
    return rows.codes[node] >= variable.n_states
