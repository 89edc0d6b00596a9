"""What people type at a network: graphs in every form, settings that exclude each other, names of files, labels."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayeswater import BayesianNetwork, DataError, ParameterError, learn_structure
from bayeswater.data.variable import Variable
from bayeswater.inference.sampling.question import Estimate
from bayeswater.models.network.answers import EstimatedDistribution
from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import equivalence_class

ROWS = pd.DataFrame({"a": [0, 0, 1, 1] * 20, "b": ["x", "x", "y", "y"] * 20})
CHAIN = BayesianNetwork("a -> b")
LEARNED = learn_structure(ROWS)


@pytest.mark.parametrize(
    "other",
    ["b -> a", [("b", "a")], Dag.parse("b -> a"), BayesianNetwork("b -> a"), LEARNED, LEARNED.network],
    ids=type,
)
def test_graphs_are_compared_in_every_form_in_which_they_are_given(other):
    assert CHAIN.is_equivalent(other)
    assert CHAIN.structural_hamming_distance(other) == 0
    assert CHAIN.structural_hamming_distance(other, of_classes=False) == 1


def test_what_is_no_graph_is_refused():
    with pytest.raises(ParameterError, match="graph is 3; give a text"):
        CHAIN.is_equivalent(3)


def test_two_ways_to_smooth_are_not_taken_together():
    with pytest.raises(ParameterError, match=r"alpha is 3 and equivalent_sample_size is 1; .* give one of them"):
        BayesianNetwork.from_data("a -> b", ROWS, alpha=3, equivalent_sample_size=1)
    one = BayesianNetwork.from_data("a -> b", ROWS)
    assert one == BayesianNetwork.from_data("a -> b", ROWS, alpha=1.0)


@pytest.mark.parametrize(
    "name", ["asia.bif", "my nets/asia.XDSL", "C:\\nets\\asia.net", "asia.bayes", Path("asia.bif")]
)
def test_the_name_of_a_file_is_no_graph(name):
    with pytest.raises(ParameterError, match=r"is the name of a file.*BayesianNetwork\.read\("):
        BayesianNetwork(name)
    with pytest.raises(ParameterError, match=r"BayesianNetwork\.read\("):
        BayesianNetwork.from_data(name, ROWS)


def test_a_node_may_be_called_as_a_file_between_quotes_or_beside_others():
    assert BayesianNetwork('"asia.bif"').names == ("asia.bif",)
    assert BayesianNetwork("a -> asia.bif").names == ("a", "asia.bif")
    assert BayesianNetwork("a.b").names == ("a.b",)


def test_one_thing_is_told_in_the_singular():
    printed = repr(learn_structure(ROWS[["a"]]))
    assert "Structure of 1 variable with 0 arcs" in printed
    assert "hill_climb: 1 step," in repr(learn_structure(ROWS, method="hill_climb"))
    assert repr(BayesianNetwork("a", {"a": [0.5, 0.5]})) == "BayesianNetwork('a'): 1 variable, 0 edges, 1 parameter"


def test_names_that_need_quotes_are_printed_so_that_they_can_be_typed():
    rows = ROWS.set_axis(["lung cancer", "x->y"], axis=1)
    arcs = next(line for line in repr(learn_structure(rows)).split("\n") if "arcs  " in line).split(maxsplit=1)[1]
    assert set(BayesianNetwork(arcs).names) == set(rows.columns)
    assert str(equivalence_class(Dag.parse('"lung cancer" -> b <- c'))) == '"lung cancer" -> b\nc -> b'


def test_small_errors_of_sampling_are_shown_with_two_digits():
    errors = np.array([3.6e-05, 0.0123456, 0.0])
    found = Estimate(np.array([0.2, 0.3, 0.5]), errors, np.full(3, 1e4), None, "gibbs", 100, None)
    lines = repr(EstimatedDistribution((Variable("a", ("x", "y", "z")),), found.probability, found)).split("\n")
    assert [line.split()[2].rstrip("?") for line in lines[1:4]] == ["3.6e-05", "0.012", "0.0"]


def test_the_evidence_of_one_row_may_be_a_dict():
    network = BayesianNetwork.from_data("a -> b", ROWS)
    assert network.log_evidence({"b": "x"}) == network.log_evidence(pd.DataFrame({"b": ["x"]}))[0]
    assert network.log_evidence({}) == 0.0
    with pytest.raises(ParameterError, match="'c'"):
        network.log_evidence({"c": "x"})


def test_a_dict_of_states_is_one_row():
    network = BayesianNetwork.from_data("a -> b", ROWS)
    row = network.posteriors({"b": "x"})["a"]
    np.testing.assert_array_equal(row, network.posteriors(pd.DataFrame([{"b": "x"}]))["a"])


def test_a_list_of_dicts_is_rows_in_which_an_absent_key_is_a_missing_cell():
    network = BayesianNetwork.from_data("a -> b", ROWS)
    rows = [{"b": "x"}, {}]
    np.testing.assert_array_equal(network.posteriors(rows)["a"], network.posteriors(pd.DataFrame(rows))["a"])


def test_a_dict_of_columns_is_refused_with_what_makes_a_table_of_it():
    network, X = BayesianNetwork.from_data("a -> b", ROWS), {"b": ["x", "y"]}  # a dict is one row
    with pytest.raises(DataError, match=re.escape("give pandas.DataFrame(X)")):
        network.posteriors(X)
    assert len(network.posteriors(pd.DataFrame(X))["a"]) == 2


def test_a_distribution_of_one_variable_is_asked_by_its_state_alone_or_in_a_tuple():
    joint = BayesianNetwork.from_data("a -> b", ROWS).joint(["b"])
    assert joint[("x",)] == joint["x"] == 0.5
    with pytest.raises(KeyError, match="is no state of 'b'"):
        joint[("x", "y")]
    with pytest.raises(KeyError, match="is no state of 'b'"):
        joint[([],)]


def test_several_states_of_a_variable_are_told_as_a_likelihood():
    network = BayesianNetwork(
        "a -> b",
        {"a": [0.2, 0.3, 0.5], "b": [[0.1, 0.9], [0.5, 0.5], [0.8, 0.2]]},
        states={"a": ["x", "y", "z"], "b": ["no", "yes"]},
    )
    with pytest.raises(ParameterError, match=r"give soft_evidence=\{'a': \{'x': 1, 'y': 0, 'z': 1\}\}"):
        network.query("b", {"a": ["x", "z"]})
    found = network.query("b", soft_evidence={"a": {"x": 1, "y": 0, "z": 1}})
    assert found["no"] == pytest.approx((0.2 * 0.1 + 0.5 * 0.8) / 0.7, rel=1e-12)
    with pytest.raises(ParameterError, match=r"\['x', 'w'\] is no state of 'a'"):
        network.query("b", {"a": ["x", "w"]})
    for nothing in ([], [np.array([1, 2])]):
        with pytest.raises(ParameterError, match="is no state of 'a'"):
            network.query("b", {"a": nothing})
