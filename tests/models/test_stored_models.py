"""`Calibrated` and `BayesDecision` around a classifier of ours are saved, and loaded as they were."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from bayeswater import (
    TAN,
    BayesDecision,
    Calibrated,
    GaussianNB,
    Loss,
    ModelFileError,
    NaiveBayes,
    load,
    save,
)
from bayeswater.files.model_file import read_model_file, write_model_file

X, Y = load_iris(return_X_y=True)
X, Y = X[::3], np.array(["setosa", "versicolor", "virginica"])[Y[::3]]
COSTS = Loss.from_costs({(a, b): 1.0 + (a < b) for a in np.unique(Y) for b in np.unique(Y) if a != b})


def again(model, tmp_path):
    save(model, tmp_path / "m.bayes")
    return load(tmp_path / "m.bayes")


@pytest.mark.parametrize("method", ["auto", "temperature", "vector", "beta", "isotonic"])
def test_a_calibrated_classifier_is_loaded_to_the_bit(method, tmp_path):
    model = Calibrated(GaussianNB(), method=method).fit(X, Y)
    found = again(model, tmp_path)
    np.testing.assert_array_equal(found.predict_log_proba(X), model.predict_log_proba(X))
    assert str(found.calibration_) == str(model.calibration_) and found.get_params().keys() == model.get_params().keys()
    assert (found.method, found.cv, found.classes_.tolist()) == (method, 5, model.classes_.tolist())
    np.testing.assert_array_equal(found.fit(X, Y).predict_proba(X), model.predict_proba(X))  # it is what it was


@pytest.mark.parametrize("calibrate", [False, True, "beta"])
@pytest.mark.parametrize("loss", [None, COSTS.with_reject(0.2)])
def test_a_decision_is_loaded_with_its_costs(calibrate, loss, tmp_path):
    model = BayesDecision(NaiveBayes(), loss=loss, calibrate=calibrate, prior=[0.2, 0.3, 0.5]).fit(X, Y)
    found = again(model, tmp_path)
    assert found.predict(X).tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(found.expected_loss(X), model.expected_loss(X))
    assert (found.loss is None) is (loss is None) and found.loss_ == model.loss_
    np.testing.assert_array_equal(found.class_prior_, model.class_prior_)


def test_costs_that_name_a_column_are_kept_and_functions_are_refused(tmp_path):
    def decision(cost):
        loss = {"yes": {"no": cost, "yes": 0.0}, "no": {"yes": 1.0, "no": 0.0}}
        import pandas as pd

        frame = pd.DataFrame(X, columns=["a", "b", "c", "price"])
        return frame, BayesDecision(TAN(), loss=loss).fit(frame, np.where(Y == "setosa", "yes", "no"))

    frame, model = decision("price")
    assert again(model, tmp_path).predict(frame).tolist() == model.predict(frame).tolist()
    _, model = decision(lambda rows: np.ones(len(rows)))
    with pytest.raises(ModelFileError, match="name a column"):
        save(model, tmp_path / "m.bayes")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Calibrated(LogisticRegression()), "cannot save LogisticRegression"),
        (BayesDecision(LogisticRegression()), "cannot save LogisticRegression"),
        (Calibrated(FrozenEstimator(GaussianNB().fit(X, Y))), "cannot save FrozenEstimat"),
        (Calibrated(GaussianNB(), cv=KFold(3)), "parameter 'cv' is KFold"),
        (BayesDecision(Calibrated(LogisticRegression())), "cannot save LogisticRegression"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_in_words(model, said, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y)
    with pytest.raises(ModelFileError, match=said):
        save(model, tmp_path / "m.bayes")
    assert not list(tmp_path.iterdir())


def test_forged_wrappers_are_refused(tmp_path):
    path = tmp_path / "m.bayes"
    save(BayesDecision(Calibrated(GaussianNB())).fit(X, Y), path)
    document, arrays = read_model_file(path)

    def forged(**changes):
        write_model_file(path, {**document, **changes}, arrays)
        return path

    inside = document["inside"]
    wrong = [
        {"inside": {**document}},  # a decision in a decision
        {"inside": {**inside, "kind": "Nobody"}},
        {"inside": 7},
        {"inside": {**inside, "calibration": {"Doubt": [0.5, {"array": ["bool", [True]]}]}}},
        {"loss": [1, 2, 3, 4]},
        {"loss": [document["loss"][0], document["loss"][1], {"array": ["float64", [[1.0]]]}, []]},
        {"loss": [*document["loss"][:3], [[9, 0, "price"]]]},
        {"class_prior": {"array": ["float64", [2.0, -1.0, 0.0]]}},
        {"parameters": {}},
        {"more": 1},
    ]
    for changes in wrong:
        with pytest.raises(ModelFileError):
            load(forged(**changes))
    assert load(forged()).predict(X).tolist() == load(forged()).estimator_.predict(X).tolist()
