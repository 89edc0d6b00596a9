"""Networks made of others, against the joint distribution, cell by cell."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.networks.nets import asia, joint_by_enumeration, random_network

from bayeswater import BayesianNetwork, NoisyAnd, NoisyMax, NoisyOr, ParameterError, load, save
from bayeswater.models.network.network_files import document_of

seeds = st.integers(0, 10_000)


def drawn(seed: int, n: int = 5, *, zeros: bool = False) -> BayesianNetwork:
    return BayesianNetwork.from_core(random_network(n, np.random.default_rng(seed), zeros=zeros))


def marginal(network: BayesianNetwork, names: list[str]) -> np.ndarray:
    """The joint distribution of some variables, an axis for each in this order."""
    nodes = [network.dag.node(name) for name in names]
    return np.einsum(joint_by_enumeration(network.core), [*range(len(network.names))], nodes)


@settings(max_examples=12)
@given(seed=seeds, zeros=st.booleans())
def test_turning_an_edge_leaves_the_joint_as_it_was(seed, zeros):
    network = drawn(seed, zeros=zeros)
    for parent, child in network.edges:
        others = [name for name in network.children(parent) if name != child]
        if child in network.descendants(others):
            with pytest.raises(ParameterError, match="cycle"):
                network.with_reversed_edge(parent, child)
            continue
        turned = network.with_reversed_edge(parent, child)
        assert child in turned.parents(parent)
        assert np.allclose(joint_by_enumeration(turned.core), joint_by_enumeration(network.core), rtol=0, atol=1e-12)


@settings(max_examples=12)
@given(seed=seeds, data=st.data())
def test_tables_of_a_subnetwork_are_what_they_were_given_the_parents_that_stay(seed, data):
    network = drawn(seed)
    kept = data.draw(st.lists(st.sampled_from(network.names), min_size=1, unique=True))
    part = network.subnetwork(kept)
    assert set(part.names) == set(kept)
    assert set(part.edges) == {edge for edge in network.edges if set(edge) <= set(kept)}
    for name in kept:
        joint = marginal(network, [*part.parents(name), name])
        assert np.allclose(part.cpt(name).values, joint / joint.sum(axis=-1, keepdims=True), rtol=0, atol=1e-12)


@settings(max_examples=12)
@given(seed=seeds)
def test_in_the_network_of_its_blanket_the_posterior_of_a_variable_is_that_of_the_whole(seed):
    network = drawn(seed)
    rng = np.random.default_rng(seed)
    for name in network.names:
        part = network.markov_blanket_network(name)
        evidence = {other: int(rng.integers(len(network.states(other)))) for other in part.names if other != name}
        assert np.allclose(part.query(name, evidence).probabilities, network.query(name, evidence).probabilities)


@settings(max_examples=12)
@given(seed=seeds)
def test_a_network_that_is_cut_in_two_is_merged_again(seed):
    network = drawn(seed)
    names = list(network.topological_order())
    upper = network.subnetwork(names[:3])  # ancestors alone: no table changes
    family = {name for low in names[3:] for name in (low, *network.parents(low))}
    lower = network.subnetwork(family)
    both = upper.merge(lower, prefer=None if all(not lower.parents(n) for n in upper.names if n in family) else "self")
    assert set(both.edges) == set(network.edges)
    assert np.allclose(marginal(both, names), marginal(network, names), rtol=0, atol=1e-12)


def test_merging_refuses_what_contradicts_itself_unless_it_is_told_whom_to_believe():
    first, second = (
        BayesianNetwork("a -> b", {"a": [0.5, 0.5], "b": [[p, 1 - p], [0.5, 0.5]]}, states={"a": 2, "b": ["x", "y"]})
        for p in (0.25, 0.75)
    )
    with pytest.raises(ParameterError, match=r"both networks give a table of 'b', and these differ .* prefer='self'"):
        first.merge(second)
    assert first.merge(second, prefer="other").cpt("b").given(a=0)["x"] == 0.75
    turned = second.with_reversed_edge("a", "b")
    with pytest.raises(ParameterError, match="cycle"):
        first.merge(turned)
    with pytest.raises(ParameterError, match=r"'b' has the states .* in one network"):
        first.merge(second.with_state_names("b", {"x": "z"}), prefer="self")
    with pytest.raises(ParameterError, match="prefer is 'mine'"):
        first.merge(second, prefer="mine")


def test_states_in_another_order_are_the_same_states_when_networks_are_merged():
    first = BayesianNetwork("a", {"a": {"yes": 0.2, "no": 0.8}})
    second = BayesianNetwork("a -> b", {"a": {"no": 0.8, "yes": 0.2}, "b": {"no": [0.9, 0.1], "yes": [0.3, 0.7]}})
    both = first.merge(second)
    assert both.states("a") == ("yes", "no")
    assert both.cpt("b").given(a="yes")[1] == 0.7


@settings(max_examples=12)
@given(seed=seeds)
def test_names_and_labels_change_no_number(seed):
    network = drawn(seed)
    name = network.names[seed % 5]
    other = network.with_names({name: "other"}).with_state_names("other", {0: "none"})
    assert other.names[seed % 5] == "other"
    assert other.states("other")[0] == "none"
    assert np.array_equal(joint_by_enumeration(other.core), joint_by_enumeration(network.core))


@settings(max_examples=12)
@given(seed=seeds)
def test_a_new_state_changes_nothing_and_goes_again(seed):
    network = drawn(seed)
    name = network.names[seed % 5]
    more = network.with_state(name, 9)
    assert more.query(name)[9] == 0.0
    assert np.allclose(marginal(more.without_state(name, 9), list(network.names)), joint_by_enumeration(network.core))
    for child in network.children(name):
        for other in network.parents(child):
            if other != name and network.query(other)[0] > 0:
                # given the new state, a child is what it is without knowing the variable
                rest = {p: 0 for p in network.parents(child) if p != name}
                row = more.cpt(child).given({**rest, name: 9}).probabilities
                assert np.allclose(row, network.query(child, rest).probabilities)


@settings(max_examples=12)
@given(seed=seeds)
def test_without_a_state_a_variable_is_what_it_is_where_it_is_not_in_it(seed):
    network = drawn(seed)
    name = network.names[seed % 5]
    less = network.without_state(name, 0)
    table = network.cpt(name).values[..., 1:]
    assert np.allclose(less.cpt(name).values, table / table.sum(axis=-1, keepdims=True))
    for child in network.children(name):
        axis = network.parents(child).index(name)
        assert np.array_equal(less.cpt(child).values, np.delete(network.cpt(child).values, 0, axis=axis))


def test_a_state_that_is_all_there_is_stays():
    network = asia()
    with pytest.raises(ParameterError, match="has no state but 'yes' for some states of its parents; give it another"):
        network.without_state("either", "yes")
    with pytest.raises(ParameterError, match="'smoke' has a state 'yes' already"):
        network.with_state("smoke", "yes")
    with pytest.raises(ParameterError, match="no variable would be left"):
        BayesianNetwork("a", {"a": [1.0]}).without_node("a")


def test_nodes_are_added_by_table_or_by_states():
    network = asia().with_node("test", {"yes": {"pos": 0.9, "neg": 0.1}, "no": [0.2, 0.8]}, parents="lung")
    assert network.parents("test") == ("lung",)
    assert network.query("test", {"lung": "yes"})["pos"] == 0.9
    even = asia().with_node("coin", states=["heads", "tails"], parents=["smoke", "asia"])
    assert even.query("coin", {"smoke": "yes"})["tails"] == 0.5
    with pytest.raises(ParameterError, match="neither table nor states of 'coin'"):
        asia().with_node("coin")
    with pytest.raises(ParameterError, match="'smoke' occurs more than once"):
        asia().with_node("smoke", states=2)


def test_remarks_follow_their_nodes():
    network = BayesianNetwork.from_core(asia().core, "asia", {"": (("a", "1"),), "tub": (("b", "2"),)})
    assert network.with_names({"tub": "tb"}).remarks == {"": (("a", "1"),), "tb": (("b", "2"),)}
    assert network.without_node("tub").remarks == {"": (("a", "1"),)}


# ---------------------------------------------------------------------- canonical nodes

NOISY = {
    "max": NoisyMax(
        {"flu": {"yes": [0.5, 0.25, 0.25]}, "cold": {"bad": [0.1, 0.4, 0.5], "light": [0, 0.25, 0.75]}},
        leak={"high": 0.0, "low": 0.125, "none": 0.875},
    ),
    "and": NoisyAnd({"flu": 0.75, "cold": {"bad": 1.0, "light": 0.5}}, failure=0.125),
    "or": NoisyOr({"flu": 0.75, "cold": {"bad": 0.5, "light": 0.25}}, leak=0.125),
}


def noisy(kind: str) -> BayesianNetwork:
    states = {"flu": ["yes", "no"], "cold": ["none", "light", "bad"]}
    states["fever"] = ["high", "low", "none"] if kind == "max" else ["no", "yes"] if kind == "and" else ["yes", "no"]
    tables = {"flu": [0.1, 0.9], "cold": [0.5, 0.25, 0.25], "fever": NOISY[kind]}
    return BayesianNetwork("flu -> fever <- cold", tables, states=states)


def test_a_noisy_and_needs_all_of_its_conditions():
    table = noisy("and").cpt("fever")
    assert table.given(flu="yes", cold="light")["yes"] == (1 - 0.125) * 0.75 * 0.5
    assert table.given(flu="no", cold="bad")["yes"] == 0.0
    assert noisy("and").n_parameters == 1 + 2 + 4


def test_a_ranking_turns_the_maximum_into_a_minimum():
    rule = NoisyMax({"a": {0: [0.5, 0.5]}}, leak=[0.25, 0.75], ranking=[1, 0])
    table = BayesianNetwork("a -> b", {"a": [0.5, 0.5], "b": rule}, states={"a": 2, "b": 2}).cpt("b")
    assert table.values.tolist() == [[0.125, 0.875], [0.25, 0.75]]


@pytest.mark.parametrize("kind", NOISY)
@pytest.mark.parametrize("ending", ["bayes", "xdsl", "dsl"])
def test_canonical_nodes_are_kept_in_files_that_have_them(kind, ending, tmp_path):
    network = noisy(kind)
    network.write(tmp_path / f"net.{ending}")
    back = BayesianNetwork.read(tmp_path / f"net.{ending}")
    assert np.array_equal(back.cpt("fever").values, network.cpt("fever").values)
    assert {n.name: n.kind for n in document_of(back.core, "", {}).nodes}["fever"] == "noisy_max"
    if ending == "bayes":
        assert back == network
        save(network, tmp_path / "again.bayes")
        assert load(tmp_path / "again.bayes") == network


@pytest.mark.parametrize("kind", NOISY)
def test_canonical_nodes_stay_what_they_are_as_far_as_they_can(kind):
    network = noisy(kind)
    node = network.dag.node("fever")
    before = network.cpt("fever").values
    renamed = network.with_names({"flu": "influenza"}).with_state_names("influenza", {"yes": "ja"})
    other = renamed.with_state_names("fever", {network.states("fever")[0]: "first"})
    assert type(other.core.conditionals[node]) is type(NOISY[kind])
    assert np.array_equal(other.cpt("fever").values, before)
    less = network.without_state("cold", "light")
    assert type(less.core.conditionals[less.dag.node("fever")]) is type(NOISY[kind])
    assert np.array_equal(less.cpt("fever").values, np.delete(before, 1, axis=1))
    more = network.with_node("luck", states=3).with_edge("luck", "fever")
    assert type(more.core.conditionals[node]) is type(NOISY[kind])
    assert np.array_equal(more.cpt("fever").values[..., 1, :], before)
    idle = network.with_state("cold", "none at all")
    assert type(idle.core.conditionals[node]) is type(NOISY[kind])
    does_nothing = before[:, network.states("cold").index("bad" if kind == "and" else "none")]  # "bad" is always met
    assert np.array_equal(idle.cpt("fever").values[:, 3], does_nothing)


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (NoisyMax({"a": {0: [0.5, 0.25]}}), "P\\(b \\| a=0\\) sums to 0.75"),
        (NoisyMax({"a": {5: [0.5, 0.5]}}), "names the state 5 of 'a'"),
        (NoisyMax({"a": 0.5}), "gives 0.5 for 'a'; give a mapping"),
        (NoisyMax({"c": {}}), "names the parents \\['c'\\], and they are \\['a'\\]"),
        (NoisyMax({"a": {}}, ranking=[0, 0]), "the ranking of the noisy-MAX of 'b'"),
        (NoisyMax({"a": {}}, leak={0: 1}), "names \\[0\\], and the states are \\[0, 1\\]"),
        (NoisyAnd({"a": {0: 2}}, present=1), "the condition a=0 .* is 2"),
        (NoisyAnd({"a": 1.0}), "one of them present='yes'"),
    ],
)
def test_a_canonical_node_that_cannot_be_is_refused(rule, problem):
    with pytest.raises(ParameterError, match=problem):
        BayesianNetwork("a -> b", {"a": [0.5, 0.5], "b": rule}, states={"a": 2, "b": 2})


def test_a_graph_alone_is_edited_as_one_with_tables():
    graph = BayesianNetwork("a -> b -> c; d", states={"a": ["yes", "no"], "c": 3})
    for edited, edges, names in (
        (graph.with_edge("d", "b"), {("a", "b"), ("b", "c"), ("d", "b")}, "abcd"),
        (graph.without_edge("a", "b"), {("b", "c")}, "abcd"),
        (graph.with_reversed_edge("b", "c").with_edge("d", "c"), {("a", "b"), ("c", "b"), ("d", "c")}, "abcd"),
        (graph.with_node("e", parents=["c", "d"]), {("a", "b"), ("b", "c"), ("c", "e"), ("d", "e")}, "abcde"),
        (graph.without_node("b"), set(), "acd"),
        (graph.subnetwork(["b", "c"]), {("b", "c")}, "bc"),
        (graph.markov_blanket_network("b"), {("a", "b"), ("b", "c")}, "abc"),
        (graph.with_names({"a": "z", "b": "a"}), {("z", "a"), ("a", "c")}, "zacd"),
        (graph.merge(BayesianNetwork("c -> e")), {("a", "b"), ("b", "c"), ("c", "e")}, "abcde"),
    ):
        assert set(edited.edges) == edges and edited.names == tuple(names) and not edited.has_tables
    assert graph.edges == (("a", "b"), ("b", "c"))
    rows = pd.DataFrame({"z": ["no", "no"], "b": ["x", "y"], "c": [0, 1], "d": [0, 1], "e": ["u", "v"]})
    learned = graph.with_names({"a": "z"}).with_node("e", states=["u", "v", "w"]).fit(rows)
    assert learned.states("z") == ("yes", "no") and learned.states("c") == (0, 1, 2)
    assert learned.states("e") == ("u", "v", "w") and learned.states("b") == ("x", "y")
    one, other = (BayesianNetwork(name, states={name: own}) for name, own in (("z", ["no", "yes"]), ("c", 3)))
    learned = one.merge(other).fit(rows)
    assert learned.states("z") == ("no", "yes") and learned.states("c") == (0, 1, 2)


def test_what_a_graph_alone_does_not_tell_is_refused():
    graph = BayesianNetwork("a -> b -> c")
    with_tables, named = BayesianNetwork("c", {"c": [0.5, 0.5]}), BayesianNetwork("a", states={"a": ["no", "yes"]})
    for edit, message in (
        (lambda: graph.with_edge("c", "a"), "cycle"),
        (lambda: graph.without_edge("a", "c"), "there is no edge a -> c"),
        (lambda: graph.without_node("z"), "no node 'z'"),
        (lambda: graph.with_edge("a", "c", [[0.5, 0.5]]), "a graph and no tables"),
        (lambda: graph.with_node("d", [0.5, 0.5]), "a graph and no tables"),
        (lambda: graph.with_state("a", "x"), "a graph and no tables"),
        (lambda: graph.merge(with_tables), "one of the networks has no tables"),
        (lambda: with_tables.merge(graph), "one of the networks has no tables"),
        (lambda: named.merge(BayesianNetwork("a", states={"a": 3})), "other states of 'a'"),
    ):
        with pytest.raises(ParameterError, match=message):
            edit()
