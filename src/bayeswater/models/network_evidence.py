"""What a user says is known of a network's variables, as codes and likelihoods."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.models.network_changes import state_code
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


def soft_of(network: Network, soft_evidence: Mapping[str, Any] | None) -> dict[int, Array]:
    """Likelihoods of the states of some variables: ``{"xray": {"pos": 0.9, "neg": 0.2}}``, or an array in their order.

    A likelihood is P(what was seen | state), up to a factor: only proportions matter for posteriors.
    """
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
        is_fine = likelihood.shape[-1:] == (variable.n_states,) and np.isfinite(likelihood).all()
        if not is_fine or (likelihood < 0).any():
            raise ParameterError(
                f"soft evidence on {name!r} is {given!r}; give a likelihood, 0 or more, for each of the states "
                f"{list(variable.states)[:10]}"
            )
        found[node] = likelihood
    return found


def target_nodes(network: Network, targets: str | Iterable[str] | None) -> list[int]:
    """Variables that are asked for, in the order in which they are named; all unless told."""
    if targets is None:
        return list(range(len(network)))
    names = [targets] if isinstance(targets, str) else list(targets)
    if len(set(names)) < len(names):
        raise ParameterError(f"the targets {names} name a variable twice; name each once")
    return [network.dag.node(name) for name in names]


def row_of(network: Network, observed: Mapping[int, int]) -> Array:
    """Evidence as one row of codes, (1, n_variables); what is not observed has the code one past the last state."""
    row = np.array([network.cards], dtype=np.int64)
    for node, code in observed.items():
        row[0, node] = code
    return row
