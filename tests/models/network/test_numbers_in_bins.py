"""A network whose states are bins of numbers is told numbers: each falls into its bin."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import BayesianNetwork, DataError, ParameterError

BINS = ["under 30", "30 to 60", "from 60 on"]
NETWORK = BayesianNetwork(
    "age -> old", {"age": [0.3, 0.4, 0.3], "old": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]}, states={"age": BINS}
)
PLACES = [(-1e300, 0), (29.999, 0), (30, 1), (np.int8(59), 1), (np.float32(60), 2), (1e300, 2)]


@pytest.mark.parametrize(("number", "place"), PLACES)
def test_a_number_is_evidence_of_its_bin(number, place):
    expected = NETWORK.query("old", {"age": BINS[place]})
    assert NETWORK.query("old", {"age": number}) == expected
    assert NETWORK.cpt("old").given(age=number) == expected
    assert NETWORK.do(age=number) == NETWORK.do(age=BINS[place])
    assert NETWORK.log_evidence({"age": number}) == NETWORK.log_evidence({"age": BINS[place]})
    assert NETWORK.most_probable_explanation({"age": number}).states["age"] == BINS[place]


def test_numbers_one_by_one_fall_where_a_column_of_them_does():
    numbers = np.sort(np.random.default_rng(0).choice([29.9, 30.0, 30.1, 59.9, 60.0, 60.1], 40))
    found = NETWORK.posteriors(pd.DataFrame({"age": numbers}), "old")["old"]
    for number, row in zip(numbers.tolist(), found, strict=True):
        # One question and many rows are answered on different ways, whose last bits may differ.
        np.testing.assert_allclose(NETWORK.query("old", {"age": number}).probabilities, row, rtol=1e-14)


@pytest.mark.parametrize("label", [True, float("nan"), float("inf"), None, "50", [50], {}], ids=repr)
def test_what_is_no_finite_number_falls_into_no_bin(label):
    for ask in (lambda: NETWORK.query("old", {"age": label}), lambda: NETWORK.cpt("old").given(age=label)):
        with pytest.raises(ParameterError, match="is no state of 'age'; its states are"):
            ask()


def test_numbers_that_are_states_are_no_bins():
    network = BayesianNetwork("k", {"k": {1: 0.2, 2: 0.8}})
    assert network.log_evidence({"k": 2.0}) == network.log_evidence({"k": 2})
    with pytest.raises(ParameterError, match=r"1\.5 is no state of 'k'"):
        network.query("k", {"k": 1.5})


@pytest.mark.parametrize("unseen", ["error", "ignore"])
@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_an_infinite_cell_of_a_column_is_refused_as_one_alone_is(infinite, unseen):
    with pytest.raises(DataError, match="contains infinity: column 'age'"):
        NETWORK.posteriors(pd.DataFrame({"age": [25.0, infinite, None]}), "old", unseen=unseen)
