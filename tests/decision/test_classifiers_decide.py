"""`decide` and `expected_loss` of the classifiers: 0-1 loss is `predict`, and everything is least expected cost."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold

from bayeswater import (
    BayesDecision,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    Loss,
    MultinomialNB,
    NaiveBayes,
    SchemaError,
)
from bayeswater.demo.loans import loans

MODELS = [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X.round().astype(int), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})


@pytest.mark.parametrize("model", MODELS)
def test_decide_takes_the_least_risk_of_the_posterior(model, iris):
    X, y = iris
    fitted = model().fit(X, y)
    loss = Loss.from_costs({(i, j): 1 + 9 * (j == "virginica") for i in set(y) for j in set(y) if i != j}).with_reject(
        0.4
    )
    in_order = loss.for_classes(fitted.classes_)
    log_proba = fitted.predict_log_proba(X)
    action, risk = fitted.decide(X, loss=loss, return_risk=True)
    assert_array_equal(action, in_order.best_action(log_proba=log_proba))
    assert_array_equal(action, fitted.decide(X, loss=loss))
    assert_allclose(risk, in_order.conditional_risk(log_proba=log_proba), rtol=1e-12)  # normalised once more
    assert_allclose(fitted.expected_loss(X, loss=loss), risk.min(axis=1), rtol=1e-15)


@pytest.mark.parametrize("model", MODELS)
def test_under_zero_one_loss_decide_is_predict(model, iris):
    X, y = iris
    fitted = model().fit(X, y)
    for loss in (None, 1 - np.eye(3), Loss.zero_one(["virginica", "setosa", "versicolor"])):
        assert_array_equal(fitted.decide(X, loss=loss), fitted.predict(X))


def test_a_tie_among_classes_stays_a_tie_among_actions_however_long_the_text():
    # Two classes whose halves are swapped, and rows of two equal halves: log-joints of size 10 000 are equal but for
    # their last bits, which is more than the last bits of the posteriors, 1/2 each.
    rng = np.random.default_rng(0)
    half = rng.integers(1, 50, 300)
    X = np.array([np.concatenate([half, half[::-1]]), np.concatenate([half[::-1], half])])
    model = MultinomialNB().fit(X, ["first", "second"])
    rows = np.tile(rng.integers(0, 30, (200, 300)), 2)
    joint = model.predict_joint_log_proba(rows)
    assert (np.abs(joint) > 1e4).all()
    assert (joint[:, 1] > joint[:, 0]).any()  # rounding alone would have decided
    assert set(model.predict(rows)) == {"first"}
    assert_array_equal(model.decide(rows), model.predict(rows))


def test_costs_may_come_from_a_column_of_the_rows():
    X = pd.DataFrame({"amount": [1.0, 2.0, 900.0, 1000.0], "hour": [1.0, 2.0, 1.5, 2.5]})
    model = GaussianNB().fit(X, ["ok", "ok", "fraud", "ok"])
    pairs = {("pay", "fraud"): "amount", ("pay", "ok"): 0, ("stop", "fraud"): 0, ("stop", "ok"): 10}
    risk = model.decide(X, loss=Loss.from_costs(pairs), return_risk=True).risk
    fraud, ok = model.predict_proba(X).T
    assert_allclose(risk, np.column_stack([fraud * X["amount"], 10 * ok]), rtol=1e-12)  # normalised once more


def test_frequencies_estimated_from_the_rows_are_reported_and_used(iris):
    X, y = iris
    model = GaussianNB().fit(X, y)
    some = X[:80]
    found = model.estimate_class_prior(some)
    assert found.converged
    assert found.classes == ("setosa", "versicolor", "virginica")
    assert found.prior[0] > 0.5
    decided = model.decide(some, prior="estimate", return_risk=True)
    assert_array_equal(decided.prior.prior, found.prior)
    assert_array_equal(decided.risk, model.decide(some, prior=found, return_risk=True)[1])
    assert_array_equal(decided.risk, model.decide(some, prior=found.prior, return_risk=True)[1])
    assert model.decide(some, return_risk=True).prior is None
    again = pickle.loads(pickle.dumps(decided))
    assert_array_equal(again.action, decided.action)
    assert again.prior.n_iterations == found.n_iterations


def test_labels_of_the_loss_that_are_no_classes_are_named(iris):
    X, y = iris
    with pytest.raises(
        SchemaError, match=r"no costs are stated for \['versicolor'\]; there are no .* \['versicolour'\]"
    ):
        GaussianNB().fit(X, y).decide(X, loss=Loss.zero_one(["setosa", "versicolour", "virginica"]))


@pytest.mark.parametrize(
    "make",
    [
        lambda loss: NaiveBayes(),
        lambda loss: NaiveBayes(calibrate=True),
        lambda loss: BayesDecision(HistGradientBoostingClassifier(max_iter=30, random_state=0), loss=loss),
    ],
    ids=["NaiveBayes", "calibrated", "boosting in BayesDecision"],
)
def test_decisions_by_their_costs_cost_less_than_plain_predictions(make):
    table = loans().to_pandas()
    X, y = table[["age", "income", "savings", "past_delays"]], table["outcome"].to_numpy()
    loss = Loss({"repaid": {"late": 5}, "late": {"repaid": 1}})
    plain, decided = 0.0, 0.0
    for learn, held_out in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        model = make(loss).fit(X.iloc[learn], y[learn])
        rows, truth = X.iloc[held_out], y[held_out]
        plain += loss.realised(getattr(model, "estimator_", model).predict(rows), truth).sum()
        decided += loss.realised(model.decide(rows, loss=loss), truth).sum()
    assert decided < 0.8 * plain  # 600 rows, held out: far over the noise of a few rows
