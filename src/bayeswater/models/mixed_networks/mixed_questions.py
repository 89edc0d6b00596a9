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
        """Give the distribution of a variable, given states and numbers of others.

        Parameters
        ----------
        target : str
            Name of the variable.
        evidence : dict {name: state or number}, optional
            What is observed.
        soft_evidence : dict, optional
            ``{name: {state: likelihood}}``, or likelihoods in the order of the states.

        Returns
        -------
        Distribution or NumberDistribution
            Of a number, the mixture of normals that it is, one for each configuration of states it depends on.

        Raises
        ------
        ImpossibleEvidence
            Where the evidence is impossible, also where it would not matter to the target.

        See Also
        --------
        joint : Give the joint distribution of several variables with states, given states and numbers of others.
        moments : Give the means and covariances of several numbers.
        posteriors : Give the distributions of variables for every row of a frame.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.query("sex", {"height": 180})
        sex  probability
        f         0.0742  █
        m         0.9258  ███████████████████
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
        """Give the joint distribution of several variables with states, given states and numbers of others.

        Parameters
        ----------
        targets : str or iterable of str
            Names of the variables.
        evidence, soft_evidence : as in `query`
            What is observed.

        Returns
        -------
        Distribution
            Probabilities of the configurations by label; print it.

        See Also
        --------
        query : Give the distribution of a variable, given states and numbers of others.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> round(network.joint("sex", {"height": 180})["m"], 4)
        0.9258
        """
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
        """Give the means and covariances of several numbers, by default all, given states and numbers of others.

        Parameters
        ----------
        targets : str or iterable of str, optional
            Names of the numbers; default all.
        evidence, soft_evidence : as in `query`
            What is observed.

        Returns
        -------
        JointMoments
            Means and covariances by name; print it.

        See Also
        --------
        query : Give the distribution of a variable, given states and numbers of others.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.moments().mean
        array([170.2])
        """
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
        """Give the distributions of variables for every row of a frame; missing cells are not observed.

        Parameters
        ----------
        X : data frame, dict or path
            A frame whose columns are variables, in any order; a row, ``{name: state or number}``, or a list of such; or
            the name of a file of rows.
        targets : str or iterable of str, optional
            Names of the variables; default all.
        soft_evidence : dict, optional
            Likelihoods of states by name, (n_states,) for all rows or (n_rows, n_states).
        as_frame : bool, default False
            Whether to give a frame in the library of X instead of a dict of arrays.
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have: refuse it, or take it as missing.

        Returns
        -------
        MixedPosteriors or frame
            A dict from names to P(state | row), (n_rows, n_states), or to the mean of a number, (n_rows,), with the
            attributes `std`, `log_evidence` and `impossible`.

        See Also
        --------
        query : Give the distribution of a variable, given states and numbers of others.
        impute : Fill in the missing cells of a frame, given the other cells of each row.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.posteriors(pa.table({"height": [160.0, 180]}), "sex")["sex"].round(3)
        array([[0.971, 0.029],
               [0.074, 0.926]])
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
        """Give the logarithm of the probability, or density, of what each row observes; -inf where impossible.

        Of a single row that is given as ``{name: state or number}``, it is one number. With `given`, states and numbers
        by name, it is that of each row given these.

        Parameters
        ----------
        X : data frame or dict {name: state or number}
            Rows, of which missing cells are not observed.
        soft_evidence : dict, optional
            Likelihoods of states, as in `posteriors`.
        given : dict {name: state or number}, optional
            What is known beforehand.
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have, as in `posteriors`.

        Returns
        -------
        array of shape (n_rows,), or float
            Natural logarithms.

        See Also
        --------
        log_probability : Give the logarithm of the probability or density of every whole row.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> round(network.log_evidence({"height": 180}), 4)
        -3.7449
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
        """Give the logarithm of the probability or density of every whole row: (n_rows,).

        Parameters
        ----------
        X : data frame or dict {name: state or number}
            Rows without a missing cell.
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have, as in `posteriors`.

        Returns
        -------
        array of shape (n_rows,), or float
            Natural logarithms.

        See Also
        --------
        log_evidence : Give the logarithm of the probability, or density, of what each row observes.
        node_log_probabilities : Give what each variable given its parents adds to `log_probability`, by name.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.log_probability(pa.table({"sex": ["m"], "height": [180.0]})).round(4)
        array([-3.822])
        """
        found = self.node_log_probabilities(X, unseen=unseen)
        total = sum(found.values(), np.zeros(1))
        return float(total[0]) if isinstance(X, Mapping) else total

    def node_log_probabilities(self, X: Any, *, unseen: str = "error") -> dict[str, Array]:
        """Give what each variable given its parents adds to `log_probability`, by name: (n_rows,) each.

        Parameters
        ----------
        X : data frame
            Rows without a missing cell.
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have, as in `posteriors`.

        Returns
        -------
        dict {name: array of shape (n_rows,)}
            Natural logarithms.

        See Also
        --------
        log_probability : Give the logarithm of the probability or density of every whole row.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.node_log_probabilities(pa.table({"sex": ["m"], "height": [180.0]}))["sex"].round(4)
        array([-0.9163])
        """
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
