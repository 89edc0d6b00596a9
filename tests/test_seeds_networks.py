"""What the study notes say of networks, S19 to S21 and S25, in exact fractions and corrected where the notes slip."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.structure.graphs import is_separated_morally

from bayeswater import BayesianNetwork
from bayeswater.structure.dag import Dag, moral_graph

EIGHTHS = {"root": [3, 5], "one parent": [[1, 7], [6, 2]], "two parents": [[[1, 7], [4, 4]], [[2, 6], [7, 1]]]}


def network_of(graph: str) -> BayesianNetwork:
    """A network of flags whose probabilities are eighths: exact as float64, and equal to nothing by chance."""
    dag = Dag.parse(graph)
    kinds = {0: "root", 1: "one parent", 2: "two parents"}
    return BayesianNetwork(
        dag, {name: np.array(EIGHTHS[kinds[len(own)]]) / 8 for name, own in zip(dag.names, dag.parents, strict=True)}
    )


def joint_of(network: BayesianNetwork) -> dict[tuple[int, ...], Fraction]:
    """P(row) of every row, in fractions."""
    joint = {}
    for row in product(range(2), repeat=len(network.names)):
        p = Fraction(1)
        for node, (own, table) in enumerate(zip(network.dag.parents, network.core.tables, strict=True)):
            p *= Fraction(table[(*(row[parent] for parent in own), row[node])])
        joint[row] = p
    return joint


def is_independent(network: BayesianNetwork, a: str, b: str, given: str | None) -> bool:
    """Whether P(a, b, z) P(z) = P(a, z) P(b, z) in every cell."""
    joint, place = joint_of(network), network.dag.position
    names = [a, b] + ([given] if given else [])

    def p(**states: int) -> Fraction:
        return sum(v for row, v in joint.items() if all(row[place[n]] == s for n, s in states.items()))

    for states in product(range(2), repeat=len(names)):
        cell = dict(zip(names, states, strict=True))
        z = {given: cell[given]} if given else {}
        if p(**cell) * p(**z) != p(**{a: cell[a]}, **z) * p(**{b: cell[b]}, **z):
            return False
    return True


def test_s19_the_joint_is_the_product_of_the_tables_and_sums_to_one():
    network = network_of("a -> c <- b; c -> d")
    joint = joint_of(network)
    assert sum(joint.values()) == 1
    rows = np.array(list(joint))
    # Four logarithms are added.
    assert np.exp(network.log_probability(rows)) == pytest.approx([float(p) for p in joint.values()], rel=1e-14)


@pytest.mark.parametrize(
    ("graph", "given", "independent"),
    [
        ("a <- c -> b", None, False),  # a common cause
        ("a <- c -> b", "c", True),
        ("a -> c -> b", None, False),  # a chain
        ("a -> c -> b", "c", True),
        ("a -> c <- b", None, True),  # a V-structure: independent until the child is seen,
        ("a -> c <- b", "c", False),
        ("a -> c <- b; c -> d", "d", False),  # or one of its descendants
    ],
)
def test_s20_graphs_of_three_say_what_is_independent(graph, given, independent):
    network = network_of(graph)
    assert is_independent(network, "a", "b", given) == independent
    assert network.is_d_separated("a", "b", given or ()) == independent


def test_s20_given_its_parents_a_node_is_independent_of_all_but_its_descendants():
    network = network_of("a -> c <- b; c -> d; a -> e")
    for independence in network.independencies():
        (node,) = independence.left
        for other in independence.right:
            assert network.is_d_separated(node, other, independence.given)
            if len(independence.given) <= 1:
                assert is_independent(network, node, other, *(independence.given or [None]))
    assert network.markov_blanket("a") == ("c", "b", "e")


def test_s21_the_moral_graph_joins_parents_and_forgets_directions():
    moral = network_of("a -> c <- b; c -> d").moral_graph()
    assert {frozenset(edge) for edge in moral.edges()} == {frozenset(pair) for pair in ("ac", "bc", "ab", "cd")}


def test_s21_the_moral_graph_of_all_nodes_misses_independence_that_that_of_the_ancestors_finds():
    dag = Dag.parse("a -> c <- b")
    left, right = dag.nodes("a"), dag.nodes("b")
    assert dag.node("b") in moral_graph(dag).neighbours[dag.node("a")]  # by the whole graph they are joined
    assert is_separated_morally(dag, left, right)
    assert is_independent(network_of("a -> c <- b"), "a", "b", None)


def test_s25_probabilities_of_0_and_1_do_not_hold_gibbs_sampling_fast():
    # An OR of two rare causes: no cause can leave before the other is there. Samplers of single variables say 0 or 1.
    network = BayesianNetwork(
        "a -> either <- b; either -> alarm",
        {
            "a": [0.875, 0.125],
            "b": [0.75, 0.25],
            "either": [[[1, 0], [0, 1]], [[0, 1], [0, 1]]],
            "alarm": [[0.875, 0.125], [0.125, 0.875]],
        },
    )
    exact = Fraction(1, 8) * Fraction(7, 8) / (Fraction(21, 32) * Fraction(1, 8) + Fraction(11, 32) * Fraction(7, 8))
    found = network.query("a", {"alarm": 1}, method="gibbs")
    assert found.verdict == "reliable"
    assert abs(found[1] - float(exact)) <= 4 * found.standard_error[1] + 1e-15


def test_s25_chains_that_converge_too_slowly_are_not_vouched_for():
    same = [[1 - 1e-8, 1e-8], [1e-8, 1 - 1e-8]]
    network = BayesianNetwork("a -> b -> c", {"a": [0.5, 0.5], "b": same, "c": same})
    found = network.query("a", soft_evidence={"c": [0.75, 0.25]}, method="gibbs", time_limit=0.1)
    assert not found.is_reliable
    assert "not reliable" in repr(found)
