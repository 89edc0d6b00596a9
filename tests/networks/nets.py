"""Networks for the tests: the textbook ones, and random ones of any shape."""

from itertools import product
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.networks.conditionals import Deterministic, Table
from bayeswater.networks.network import Network
from bayeswater.structure.dag import Dag

YES_NO = ("yes", "no")

ASIA_TABLES: dict[str, Any] = {
    "asia": [0.01, 0.99],
    "tub": [[0.05, 0.95], [0.01, 0.99]],
    "smoke": [0.5, 0.5],
    "lung": [[0.1, 0.9], [0.01, 0.99]],
    "bronc": [[0.6, 0.4], [0.3, 0.7]],
    "either": Deterministic(lambda tub, lung: "yes" if "yes" in (tub, lung) else "no"),
    "dysp": [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],  # given bronc, either
    "xray": [[0.98, 0.02], [0.05, 0.95]],
}


def asia() -> BayesianNetwork:
    graph = "asia -> tub -> either <- lung <- smoke -> bronc -> dysp <- either -> xray"
    return BayesianNetwork(graph, ASIA_TABLES, states=dict.fromkeys(ASIA_TABLES, YES_NO))


def random_network(n: int, rng: np.random.Generator, *, most_parents: int = 3, zeros: bool = False) -> Network:
    """A network whose numbering is no topological order, with two to four states a variable."""
    order = rng.permutation(n).tolist()
    variables = [Variable(f"v{j}", range(int(rng.integers(2, 5)))) for j in range(n)]
    parents: list[tuple[int, ...]] = [()] * n
    for place, node in enumerate(order):
        size = int(rng.integers(0, min(place, most_parents) + 1))
        parents[node] = tuple(rng.permutation(order[:place])[:size].tolist())
    tables = []
    for node, variable in enumerate(variables):
        shape = [variables[parent].n_states for parent in parents[node]]
        table = rng.dirichlet(np.ones(variable.n_states), size=shape)
        if zeros:
            table[rng.random(table.shape) < 0.3] = 0.0
            table[table.sum(axis=-1) == 0, 0] = 1.0
            table /= table.sum(axis=-1, keepdims=True)
        tables.append(Table(table))
    names = tuple(variable.name for variable in variables)
    return Network.of(variables, Dag(names, tuple(parents)), tables)


def joint_by_enumeration(network: Network) -> np.ndarray:
    """The joint of all variables, cell by cell: (*cards)."""
    joint = np.empty(network.cards)
    for states in product(*map(range, network.cards)):
        joint[states] = np.prod(
            [
                table[(*(states[parent] for parent in own), states[node])]
                for node, (own, table) in enumerate(zip(network.parents, network.tables, strict=True))
            ]
        )
    return joint
