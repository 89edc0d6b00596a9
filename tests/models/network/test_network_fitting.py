"""Tables of a network from rows with missing cells: available cases, or EM."""

import numpy as np
import pandas as pd
import pytest
from tests.networks.nets import asia

from bayeswater.errors import ParameterError, ResourceLimitError
from bayeswater.models.network.bayesian_network import BayesianNetwork


def rows(n=1000, share=0.2, seed=0):
    whole = asia().sample(n, random_state=seed).to_pandas().astype(object)
    return whole, whole.mask(np.random.default_rng(seed).random(whole.shape) < share)


def tables(network):
    return [network.cpt(name).values for name in network.names]


@pytest.mark.parametrize("missing", ["available", "em"])
def test_tables_too_large_together_are_refused_before_rows_are_counted(missing, monkeypatch):
    names = [f"v{j}" for j in range(14)]
    data = pd.DataFrame(np.random.default_rng(0).integers(10, size=(100, 14)).astype(str), columns=names)
    graph = "; ".join(f"{parent} -> {child}" for j, child in enumerate(names) for parent in names[:j])
    monkeypatch.setattr("bayeswater.statistics.category_counts.joint_counts", None)
    with pytest.raises(
        ResourceLimitError, match=r"counting 14 variables .* the largest table is of one with 13 parents"
    ):
        BayesianNetwork.from_data(graph, data, missing=missing)


def test_of_whole_rows_em_is_counting():
    whole, _ = rows()
    for one, other in zip(
        tables(BayesianNetwork.from_data(asia().dag, whole, missing="em")),
        tables(BayesianNetwork.from_data(asia().dag, whole)),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_em_makes_what_is_known_more_likely_than_available_cases_do():
    _, data = rows()
    fits = {way: BayesianNetwork.from_data(asia().dag, data, missing=way, alpha=0.01) for way in ("em", "available")}
    likely = {way: network.log_evidence(data).sum() for way, network in fits.items()}
    assert likely["em"] > likely["available"]


def test_a_cell_that_its_neighbours_tell_is_filled_in():
    # b is a copy of a: of the rows without a, all whose b is "yes" count for a = "yes".
    data = pd.DataFrame({"a": ["yes", "no"] * 2 + [None] * 6, "b": ["yes", "no"] * 2 + ["yes"] * 6})
    network = BayesianNetwork.from_data("a -> b", data, alpha=0, missing="em")
    # EM comes nearer by a factor each round, and ends where a round gains less than a millionth for each row.
    assert network.cpt("a").given()["yes"] == pytest.approx(0.8, abs=1e-3)
    available = BayesianNetwork.from_data("a -> b", data, alpha=0)
    assert available.cpt("a").given()["yes"] == 0.5


def test_a_column_without_a_value_is_learned_about_where_its_states_are_given():
    _, data = rows(300)
    data["smoke"] = None
    network = BayesianNetwork.from_data(asia().dag, data, states={"smoke": ["yes", "no"]}, missing="em")
    assert network.cpt("smoke").values.sum() == pytest.approx(1.0)


def hidden_cause(n_rows=4000, seed=0):
    """A cause of three effects: P(cause = 1) = 0.3, P(effect = 1 | cause) = 0.1 and 0.9, 0.2 and 0.8, 0.3 and 0.9."""
    tables = {
        "cause": [0.7, 0.3],
        "a": [[0.9, 0.1], [0.1, 0.9]],
        "b": [[0.8, 0.2], [0.2, 0.8]],
        "c": [[0.7, 0.3], [0.1, 0.9]],
    }
    network = BayesianNetwork("cause -> a; cause -> b; cause -> c", tables)
    return network, network.sample(n_rows, random_state=seed).to_pandas()


def test_a_cause_that_no_row_shows_is_found_by_what_it_does():
    truth, data = hidden_cause()
    data["cause"] = None
    network = BayesianNetwork.from_data(truth.dag, data, states={"cause": 2}, missing="em")
    first = int(network.cpt("a").values[0, 1] > 0.5)  # which of the states is called 0 is by chance
    for name in ("a", "b", "c"):
        # Three effects of a cause of two states tell all of it; 4000 rows leave a few hundredths.
        np.testing.assert_allclose(network.cpt(name).values[[first, 1 - first]], truth.cpt(name).values, atol=0.06)
    np.testing.assert_allclose(network.cpt("cause").values[[first, 1 - first]], [0.7, 0.3], atol=0.06)
    # As likely as the network that the rows came from, or more: it was fitted to them.
    rest = data[["a", "b", "c"]]
    assert network.log_evidence(rest).sum() > truth.log_evidence(rest).sum() - 1


def test_a_hidden_cause_is_found_again_the_same():
    truth, data = hidden_cause(500)
    data["cause"] = None
    one, two = (BayesianNetwork.from_data(truth.dag, data, states={"cause": 3}, missing="em") for _ in range(2))
    assert one == two


def test_a_hidden_effect_stays_even():
    data = pd.DataFrame({"a": [0, 1, 1, 1] * 10, "effect": None})
    network = BayesianNetwork.from_data("a -> effect", data, states={"effect": 2}, missing="em")
    assert network.cpt("effect").values.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_weights_are_as_many_rows():
    _, data = rows(200)
    weight = np.random.default_rng(1).integers(0, 4, len(data))
    states = {name: ["yes", "no"] for name in data.columns}
    weighted = BayesianNetwork.from_data(asia().dag, data, states=states, sample_weight=weight, missing="em")
    repeated = data.loc[np.repeat(data.index, weight)]
    for one, other in zip(
        tables(weighted),
        tables(BayesianNetwork.from_data(asia().dag, repeated, states=states, missing="em")),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_a_rule_for_missing_cells_that_is_none_is_refused():
    with pytest.raises(ParameterError, match="missing is 'drop'; it can be 'available' or 'em'"):
        BayesianNetwork.from_data(asia().dag, rows(20)[0], missing="drop")


@pytest.mark.filterwarnings("error::bayeswater.errors.ConvergenceWarning")
def test_with_half_of_the_cells_missing_it_ends_before_the_limit_of_rounds():
    _, data = rows(500, share=0.5)
    network = BayesianNetwork.from_data(asia().dag, data, missing="em")
    assert all((table > 0).all() for table in tables(network))
