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


@pytest.mark.parametrize("graph", [FOUND, FOUND.network, FOUND.graph], ids=["learned", "network", "graph"])
@pytest.mark.parametrize("text", ["object", "string[pyarrow]"])
def test_names_of_bins_are_states_as_plain_texts_too(graph, text):
    states = FOUND.states_of(DATA).astype(text)
    assert score_structure(graph, states) == pytest.approx(FOUND.score, rel=1e-14)  # states in another order


def test_a_column_of_sentences_that_is_a_node_has_states():
    said = np.where(DATA["old"] == "yes", "this one is old enough", "this one is far too young")
    graph = "age -> said"
    assert score_structure(graph, DATA.assign(said=said).drop(columns="old")) == pytest.approx(
        score_structure("age -> old", DATA), rel=1e-14
    )


@pytest.mark.parametrize("zone", [None, "Asia/Shanghai"])
def test_dates_and_times_are_scored_in_the_bins_of_what_was_learned(zone):
    begin = pd.Timestamp("2020-01-01", tz=zone)
    hours = pd.to_timedelta(np.sort(RNG.integers(0, 30_000, 300)), unit="h")
    data = pd.DataFrame({"day": begin + hours, "wait": hours})
    found = learn_structure(data)
    rows = data[:150]
    expected = score_structure(found.graph, found.states_of(rows), per_node=True)
    scores = score_structure(found, rows, per_node=True)
    assert {name: scores[name] for name in ("day", "wait")} == {name: expected[name] for name in ("day", "wait")}
    assert score_structure(found, data) == found.score


def test_a_date_that_is_a_node_has_no_weekday_and_month_that_are_none():
    days = pd.DataFrame(
        {"day": pd.Timestamp("2020-01-01") + pd.to_timedelta(DATA["age"], unit="D"), "old": DATA["old"]}
    )
    left_out = dict.fromkeys(["day (weekday)", "day (month)"], "ignored")
    assert score_structure("day -> old", days) == score_structure("day -> old", days, columns=left_out)
    with_month = score_structure('day -> old; "day (month)"', days, per_node=True)
    assert list(with_month) == ["day", "day (month)", "old"]
    as_texts = score_structure("day -> old", days.assign(day=days["day"].astype(str)))
    assert score_structure("day -> old", days, columns={"day": "categorical"}) == pytest.approx(as_texts, rel=1e-14)
