"""d-separation by trails, by the moral graph, by networkx, and by looking at every trail of small graphs."""

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from tests.structure.graphs import ASIA, all_dags, is_d_separated, is_separated_morally, random_dag, subsets

from bayeswater.errors import ParameterError
from bayeswater.structure.dag import Dag, reached, skeleton
from bayeswater.structure.separation import (
    Independence,
    active_trail,
    adjustment_sets,
    blocked_trail,
    local_independencies,
    minimal_separator,
    minimal_separators,
)


def is_active(dag: Dag, trail: list[int], given: frozenset[int]) -> bool:
    """The definition, node by node."""
    for before, node, after in zip(trail, trail[1:], trail[2:], strict=False):
        is_collider = before in dag.parents[node] and after in dag.parents[node]
        if is_collider:
            if not (dag.descendants([node]) | {node}) & given:
                return False
        elif node in given:
            return False
    return True


def separated_by_enumeration(dag: Dag, a: int, b: int, given: frozenset[int]) -> bool:
    graph = dag.to_networkx().to_undirected()
    trails = nx.all_simple_paths(graph, dag.names[a], dag.names[b])
    return not any(is_active(dag, [dag.node(name) for name in trail], given) for trail in trails)


def test_every_separation_of_every_small_graph_is_that_of_the_definition():
    for dag in all_dags(4)[::3]:
        for a, b in combinations(range(4), 2):
            for given in subsets([node for node in range(4) if node not in (a, b)]):
                expected = separated_by_enumeration(dag, a, b, given)
                left, right = frozenset([a]), frozenset([b])
                assert is_d_separated(dag, left, right, given) == expected
                assert is_separated_morally(dag, left, right, given) == expected


def test_sets_in_larger_graphs_are_separated_as_in_networkx_and_the_trail_shown_is_active():
    for seed in range(150):
        rng = np.random.default_rng(seed)
        dag = random_dag(12, int(rng.integers(5, 30)), rng)
        role = rng.choice(4, 12, p=[0.15, 0.15, 0.25, 0.45])
        left, right, given = (frozenset(np.flatnonzero(role == k).tolist()) for k in range(3))
        names = [set(dag.named(part)) for part in (left, right, given)]
        expected = not names[0] or not names[1] or nx.is_d_separator(dag.to_networkx(), *names)
        assert is_separated_morally(dag, left, right, given) == expected
        trail = active_trail(dag, left, right, given)
        assert (trail is None) == expected
        if trail is not None:
            nodes = [dag.node(name) for name in trail.nodes]
            assert nodes[0] in left
            assert nodes[-1] in right
            assert len(set(nodes)) == len(nodes)
            assert is_active(dag, nodes, given)
            for a, arrow, b in zip(nodes, trail.arrows, nodes[1:], strict=False):
                assert (a in dag.parents[b]) if arrow == "->" else (b in dag.parents[a])


def test_the_textbook_network_shows_its_trail():
    dag = Dag.parse(ASIA)
    assert is_d_separated(dag, dag.nodes("asia"), dag.nodes("smoke"))
    trail = active_trail(dag, dag.nodes("asia"), dag.nodes("smoke"), dag.nodes("xray"))
    assert str(trail) == "asia -> tub -> either <- lung <- smoke"


def test_sets_that_share_a_node_are_refused():
    dag = Dag.parse(ASIA)
    with pytest.raises(ParameterError, match="'asia' is in two of the sets"):
        is_d_separated(dag, dag.nodes("asia"), dag.nodes("smoke"), dag.nodes(["asia", "tub"]))


def minimal_by_enumeration(dag: Dag, left: frozenset[int], right: frozenset[int]) -> set[frozenset[int]]:
    others = [node for node in range(len(dag)) if node not in left | right]
    separating = {given for given in subsets(others) if is_d_separated(dag, left, right, given)}
    return {given for given in separating if not any(other < given for other in separating)}


def test_all_minimal_separators_are_found_once_each():
    for seed in range(80):
        rng = np.random.default_rng(seed)
        dag = random_dag(8, int(rng.integers(5, 16)), rng)
        chosen = rng.permutation(8).tolist()
        size = int(rng.integers(1, 3))
        left, right = frozenset(chosen[:size]), frozenset(chosen[size : size + 1])
        found = list(minimal_separators(dag, left, right))
        assert len(set(found)) == len(found)
        assert set(found) == minimal_by_enumeration(dag, left, right)


def test_one_minimal_separator_with_and_without_what_is_wanted_in_it():
    for seed in range(150):
        rng = np.random.default_rng(seed)
        dag = random_dag(9, int(rng.integers(5, 18)), rng)
        nodes = rng.permutation(9).tolist()
        left, right = frozenset(nodes[:1]), frozenset(nodes[1:2])
        included = frozenset(nodes[2 : 2 + int(rng.integers(0, 3))])
        allowed = frozenset(nodes[2 : 2 + int(rng.integers(3, 8))])
        found = minimal_separator(dag, left, right, included, allowed)
        others = subsets(sorted(allowed - included))
        separating = [included | more for more in others if is_d_separated(dag, left, right, included | more)]
        if found is None:
            assert not separating
        else:
            assert found in separating
            assert not any(other < found for other in separating)


def test_adjustment_sets_are_the_least_ones_that_meet_the_back_door_criterion():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        dag = random_dag(7, int(rng.integers(4, 14)), rng)
        cause, effect, *others = rng.permutation(7).tolist()
        allowed = frozenset(others[: int(rng.integers(2, 6))])
        without = [(a, b) for a, b in dag.edges() if a != dag.names[cause]]
        behind = Dag.from_edges(without, nodes=dag.names)
        ends = frozenset({cause}), frozenset({effect})
        meeting = [
            frozenset(nodes)
            for nodes in subsets(sorted(allowed - dag.descendants([cause])))
            if is_d_separated(behind, *ends, frozenset(nodes))
        ]
        found = list(adjustment_sets(dag, cause, effect, allowed))
        assert len(set(found)) == len(found)
        assert set(found) == {nodes for nodes in meeting if not any(other < nodes for other in meeting)}


def test_joined_nodes_have_no_separator_and_separated_ones_the_empty_one():
    dag = Dag.parse("a -> b; c")
    assert list(minimal_separators(dag, dag.nodes("a"), dag.nodes("b"))) == []
    assert minimal_separator(dag, dag.nodes("a"), dag.nodes("b")) is None
    assert list(minimal_separators(dag, dag.nodes("a"), dag.nodes("c"))) == [frozenset()]
    assert minimal_separator(dag, dag.nodes("a"), dag.nodes("c")) == frozenset()


def test_local_independencies_hold_and_name_every_node_that_is_no_descendant():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        dag = random_dag(8, 12, rng)
        found = [tuple(map(dag.nodes, (told.left, told.right, told.given))) for told in local_independencies(dag)]
        for left, right, given in found:
            assert is_d_separated(dag, left, right, given)
            assert left | right | given | dag.descendants(left) == frozenset(range(8))
        all_told = [v for v in range(8) if len({v, *dag.parents[v]} | dag.descendants({v})) < 8]
        assert [left for left, _, _ in found] == [frozenset({v}) for v in all_told]


def test_local_independencies_of_a_chain_of_three():
    dag = Dag.parse("a -> b -> c; d")
    assert [str(found) for found in local_independencies(dag)] == ["a ⊥ d", "b ⊥ d | a", "c ⊥ a, d | b", "d ⊥ a, b, c"]


def test_names_that_need_quotes_are_printed_with_them():
    dag = Dag.parse('"lung cancer" -> "cough, dry" <- c')
    trail = active_trail(dag, dag.nodes("lung cancer"), dag.nodes("c"), dag.nodes("cough, dry"))
    assert str(trail) == '"lung cancer" -> "cough, dry" <- c'
    assert Dag.parse(str(trail)) == dag
    said = Independence(("lung cancer",), ("a", "c"), ("cough, dry", "x"))
    assert str(said) == '"lung cancer" ⊥ a, c | "cough, dry", x'


@pytest.mark.parametrize("seed", range(5))
def test_separated_nodes_have_a_trail_with_barriers_or_none_joins_them(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(8, 10, rng)
    neighbours = skeleton(dag).neighbours
    n_found = 0
    for left, right in combinations(range(8), 2):
        given = frozenset(node for node in range(8) if node not in (left, right) and rng.random() < 0.4)
        ends = frozenset([left]), frozenset([right])
        if active_trail(dag, *ends, given) is not None:
            continue
        found = blocked_trail(dag, *ends, given)
        assert (found is None) == (right not in reached([left], neighbours))
        if found is not None:
            trail, barriers = found
            n_found += 1
            assert barriers and len(set(trail.nodes)) == len(trail.nodes)
            places = [dag.node(name) for name in trail.nodes]
            assert all(b in neighbours[a] for a, b in pairwise(places))
            for one in barriers:
                assert (one.reason == "given") == (dag.node(one.node) in given)
    assert n_found
