"""Answers and tables of networks against golden values: R's bnlearn with gRain, and posteriors found by other code.

The golden values of bnlearn belong to networks that are fitted on its own tables by largest likelihood: marginals and
joint distributions given evidence, posteriors of the first rows of a table, and the fitted tables themselves, also
those with imaginary rows. All go through `BayesianNetwork.from_data`, `joint` and `posteriors`.

Tables, golden values and network files are no part of the project: they are looked for under BAYESWATER_DATA, and
without them the sections are left out.

    python -m benchmarks.network_golden
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from bayeswater import BayesianNetwork
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array
from benchmarks.network_references import REFERENCES, Reference
from benchmarks.structure import GOLDEN, NETWORKS, golden_table

GRAPHS = {
    "learning.test": "[A][C][F][B|A][D|A:C][E|B:F]",
    "asia": "[A][S][T|A][L|S][B|S][D|B:E][E|T:L][X|E]",
    "lizards": "[Species][Diameter|Species][Height|Species]",
}
"""Of the networks of exact.json: the true graphs, as the manual of bnlearn gives them."""

ROUNDING = 1e-12
"""Differences of golden values that were printed with all digits."""

TEN_DIGITS = 1e-9
"""Differences of values that were noted with ten decimals."""


def network_golden() -> Iterator[dict[str, Any]]:
    """Compare marginals, joint distributions and posteriors of rows with those of gRain."""
    off: dict[tuple[str, str], list[float]] = {}
    networks = {name: _fitted(name, text, alpha=0) for name, text in GRAPHS.items()}
    for case in json.loads((GOLDEN / "exact.json").read_text()):
        name, network = case["network"], networks[case["network"]]
        if case["kind"] == "query":
            what = "joint distributions" if len(case["nodes"]) > 1 else "marginals"
            off.setdefault((name, what), []).append(_off_query(network, case))
        elif case["kind"] == "exact.predict":
            off.setdefault((name, "posteriors of rows"), []).append(_off_rows(network, name, case))
        else:
            raise ValueError(f"exact.json has a case of the kind {case['kind']!r}, which is not known here")
    for (name, what), some in off.items():
        yield {"network": f"{name}, fitted", "golden values of": f"gRain: {what}", **_verdict(some, ROUNDING)}


def network_golden_tables() -> Iterator[dict[str, Any]]:
    """Compare tables fitted by largest likelihood, and with imaginary rows, with those of bnlearn."""
    off: dict[tuple[str, str], list[float]] = {}
    for case in json.loads((GOLDEN / "fit.json").read_text()):
        if case["kind"] != "discrete":  # the others are of numbers, which networks do not have
            continue
        prior = {"alpha": 0} if case["method"] == "mle" else {"equivalent_sample_size": case["iss"]}
        network = _fitted(case["dataset"], case["modelstring"], **prior)
        own = off.setdefault((case["dataset"], case["method"]), [])
        own += [_off_table(network, node) for node in case["nodes"]]
    for (name, method), some in off.items():
        what = "largest likelihood" if method == "mle" else "1 to 20 imaginary rows"
        yield {"network": f"{name}, fitted", "golden values of": f"bnlearn: tables, {what}", **_verdict(some, ROUNDING)}


def network_references() -> Iterator[dict[str, Any]]:
    """Compare posteriors of networks from files with those noted; networks without a file are left out."""
    off: dict[str, list[float]] = {}
    for reference in REFERENCES:
        path = NETWORKS / f"{reference.network}.bif"
        if path.exists():
            off.setdefault(reference.network, []).extend(_off_reference(BayesianNetwork.read(path), reference))
    for name, some in off.items():
        yield {"network": name, "golden values of": "other code: posteriors", **_verdict(some, TEN_DIGITS)}


def _verdict(off: list[float], at_most: float) -> dict[str, Any]:
    return {
        "cases": len(off),
        "largest difference": max(off),
        "at most": at_most,
        "reached": max(off) <= at_most,
    }


def _fitted(name: str, text: str, **prior: Any) -> BayesianNetwork:
    families = re.findall(r"\[([^]|]+)\|?([^]]*)\]", text)  # bnlearn writes [a][b|a][c|a:b]
    edges = [(parent, node) for node, parents in families for parent in parents.split(":") if parent]
    return BayesianNetwork.from_data(Dag.from_edges(edges, [node for node, _ in families]), golden_table(name), **prior)


def _of_r(values: Any, shape: list[int]) -> Array:
    return np.reshape(values, shape, order="F")


def _off_query(network: BayesianNetwork, case: dict[str, Any]) -> float:
    found = network.joint(case["nodes"], case["evidence"])
    if [list(variable.states) for variable in found.variables] != case["levels"]:
        raise ValueError(f"the states of {case['nodes']} are not {case['levels']}")
    return _difference(found.probabilities, _of_r(case["values"], [len(states) for states in case["levels"]]))


def _off_rows(network: BayesianNetwork, name: str, case: dict[str, Any]) -> float:
    node = case["node"]
    found = network.posteriors(golden_table(name).head(case["n"]).drop(columns=node), node)[node]
    return _difference(found, np.column_stack([case["probabilities"][state] for state in network.states(node)]))


def _off_table(network: BayesianNetwork, node: dict[str, Any]) -> float:
    cpt = network.cpt(node["node"])
    place = [[parent.name for parent in cpt.parents].index(parent) for parent in node["parents"]]
    found = np.transpose(cpt.values, [len(place), *place])
    return _difference(found, _of_r(node["values"], node["dim"]))


def _off_reference(network: BayesianNetwork, reference: Reference) -> Iterator[float]:
    for name, noted in reference.marginals.items():
        found = network.query(name, reference.evidence).probabilities
        yield _difference(found[: np.size(noted)], np.atleast_1d(noted))
    if reference.evidence:
        rows = pd.DataFrame([reference.evidence])
        yield abs(float(np.exp(network.log_evidence(rows)[0])) - reference.probability)


def _difference(found: Array, expected: Array) -> float:
    return float(np.abs(found - expected).max())


def main() -> None:
    """Show the three tables."""
    from benchmarks.report import text_table

    for records in (network_golden(), network_golden_tables(), network_references()):
        print(f"{text_table(list(records))}\n", flush=True)


if __name__ == "__main__":
    main()
