"""`learn_blanket`: which columns tell of one, without a graph."""

import pandas as pd
import pytest
from tests.oracles.chained_rows import chained_rows

from bayeswater import BayesianNetwork, learn_blanket
from bayeswater.errors import ParameterError
from bayeswater.structure.blankets import NEAR, PARENTS_AND_CHILDREN

TRUTH = BayesianNetwork(
    "a -> b -> d <- c; d -> e",
    {
        "a": [0.4, 0.6],
        "b": [[0.9, 0.1], [0.2, 0.8]],
        "c": [0.5, 0.5],
        "d": [[[0.95, 0.05], [0.3, 0.7]], [[0.4, 0.6], [0.05, 0.95]]],
        "e": [[0.8, 0.2], [0.1, 0.9]],
    },
)


@pytest.mark.parametrize("method", NEAR)
def test_the_blanket_and_the_parents_and_children_of_the_true_graph_are_found(method):
    rows = TRUTH.sample(4000, random_state=0).to_pandas()
    assert set(learn_blanket(rows, "d", method, significance=0.01)) == {"b", "c", "e"}
    beside = set() if method in PARENTS_AND_CHILDREN else {"b"}
    assert set(learn_blanket(rows, "c", method, significance=0.01)) == {"d"} | beside


def test_numbers_stay_numbers_where_a_test_is_of_them():
    codes, _ = chained_rows(300, [5, 6, 7], seed=3)
    rows = pd.DataFrame(codes.T * 1.5, columns=list("xyz"))
    assert learn_blanket(rows, "x", test="cor") == learn_blanket(rows, "x", numbers="gaussian")


def test_what_finds_no_blanket_is_refused():
    rows = pd.DataFrame({"a": [0, 1] * 9, "b": [0, 1] * 9})
    with pytest.raises(ParameterError, match="method is 'pc'; choose one of grow_shrink"):
        learn_blanket(rows, "a", "pc")
    with pytest.raises(ParameterError, match="there is no column 'c'"):
        learn_blanket(rows, "c")
    with pytest.raises(ParameterError, match="significance is 5"):
        learn_blanket(rows, "a", significance=5)
