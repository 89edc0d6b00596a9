"""What a user says is known of a network's variables, as codes and likelihoods."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.models.network.state_codes import state_code
from bayeswater.networks.network import Network
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
    """Variables that are asked for, in the order in which they are named; all unless told."""
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
