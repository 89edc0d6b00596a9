"""Equivalence classes and distances, held against the enumeration of all graphs of four nodes."""

from collections import defaultdict
from itertools import combinations, permutations

import numpy as np
import pytest
from tests.structure.graphs import ASIA, all_dags, is_d_separated, random_dag, subsets

from bayeswater.errors import ParameterError
from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import (
    ArcAgreement,
    equivalence_class,
    hamming_distance,
    is_equivalent,
    structural_hamming_distance,
)
from bayeswater.structure.knowledge import Knowledge

FOUR = all_dags(4)


def independencies(dag: Dag) -> frozenset[tuple[int, int, frozenset[int]]]:
    return frozenset(
        (a, b, given)
        for a, b in combinations(range(len(dag)), 2)
        for given in subsets([node for node in range(len(dag)) if node not in (a, b)])
        if is_d_separated(dag, frozenset([a]), frozenset([b]), given)
    )


@pytest.fixture(scope="module")
def classes() -> list[list[Dag]]:
    """The graphs of four nodes, sorted by what they say to be independent."""
    members = defaultdict(list)
    for dag in FOUR:
        members[independencies(dag)].append(dag)
    return list(members.values())


def test_there_are_as_many_classes_of_four_nodes_as_andersson_counted(classes):
    assert len(classes) == 185


def test_the_graph_of_a_class_has_the_edges_on_which_all_members_agree(classes):
    for members in classes:
        edges = [set(dag.edges()) for dag in members]
        agreed = set.intersection(*edges)
        joined = {frozenset(edge) for edge in edges[0]}
        for dag in members:
            found = equivalence_class(dag)
            assert set(found.directed()) == agreed
            assert {frozenset(edge) for edge in found.undirected()} == joined - {frozenset(edge) for edge in agreed}
            assert found.n_edges == dag.n_edges


@pytest.mark.parametrize("seed", range(3))
def test_what_is_known_compels_the_edges_on_which_all_members_that_keep_to_it_agree(classes, seed):
    rng = np.random.default_rng(seed)
    for members in classes:
        dag = members[int(rng.integers(len(members)))]
        edges = set(dag.edges())
        required = [edge for edge in sorted(edges) if rng.random() < 0.2]
        forbidden = [edge for edge in permutations(dag.names, 2) if edge not in edges and rng.random() < 0.3]
        keeping = [set(other.edges()) for other in members]
        keeping = [own for own in keeping if own.issuperset(required) and own.isdisjoint(forbidden)]
        found = equivalence_class(dag, Knowledge.of(dag.names, required, forbidden))
        assert set(found.directed()) == set.intersection(*keeping)
        assert found.n_edges == dag.n_edges


def test_tiers_compel_directions():
    dag = Dag.parse("a -> b -> c; d -> b; d -> a")
    known = Knowledge.of(dag.names, tiers=[["a", "d"], ["b", "c"]])
    assert list(equivalence_class(dag, known).undirected()) == [("a", "d")]


def test_equivalent_are_those_that_say_the_same_to_be_independent(classes):
    one_each = [members[0] for members in classes]
    for members in classes:
        assert all(is_equivalent(members[0], dag) for dag in members)
    assert sum(is_equivalent(a, b) for a in one_each[::4] for b in one_each) == len(one_each[::4])


def test_the_distance_of_classes_is_zero_for_equivalent_graphs_alone(classes):
    rng = np.random.default_rng(1)
    for members in classes:
        assert structural_hamming_distance(members[0], members[-1]) == 0
        other = classes[int(rng.integers(len(classes)))]
        assert (structural_hamming_distance(members[0], other[0]) == 0) == (other is members)


def test_the_distance_of_the_graphs_themselves_counts_pairs():
    one, other = Dag.parse("a -> b; b -> c; d"), Dag.parse("b -> a; b -> c; c -> d")
    assert structural_hamming_distance(one, other, of_classes=False) == 2
    assert structural_hamming_distance(one, one, of_classes=False) == 0


def test_the_learning_test_network_of_bnlearn_has_one_edge_without_direction():
    dag = Dag.parse("A; C; F; A -> B; A -> D <- C; B -> E <- F")
    found = equivalence_class(dag)
    assert list(found.undirected()) == [("A", "B")]
    assert set(found.directed()) == {("A", "D"), ("C", "D"), ("B", "E"), ("F", "E")}


def test_graphs_are_aligned_by_name():
    asia = Dag.parse(ASIA)
    shuffled = Dag.from_edges(sorted(asia.edges()), sorted(asia.names))
    assert is_equivalent(asia, shuffled)
    assert structural_hamming_distance(asia, shuffled, of_classes=False) == 0


def test_graphs_of_other_nodes_are_refused():
    with pytest.raises(ParameterError, match="'dysp' is in one graph only"):
        is_equivalent(Dag.parse("a -> dysp"), Dag.parse("a -> b"))
    with pytest.raises(ParameterError, match="'c' is in one graph only"):
        structural_hamming_distance(Dag.parse("a -> b"), Dag.parse("a -> b; c"))


@pytest.mark.parametrize("seed", range(20))
def test_turning_a_covered_edge_stays_in_the_class(seed):
    """An edge x -> y with parents(y) = parents(x) + x can be turned: Chickering's transformation."""
    rng = np.random.default_rng(seed)
    dag = random_dag(30, 60, rng)
    for y, own in enumerate(dag.parents):
        for x in own:
            if set(own) - {x} == set(dag.parents[x]):
                parents = list(dag.parents)
                parents[y], parents[x] = tuple(node for node in own if node != x), (*dag.parents[x], y)
                turned = Dag(dag.names, tuple(parents))
                assert is_equivalent(dag, turned)
                assert equivalence_class(dag) == equivalence_class(turned)


@pytest.mark.parametrize("seed", range(20))
def test_arcs_that_are_found_false_and_missed_add_up_whatever_the_order_of_the_nodes(seed):
    rng = np.random.default_rng(seed)
    true, learned = random_dag(6, 7, rng), random_dag(6, 5, rng)
    agreement = ArcAgreement.of(Dag.from_edges(learned.edges(), nodes=learned.names[::-1]), true)
    assert (agreement.n_found + agreement.n_missed, agreement.n_found + agreement.n_false) == (
        true.n_edges,
        learned.n_edges,
    )
    assert agreement.precision * learned.n_edges == pytest.approx(agreement.recall * true.n_edges)
    n_turned = sum(arc[::-1] in set(true.edges()) for arc in learned.edges())
    assert hamming_distance(true, learned) == agreement.n_false + agreement.n_missed - 2 * n_turned
