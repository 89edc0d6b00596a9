"""What a network says about itself: information, distances, sensitivities, explanations, and rows filled in."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import numpy as np

from bayeswater.data.frames import Alongside, read_frame, write_frame
from bayeswater.data.variable import Variable
from bayeswater.errors import ImpossibleEvidence, ParameterError
from bayeswater.inference.drawing import generator_of
from bayeswater.inference.exact.best_states import most_probable_states
from bayeswater.inference.exact.derivatives import derivatives, family_posteriors, posterior_slopes
from bayeswater.inference.exact.elimination import log_evidence, query
from bayeswater.inference.exact.information import divergence, network_entropy, table_information
from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.log_passes import most_probable_explanation
from bayeswater.inference.exact.marginals import marginals
from bayeswater.inference.network_joint import log_probability, sample_codes
from bayeswater.learning.network_em import completed
from bayeswater.limits import require_table_axes
from bayeswater.models.network.answers import Explanation
from bayeswater.models.network.edited_cores import merged, subnetwork
from bayeswater.models.network.evidence import evidence_of, named, planned, soft_of, target_nodes
from bayeswater.models.network.findings import (
    ArcInformation,
    BestExplanations,
    CliqueListing,
    Conflict,
    Divergence,
    Sensitivity,
)
from bayeswater.models.network.network_rows import encode_rows, frame_of_variables, label_column
from bayeswater.models.network.queries import Given, impossible_evidence, tell_impossible
from bayeswater.networks.network import Network
from bayeswater.typing import Array

MOST_CELLS = 2**20
"""Rows of two networks that are listed one by one for their Jensen-Shannon divergence."""

N_DRAWN = 100_000
"""Rows that are drawn from each of two networks where there are more."""

METHODS = ("most_probable", "draw", "mean")


class Analysis(ABC):
    """Questions about the distribution as a whole. Information is in bits."""

    library: str | None

    @property
    @abstractmethod
    def _tree(self) -> JunctionTree:
        """The network made ready for rows of evidence."""

    @property
    @abstractmethod
    def core(self) -> Network:
        """Variables, graph and tables."""

    # ------------------------------------------------------------------ information

    def entropy(self, names: str | Iterable[str] | None = None, evidence: Given = None) -> float:
        """Give the entropy of some variables together, by default of all, given what is observed.

        Parameters
        ----------
        names : str or iterable of str, optional
            The variables; default all.
        evidence : dict {name: state}, optional
            What is observed.

        Returns
        -------
        float
            Bits.

        See Also
        --------
        mutual_information : Say how much two sets of variables tell of each other.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b", {"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.5, 0.5]]}).entropy()
        1.5
        """
        if names is None:
            found = derivatives(self._tree.factors, evidence_of(self.core, evidence))
            if found.value == 0:
                raise impossible_evidence(evidence, None)
            return network_entropy(self._tree.factors, found)
        joint = self._joint(target_nodes(self.core, names), evidence)
        there = joint[joint > 0]
        return max(0.0, -float((there * np.log2(there)).sum()))

    def mutual_information(
        self,
        left: str | Iterable[str],
        right: str | Iterable[str],
        given: str | Iterable[str] = (),
        evidence: Given = None,
    ) -> float:
        """Give the mutual information of two sets of variables, given a third one.

            I(left; right | given) = E[log2 P(left, right | given) / (P(left | given) P(right | given))]

        Parameters
        ----------
        left, right, given : str or iterable of str
            Names of the variables.
        evidence : dict {name: state}, optional
            What is observed; unlike `given`, no mean is taken over it.

        Returns
        -------
        float
            Bits.

        See Also
        --------
        entropy : Give the entropy of some variables together, by default of all, given what is observed.
        arc_strengths : Say what each arc carries: the information of parent and child.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> round(network.mutual_information("rain", "wet"), 4)
        0.2755
        """
        sides = [target_nodes(self.core, named(side, "names")) for side in (left, right, given)]
        nodes = [node for side in sides for node in side]
        if len(set(nodes)) < len(nodes):
            raise ParameterError("a variable is named on two sides; name each once")
        joint = self._joint(nodes, evidence)
        n_left, n_right = len(sides[0]), len(sides[1])
        return table_information(joint, range(n_left), range(n_left, n_left + n_right))

    def _joint(self, nodes: list[int], evidence: Given) -> Array:
        require_table_axes(len(nodes), f"the joint distribution of {len(nodes)} variables", "name fewer of them")
        try:
            return query(self._tree.factors, nodes, evidence_of(self.core, evidence))
        except ImpossibleEvidence:
            raise impossible_evidence(evidence, None) from None

    def arc_strengths(self, evidence: Given = None) -> ArcInformation:
        """Give the strength of each arc: mutual information of parent and child, given the child's other parents.

        Parameters
        ----------
        evidence : dict {name: state}, optional
            What is observed.

        Returns
        -------
        ArcInformation
            Bits of every arc; it can be printed.

        See Also
        --------
        mutual_information : Say how much two sets of variables tell of each other.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.arc_strengths()
        arc            bits
        rain -> wet  0.2755
        """
        core = self.core
        found = derivatives(self._tree.factors, evidence_of(core, evidence))
        if found.value == 0:
            raise impossible_evidence(evidence, None)
        families = family_posteriors(self._tree.factors, found)
        return ArcInformation(
            {
                (core.names[parent], core.names[node]): table_information(families[node], [axis], [len(own)])
                for node, own in enumerate(core.parents)
                for axis, parent in enumerate(own)
            },
            self.library,
        )

    def kl_divergence(self, other: "Analysis") -> float:
        """Give the Kullback-Leibler divergence of another network Q from this one, P: E[log2 P(row) / Q(row)] over P.

        Exact. Infinite where the other one takes for impossible what is not. The variables of both, and their states,
        have to be the same; graphs may differ.

        Parameters
        ----------
        other : BayesianNetwork
            The network that stands for this one.

        Returns
        -------
        float
            Bits, 0 or more.

        See Also
        --------
        jensen_shannon : Give the Jensen-Shannon divergence of two networks, from 0 to 1.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> round(network.kl_divergence(network.with_cpt("rain", [0.5, 0.5])), 4)
        0.2781
        """
        return divergence(self.core, self._like(other))

    def jensen_shannon(self, other: "Analysis", *, random_state: Any = 0) -> Divergence:
        """Give the Jensen-Shannon divergence of two networks, from 0 to 1: the mean of KL from each to their mean.

        Exact where all rows together can be listed, leaves that both have alike being left out first; otherwise of rows
        that are drawn, with its standard error.

        Parameters
        ----------
        other : BayesianNetwork
            A network of the same variables.
        random_state : int, default 0
            Seed of the rows that are drawn.

        Returns
        -------
        Divergence
            Bits, and their standard error.

        See Also
        --------
        kl_divergence : Give the Kullback-Leibler divergence of another network Q from this one, P.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.jensen_shannon(network.with_cpt("rain", [0.5, 0.5]))
        0.073104 bits
        """
        one, two = _without_equal_leaves(self.core, self._like(other))
        if prod(one.cards) <= MOST_CELLS:
            p, q = (_listed(network) for network in (one, two))
            with np.errstate(divide="ignore"):
                log_p, log_q = np.log(p), np.log(q)
            halves = [
                float(mass[mass > 0] @ _towards_mean(own[mass > 0], its[mass > 0]))
                for mass, own, its in ((p, log_p, log_q), (q, log_q, log_p))
            ]
            return Divergence(min(1.0, max(0.0, sum(halves) / 2)))
        streams = np.random.SeedSequence(int(generator_of(1, random_state).integers(2**63)))
        terms = []
        for own, its in ((one, two), (two, one)):
            codes = sample_codes(own, N_DRAWN, streams)
            terms.append(_towards_mean(log_probability(own, codes), log_probability(its, codes)))
        error = np.sqrt(sum(float(term.var()) for term in terms) / N_DRAWN) / 2
        return Divergence(max(0.0, sum(float(term.mean()) for term in terms) / 2), float(error))

    def _like(self, other: "Analysis") -> Network:
        """Give the core of another network over the same variables, in the order of this one."""
        if not isinstance(other, Analysis):
            raise ParameterError(f"other is a {type(other).__name__}; give a BayesianNetwork")
        if set(other.core.names) != set(self.core.names):
            odd = sorted(set(other.core.names) ^ set(self.core.names))
            raise ParameterError(f"the networks differ in the variables {odd[:10]}; compare those of the same ones")
        return merged(self.core, other.core, "other")

    # ------------------------------------------------------------------ sensitivity and conflict

    def sensitivity(
        self, target: str, state: Any, evidence: Given = None, *, soft_evidence: Given = None, spread: float = 0.1
    ) -> Sensitivity:
        """Say how P(target=state | evidence) depends on every entry of every table.

        Exact: of each entry, the posterior is a quotient of two lines, whose slopes are derivatives of P(evidence). The
        other entries of a row give way in proportion.

        Parameters
        ----------
        target, state : str, label
            The probability in question.
        evidence, soft_evidence : as in `query`
            What is observed.
        spread : float, default 0.1
            Share by which each entry is lowered and raised for the tornado, over 0 and up to 1.

        Returns
        -------
        Sensitivity
            All entries, the strongest first; it can be printed. `plots.TornadoDisplay` draws it.

        See Also
        --------
        query : P(targets | evidence), one axis for each target.
        conflict : Say whether findings speak against each other.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> print(network.sensitivity("rain", "yes", {"wet": 1}))
        P(rain=yes | wet=1) = 0.666667
        entry                value  derivative   -10 %   +10 %
        P(wet=0 | rain=no)     0.9       2.222  0.5128  0.9524
        P(rain=no)             0.8      -1.389  0.7568  0.5217
        P(rain=yes)            0.2       1.389  0.6372  0.6929
        P(wet=1 | rain=yes)    0.8      0.2778  0.6429  0.6875
        P(wet=1 | rain=no)     0.1      -2.222  0.6897  0.6452
        P(wet=0 | rain=yes)    0.2     -0.2778  0.6721   0.661
        """
        core = self.core
        if not 0 < spread <= 1:
            raise ParameterError(f"spread is {spread!r}; give a share over 0, and 1 at most")
        node, observed = core.dag.node(target), evidence_of(core, evidence)
        if node in observed:
            raise ParameterError(f"the target {target!r} is part of the evidence; ask for another variable")
        code = evidence_of(core, {target: state})[node]
        slopes = posterior_slopes(self._tree.factors, node, code, observed, soft_of(core, soft_evidence))
        if slopes is None:
            raise impossible_evidence(evidence, soft_evidence)
        known = ", ".join(f"{name}={own}" for name, own in (evidence or {}).items())
        label = core.variables[node].states[code]
        return Sensitivity.of(core, f"P({target}={label}{' | ' * bool(known)}{known})", slopes, spread, self.library)

    def conflict(self, evidence: Mapping[str, Any]) -> Conflict:
        """Test whether findings contradict each other: log2 of the product of P(finding) over P(all findings).

        Parameters
        ----------
        evidence : dict {name: state}
            The findings.

        Returns
        -------
        Conflict
            The measure, and what it says; above 0 where findings speak against each other.

        See Also
        --------
        sensitivity : Say how P(target=state | evidence) depends on every entry of every table.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.conflict({"rain": "yes", "wet": 0})
        conflict 1.926 bits: the findings speak against each other
        finding against the others   bits
        rain=yes                    1.926
        wet=0                       1.926
        """
        core, observed = self.core, evidence_of(self.core, evidence)
        factors = self._tree.factors
        together = log_evidence(factors, observed)
        if together == -np.inf:
            raise impossible_evidence(evidence, None)
        alone = {node: log_evidence(factors, {node: code}) for node, code in observed.items()}
        against = {}
        for node, code in observed.items():
            rest = {other: own for other, own in observed.items() if other != node}
            label = f"{core.names[node]}={core.variables[node].states[code]}"
            against[label] = (alone[node] + log_evidence(factors, rest) - together) / np.log(2)
        return Conflict(float((sum(alone.values()) - together) / np.log(2)), against)

    # ------------------------------------------------------------------ explanations

    def most_probable_explanations(
        self, k: int = 5, evidence: Given = None, *, soft_evidence: Given = None
    ) -> BestExplanations:
        """Give the k most probable states of all variables together, given what is observed.

        Exact; there are fewer where fewer are possible.

        Parameters
        ----------
        k : int, default 5
            How many to give.
        evidence : dict {name: state}, optional
            What is observed.
        soft_evidence : dict {name: {state: likelihood}}, optional
            What is observed with some doubt.

        Returns
        -------
        BestExplanations
            States and probabilities, the most probable first.

        See Also
        --------
        most_probable_explanation : Explain each row of `codes`.
        marginal_map : Give the states of some variables that are together most probable.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("a -> b", {"a": [0.6, 0.4], "b": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.most_probable_explanations(3)
        a  b  probability
        0  0         0.54
        1  1         0.32
        1  0         0.08
        """
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise ParameterError(f"k is {k!r}; give the number of explanations, 1 or more")
        core, observed, soft = self.core, evidence_of(self.core, evidence), soft_of(self.core, soft_evidence)
        found = most_probable_states(self._tree.factors, range(len(core)), observed, soft, int(k))
        if not found:
            raise impossible_evidence(evidence, soft_evidence)
        total = log_evidence(self._tree.factors, observed, soft)
        names = [(v.name, v.states) for v in core.variables]
        explained = tuple(
            Explanation({name: own[code] for (name, own), code in zip(names, states, strict=True)}, log_p, self.library)
            for states, log_p in found
        )
        shares = tuple(float(np.exp(one.log_probability - total)) for one in explained)
        open_names = tuple(core.names[v] for v in range(len(core)) if v not in observed)
        return BestExplanations(explained, shares, open_names, self.library)

    def marginal_map(
        self, targets: str | Iterable[str], evidence: Given = None, *, soft_evidence: Given = None
    ) -> Explanation:
        """Give the states of some variables that are together most probable, all others being summed out.

        Parameters
        ----------
        targets : str or iterable of str
            The variables whose states are sought.
        evidence : dict {name: state}, optional
            What is observed.
        soft_evidence : dict {name: {state: likelihood}}, optional
            What is observed with some doubt.

        Returns
        -------
        Explanation
            The states, and their probability together.

        See Also
        --------
        most_probable_explanation : Explain each row of `codes`.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.marginal_map("rain", {"wet": 1})
        rain  yes
        log-probability together with the evidence: -1.83258
        """
        core, nodes = self.core, target_nodes(self.core, targets)
        observed, soft = evidence_of(core, evidence), soft_of(core, soft_evidence)
        found = most_probable_states(self._tree.factors, nodes, observed, soft)
        if not found:
            raise impossible_evidence(evidence, soft_evidence)
        ((states, log_p),) = found
        labels = {core.names[v]: core.variables[v].states[code] for v, code in zip(nodes, states, strict=True)}
        return Explanation(labels, log_p, self.library)

    # ------------------------------------------------------------------ rows, and the tree

    def impute(self, X: Any, method: str = "most_probable", *, random_state: Any = None, unseen: str = "error") -> Any:
        """Fill in the missing cells of a frame, given the other cells of each row.

        Parameters
        ----------
        X : data frame
            Its columns are variables.
        method : {"most_probable", "draw", "mean"}
            "most_probable": the states of all missing cells of a row that are together most probable, variables without
            a column summed out. "draw": states drawn from their joint posterior, as for multiple imputation. "mean":
            the posterior mean of variables whose states are numbers, and the most probable state of each other cell on
            its own.
        random_state : int, RandomState or None, default None
            Seed of "draw".
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have, as in `posteriors`.

        Returns
        -------
        frame
            In the library of X, with its columns. Rows whose evidence is impossible stay as they are, with a warning.

        See Also
        --------
        posteriors : Give the distributions of variables for every row of a frame.
        most_probable_explanation : Explain each row of `codes`.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.impute(pa.table({"rain": [None, "no"], "wet": [1, 0]})).to_pylist()
        [{'rain': 'yes', 'wet': 1}, {'rain': 'no', 'wet': 0}]
        """
        if method not in METHODS:
            raise ParameterError(f"method is {method!r}; it can be one of {list(METHODS)}")
        core, X = self.core, frame_of_variables(X)
        names = read_frame(X).names
        codes = encode_rows(X, core.variables, unseen)
        columns = [(name, core.dag.node(name)) for name in names]
        posterior = None
        if method == "most_probable" and len(columns) == len(core):
            found = most_probable_explanation(self._tree, codes.T)
            filled, impossible = found.states.T, found.impossible
        elif method == "most_probable":
            filled, impossible = self._summed_out(codes, [node for _, node in columns])
        else:
            wanted = [node for _, node in columns] if method == "mean" else []
            answers = marginals(self._tree, codes.T, wanted)
            impossible, posterior = answers.impossible, answers.marginals
            filled = codes.astype(np.int64)
            if method == "draw":
                rng = generator_of(1, random_state)
                filled[:, ~impossible] = completed(self._tree, codes[:, ~impossible], rng)
        tell_impossible(impossible, "cells stay as they are")
        made = {}
        for name, node in columns:
            own = posterior.get(node) if posterior is not None else None
            made[name] = _filled(core.variables[node], codes[node], filled[node], own, impossible)
        return write_frame(made, Alongside.of(X))

    def _summed_out(self, codes: Array, nodes: list[int]) -> tuple[Array, Array]:
        """Give codes (n_variables, n_rows) in which some variables are most probable together, and impossible rows."""
        filled, impossible = codes.astype(np.int64), np.zeros(codes.shape[1], dtype=bool)
        kinds, kind = np.unique(codes[nodes], axis=1, return_inverse=True)
        cards = self._tree.factors.card_array[nodes]
        for place, own in enumerate(kinds.T):
            rows, is_missing = np.flatnonzero(kind.ravel() == place), own >= cards
            missing = [node for node, is_one in zip(nodes, is_missing, strict=True) if is_one]
            observed = {node: int(code) for node, code in zip(nodes, own, strict=True) if node not in missing}
            if missing:
                found = most_probable_states(self._tree.factors, missing, observed)
                impossible[rows] = not found
                for states, _ in found:
                    filled[np.array(missing)[:, None], rows] = np.array(states)[:, None]
        return filled, impossible

    def junction_tree(self, pattern: str | Iterable[str] = ()) -> CliqueListing:
        """Show the junction tree that answers go through, for rows in which the variables of a pattern are observed.

        Parameters
        ----------
        pattern : str or iterable of str, optional
            The variables that are observed.

        Returns
        -------
        CliqueListing
            Cliques, separators and their sizes; it can be printed.

        See Also
        --------
        cost : Tell what exact answers would take, before anything is computed.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.junction_tree()
        1 cliques, the largest of 2 variables, 4 cells
        rain, wet
        """
        core = self.core
        observed = sorted(core.dag.nodes(named(pattern, "pattern")))
        tree = planned(self._tree, range(len(core)), observed).tree
        scopes = [tree.scope(c) for c in range(len(tree.parent))]
        order = sorted((v for v in range(len(core)) if tree.turn[v] >= 0), key=lambda v: int(tree.turn[v]))
        return CliqueListing(
            tuple(tuple(core.names[v] for v in scope) for scope in scopes),
            tuple(tuple(core.names[v] for v in s[: int(n)]) for s, n in zip(scopes, tree.n_shared, strict=True)),
            tuple(tree.parent.tolist()),
            tuple(core.names[v] for v in order),
            tree.n_cells,
        )


def _filled(variable: Variable, codes: Array, filled: Array, posterior: Array | None, impossible: Array) -> Any:
    """Give a column in which missing cells are filled in: by states, or by the mean of the posterior of numbers."""
    missing = codes >= variable.n_states
    if posterior is None:
        return label_column(np.where(missing, filled, codes), variable)
    states = variable.labels
    if states.dtype.kind not in "iuf" and not all(type(state) in (int, float) for state in variable.states):
        filled = np.where(missing & ~impossible, posterior.argmax(axis=1), codes)
        return label_column(filled, variable)
    import pyarrow as pa

    numbers = np.array(variable.states, dtype=np.float64)
    own = numbers[np.minimum(codes, variable.n_states - 1)]
    return pa.array(np.where(missing, posterior @ numbers, own), mask=missing & impossible)


def _listed(network: Network) -> Array:
    """Probabilities of all rows of a network."""
    codes = np.indices(network.cards).reshape(len(network), -1)
    return np.exp(log_probability(network, codes))


def _towards_mean(log_own: Array, log_other: Array) -> Array:
    """Log2 of own / mean of own and other, from logarithms: at most 1."""
    return (np.log(2.0) - np.logaddexp(0.0, log_other - log_own)) / np.log(2.0)


def _without_equal_leaves(one: Network, two: Network) -> tuple[Network, Network]:
    """Leave out variables that are leaves of both, with the same table: what they say is the same in both."""
    while True:
        kept = [v for v in range(len(one)) if not _is_equal_leaf(one, two, v)]
        if len(kept) == len(one) or not kept:
            return one, two
        one, two = subnetwork(one, kept), subnetwork(two, kept)


def _is_equal_leaf(one: Network, two: Network, v: int) -> bool:
    are_leaves = not one.dag.children[v] and not two.dag.children[v]
    return are_leaves and one.parents[v] == two.parents[v] and np.array_equal(one.tables[v], two.tables[v])
