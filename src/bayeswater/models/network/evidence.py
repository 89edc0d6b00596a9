"""What is asked of a network: what is known, as codes and likelihoods, by which method, and at what price."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.inference.exact.elimination import forecast_query, prepare
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.forecast import Forecast, of_tree
from bayeswater.inference.exact.junction_tree import JunctionTree, Plan, roles_of
from bayeswater.inference.sampling.answering import approximate_query, exact_is_affordable
from bayeswater.inference.sampling.question import Estimate
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.models.network.conditional_tables import state_code
from bayeswater.networks.network import Network
from bayeswater.records import record
from bayeswater.typing import Array


def evidence_of(network: Network, evidence: Mapping[str, Any] | None) -> dict[int, int]:
    """Codes of the states that are observed, by variable: ``{"smoke": "yes"}``."""
    if evidence is None:
        return {}
    if not isinstance(evidence, Mapping):
        raise ParameterError(
            f"evidence is {evidence!r}; give a dict from names to states, or posteriors(frame) a frame"
        )
    nodes = {network.dag.node(name): state for name, state in evidence.items()}
    return {node: state_code(network.variables[node], state) for node, state in nodes.items()}


def soft_of(network: Network, soft_evidence: Mapping[str, Any] | None, n_rows: int | None = None) -> dict[int, Array]:
    """Likelihoods of the states of some variables: ``{"xray": {"pos": 0.9, "neg": 0.2}}``, or an array in their order.

    A likelihood is P(what was seen | state), up to a factor: only proportions matter for posteriors. Where there are
    rows, there may be likelihoods for each of them: (n_rows, n_states).
    """
    if not isinstance(soft_evidence, Mapping | None):
        raise ParameterError(f"soft_evidence is {soft_evidence!r}; give a dict from names to likelihoods of states")
    found = {}
    for name, given in (soft_evidence or {}).items():
        node = network.dag.node(name)
        variable = network.variables[node]
        if isinstance(given, Mapping):
            if set(given) != set(variable.states):
                raise ParameterError(
                    f"soft evidence on {name!r} names {list(given)[:10]}, and its states are "
                    f"{list(variable.states)[:10]}"
                )
            given = [given[state] for state in variable.states]
        try:
            likelihood = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            likelihood = np.empty(0)
        shapes = [(variable.n_states,)] if n_rows is None else [(variable.n_states,), (n_rows, variable.n_states)]
        if likelihood.shape not in shapes or not np.isfinite(likelihood).all() or (likelihood < 0).any():
            of_rows = "" if n_rows is None else f", for all rows or for each of the {n_rows}"
            raise ParameterError(
                f"soft evidence on {name!r} is {given!r}; give a likelihood, 0 or more, for each of the states "
                f"{list(variable.states)[:10]}{of_rows}"
            )
        found[node] = likelihood
    return found


def target_nodes(network: Network, targets: str | Iterable[str] | None) -> list[int]:
    """Variables that are asked for, in the order in which they are named; default all."""
    if targets is None:
        return list(range(len(network)))
    names = named(targets, "targets")
    if len(set(names)) < len(names):
        raise ParameterError(f"the targets {names} name a variable twice; name each once")
    return [network.dag.node(name) for name in names]


def named(names: str | Iterable[str], what: str) -> list[str]:
    """List names that were given alone or several together; what is none is refused.

    >>> named("rain", "targets"), named(("rain", "wet"), "targets")
    (['rain'], ['rain', 'wet'])
    """
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    for name in listed:
        if not isinstance(name, str):
            raise ParameterError(f"{what} is {names!r}; give the name of a variable, or a list of names")
    return listed


def row_of(network: Network, observed: Mapping[int, int]) -> Array:
    """Evidence as one row of codes, (1, n_variables); what is not observed has the code one past the last state."""
    row = np.array([network.cards], dtype=np.int64)
    for node, code in observed.items():
        row[0, node] = code
    return row


METHODS = ("auto", "exact", "sampling", "gibbs", "likelihood_weighting")


@record
class Sampling:
    """A method, and for sampling the error and the seconds at which it ends, and a seed."""

    method: str
    standard_error: float
    time_limit: float
    random_state: int

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError(f"method is {self.method!r}; it can be one of {list(METHODS)}")

    def try_exactly(
        self, factors: Factors, targets: Sequence[int], evidence: Mapping[int, int], soft: Mapping[int, Array]
    ) -> Array | None:
        """Answer exactly, if that is the method; "auto" asks the forecast first."""
        if self.method not in ("auto", "exact"):
            return None
        question = prepare(factors, targets, evidence, soft)
        if self.method == "auto" and not exact_is_affordable(question.forecast, self.time_limit):
            return None
        return question.answer()

    def estimate(
        self,
        factors: Factors,
        targets: Sequence[int],
        evidence: Mapping[int, int],
        soft: Mapping[int, Array],
        names: Sequence[str],
    ) -> Estimate:
        """Answer by sampling."""
        return approximate_query(
            factors,
            targets,
            evidence,
            soft,
            method="auto" if self.method == "sampling" else self.method,
            standard_error=self.standard_error,
            time_limit=self.time_limit,
            seed=self.random_state,
            name=names.__getitem__,
        )


QUESTION_SECONDS = 15e-6
"""Of each variable of the network in one question, beside the steps: whether it matters, and where it stands."""

ROWS_SECONDS = 150e-6
"""Of each variable in a frame of rows, beside the cells: a column read, a place in the tree, an answer laid out."""


def forecast(tree: JunctionTree, targets: Sequence[int], observed: Sequence[int], n_rows: int) -> Forecast:
    """Forecast of one question about one variable, by elimination, or else of rows of one pattern, by a tree."""
    if not isinstance(n_rows, int | np.integer) or isinstance(n_rows, bool) or n_rows < 1:
        raise ParameterError(f"n_rows is {n_rows!r}; give the number of rows, 1 or more")
    factors = tree.factors
    if len(targets) == 1 and n_rows == 1:
        found, own = forecast_query(factors, targets, observed), QUESTION_SECONDS
    else:
        found, own = of_tree(planned(tree, targets, observed).tree.n_cells, n_rows), ROWS_SECONDS
    return replace(found, seconds=found.seconds + own * factors.n_variables)


def tree_width(tree: JunctionTree) -> int:
    """Variables of the largest clique, less one, where all variables are asked for and none is observed."""
    plan = planned(tree, range(tree.factors.n_variables), ())
    return int(np.diff(plan.tree.start).max(initial=1)) - 1


def planned(tree: JunctionTree, targets: Sequence[int], observed: Sequence[int]) -> Plan:
    """Give the plan for rows in which these are observed and those asked for."""
    factors = tree.factors
    fixed, evidence, wanted = (_marked(nodes, factors.n_variables) for nodes in (observed, (), targets))
    return tree.plan(roles_of(factors, fixed, evidence, wanted), use_loop=worth_compiling(factors.n_variables**2))


def _marked(nodes: Sequence[int], n_variables: int) -> Array:
    marks = np.zeros(n_variables, dtype=bool)
    marks[list(nodes)] = True
    return marks
