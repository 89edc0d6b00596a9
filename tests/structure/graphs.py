"""Graphs for the tests: every small one, and random ones of any size."""

from collections.abc import Iterator
from itertools import combinations, permutations, product

import numpy as np

from bayeswater.structure.dag import Dag, Nodes, moral_graph
from bayeswater.structure.separation import active_trail


def all_dags(n_nodes: int) -> list[Dag]:
    """Every directed acyclic graph on n labelled nodes: 1, 3, 25, 543, 29281 of them."""
    names = tuple("abcdefgh"[:n_nodes])
    found = set()
    pairs = list(combinations(range(n_nodes), 2))
    for order in permutations(range(n_nodes)):
        for present in product((False, True), repeat=len(pairs)):
            parents: list[set[int]] = [set() for _ in names]
            for (i, j), is_edge in zip(pairs, present, strict=True):
                if is_edge:
                    parents[order[j]].add(order[i])
            found.add(tuple(tuple(sorted(own)) for own in parents))
    return [Dag(names, parents) for parents in sorted(found)]


def random_dag(n_nodes: int, n_edges: int, rng: np.random.Generator) -> Dag:
    """A graph whose numbering is no topological order, and whose parents stand in any order."""
    order = rng.permutation(n_nodes).tolist()
    parents: list[list[int]] = [[] for _ in range(n_nodes)]
    for _ in range(n_edges):
        i, j = sorted(rng.choice(n_nodes, 2, replace=False).tolist())
        if order[i] not in parents[order[j]]:
            parents[order[j]].append(order[i])
    return Dag(tuple(f"v{node}" for node in range(n_nodes)), tuple(map(tuple, parents)))


def is_d_separated(dag: Dag, left: Nodes, right: Nodes, given: Nodes = frozenset()) -> bool:
    """Say whether no trail between two sets of nodes is active given a third."""
    return active_trail(dag, left, right, given) is None


def subsets(items: list[int]) -> Iterator[frozenset[int]]:
    for size in range(len(items) + 1):
        yield from map(frozenset, combinations(items, size))


def is_separated_morally(
    dag: Dag, left: frozenset[int], right: frozenset[int], given: frozenset[int] = frozenset()
) -> bool:
    """Whether `given` separates two sets in the moral graph of the three and their ancestors: d-separation."""
    neighbours = moral_graph(dag, dag.ancestral(left | right | given)).neighbours
    reached, waiting = set(left), list(left)
    while waiting:
        beyond = neighbours[waiting.pop()] - given - reached
        reached |= beyond
        waiting += beyond
    return not reached & right


ASIA = "asia -> tub -> either <- lung <- smoke -> bronc -> dysp <- either -> xray"
