"""`BayesianNetwork`: how it is built, what it refuses, and the networks made of it."""

import pickle
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.networks.nets import ASIA_TABLES, YES_NO, asia, joint_by_enumeration
from tests.structure.graphs import ASIA

import bayeswater
from bayeswater import BayesianNetwork, ParameterError
from bayeswater.data.variable import Variable
from bayeswater.models.network.answers import Distribution
from bayeswater.models.network.conditional_tables import ConditionalTable
from bayeswater.networks.noisy_causes import NoisyOr
from bayeswater.structure.dag import Dag

GRAPH = "smoke -> cancer <- pollution; cancer -> xray"
STATES = {"smoke": ["yes", "no"], "pollution": ["low", "high"], "cancer": ["yes", "no"], "xray": ["pos", "neg"]}
CANCER = np.array([[[0.03, 0.97], [0.05, 0.95]], [[0.001, 0.999], [0.02, 0.98]]])  # smoke, pollution, cancer
ROOTS = {"smoke": [0.3, 0.7], "pollution": [0.9, 0.1], "xray": [[0.9, 0.1], [0.2, 0.8]]}


def by_label() -> dict:
    """The table of cancer, as a dict of dicts."""
    return {
        (s, p): dict(zip(STATES["cancer"], CANCER[i, j].tolist(), strict=True))
        for i, s in enumerate(STATES["smoke"])
        for j, p in enumerate(STATES["pollution"])
    }


def by_line() -> dict[str, list]:
    """The table of cancer, as the columns of a frame, its lines in any order."""
    lines = [
        (p, s, c, CANCER[i, j, k])
        for j, p in enumerate(STATES["pollution"])
        for i, s in enumerate(STATES["smoke"])
        for k, c in enumerate(STATES["cancer"])
    ]
    lines = [lines[k] for k in np.random.default_rng(0).permutation(len(lines))]
    return dict(zip(["pollution", "smoke", "cancer", "probability"], map(list, zip(*lines, strict=True)), strict=True))


def labelled() -> ConditionalTable:
    """The table of cancer with its axes and states in another order."""
    smoke, pollution = Variable("smoke", ("no", "yes")), Variable("pollution", ("high", "low"))
    return ConditionalTable(
        Variable("cancer", ("no", "yes")), (pollution, smoke), CANCER.swapaxes(0, 1)[::-1, ::-1, ::-1]
    )


@pytest.mark.parametrize(
    "table",
    [
        CANCER,
        CANCER.tolist(),
        by_label(),
        {key: list(row.values()) for key, row in by_label().items()},
        pd.DataFrame(by_line()),
        pl.DataFrame(by_line()),
        pd.DataFrame(by_line()).astype({"smoke": "category", "cancer": "category"}),
        labelled(),
    ],
    ids=["array", "list", "dicts", "rows by label", "pandas", "polars", "categories", "labelled"],
)
def test_every_form_of_a_table_says_the_same(table):
    network = BayesianNetwork(GRAPH, {**ROOTS, "cancer": table}, states=STATES)
    assert np.array_equal(network.core.tables[network.dag.node("cancer")], CANCER)


def test_graphs_of_every_form_say_the_same():
    edges = [("smoke", "cancer"), ("pollution", "cancer"), ("cancer", "xray")]
    dag = Dag.from_edges(edges)
    for graph in (edges, dag, nx.DiGraph(edges), BayesianNetwork(GRAPH)):
        network = BayesianNetwork(graph)
        assert set(network.edges) == set(edges)
        assert network.parents("cancer") == ("smoke", "pollution")
    with pytest.raises(ParameterError, match="graph is 7; give a text such as"):
        BayesianNetwork(7)


def test_states_are_those_that_tables_name_where_none_are_declared():
    network = BayesianNetwork(
        "a -> b; c; d -> e",
        {
            "a": {"low": 0.25, "high": 0.75},
            "b": {"low": {"x": 1, "y": 0}, "high": {"x": 0.5, "y": 0.5}},
            "c": [0.2, 0.3, 0.5],
            "d": pd.DataFrame({"d": ["v", "u"], "probability": [0.5, 0.5]}),
            "e": {"u": [0.1, 0.9], "v": [0.2, 0.8]},
        },
    )
    assert network.states("a") == ("low", "high")
    assert network.states("b") == ("x", "y")
    assert network.states("c") == (0, 1, 2)
    assert network.states("d") == ("v", "u")
    assert network.states("e") == (0, 1)
    assert network.cpt("e").given(d="u")[1] == 0.9


@pytest.mark.parametrize(
    "states",
    [
        *(pd.Index([3, 4]), pd.Series([3, 4]), pd.Categorical([3, 4]), np.array([3, 4]), (3, 4), range(3, 5)),
        *(pl.Series([3, 4]), pa.array([3, 4])),
    ],
    ids=lambda states: type(states).__module__.split(".")[0] + "." + type(states).__name__,
)
def test_states_are_given_as_any_sequence(states):
    network = BayesianNetwork("a", {"a": [0.25, 0.75]}, states={"a": states})
    assert network.states("a") == (3, 4)
    assert all(type(state) is int for state in network.states("a"))


@pytest.mark.parametrize(
    ("tables", "states", "message"),
    [
        ([[1.0], [[1.0]]], {}, "tables is a list; give a dict from the names of the nodes to tables"),
        ({"a": [1.0], "b": [[1.0]]}, ["x"], "states is a list; give a dict from the names of the nodes to states"),
        ({"a": [1.0]}, {}, r"there is no table for \['b'\]"),
        ({"a": [0.5, 0.5], "b": [[1.0], [1.0]], "c": [1.0]}, {}, "tables names 'c', which is no node"),
        ({"a": [0.5, 0.5], "b": [[1.0], [1.0]]}, {"aa": [1]}, "states names 'aa', which is no node; did you mean 'a'"),
        ({"a": [0.5, 0.5], "b": [[1.0], [1.0]]}, {"a": "xy"}, "the states of 'a' are 'xy'; give a list"),
        ({"a": [0.5, 0.5], "b": [[1.0], [1.0]]}, {"a": {"x", "y"}}, "the states of 'a' are {.*}; give a list"),
        ({"a": [0.5, 0.5], "b": [[1.0], [1.0]]}, {"a": [None, "x"]}, r"'a' are \[None, 'x'\]; None and NaN are cells"),
        ({"a": [0.5, 0.5], "b": [[1.0], [1.0]]}, {"a": [0.5, np.nan]}, r"'a' are \[0.5, nan\]; None and NaN are cells"),
        ({"a": [0.5, 0.5], "b": NoisyOr({"a": 0.5})}, {}, "the states of 'b' are not known, since a NoisyOr"),
        ({"a": {}, "b": [[1.0], [1.0]]}, {}, "the table of 'a' is {}; give an array"),
        ({"a": 0.5, "b": [[1.0], [1.0]]}, {}, "the table of 'a' is 0.5; give an array"),
        ({"a": {"x": 0.5, "y": 0.5}, "b": {"x": [1.0]}}, {}, "the table of 'b' has no row for a='y'; .* such as 'y'"),
        ({"a": {"x": 0.5, "y": 0.5}, "b": {"x": [1.0], "y": [1.0], "z": [1.0]}}, {}, r"has a row for \('z',\)"),
        (
            {"a": {"x": 0.5, "y": 0.5}, "b": {"x": {"u": 1, "v": 0}, "y": {"u": 1}}},
            {},
            r"P\(b \| a='y'\) names \['u'\]",
        ),
        (
            {"a": {"x": 0.5, "y": 0.5}, "b": {"x": [1, 0], "y": [1]}},
            {},
            r"P\(b \| a='y'\) is \[1\]; give a probability",
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused(tables, states, message):
    with pytest.raises(ParameterError, match=message):
        BayesianNetwork("a -> b", tables, states=states)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="smoke"), "give .'smoke', 'pollution', 'cancer', 'probability'."),
        (lambda f: f.iloc[1:], "has 0 lines for"),
        (lambda f: pd.concat([f, f.iloc[:1]]), "has 2 lines for"),
        (lambda f: f.replace("low", "none"), "holds 'none', which is no state of 'pollution'"),
        (lambda f: f.replace("low", None), "cannot be read: .* missing"),
    ],
)
def test_frames_that_do_not_fit_are_refused(change, message):
    frame = change(pd.DataFrame(by_line()))
    with pytest.raises(ParameterError, match=message):
        BayesianNetwork(GRAPH, {**ROOTS, "cancer": frame}, states=STATES)


def test_a_labelled_table_of_something_else_is_refused():
    network = BayesianNetwork(GRAPH, {**ROOTS, "cancer": CANCER}, states=STATES)
    with pytest.raises(ParameterError, match=r"a table of 'xray' given \['cancer'\] is none of 'cancer'"):
        network.with_cpt("cancer", network.cpt("xray"))
    other = ConditionalTable(Variable("smoke", ("ja", "nein")), (), np.array([0.5, 0.5]))
    with pytest.raises(ParameterError, match=r"the table of 'smoke' has the states \['ja', 'nein'\]"):
        network.with_cpt("smoke", other)


def test_a_network_without_tables_answers_questions_about_its_graph_alone():
    network = BayesianNetwork(ASIA)
    assert network.is_d_separated("asia", "smoke")
    assert str(network.active_trail("asia", ["smoke"], "xray")) == "asia -> tub -> either <- lung <- smoke"
    assert network.markov_blanket("lung") == ("tub", "either", "smoke")
    assert network.ancestors("either") == ("asia", "tub", "lung", "smoke")
    assert network.descendants("lung") == ("either", "dysp", "xray")
    assert network.children("smoke") == ("lung", "bronc")
    assert network.topological_order()[:2] == ("asia", "tub")
    assert network.minimal_separator("asia", "xray") == ("tub",)
    assert list(network.minimal_separators("asia", "xray")) == [("tub",), ("either",)]
    assert list(network.minimal_separators("asia", "xray", most=1)) == [("tub",)]
    assert network.minimal_separator("asia", "xray", included="lung", allowed=["either"]) == ("either", "lung")
    assert network.minimal_separator("asia", "tub") is None
    assert [str(i) for i in network.independencies("xray")] == ["xray ⊥ asia, tub, lung, smoke, bronc, dysp | either"]
    assert network.moral_graph().n_edges == 10
    assert network.equivalence_class().n_edges == 8
    assert network.is_equivalent(network.dag)
    assert network.structural_hamming_distance(BayesianNetwork(ASIA)) == 0
    assert nx.utils.graphs_equal(network.to_networkx(), Dag.parse(ASIA).to_networkx())
    assert "no tables" in repr(network)
    for ask in (lambda: network.cpt("asia"), lambda: network.sample(1), lambda: network.states("asia")):
        with pytest.raises(ParameterError, match="has a graph and no tables; give tables"):
            ask()


def test_the_textbook_network_has_the_parameters_of_its_tables():
    assert asia().n_parameters == 18 - 4  # a rule has none; its table of four rows had one each
    assert repr(asia()).endswith("8 variables, 8 edges, 14 parameters")


def test_a_network_does_not_change():
    network = asia()
    with pytest.raises(AttributeError, match="'core' cannot be set, as a network does not change"):
        network.core = None
    with pytest.raises(ValueError, match="read-only"):
        network.cpt("asia").values[0] = 1.0
    table = network.core.tables
    network.with_cpt("asia", [0.5, 0.5])
    assert network.core.tables is table


def test_networks_are_compared_by_value_and_can_be_pickled():
    network = asia()
    again = pickle.loads(pickle.dumps(network))
    assert again == network
    assert hash(again) == hash(network)
    assert again != network.with_cpt("asia", [0.5, 0.5])
    assert network != BayesianNetwork(ASIA)
    assert network != "asia"


def test_with_edge_leaves_the_joint_as_it_was():
    network = asia()
    more = network.with_edge("asia", "bronc").with_edge("smoke", "dysp")
    assert more.parents("bronc") == ("smoke", "asia")
    assert np.array_equal(joint_by_enumeration(more.core), joint_by_enumeration(network.core))


def test_with_edge_takes_a_table():
    network = asia().with_edge("asia", "smoke", {"yes": [0.2, 0.8], "no": [0.5, 0.5]})
    assert network.cpt("smoke").given(asia="yes")["yes"] == 0.2
    with pytest.raises(ParameterError, match="the edge asia -> smoke is there already"):
        network.with_edge("asia", "smoke")
    with pytest.raises(ParameterError, match="cycle: asia -> smoke -> asia"):
        network.with_edge("smoke", "asia")


def test_a_noisy_or_takes_a_new_cause_that_does_nothing():
    states = dict.fromkeys("abc", YES_NO)
    network = BayesianNetwork("a -> b; c", {"a": [0.5, 0.5], "b": NoisyOr({"a": 0.25}), "c": [0.5, 0.5]}, states=states)
    more = network.with_edge("c", "b")
    assert isinstance(more.core.conditionals[1], NoisyOr)
    assert more.cpt("b").values[..., 0].tolist() == [[0.25, 0.25], [0.0, 0.0]]


def test_do_cuts_a_variable_from_its_parents():
    network = asia()
    done = network.do(lung="yes", tub="no")
    assert done.parents("lung") == done.parents("tub") == ()
    assert done.parents("either") == network.parents("either")
    assert done == network.do({"tub": "no", "lung": "yes"})
    with pytest.raises(ParameterError, match=r"'maybe' is no state of 'lung'; its states are \['yes', 'no'\]"):
        network.do(lung="maybe")
    with pytest.raises(ParameterError, match="there is no node 'lungs'; did you mean 'lung'"):
        network.do(lungs="yes")


def test_what_is_done_tells_nothing_of_causes_and_what_is_seen_does():
    """P(smoke | do(lung)) = P(smoke), by the joints of both networks, in fractions of the tables as written."""
    network = asia()
    smoke, lung = network.dag.node("smoke"), network.dag.node("lung")
    others = tuple(node for node in range(8) if node not in (smoke, lung))
    done = joint_by_enumeration(network.do(lung="yes").core).sum(axis=others)
    seen = joint_by_enumeration(network.core).sum(axis=others)
    done, seen = (joint if lung > smoke else joint.T for joint in (done, seen))
    assert done[0, 0] / done[:, 0].sum() == pytest.approx(0.5, abs=1e-15)
    expected = Fraction(1, 10) / (Fraction(1, 10) + Fraction(1, 100))
    assert seen[0, 0] / seen[:, 0].sum() == pytest.approx(float(expected), abs=1e-15)


def test_tables_are_printed_with_their_labels():
    network = BayesianNetwork(GRAPH, {**ROOTS, "cancer": CANCER}, states=STATES)
    assert repr(network.cpt("cancer")).splitlines() == [
        "P(cancer | smoke, pollution)",
        "smoke  pollution    yes     no",
        "yes    low         0.03   0.97",
        "yes    high        0.05   0.95",
        "no     low        0.001  0.999",
        "no     high        0.02   0.98",
    ]
    assert repr(BayesianNetwork("a -> b", {"a": np.full(30, 1 / 30), "b": np.full((30, 1), 1.0)}).cpt("b")).endswith(
        "... and 10 more rows"
    )


def test_a_table_goes_out_as_a_frame_and_comes_back():
    network = BayesianNetwork(GRAPH, {**ROOTS, "cancer": CANCER}, states=STATES)
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        frame = network.cpt("cancer").to_frame(library)
        assert isinstance(frame, kind)
        assert network.with_cpt("cancer", frame) == network
    assert np.array_equal(np.asarray(network.cpt("cancer")), CANCER)
    with pytest.raises(ParameterError, match=r"\['smoke'\] are given; name those of all parents"):
        network.cpt("cancer").given(smoke="yes")
    with pytest.raises(ParameterError, match="'maybe' is no state of 'smoke'"):
        network.cpt("cancer").given(smoke="maybe", pollution="low")


def test_a_distribution_is_a_mapping_from_labels():
    rain, wet = Variable("rain", ("no", "yes")), Variable("wet", range(2))
    joint = Distribution((rain, wet), np.array([[0.5, 0.25], [0.125, 0.125]]))
    assert joint["no", 1] == 0.25
    assert dict(joint) == {("no", 0): 0.5, ("no", 1): 0.25, ("yes", 0): 0.125, ("yes", 1): 0.125}
    assert joint.mode == ("no", 0)
    assert len(joint) == 4
    assert joint == Distribution((rain, wet), np.array([[0.5, 0.25], [0.125, 0.125]]))
    assert joint != Distribution((rain, wet), np.array([[0.5, 0.25], [0.25, 0.0]]))
    assert joint.to_frame("pandas").to_dict("list") == {
        "rain": ["no", "no", "yes", "yes"],
        "wet": [0, 1, 0, 1],
        "probability": [0.5, 0.25, 0.125, 0.125],
    }
    with pytest.raises(KeyError, match="'maybe' is no state of 'rain'"):
        Distribution((rain,), np.array([0.5, 0.5]))["maybe"]
    assert "1.00e-05" in repr(Distribution((rain,), np.array([1e-5, 1 - 1e-5])))
    assert repr(Distribution((Variable("n", range(40)),), np.full(40, 1 / 40))).endswith("... and 10 more")


@pytest.mark.parametrize("states", [["a"], np.array([1, 2]), "a"], ids=repr)
def test_states_of_a_graph_without_tables_are_told_by_name_as_well(states):
    with pytest.raises(ParameterError, match="give a dict from the names of the nodes to states"):
        BayesianNetwork("a -> b", states=states)


def test_the_network_is_exported():
    assert bayeswater.BayesianNetwork is BayesianNetwork
    assert set(ASIA_TABLES) == set(asia().names)


def test_noisy_ors_of_groups_of_causes_are_the_noisy_or_of_all():
    rng = np.random.default_rng(0)
    causes = {f"c{i}": float(p) for i, p in enumerate(rng.random(6))}
    groups = {"g0": ["c0", "c1", "c2"], "g1": ["c3", "c4", "c5"]}
    roots = {cause: {"no": 0.75, "yes": 0.25} for cause in causes}
    states = {name: ["no", "yes"] for name in ("g0", "g1", "e")}
    whole = BayesianNetwork(
        [(cause, "e") for cause in causes], roots | {"e": NoisyOr(causes, leak=0.125)}, states={"e": states["e"]}
    )
    edges = [(cause, group) for group, own in groups.items() for cause in own] + [(group, "e") for group in groups]
    parts = {group: NoisyOr({cause: causes[cause] for cause in own}) for group, own in groups.items()}
    divided = BayesianNetwork(edges, roots | parts | {"e": NoisyOr({"g0": 1.0, "g1": 1.0}, leak=0.125)}, states=states)
    for given in ({}, {"e": "yes"}, {"e": "yes", "c1": "no", "c4": "yes"}):
        expected = whole.joint(["c0", "c5", "e"], given).probabilities
        np.testing.assert_allclose(divided.joint(["c0", "c5", "e"], given).probabilities, expected, rtol=1e-12)
