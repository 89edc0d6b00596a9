"""Frames with a line for each row of a frame of pandas keep its index, so that both can be joined."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from bayeswater import TAN, BayesEnsemble, BayesianNetwork, GaussianClassifier, NaiveBayes, learn_structure

INDEX = pd.MultiIndex.from_product([["p", "q"], range(20, 0, -1)], names=["where", "when"])
FRAME = pd.DataFrame({"a": [0, 1, 1, 0] * 10, "b": ["u", "v", "v", "v"] * 10}, index=INDEX)
NUMBERS = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), index=INDEX, columns=["x", "y"])
Y = np.array([0, 1] * 20)
NETWORK = BayesianNetwork.from_data("a -> b", FRAME)

ENSEMBLE = cache(lambda: BayesEnsemble().fit(FRAME, Y))

ANSWERS = {
    "posteriors": lambda rows: NETWORK.posteriors(rows, as_frame=True),
    "most probable explanation": NETWORK.most_probable_explanation,
    "states_of": lambda rows: learn_structure(FRAME).states_of(rows),
    "explain": lambda rows: NaiveBayes().fit(FRAME, Y).explain(rows).to_frame(),
    "explain pairs": lambda rows: TAN().fit(FRAME, Y).explain(rows).to_frame(),
    "explain an ensemble": lambda rows: ENSEMBLE().explain(rows).to_frame(),
    "credible interval": lambda rows: NaiveBayes().fit(FRAME, Y).credible_interval(rows, n_draws=10).to_frame(),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_the_index_of_the_rows_is_kept(answer):
    rows = FRAME.iloc[[5, 3, 30]]
    found = answer(rows)
    pd.testing.assert_index_equal(found.index, rows.index)
    in_place = answer(rows.reset_index(drop=True))
    pd.testing.assert_frame_equal(found.reset_index(drop=True), in_place)


def test_numbers_that_are_explained_keep_it_too():
    rows = NUMBERS.iloc[[5, 3, 30]]
    pd.testing.assert_index_equal(GaussianClassifier().fit(NUMBERS, Y).explain(rows).to_frame().index, rows.index)


def test_a_model_of_pandas_answers_rows_without_an_index():
    found = NaiveBayes().fit(FRAME, Y).explain(FRAME.to_numpy()).to_frame()
    pd.testing.assert_index_equal(found.index, pd.RangeIndex(40))
