"""A graph that comes with states is scored on these: numbers go into its bins, and into no others."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import BayesianNetwork, learn_structure, score_structure

RNG = np.random.default_rng(0)
AGE = RNG.normal(40, 10, 300).round(2)
DATA = pd.DataFrame({"age": AGE, "old": np.where(AGE > 45, "yes", "no")})
FOUND = learn_structure(DATA)


@pytest.mark.filterwarnings("ignore:.*written escaped:bayeswater.errors.NetworkFileWarning")
@pytest.mark.parametrize("ending", [None, "bif", "xdsl", "bayes"])
def test_other_rows_are_scored_in_the_bins_that_a_network_was_learned_with(ending, tmp_path):
    network = FOUND.network
    if ending is not None:
        network.write(tmp_path / f"net.{ending}")
        network = BayesianNetwork.read(tmp_path / f"net.{ending}")
    rows = DATA[:100]
    expected = score_structure(FOUND.graph, FOUND.states_of(rows))
    assert score_structure(network, rows) == expected
    assert score_structure(FOUND, rows) == expected
    assert score_structure(FOUND.graph, rows) != expected  # bins of these rows' own
    assert score_structure(network, DATA) == FOUND.score


def test_what_is_said_of_a_column_goes_before_the_bins_of_a_network():
    columns = {"age": {"cuts": [45.0]}}
    assert score_structure(FOUND.network, DATA, columns=columns) == score_structure(FOUND.graph, DATA, columns=columns)


def test_names_of_bins_stay_states_and_graphs_without_tables_have_no_bins():
    states = FOUND.states_of(DATA)
    assert score_structure(FOUND.network, states) == FOUND.score
    assert score_structure(BayesianNetwork(FOUND.graph), DATA) == FOUND.score


def test_what_was_learned_is_scored_in_its_own_bins_though_their_names_are_rounded():
    data = DATA.assign(age=1e9 + RNG.normal(size=len(DATA)))
    found = learn_structure(data)
    assert score_structure(found, data) == found.score
    assert score_structure(found.network, data) != found.score  # which has the names alone
