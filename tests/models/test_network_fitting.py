"""Tables of a network from rows with missing cells: available cases, or EM."""

import numpy as np
import pandas as pd
import pytest
from tests.networks.nets import asia

from bayeswater.errors import ParameterError
from bayeswater.models.bayesian_network import BayesianNetwork


def rows(n=1000, share=0.2, seed=0):
    whole = asia().sample(n, random_state=seed).to_pandas().astype(object)
    return whole, whole.mask(np.random.default_rng(seed).random(whole.shape) < share)


def tables(network):
    return [network.cpt(name).values for name in network.names]


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
