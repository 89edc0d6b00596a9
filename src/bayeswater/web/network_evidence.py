"""Evidence as a file: what is observed, softly known and set, by the names of variables and states.

``{"evidence": {"cough": "yes"}, "soft_evidence": {"fever": {"yes": 1.0, "no": 0.3}}, "do": {"flu": "no"}}``
"""

import json
from typing import Any

from bayeswater.errors import nearest_names
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.web.network_variants import Known
from bayeswater.web.plain import QuestionError, as_json, written

PARTS = {"evidence": "observed", "soft_evidence": "soft", "do": "does"}
"""Parts of a file, and what the page calls them."""


def evidence_document(known: Known) -> dict[str, Any]:
    """Give what is known as the file holds it."""
    variables = known.network.variables
    return {
        "evidence": as_json(known.evidence),
        "soft_evidence": {
            variables[node].name: dict(zip(map(written, variables[node].states), own.tolist(), strict=True))
            for node, own in known.soft.items()
        },
        "do": {variables[node].name: as_json(variables[node].states[code]) for node, code in known.does.items()},
    }


def read_evidence(network: BayesianNetwork, text: str) -> dict[str, list[list[Any]]]:
    """Read a file as nodes with codes of states, or with likelihoods; what the network does not know is refused."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise QuestionError("the file is no JSON document") from None
    if not isinstance(document, dict) or not document.keys() <= PARTS.keys():
        raise QuestionError(f"a file of evidence is an object with {', '.join(PARTS)}")
    if not network.has_tables:
        raise QuestionError("the network has no tables, so nothing can be observed in it")
    told: dict[str, list[list[Any]]] = {}
    for part, name in PARTS.items():
        facts = document.get(part) or {}
        if not isinstance(facts, dict):
            raise QuestionError(f"{part} is no object")
        told[name] = [
            _fact(network, variable, fact, is_soft=part == "soft_evidence") for variable, fact in facts.items()
        ]
    return told


def _fact(network: BayesianNetwork, name: str, fact: Any, *, is_soft: bool) -> list[Any]:
    if name not in network.names:
        raise QuestionError(f"there is no variable {name!r}; {nearest_names(name, network.names)}")
    node = network.dag.node(name)
    states = [written(state) for state in network.variables[node].states]
    if not is_soft:
        if written(fact) not in states:
            raise QuestionError(f"{name!r} has no state {written(fact)!r}; {nearest_names(written(fact), states)}")
        return [node, states.index(written(fact))]
    if not isinstance(fact, dict) or fact.keys() != set(states):
        raise QuestionError(f"the likelihoods of {name!r} are those of its states: {', '.join(states[:10])}")
    return [node, [fact[state] for state in states]]
