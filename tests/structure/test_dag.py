"""Directed acyclic graphs: what they refuse, and what they say, held against networkx."""

import networkx as nx
import numpy as np
import pytest
from tests.structure.graphs import ASIA, all_dags, random_dag

from bayeswater.errors import ParameterError
from bayeswater.structure.dag import Dag, moral_graph, skeleton


def test_the_small_graphs_are_as_many_as_robinson_counted():
    assert [len(all_dags(n)) for n in (1, 2, 3, 4)] == [1, 3, 25, 543]


@pytest.mark.parametrize("seed", range(20))
def test_graph_questions_are_answered_as_networkx_does(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(12, int(rng.integers(0, 40)), rng)
    graph = dag.to_networkx()
    for node, name in enumerate(dag.names):
        assert set(dag.named(dag.ancestors([node]))) == nx.ancestors(graph, name)
        assert set(dag.named(dag.descendants([node]))) == nx.descendants(graph, name)
        assert set(dag.named(dag.children[node])) == set(graph.successors(name))
    moral = nx.moral_graph(graph)
    assert {frozenset(edge) for edge in moral_graph(dag).edges()} == {frozenset(edge) for edge in moral.edges()}
    assert nx.utils.graphs_equal(skeleton(dag).to_networkx(), graph.to_undirected())
    assert list(nx.lexicographical_topological_sort(graph, key=dag.node)) == [dag.names[node] for node in dag.order]


@pytest.mark.parametrize("seed", range(5))
def test_the_markov_blanket_are_the_neighbours_in_the_moral_graph(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(15, 30, rng)
    moral = moral_graph(dag)
    for node in range(len(dag)):
        assert moral.neighbours[node] == dag.markov_blanket(node)


def test_a_cycle_is_named_in_the_direction_of_its_edges():
    with pytest.raises(ParameterError, match="b -> c -> d -> b; leave out or turn one"):
        Dag.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "b"), ("d", "e")])


def test_a_node_is_no_parent_of_itself():
    with pytest.raises(ParameterError, match="cycle: a -> a"):
        Dag(("a",), ((0,),))


@pytest.mark.parametrize(
    ("names", "parents", "message"),
    [
        (("a", "a"), ((), ()), "'a' occurs more than once"),
        (("a", "b"), ((),), "2 names, but parents of 1 nodes"),
        (("a", "b"), ((), (2,)), r"parents of 'b' are \(2,\)"),
        (("a", "b"), ((), (-1,)), r"parents of 'b' are \(-1,\)"),
        (("a", "b"), ((), (0, 0)), r"parents of 'b' are \(0, 0\)"),
    ],
)
def test_what_is_no_graph_is_refused(names, parents, message):
    with pytest.raises(ParameterError, match=message):
        Dag(names, parents)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("a", "b")], "edge a -> b occurs more than once"),
        ([("a", "b", "c")], "is no edge; give pairs"),
        ([(1, "b")], "1 is no name of a node"),
        ([5], "5 is no edge"),
        (["ab", "cd"], "'ab' is no edge; give pairs"),  # two names, and no arrow from a to b
    ],
)
def test_what_is_no_edge_is_refused(edges, message):
    with pytest.raises(ParameterError, match=message):
        Dag.from_edges(edges)


def test_a_name_that_is_not_there_is_refused_with_one_that_comes_near():
    with pytest.raises(ParameterError, match="no node 'smok'; did you mean 'smoke'"):
        Dag.parse(ASIA).node("smok")


def test_networkx_goes_in_and_out():
    dag = Dag.parse(ASIA)
    again = Dag.from_networkx(dag.to_networkx())
    assert again.names == dag.names
    assert set(again.edges()) == set(dag.edges())
    with pytest.raises(ParameterError, match="no directions; give a DiGraph"):
        Dag.from_networkx(nx.path_graph(3))


def test_nodes_of_networkx_that_are_the_same_as_text_are_refused():
    with pytest.raises(ParameterError, match="the nodes 1 and '1' of networkx are the same as text"):
        Dag.from_networkx(nx.DiGraph([(1, 2), ("1", 2)]))
    assert Dag.from_networkx(nx.DiGraph([(1, 2)])).names == ("1", "2")


def test_the_order_of_the_parents_is_that_of_the_edges():
    assert Dag.from_edges([("z", "c"), ("a", "c")]).parents[1] == (0, 2)
    assert Dag.parse("z -> c; a -> c") == Dag.from_edges([("z", "c"), ("a", "c")])


def test_a_chain_of_many_nodes_needs_no_deep_recursion():
    n = 20_000
    dag = Dag(tuple(map(str, range(n))), ((), *((node,) for node in range(n - 1))))
    assert len(dag.ancestors([n - 1])) == n - 1
    assert dag.order == tuple(range(n))


def test_of_a_long_cycle_both_ends_are_named():
    n = 5000
    with pytest.raises(
        ParameterError, match=r"cycle: x0 -> x1 -> .* -> x9 -> \(4981 more\) -> x4991 -> .* -> x0;"
    ) as told:
        Dag.from_edges((f"x{i}", f"x{(i + 1) % n}") for i in range(n))
    assert len(str(told.value)) < 300


def test_a_graph_is_printed_as_it_is_read():
    dag = Dag.from_edges([("lung cancer", "b"), ("a", "b")], nodes=["c", "->"])
    assert str(dag).splitlines() == ['"lung cancer" -> b', "a -> b", "c", '"->"']
    again = Dag.parse(str(dag))
    assert set(again.edges()) == set(dag.edges()) and set(again.names) == set(dag.names)
