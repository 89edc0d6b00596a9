"""Questions to a network: what is known of some variables once others are known."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.frames import Alongside
from bayeswater.data.sources.paths import is_path
from bayeswater.decision.facts import StateFact
from bayeswater.decision.loss import as_loss, loss_of_row
from bayeswater.decision.next_best import NextBest, costs_of_asking, rank_facts
from bayeswater.errors import ImpossibleEvidence, ImpossibleEvidenceWarning, ParameterError, warn_user
from bayeswater.inference.drawing import generator_of
from bayeswater.inference.exact.elimination import prepare
from bayeswater.inference.exact.forecast import Forecast
from bayeswater.inference.exact.junction_tree import JunctionTree, compile
from bayeswater.inference.exact.log_passes import most_probable_explanation
from bayeswater.inference.exact.marginals import marginals
from bayeswater.inference.network_joint import JOINT_ROWS, log_probability, sample_codes
from bayeswater.inference.sampling.answering import exact_is_affordable
from bayeswater.learning.network_em import completed
from bayeswater.limits import require_table_axes
from bayeswater.models.network.answers import (
    Distribution,
    EstimatedDistribution,
    Explanation,
    RowPosteriors,
    explained_rows,
)
from bayeswater.models.network.evidence import (
    Sampling,
    evidence_of,
    forecast,
    named,
    row_of,
    soft_of,
    target_nodes,
    tree_width,
)
from bayeswater.models.network.network_rows import encode_rows, file_of_rows, require_complete, rows_as_frame
from bayeswater.models.streaming.answering import rows_of_cells, table_of_rows
from bayeswater.networks.network import Network
from bayeswater.typing import Array

BATCH_CELLS = 2**21
"""Cells of a table of `sample_batches`."""

Given = Mapping[str, Any] | None
"""States by name (evidence), or likelihoods of states by name (soft evidence)."""


class Queries(ABC):
    """What a joint distribution says of some variables, given others."""

    library: str | None = None
    """Library of the frame that it was learned from, in which answers are written; None for Arrow."""

    @property
    @abstractmethod
    def core(self) -> Network:
        """Variables, graph and tables."""

    @cached_property
    def _tree(self) -> JunctionTree:
        """The network made ready for rows of evidence."""
        return compile(self.core)

    def query(
        self,
        target: str,
        evidence: Given = None,
        *,
        soft_evidence: Given = None,
        method: str = "auto",
        standard_error: float = 0.001,
        time_limit: float = 10.0,
        random_state: int = 0,
    ) -> Distribution:
        """Give the distribution of a variable, given the states of others.

        Parameters
        ----------
        target : str
            Name of the variable.
        evidence : dict {name: state}, optional
            What is observed.
        soft_evidence : dict, optional
            ``{name: {state: likelihood}}``, or likelihoods in the order of the states.
        method : {"auto", "exact", "sampling", "gibbs", "likelihood_weighting"}
            "auto" is exact where memory and time allow by their forecast, and else "sampling", the way of sampling
            that suits. What was sampled is an `EstimatedDistribution`, which knows its errors.
        standard_error, time_limit, random_state : float, float, int
            Of sampling: the error of each probability at which it ends, the seconds after which it ends in any case,
            and its seed.

        Returns
        -------
        Distribution
            Probabilities of the states by label; it can be printed.

        Raises
        ------
        ImpossibleEvidence
            Where the evidence has probability zero, also where it would not matter to the target.
        ResourceLimitError
            Where an exact answer would take too much memory; `cost` tells beforehand.
        SamplingError
            Where sampling has no number that it could vouch for.

        See Also
        --------
        joint : Give the distribution of several variables together, given the states of others.
        posteriors : Give the distributions of variables for every row of a frame.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.query("rain", {"wet": 1})
        rain  probability
        no         0.3333  ███████
        yes        0.6667  █████████████
        """
        if not isinstance(target, str):
            raise ParameterError(
                f"target is {target!r}; give the name of one variable, or ask for several with joint(targets)"
            )
        sampling = Sampling(method, standard_error, time_limit, random_state)
        return self._answer([target], evidence, soft_evidence, sampling)

    def joint(
        self,
        targets: str | Iterable[str],
        evidence: Given = None,
        *,
        soft_evidence: Given = None,
        method: str = "auto",
        standard_error: float = 0.001,
        time_limit: float = 10.0,
        random_state: int = 0,
    ) -> Distribution:
        """Give the distribution of several variables together, given the states of others; see `query`.

        Parameters
        ----------
        targets : str or iterable of str
            Names of the variables.
        evidence, soft_evidence, method, standard_error, time_limit, random_state : as in `query`
            What is observed, and how the answer is found.

        Returns
        -------
        Distribution
            Probabilities of the configurations by label; it can be printed.

        See Also
        --------
        query : Give the distribution of a variable, given the states of others.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.joint(["rain", "wet"])
        rain  wet  probability
        no    0         0.7200  ██████████████
        no    1         0.0800  ██
        yes   0         0.0400  █
        yes   1         0.1600  ███
        """
        sampling = Sampling(method, standard_error, time_limit, random_state)
        return self._answer(targets, evidence, soft_evidence, sampling)

    def _answer(
        self, targets: str | Iterable[str], evidence: Given, soft_evidence: Given, sampling: Sampling
    ) -> Distribution:
        core, nodes = self.core, target_nodes(self.core, targets)
        require_table_axes(
            len(nodes), f"the joint distribution of {len(nodes)} variables", "ask for fewer targets together"
        )
        variables = tuple(core.variables[node] for node in nodes)
        observed, soft = evidence_of(core, evidence), soft_of(core, soft_evidence)
        factors = self._tree.factors
        try:
            answer = sampling.try_exactly(factors, nodes, observed, soft)
            if answer is not None:
                return Distribution(variables, answer, library=self.library)
            found = sampling.estimate(factors, nodes, observed, soft, core.names)
        except ImpossibleEvidence:
            raise impossible_evidence(evidence, soft_evidence) from None
        return EstimatedDistribution(variables, found.probability, found, library=self.library)

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

        Patterns may differ from row to row, and a variable without a column is observed in none.

        Parameters
        ----------
        X : data frame, array, dict or path
            A frame whose columns are variables, in any order; an array with a column for each variable; a single row,
            ``{name: state}`` or a Series, or a list of such; or the name of a file of rows, which is read into memory.
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
        RowPosteriors or frame
            A dict from names to arrays (n_rows, n_states) with the attributes `log_evidence` and `impossible`. Rows
            whose evidence has probability zero are marked there, and counted in a warning; their posteriors are zeros.

        Raises
        ------
        ParameterError
            Where a cell holds no state of its variable, unless `unseen` is "ignore".

        See Also
        --------
        query : Give the distribution of a variable, given the states of others.
        impute : Fill in the missing cells of a frame, given the other cells of each row.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.posteriors(pa.table({"wet": [0, 1]}), "rain")["rain"].round(3)
        array([[0.947, 0.053],
               [0.333, 0.667]])
        """
        core, nodes, rows = self.core, target_nodes(self.core, targets), self._rows(X, unseen)
        found = marginals(self._tree, rows, nodes, soft_of(core, soft_evidence, len(rows)))
        tell_impossible(found.impossible, "posteriors are zeros")
        result = RowPosteriors(
            {core.names[node]: found.marginals[node] for node in nodes},
            [core.variables[node] for node in nodes],
            found.log_evidence,
            found.impossible,
            Alongside.of(X),
        )
        return result.to_frame() if as_frame else result

    def log_evidence(self, X: Any, *, soft_evidence: Given = None, given: Given = None, unseen: str = "error") -> Any:
        """Give the logarithm of the probability of what each row observes: (n_rows,); -inf where that is impossible.

        Of a single row that is given as ``{name: state}``, it is one number. With `given`, states by name, it is the
        probability of each row given these.

        Parameters
        ----------
        X : data frame or dict {name: state}
            Rows, of which missing cells are not observed.
        soft_evidence : dict {name: {state: likelihood}}, optional
            What is observed with some doubt, in every row.
        given : dict {name: state}, optional
            What is known beforehand.
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have: refuse it, or take it as missing.

        Returns
        -------
        array of shape (n_rows,), or float
            Natural logarithms.

        See Also
        --------
        log_probability : Give the logarithm of the probability of every whole row.
        posteriors : Give the distributions of variables for every row of a frame.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> round(network.log_evidence({"wet": 1}), 4)
        -1.4271
        """
        rows = self._rows(X, unseen)
        known = evidence_of(self.core, given)
        against = np.zeros(len(rows), dtype=bool)
        for node, code in known.items():
            against |= (rows[:, node] < self.core.cards[node]) & (rows[:, node] != code)
            rows[:, node] = code
        found = marginals(self._tree, rows, [], soft_of(self.core, soft_evidence, len(rows))).log_evidence
        if known:
            of_given = float(marginals(self._tree, row_of(self.core, known), []).log_evidence[0])
            if of_given == -np.inf:
                raise impossible_evidence(given, None)
            found = np.where(against, -np.inf, found - of_given)
        return float(found[0]) if isinstance(X, Mapping) else found

    def _rows(self, X: Any, unseen: str) -> Array:
        """Codes of the rows of a frame, or of the single one that is given as states by name: (n_rows, n_variables)."""
        rows = rows_of_cells(X)
        if rows is not None and isinstance(X, Mapping):
            return row_of(self.core, evidence_of(self.core, X))
        if rows is not None:
            X = table_of_rows(rows, list(dict.fromkeys(name for row in rows for name in row)))
        elif is_path(X):
            X = file_of_rows(X, self.core.variables)
        return encode_rows(X, self.core.variables, unseen).T

    def most_probable_explanation(
        self, evidence: Any = None, *, soft_evidence: Given = None, unseen: str = "error"
    ) -> Any:
        """Find the states of all variables that are together most probable, given what is observed.

        Parameters
        ----------
        evidence : dict {name: state} or data frame, optional
            What is observed; missing cells of a frame are not.
        soft_evidence : dict, optional
            Likelihoods of states, as in `posteriors`.
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have, as in `posteriors`.

        Returns
        -------
        Explanation or frame
            For a frame, one of all variables in its library, and a column "log_probability" of P(states, evidence);
            rows whose evidence is impossible stay as they are.

        See Also
        --------
        most_probable_explanations : Give the k most probable states of all variables together.
        marginal_map : Give the states of some variables that are together most probable.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.most_probable_explanation({"wet": 1})
        rain  yes
        wet   1
        log-probability together with the evidence: -1.83258
        """
        core = self.core
        if evidence is None or isinstance(evidence, Mapping):
            row = row_of(core, evidence_of(core, evidence))
            found = most_probable_explanation(self._tree, row, soft_of(core, soft_evidence))
            if found.impossible[0]:
                raise impossible_evidence(evidence, soft_evidence)
            states = zip(core.variables, found.states[0].tolist(), strict=True)
            labels = {v.name: v.states[code] for v, code in states}
            return Explanation(labels, float(found.log_probability[0]), self.library)
        rows = self._rows(evidence, unseen)
        found = most_probable_explanation(self._tree, rows, soft_of(core, soft_evidence, len(rows)))
        tell_impossible(found.impossible, "cells stay as they are")
        return explained_rows(found, core.variables, Alongside.of(evidence))

    def cost(
        self, targets: str | Iterable[str] | None = None, pattern: str | Iterable[str] = (), *, n_rows: int = 1
    ) -> Forecast:
        """Estimate cells, bytes and seconds of exact answers, before anything is computed.

        Parameters
        ----------
        targets : str or iterable of str, optional
            Names of the variables; default all.
        pattern : str or iterable of str, optional
            Names of the variables that are observed.
        n_rows : int, default 1
            Number of rows of that pattern.

        Returns
        -------
        Forecast
            The figures; it can be printed.

        See Also
        --------
        treewidth : Variables of the largest clique that exact answers go through, less one.
        junction_tree : Show the junction tree that answers go through.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.cost("rain").cells
        2.0
        """
        observed = sorted(self.core.dag.nodes(named(pattern, "pattern")))
        return forecast(self._tree, target_nodes(self.core, targets), observed, n_rows)

    @property
    def treewidth(self) -> int:
        """Variables of the largest clique of exact answers minus one, as greedy rules find it.

        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b -> c; a -> c", {"a": [1.0], "b": [[1.0]], "c": [[[1.0]]]}).treewidth
        2
        """
        return tree_width(self._tree)

    def _marginals(self, evidence: Given) -> dict[int, Array]:
        """Distributions of all variables, by node; impossible evidence is refused."""
        found = marginals(self._tree, row_of(self.core, evidence_of(self.core, evidence)))
        if found.impossible[0]:
            raise impossible_evidence(evidence, None)
        return {node: marginal[0] for node, marginal in found.marginals.items()}

    def _affordable_marginals(self, evidence: Given, seconds: float) -> dict[int, Array]:
        """Distributions of variables one by one, by node, as far as memory and seconds in all allow by forecast."""
        core, observed, found = self.core, evidence_of(self.core, evidence), dict[int, Array]()
        try:
            for node in range(len(core)):
                question = prepare(self._tree.factors, [node], observed)
                if exact_is_affordable(question.forecast, seconds):
                    found[node] = question.answer()
                    seconds -= question.forecast.seconds
        except ImpossibleEvidence:
            raise impossible_evidence(evidence, None) from None
        return found

    # ------------------------------------------------------------------ what to observe next

    def next_best(
        self,
        target: str,
        evidence: Mapping[str, Any] | None = None,
        loss: Any = None,
        costs: Any = None,
        candidates: str | Iterable[str] | None = None,
        *,
        soft_evidence: Mapping[str, Any] | None = None,
    ) -> NextBest:
        """Say which variable to observe next, by what knowing it is worth minus what observing it costs.

            worth = expected cost of the best action now - mean, over the states of the variable, of that once known

        Exact: of every variable the joint distribution with the target is taken, given the evidence.

        Parameters
        ----------
        target : str
            Name of the variable that the decision is about.
        evidence : dict {name: state}, optional
            What is known already.
        loss : Loss, or anything that `Loss` reads
            Costs of actions under the states of the target; default 0-1 loss.
        costs : float or dict {name: cost}, default 0
            What it costs to observe. Without `candidates`, a dict also says what can be observed.
        candidates : str or iterable of str, optional
            Variables that can be observed; default all but the target. Those of the evidence are passed over. The
            target itself may be among them: no variable can be worth more.
        soft_evidence : dict, optional
            Likelihoods of states, as in `query`.

        Returns
        -------
        NextBest
            The variables, the best one first; it can be printed. ``.best`` is the one to observe, or None.

        Raises
        ------
        ImpossibleEvidence
            Where the evidence has probability zero.

        See Also
        --------
        query : Give the distribution of a variable, given the states of others.
        DecisionNetwork.value_of_information : Say what it is worth to know variables before a decision.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, Loss
        >>> network = BayesianNetwork(
        ...     "ill -> test; ill -> cough",
        ...     {"ill": {"yes": 0.1, "no": 0.9}, "test": [[0.9, 0.1], [0.05, 0.95]], "cough": [[0.7, 0.3], [0.4, 0.6]]},
        ...     states={"test": ["pos", "neg"], "cough": ["yes", "no"]},
        ... )
        >>> loss = Loss({"treat": {"yes": 0, "no": 1}, "wait": {"yes": 10, "no": 0}})
        >>> print(network.next_best("ill", {"cough": "yes"}, loss, costs={"test": 0.2}))
        Ask for the test next: it is worth 0.633 of loss, costs 0.2.
        """
        core, node = self.core, self.core.dag.node(target)
        observed, soft = evidence_of(core, evidence), soft_of(core, soft_evidence)
        if node in observed:
            raise ParameterError(f"the target {target!r} is part of the evidence; nothing is left to ask for")
        known = costs_of_asking(costs, core.names, "variable")
        names = known if candidates is None else [candidates] if isinstance(candidates, str) else list(candidates)
        asked = {core.dag.node(name): known.get(name, 0.0) for name in names}
        if candidates is None:
            asked.pop(node, None)
        wanted = [other for other in asked if other not in observed]

        rows = np.repeat(row_of(core, observed), core.cards[node], axis=0)
        rows[:, node] = np.arange(core.cards[node])
        found = marginals(self._tree, rows, wanted, soft)
        if found.impossible.all():
            raise impossible_evidence(evidence, soft_evidence)
        posterior = np.exp(found.log_evidence - found.log_evidence.max())
        with np.errstate(divide="ignore"):  # states that are impossible
            facts = {core.names[other]: [StateFact(np.log(found.marginals[other].T))] for other in wanted}
        paid = {core.names[other]: asked[other] for other in wanted}
        given = loss_of_row(as_loss(loss, list(core.variables[node].states)), _as_table(evidence))
        return replace(rank_facts(posterior / posterior.sum(), facts, paid, given), library=self.library)

    # ------------------------------------------------------------------ rows that are known in full, and drawn ones

    def log_probability(self, X: Any, *, unseen: str = "error") -> Array:
        """Give the logarithm of the probability of every whole row: (n_rows,); -inf if impossible.

        Parameters
        ----------
        X : data frame
            Whole rows.
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have.

        Returns
        -------
        array of shape (n_rows,)
            Natural logarithms.

        See Also
        --------
        log_evidence : Give the logarithm of the probability of what each row observes.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.log_probability(pa.table({"rain": ["no"], "wet": [0]})).round(4)
        array([-0.3285])
        """
        codes = encode_rows(X, self.core.variables, unseen)
        require_complete(codes, self.core.variables)
        return log_probability(self.core, codes)

    def sample(self, n: int = 1, *, evidence: Given = None, random_state: Any = None) -> Any:
        """Draw rows: a pyarrow Table of labels, or of codes where the states are 0, 1, ...

        With evidence, ``{name: state}``, they are drawn from the posterior of all variables together: exactly, and
        none is thrown away.

        Parameters
        ----------
        n : int, default 1
            Number of rows.
        evidence : dict {name: state}, optional
            What is observed in all of them.
        random_state : int, RandomState or None, default None
            Seed.

        Returns
        -------
        pyarrow.Table
            A column for each variable.

        See Also
        --------
        sample_batches : Draw the rows of `sample`, a table of some thousand at a time.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.sample(3, random_state=0).column_names
        ['rain', 'wet']
        """
        if evidence:
            rng = generator_of(n, random_state)
            row = row_of(self.core, evidence_of(self.core, evidence))
            if marginals(self._tree, row, []).impossible[0]:
                raise impossible_evidence(evidence, None)
            return rows_as_frame(completed(self._tree, np.repeat(row.T, int(n), axis=1), rng), self.core.variables)
        streams = _streams(n, random_state)
        return rows_as_frame(sample_codes(self.core, int(n), streams), self.core.variables)

    def sample_batches(self, n: int = 1, *, random_state: Any = None) -> Iterator[Any]:
        """Draw the rows of `sample`, a table of some thousand at a time, for more of them than memory holds.

        Parameters
        ----------
        n, random_state : as in `sample`
            Number of rows, and seed.

        Returns
        -------
        iterator of pyarrow.Table
            Tables that together are the one of `sample`.

        See Also
        --------
        sample : Draw rows: a pyarrow Table of labels, or of codes where the states are 0, 1, .

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> sum(batch.num_rows for batch in network.sample_batches(5, random_state=0))
        5
        """
        streams, core = _streams(n, random_state), self.core
        most = JOINT_ROWS * max(1, BATCH_CELLS // (JOINT_ROWS * max(1, len(core))))
        sizes = (min(most, n - start) for start in range(0, n, most))
        return (rows_as_frame(sample_codes(core, size, streams), core.variables) for size in sizes)


def impossible_evidence(evidence: Given, soft_evidence: Given) -> ImpossibleEvidence:
    """Say that evidence cannot be."""
    known = [f"{name}={state!r}" for name, state in (evidence or {}).items()]
    known += [f"likelihoods of {name}" for name in soft_evidence or {}]
    return ImpossibleEvidence(f"the evidence {', '.join(known)} has probability zero; check it, or tables with zeros")


def tell_impossible(impossible: Array, what: str) -> None:
    """Warn of rows whose evidence has probability zero."""
    if impossible.any():
        warn_user(
            f"the evidence of {int(impossible.sum())} of {len(impossible)} rows has probability zero, the first is row "
            f"{int(np.argmax(impossible))}; their {what}",
            ImpossibleEvidenceWarning,
        )


def _as_table(evidence: Mapping[str, Any] | None) -> Any:
    """Give the evidence as a table of one row, for costs that depend on it."""
    import pyarrow as pa

    return pa.table({name: [state] for name, state in (evidence or {}).items()})


def _streams(n: Any, random_state: Any) -> np.random.SeedSequence:
    """Give the seeds of all rows, once what is asked for is checked."""
    return np.random.SeedSequence(int(generator_of(n, random_state).integers(2**63)))
