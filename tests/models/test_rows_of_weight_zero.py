"""A row of weight zero is no row for any classifier: it may hold anything, and errors about others name their row."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from bayeswater import (
    AODE,
    KDB,
    BayesDecision,
    BayesEnsemble,
    Calibrated,
    DataError,
    Discretizer,
    GaussianClassifier,
    GaussianNB,
    NaiveBayes,
    NetworkClassifier,
    compare,
    learn_structure,
)
from bayeswater.data import weights

MODELS = {
    "GaussianNB": GaussianNB(),
    "NaiveBayes": NaiveBayes(),
    "GaussianClassifier": GaussianClassifier(),
    "AODE": AODE(),
    "KDB": KDB(),
    "NetworkClassifier": NetworkClassifier("naive"),
    "BayesEnsemble": BayesEnsemble(random_state=0),
    "Calibrated": Calibrated(NaiveBayes(), cv=2),
    "BayesDecision": BayesDecision(NaiveBayes()),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)

WITH_BATCHES = {name: model for name, model in MODELS.items() if hasattr(model, "fit_batches")}

X = np.random.default_rng(0).normal(size=(40, 2)) + np.arange(40)[:, None] % 2
y = np.arange(40) % 2
EVERY_THIRD_IS_NONE = np.arange(40) % 3
BAD = np.where(np.arange(40)[:, None] == 31, np.inf, X)  # row 31 counts
HARMLESS = np.where(np.arange(40)[:, None] % 3 == 0, np.inf, X)  # rows that do not count


@every_model
def test_it_has_no_influence_at_all(model):
    kept = EVERY_THIRD_IS_NONE > 0
    with_it = model.fit(HARMLESS, y, sample_weight=EVERY_THIRD_IS_NONE).predict_proba(X)
    without = model.fit(X[kept], y[kept], sample_weight=EVERY_THIRD_IS_NONE[kept]).predict_proba(X)
    assert_array_equal(with_it, without)


@every_model
def test_errors_name_the_row_of_the_table_that_was_given(model):
    with pytest.raises(DataError, match=r"inf in row 31, column 'x0'"):
        model.fit(BAD, y, sample_weight=EVERY_THIRD_IS_NONE)


@pytest.mark.parametrize("how", ["partial_fit", "forget"])
@pytest.mark.parametrize("name", ["GaussianNB", "NaiveBayes", "GaussianClassifier", "AODE", "BayesEnsemble"])
def test_so_do_those_of_rows_that_come_or_go_later(name, how):
    model = MODELS[name].fit(X, y)
    with pytest.raises(DataError, match=r"inf in row 31, column 'x0'"):
        getattr(model, how)(BAD, y, sample_weight=EVERY_THIRD_IS_NONE)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("model", WITH_BATCHES.values(), ids=WITH_BATCHES)
def test_so_do_those_of_a_batch(model, place):
    batches = [(X, y, EVERY_THIRD_IS_NONE), (X, y)]
    batches[place] = (BAD, y, EVERY_THIRD_IS_NONE)
    with pytest.raises(DataError, match=r"inf in row 31, column 'x0'"):
        model.fit_batches(batches)


def test_so_does_learning_a_structure():
    frame = pd.DataFrame(BAD, columns=["a", "b"])
    with pytest.raises(DataError, match=r"inf in row 31, column 'a'"):
        learn_structure(frame, sample_weight=EVERY_THIRD_IS_NONE)


@pytest.mark.parametrize("method", ["mdl", "equal_frequency"])
def test_so_does_a_discretizer_and_it_has_no_say_in_cuts(method):
    kept = EVERY_THIRD_IS_NONE > 0
    found = Discretizer(method).fit(HARMLESS, y, sample_weight=EVERY_THIRD_IS_NONE)
    assert found.cuts_ == Discretizer(method).fit(X[kept], y[kept], sample_weight=EVERY_THIRD_IS_NONE[kept]).cuts_
    with pytest.raises(DataError, match=r"inf in row 31, column 'x0'"):
        Discretizer(method).fit(BAD, y, sample_weight=EVERY_THIRD_IS_NONE)


@every_model
@pytest.mark.parametrize("table", [None, 3], ids=["None", "number"])
def test_what_is_no_table_is_refused_as_without_weights(model, table):
    with pytest.raises((DataError, ValueError), match="Expected 2D array"):
        model.fit(table, [0, 1], sample_weight=[0, 1])


@pytest.mark.parametrize("name", ["GaussianNB", "NaiveBayes", "GaussianClassifier", "AODE", "KDB", "BayesEnsemble"])
def test_weights_are_looked_at_once(name, monkeypatch):
    looked_at = []
    check = weights.checked_weight
    monkeypatch.setattr(weights, "checked_weight", lambda *given: looked_at.append(given) or check(*given))
    MODELS[name].fit(X, y, sample_weight=EVERY_THIRD_IS_NONE)
    assert len(looked_at) == 1


def test_what_compare_says_of_a_failure_names_the_row_of_the_table_that_was_given():
    found = compare(BAD, y, models=["naive-bayes"], sample_weight=EVERY_THIRD_IS_NONE)
    assert "inf in row 31, column 'x0'" in found["NaiveBayes"].failure
