"""`DecisionNetwork`: an influence diagram, a network with decisions to make and utilities to reach.

An arc into a decision says what is known when it is made; nothing that was known or done before is forgotten. Utilities
are added up. A policy says what to do for all that is known and matters, and the best one is found exactly.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise, product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.decision.loss import as_loss
from bayeswater.errors import NetworkFileError, NetworkFileWarning, ParameterError, nearest_names, warn_user
from bayeswater.files.networks.diagrams import VALUE, DiagramDocument, read_diagram, write_diagram
from bayeswater.inference.exact.decisions import ROUNDING, Solved, solve, stages_of
from bayeswater.inference.exact.elimination import query
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.scoped_tables import ScopedTable, sliced_tables
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.network.conditional_tables import read_conditional, read_variables, require_by_name
from bayeswater.models.network.edited_cores import network_with_edge, network_with_node
from bayeswater.models.network.evidence import evidence_of
from bayeswater.models.network.findings import InformationValues, Policy
from bayeswater.models.network.graph import graph_in_brief, read_graph
from bayeswater.models.network.network_files import document_of, network_of_document
from bayeswater.models.network.network_rows import declared_variable
from bayeswater.models.network.queries import Given, impossible_evidence
from bayeswater.networks.conditionals import Conditional, Deterministic, Table, require_room
from bayeswater.networks.network import Network
from bayeswater.records import record
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

UTILITY = "utility"
"""Name of the utility that a loss becomes."""


@record(eq=False)
class Utility:
    """Numbers for the states of some variables: values (*n_states of the parents), which cannot be written to."""

    parents: tuple[str, ...]
    values: Array

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Utility):
            return NotImplemented
        return self.parents == other.parents and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.parents)


class DecisionNetwork:
    """An influence diagram of discrete variables.

    Parameters
    ----------
    graph : as in `BayesianNetwork`
        Of variables, decisions and utilities.
    tables : dict
        For each variable P(variable | parents), in any form that `BayesianNetwork` takes.
    decisions : dict
        Alternatives of each decision, in the order in which decisions are made.
    utilities : dict
        For each utility an array ``(*n_states of its parents)``, or a dict ``{(state of each parent): number}``.
    states : dict, optional
        Labels of variables whose table does not name them.

    Raises
    ------
    ParameterError
        Where there is no decision, or tables and utilities do not fit the graph.

    See Also
    --------
    BayesianNetwork : A network of discrete variables.
    Loss : The cost of every action under every true class.

    Examples
    --------
    >>> umbrella = DecisionNetwork(
    ...     "weather -> forecast -> umbrella -> comfort <- weather",
    ...     tables={
    ...         "weather": {"rain": 0.3, "dry": 0.7},
    ...         "forecast": {"rain": {"wet": 0.8, "fine": 0.2}, "dry": [0.1, 0.9]},
    ...     },
    ...     decisions={"umbrella": ["take", "leave"]},
    ...     utilities={
    ...         "comfort": {
    ...             ("take", "rain"): 7,
    ...             ("take", "dry"): 5,
    ...             ("leave", "rain"): 0,
    ...             ("leave", "dry"): 10,
    ...         }
    ...     },
    ... )
    >>> umbrella
    DecisionNetwork('weather -> forecast; ...'): 2 variables, 1 decision, 1 utility
    >>> round(umbrella.expected_utility(), 4)
    8.33
    >>> umbrella.policy("umbrella")
    forecast  umbrella  E[take]  E[leave]
    wet       take        6.548     2.258
    fine      leave       5.174      9.13
    """

    _core: Network
    decisions: tuple[str, ...]
    """The decisions, in the order in which they are made."""
    _utilities: Mapping[str, Utility]

    def __init__(
        self,
        graph: Any,
        tables: Mapping[str, Any],
        decisions: Mapping[str, Any],
        utilities: Mapping[str, Any],
        *,
        states: Mapping[str, Any] | None = None,
    ) -> None:
        dag, states = read_graph(graph), {} if states is None else states
        for what, given in (("tables", tables), ("decisions", decisions), ("utilities", utilities), ("states", states)):
            require_by_name(given, what)
            for name in given:
                if name not in dag.position:
                    raise ParameterError(f"{what} names {name!r}, which is no node; {nearest_names(name, dag.names)}")
        if not decisions:
            raise ParameterError("decisions names none; give {name: alternatives}, or make a BayesianNetwork")
        kept = [name for name in dag.names if name not in utilities]
        _require_one_role(dag.names, tables, decisions, utilities)
        chance = {name: tables[name] for name in kept if name in tables}
        alone = Dag(tuple(chance), tuple(() for _ in chance))
        variables = {v.name: v for v in read_variables(alone, chance, {n: s for n, s in states.items() if n in chance})}
        variables |= {name: declared_variable(name, own) for name, own in decisions.items()}
        parents = {name: [dag.names[p] for p in dag.parents[dag.node(name)]] for name in dag.names}
        _require_utilities_last(parents, utilities)
        conditionals = [
            read_conditional(tables[name], variables[name], [variables[parent] for parent in parents[name]])
            if name in tables
            else _open(variables[name], [variables[parent] for parent in parents[name]])
            for name in kept
        ]
        place = {name: j for j, name in enumerate(kept)}
        own = Dag(tuple(kept), tuple(tuple(place[parent] for parent in parents[name]) for name in kept))
        core = Network.of([variables[name] for name in kept], own, conditionals)
        read = {name: _utility(name, given, parents[name], variables) for name, given in utilities.items()}
        self._adopt(core, tuple(decisions), read)

    def _adopt(self, core: Network, decisions: tuple[str, ...], utilities: Mapping[str, Utility]) -> None:
        order = {core.names[node]: turn for turn, node in enumerate(core.dag.order)}
        for earlier, later in combinations(decisions, 2):
            if core.dag.node(earlier) in core.dag.descendants([core.dag.node(later)]):
                raise ParameterError(
                    f"the decision {earlier!r} comes before {later!r}, and follows from it by the arrows; name the "
                    f"decisions in the order in which they are made, as {sorted(decisions, key=order.__getitem__)}"
                )
        vars(self).update(_core=core, decisions=decisions, _utilities=dict(utilities))

    @classmethod
    def _of(cls, core: Network, decisions: tuple[str, ...], utilities: Mapping[str, Utility]) -> Self:
        made = cls.__new__(cls)
        made._adopt(core, decisions, utilities)
        return made

    @classmethod
    def from_loss(cls, network: BayesianNetwork, target: str, loss: Any = None, *, decision: str = "action") -> Self:
        """Make the diagram of one decision about one variable: utility is the loss with its sign turned.

        `next_best` of the network, and `value_of_information` of the diagram, are then the same.

        Parameters
        ----------
        network : BayesianNetwork
            The variables and their tables.
        target : str
            The variable that the decision is about.
        loss : Loss, or anything that `Loss` reads
            Costs of the actions; default 0-1 loss.
        decision : str, default "action"
            Name of the decision.

        Returns
        -------
        DecisionNetwork
            The diagram.

        See Also
        --------
        value_of_information : Say what it is worth to know variables before a decision.
        Loss : The cost of every action under every true class.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, DecisionNetwork
        >>> sky = BayesianNetwork("rain -> fog", {"rain": {"no": 0.8, "yes": 0.2}, "fog": [[0.7, 0.3], [0.1, 0.9]]})
        >>> network = DecisionNetwork.from_loss(sky, "rain", {"walk": {"no": 0, "yes": 5}, "bus": {"no": 1, "yes": 1}})
        >>> network.expected_utility()
        -1.0
        """
        variable = network.variables[network.dag.node(target)]
        costs = as_loss(loss, list(variable.states)).for_classes(list(variable.states)).table
        core = network_with_node(network.core, decision, None, (), list(costs.actions))
        if UTILITY in core.names:
            raise ParameterError(f"a node is called {UTILITY!r}, as what the loss becomes; rename it: with_names")
        values = -np.asarray(costs.cost, dtype=np.float64)
        return cls._of(core, (decision,), {UTILITY: Utility((decision, target), values)})

    # ------------------------------------------------------------------ what it is made of

    @property
    def names(self) -> tuple[str, ...]:
        """Names of variables and decisions."""
        return self._core.names

    @property
    def chance(self) -> tuple[str, ...]:
        """Names of the chance variables: those that are not decided."""
        return tuple(name for name in self._core.names if name not in self.decisions)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Variables and decisions."""
        return self._core.variables

    @property
    def utilities(self) -> Mapping[str, Utility]:
        """The utilities by name, which cannot be written to."""
        return MappingProxyType(self._utilities)

    def known_before(self, decision: str) -> tuple[str, ...]:
        """Name what is known when a decision is made: everything known or decided earlier is part of it.

        Parameters
        ----------
        decision : str
            Name of the decision.

        Returns
        -------
        tuple of str
            Names.

        See Also
        --------
        policy : Say what to do at a decision, by default the first one, for all that is known and matters.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, DecisionNetwork
        >>> sky = BayesianNetwork("rain -> fog", {"rain": {"no": 0.8, "yes": 0.2}, "fog": [[0.7, 0.3], [0.1, 0.9]]})
        >>> network = DecisionNetwork.from_loss(sky, "rain", {"walk": {"no": 0, "yes": 5}, "bus": {"no": 1, "yes": 1}})
        >>> network.known_before("action")
        ()
        """
        found: list[str] = []
        for name in self.decisions[: self._turn(decision) + 1]:
            found += [v.name for v in self._core.parents_of(self._core.dag.node(name))]
            found += [name] if name != decision else []
        return tuple(dict.fromkeys(found))

    def _turn(self, decision: str) -> int:
        if decision not in self.decisions:
            raise ParameterError(f"{decision!r} is no decision; {nearest_names(decision, self.decisions)}")
        return self.decisions.index(decision)

    # ------------------------------------------------------------------ answers

    def expected_utility(self, evidence: Given = None) -> float:
        """Give the expected utility of the best policy, given what is observed before the first decision.

        Parameters
        ----------
        evidence : dict {name: state}, optional
            What is observed before the first decision.

        Returns
        -------
        float
            Expected utility.

        See Also
        --------
        policy : Say what to do at a decision, by default the first one, for all that is known and matters.
        value_of_information : Say what it is worth to know variables before a decision.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, DecisionNetwork
        >>> sky = BayesianNetwork("rain -> fog", {"rain": {"no": 0.8, "yes": 0.2}, "fog": [[0.7, 0.3], [0.1, 0.9]]})
        >>> network = DecisionNetwork.from_loss(sky, "rain", {"walk": {"no": 0, "yes": 5}, "bus": {"no": 1, "yes": 1}})
        >>> round(network.expected_utility({"fog": 1}), 4)
        -1.0
        """
        return self._solved(evidence).expected_utility

    def policy(self, decision: str | None = None, evidence: Given = None) -> Policy:
        """Say what to do at a decision, by default the first one, for all that is known and matters.

        Parameters
        ----------
        decision : str, optional
            Name of the decision; default the first one.
        evidence : dict {name: state}, optional
            Observed before the first decision, of variables that no decision influences.

        Returns
        -------
        Policy
            The best alternative in each situation; print it.

        See Also
        --------
        policies : Give the policy of every decision.
        expected_utility : Give the expected utility of the best policy.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, DecisionNetwork
        >>> sky = BayesianNetwork("rain -> fog", {"rain": {"no": 0.8, "yes": 0.2}, "fog": [[0.7, 0.3], [0.1, 0.9]]})
        >>> network = DecisionNetwork.from_loss(sky, "rain", {"walk": {"no": 0, "yes": 5}, "bus": {"no": 1, "yes": 1}})
        >>> network.policy(evidence={"fog": 1})
        action  E[walk]  E[bus]
        bus      -2.143      -1
        """
        name = self.decisions[0] if decision is None else decision
        self._turn(name)
        node = self._core.dag.node(name)
        rule = self._solved(evidence).rules[node]
        variables = tuple(self._core.variables[v] for v in rule.scope)
        return Policy(
            self._core.variables[node], variables, rule.utilities, rule.choice, self._met(rule.scope, evidence)
        )

    def _met(self, nodes: Sequence[int], evidence: Given) -> Array:
        """Say which states of some variables can be met together, whatever is decided: (*n_states) bool."""
        core = self._core
        for decision in map(core.dag.node, self.decisions):
            core = core.with_node(decision, (), Table(np.full(core.cards[decision], 1 / core.cards[decision])))
        return query(Factors.of(core), list(nodes), evidence_of(core, evidence)) > 0

    def policies(self, evidence: Given = None) -> dict[str, Policy]:
        """Give the policy of every decision.

        Parameters
        ----------
        evidence : dict {name: state}, optional
            As in `policy`.

        Returns
        -------
        dict {name: Policy}
            In the order of the decisions.

        See Also
        --------
        policy : Say what to do at a decision, by default the first one, for all that is known and matters.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, DecisionNetwork
        >>> sky = BayesianNetwork("rain -> fog", {"rain": {"no": 0.8, "yes": 0.2}, "fog": [[0.7, 0.3], [0.1, 0.9]]})
        >>> network = DecisionNetwork.from_loss(sky, "rain", {"walk": {"no": 0, "yes": 5}, "bus": {"no": 1, "yes": 1}})
        >>> list(network.policies())
        ['action']
        """
        return {name: self.policy(name, evidence) for name in self.decisions}

    def under_policy(self) -> BayesianNetwork:
        """Give the network in which every decision follows the best policy, to query what will come of it.

        Returns
        -------
        BayesianNetwork
            Variables and decisions.

        See Also
        --------
        policy : Say what to do at a decision, by default the first one, for all that is known and matters.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, DecisionNetwork
        >>> sky = BayesianNetwork("rain -> fog", {"rain": {"no": 0.8, "yes": 0.2}, "fog": [[0.7, 0.3], [0.1, 0.9]]})
        >>> network = DecisionNetwork.from_loss(sky, "rain", {"walk": {"no": 0, "yes": 5}, "bus": {"no": 1, "yes": 1}})
        >>> network.under_policy()
        BayesianNetwork('rain -> fog; action'): 3 variables, 1 edge, 3 parameters
        """
        core = self._core
        for node, rule in self._solved(None).rules.items():
            order = np.argsort(rule.scope)
            parents = tuple(sorted(rule.scope))
            conditional = Deterministic(np.transpose(rule.choice, order))
            core = core.with_node(node, parents, conditional)
        return BayesianNetwork.from_core(core)

    def value_of_information(
        self,
        names: str | Iterable[str] | None = None,
        decision: str | None = None,
        *,
        evidence: Given = None,
        reliability: Any = None,
    ) -> InformationValues:
        """Say what it is worth to know variables before a decision: how much the expected utility rises.

        Parameters
        ----------
        names : str or iterable of str, optional
            The variables; default all that are not known before the decision, and that neither it nor a later one
            influences.
        decision : str, optional
            Name of the decision; default the first one.
        evidence : dict {name: state}, optional
            As in `policy`; what is observed is known already.
        reliability : float or array, optional
            Default perfect information. A number is the probability that a report names the true state, all others
            being equally likely. For one variable it may be a table P(report | state), (n_states, n_reports).

        Returns
        -------
        InformationValues
            A mapping from names to values, the largest first; it can be printed.

        See Also
        --------
        expected_utility : Give the expected utility of the best policy.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, DecisionNetwork
        >>> sky = BayesianNetwork("rain -> fog", {"rain": {"no": 0.8, "yes": 0.2}, "fog": [[0.7, 0.3], [0.1, 0.9]]})
        >>> network = DecisionNetwork.from_loss(sky, "rain", {"walk": {"no": 0, "yes": 5}, "bus": {"no": 1, "yes": 1}})
        >>> network.value_of_information()
        expected utility -1; known before 'action', it rises by
        variable  worth
        rain        0.8
        fog        0.48
        """
        before = self.decisions[0] if decision is None else decision
        later = self.decisions[self._turn(before) :]
        core, dag = self._core, self._core.dag
        to_come = dag.descendants(dag.nodes(later))
        if names is None:
            out_of_reach = to_come | dag.nodes(self.known_before(before)) | set(evidence_of(core, evidence))
            wanted = [name for name in self.chance if dag.node(name) not in out_of_reach]
        else:
            wanted = [names] if isinstance(names, str) else list(names)
            for name in wanted:
                if name in self.decisions or dag.node(name) in to_come:
                    raise ParameterError(
                        f"{name!r} cannot be known before {before!r}: it is decided, or follows from what is decided "
                        "then or later"
                    )
        now, found = self.expected_utility(evidence), {}
        for name in wanted:
            asked, source = core, name
            if reliability is not None:
                source = f"report of {name}"
                n_states = core.cards[dag.node(name)]
                asked = network_with_node(core, source, _report(name, n_states, reliability), (name,), None)
            if source not in self.known_before(before):
                asked = network_with_edge(asked, source, later[0], None)
            then = self._of(asked, self.decisions, self.utilities).expected_utility(evidence)
            found[name] = then - now if then - now > ROUNDING * abs(now) else 0.0
        ranked = dict(sorted(found.items(), key=lambda one: -one[1]))
        return InformationValues(ranked, before, now)

    def _solved(self, evidence: Given) -> Solved:
        core, known = self._core, evidence_of(self._core, evidence)
        decisions = [core.dag.node(name) for name in self.decisions]
        after = core.dag.descendants(decisions) | set(decisions)
        for node in known:
            if node in after:
                raise ParameterError(
                    f"{core.names[node]!r} follows from a decision, and cannot be known before all of them; the policy "
                    "says what to do in each of its states"
                )
        factors = Factors.of(core)
        chance = [node for node in range(len(core)) if node not in decisions]
        p = sliced_tables(factors, chance, known, {})
        u = []
        for utility in self.utilities.values():
            nodes = [core.dag.node(name) for name in utility.parents]
            values = utility.values[tuple(known.get(node, slice(None)) for node in nodes)]
            u.append(ScopedTable(tuple(node for node in nodes if node not in known), np.asarray(values)))
        open_nodes = [node for node in chance if node not in known]
        stages = stages_of({node: core.parents[node] for node in decisions}, decisions, open_nodes)
        found = solve(p, u, stages, core.cards)
        if found.log_evidence == -np.inf:
            raise impossible_evidence(evidence, None)
        return found

    # ------------------------------------------------------------------ files

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, tolerance: float | None = None) -> Self:
        """Read an influence diagram: XDSL of GeNIe (.xdsl), or XMLBIF of aGrUM (.bifxml, .xml).

        Parameters
        ----------
        path : path
            Name of the file.
        tolerance : float, optional
            By how much the sum of a row may differ from one; default 0.01.

        Returns
        -------
        DecisionNetwork
            The diagram of the file.

        See Also
        --------
        write : Write an influence diagram, in the format that the ending of its name tells.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from bayeswater import BayesianNetwork, DecisionNetwork
        >>> sky = BayesianNetwork("rain -> fog", {"rain": {"no": 0.8, "yes": 0.2}, "fog": [[0.7, 0.3], [0.1, 0.9]]})
        >>> network = DecisionNetwork.from_loss(sky, "rain", {"walk": {"no": 0, "yes": 5}, "bus": {"no": 1, "yes": 1}})
        >>> with TemporaryDirectory() as folder:
        ...     network.write(Path(folder) / "walk.bifxml")
        ...     DecisionNetwork.read(Path(folder) / "walk.bifxml").decisions
        ('action',)
        """
        try:
            document = read_diagram(Path(path), tolerance)
        except OSError as error:
            raise NetworkFileError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
        whole = network_of_document(document.network)
        kept = [node for node, name in enumerate(whole.names) if name not in document.utilities]
        place = {node: j for j, node in enumerate(kept)}
        for node in kept:
            for parent in whole.parents[node]:
                if parent not in place:
                    raise NetworkFileError(f"{path}: the utility {whole.names[parent]!r} has a child; it can have none")
        dag = Dag(
            tuple(whole.names[node] for node in kept),
            tuple(tuple(place[parent] for parent in whole.parents[node]) for node in kept),
        )
        core = Network.of([whole.variables[node] for node in kept], dag, [whole.conditionals[node] for node in kept])
        utilities = {
            name: Utility(tuple(v.name for v in whole.parents_of(whole.dag.node(name))), values)
            for name, values in document.utilities.items()
        }
        if not document.decisions:
            raise NetworkFileError(f"{path} has no decision; BayesianNetwork.read reads networks")
        found = cls._of(core, document.decisions, utilities)
        for first, second in pairwise(found.decisions):
            if dag.node(second) not in dag.descendants([dag.node(first)]):
                warn_user(
                    f"{path}: no arrows tell whether {first!r} or {second!r} is decided first; they are taken in the "
                    "order of the file. Draw an arrow from one decision to the other, if it is another one",
                    NetworkFileWarning,
                )
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write an influence diagram, in the format that the ending of its name tells: .xdsl, .bifxml or .xml.

        Files know the order of decisions by arrows alone: where none tell it, one leads to the next decision.

        Parameters
        ----------
        path : path
            Name of the file.

        See Also
        --------
        read : Read an influence diagram: XDSL of GeNIe (.xdsl), or XMLBIF of aGrUM (.bifxml, .xml).

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from bayeswater import BayesianNetwork, DecisionNetwork
        >>> sky = BayesianNetwork("rain -> fog", {"rain": {"no": 0.8, "yes": 0.2}, "fog": [[0.7, 0.3], [0.1, 0.9]]})
        >>> network = DecisionNetwork.from_loss(sky, "rain", {"walk": {"no": 0, "yes": 5}, "bus": {"no": 1, "yes": 1}})
        >>> with TemporaryDirectory() as folder:
        ...     network.write(Path(folder) / "walk.bifxml")
        ...     (Path(folder) / "walk.bifxml").read_text()[:5]
        '<?xml'
        """
        core = self._core
        for earlier, later in pairwise(self.decisions):
            if core.dag.node(later) not in core.dag.descendants([core.dag.node(earlier)]):
                core = network_with_edge(core, earlier, later, None)
        for name, utility in self.utilities.items():
            table = np.ones((*utility.values.shape, 1))
            core = network_with_node(core, name, table, utility.parents, [VALUE])
        utilities = {name: utility.values for name, utility in self.utilities.items()}
        notes = write_diagram(DiagramDocument(document_of(core, "", {}), self.decisions, utilities), Path(path))
        if notes:
            warn_user(f"{path}: {'; '.join(notes)}", NetworkFileWarning)

    # ------------------------------------------------------------------ as a value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name!r} cannot be set, as a decision network does not change")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DecisionNetwork):
            return NotImplemented
        return (self._core, self.decisions, self._utilities) == (other._core, other.decisions, other._utilities)

    def __hash__(self) -> int:
        return hash((self._core, self.decisions))

    def _graph(self) -> Dag:
        edges = [*self._core.dag.edges(), *((p, name) for name, u in self.utilities.items() for p in u.parents)]
        return Dag.from_edges(edges, (*self._core.names, *self.utilities))

    def __repr__(self) -> str:
        counts = ((len(self.chance), "variable"), (len(self.decisions), "decision"), (len(self.utilities), "utility"))
        words = [
            f"{n} {word if n == 1 else f'{word[:-1]}ies' if word[-1] == 'y' else f'{word}s'}" for n, word in counts
        ]
        return f"DecisionNetwork({graph_in_brief(self._graph())!r}): {', '.join(words)}"

    def _repr_html_(self) -> str:
        return "".join(policy._repr_html_() for policy in self.policies().values())


def _require_one_role(names: Sequence[str], *roles: Mapping[str, Any]) -> None:
    for name in names:
        n_roles = sum(name in role for role in roles)
        if n_roles != 1:
            raise ParameterError(
                f"{name!r} is named in {n_roles} of tables, decisions and utilities; a node is in one of them"
            )


def _require_utilities_last(parents: Mapping[str, Sequence[str]], utilities: Mapping[str, Any]) -> None:
    for name, own in parents.items():
        for parent in own:
            if parent in utilities:
                raise ParameterError(f"{name!r} has the utility {parent!r} as a parent; a utility has no children")


def _open(variable: Variable, parents: Sequence[Variable]) -> Conditional:
    """Stand for a decision: all its alternatives, whatever is known."""
    require_room(variable, parents)
    shape = [parent.n_states for parent in parents]
    return Table(np.full((*shape, variable.n_states), 1 / variable.n_states))


def _utility(name: str, given: Any, parents: Sequence[str], variables: Mapping[str, Variable]) -> Utility:
    shape = tuple(variables[parent].n_states for parent in parents)
    if isinstance(given, Mapping):
        rows = {key if isinstance(key, tuple) else (key,): value for key, value in given.items()}
        wanted = list(product(*(variables[parent].states for parent in parents)))
        if set(rows) != set(wanted):
            odd = next(iter(set(rows) ^ set(wanted)))
            raise ParameterError(f"the utilities of {name!r} are for states of {list(parents)}; {odd} is amiss")
        given = np.array([rows[states] for states in wanted]).reshape(shape)
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != shape or not np.isfinite(values).all():
        raise ParameterError(f"the utilities of {name!r} are {given!r}; give finite numbers of shape {shape}")
    return Utility(tuple(parents), values)


def _report(name: str, n_states: int, reliability: Any) -> Array:
    """P(report | state): right with some probability, or as given."""
    table = np.asarray(reliability, dtype=np.float64)
    if table.ndim == 0:
        if not 0 <= table <= 1:
            raise ParameterError(f"reliability is {reliability!r}; give a probability, or a table P(report | state)")
        wrong = (1 - float(table)) / max(n_states - 1, 1)
        return np.where(np.eye(n_states, dtype=bool), float(table) if n_states > 1 else 1.0, wrong)
    if table.ndim != 2 or len(table) != n_states:
        raise ParameterError(f"reliability has shape {table.shape}; {name!r} needs a row for each of {n_states} states")
    return table
