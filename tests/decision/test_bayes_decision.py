"""`BayesDecision` around any classifier: scikit-learn's protocols, least expected cost, scorers, calibration."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeswater import BayesDecision, DataError, GaussianNB, Loss, ParameterError, SchemaError
from bayeswater.decision import expected_loss_scorer, realised_loss_scorer

MISS = Loss.from_costs({("no", "yes"): 5, ("yes", "no"): 1})


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(600, n_features=6, flip_y=0.2, random_state=0)
    return X, np.where(y == 1, "yes", "no")


# Not with prior="estimate": frequencies are then estimated from all rows of X, so a row alone may be decided otherwise.
@parametrize_with_checks([BayesDecision(GaussianNB())])
def test_every_check_of_scikit_learn_passes(estimator, check):
    # check_array_api_input skips itself unless SCIPY_ARRAY_API was set before scipy came in; nothing here is array-API.
    check(estimator)


@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression()), HistGradientBoostingClassifier(max_iter=20)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_predict_takes_the_least_risk_of_any_classifiers_probabilities(estimator, table):
    X, y = table
    loss = MISS.with_reject(0.3)
    model = BayesDecision(estimator, loss=loss).fit(X, y)
    proba = clone(estimator).fit(X, y).predict_proba(X)
    in_order = loss.for_classes(["no", "yes"])
    assert_array_equal(model.predict_proba(X), proba)
    assert_array_equal(model.predict(X), in_order.best_action(proba))
    action, risk = model.decide(X, return_risk=True)
    assert_array_equal(action, model.predict(X))
    assert_array_equal(risk, in_order.conditional_risk(proba))
    assert_array_equal(model.expected_loss(X), risk.min(axis=1))
    assert_array_equal(model.decide(X, loss=MISS), MISS.for_classes(["no", "yes"]).best_action(proba))


def test_the_wrapped_classifier_decides_as_it_does_alone(table):
    X, y = table
    alone, wrapped = GaussianNB().fit(X, y), BayesDecision(GaussianNB(), loss=MISS).fit(X, y)
    assert_array_equal(wrapped.predict(X), alone.decide(X, loss=MISS))
    for prior in ([0.9, 0.1], {"yes": 0.7, "no": 0.3}, "estimate"):
        assert_array_equal(wrapped.decide(X, prior=prior), alone.decide(X, loss=MISS, prior=prior))
        stated = BayesDecision(GaussianNB(), loss=MISS, prior=prior).fit(X, y)
        assert_array_equal(stated.predict(X), alone.decide(X, loss=MISS, prior=prior))
    assert_allclose(wrapped.estimate_class_prior(X).prior, alone.estimate_class_prior(X).prior, rtol=1e-6)


def test_probabilities_are_taken_for_the_weighted_frequencies_of_the_fit(table):
    X, y = table
    weight = np.where(y == "yes", 3.0, 1.0)
    model = BayesDecision(LogisticRegression()).fit(X, y, sample_weight=weight)
    assert_allclose(model.class_prior_, [weight[y == c].sum() / weight.sum() for c in ("no", "yes")], rtol=1e-15)
    assert_array_equal(model.predict_proba(X), LogisticRegression().fit(X, y, sample_weight=weight).predict_proba(X))
    shifted = model.set_params(prior=model.class_prior_).predict_proba(X)
    assert_allclose(shifted, model.set_params(prior=None).predict_proba(X), rtol=1e-12)


def test_frequencies_of_any_labels_and_of_a_class_whose_rows_do_not_count(table):
    X, y = table
    pairs = np.empty(len(y), dtype=object)
    pairs[:] = [(label, 1) for label in y]
    share = float((y == "yes").mean())
    assert_allclose(BayesDecision(GaussianNB()).fit(X, pairs).class_prior_, [1 - share, share], rtol=1e-15)
    assert_allclose(BayesDecision(GaussianNB()).fit(X, y, sample_weight=2).class_prior_, [1 - share, share], rtol=1e-15)
    some = BayesDecision(GaussianNB()).fit(X, y, sample_weight=(y == "yes") * 1.0)
    assert (some.classes_.tolist(), some.class_prior_.tolist()) == (["yes"], [1.0])


def test_score_is_minus_the_mean_cost_and_a_search_raises_it(table):
    X, y = table
    model = BayesDecision(DecisionTreeClassifier(random_state=0), loss=MISS)
    search = GridSearchCV(model, {"estimator__max_depth": [1, 3, 12]}, cv=3).fit(X, y)
    by_scorer = GridSearchCV(model, {"estimator__max_depth": [1, 3, 12]}, cv=3, scoring=realised_loss_scorer(MISS)).fit(
        X, y
    )
    assert_array_equal(search.cv_results_["mean_test_score"], by_scorer.cv_results_["mean_test_score"])
    decided = search.best_estimator_.predict(X)
    cost = np.where(decided == y, 0, np.where(y == "yes", 5, 1))
    assert search.best_estimator_.score(X, y) == -cost.mean()
    weight = np.arange(len(y))
    assert search.best_estimator_.score(X, y, weight) == pytest.approx(-np.average(cost, weights=weight), rel=1e-14)


def test_a_loss_can_be_searched_over(table):
    X, y = table
    losses = [MISS, MISS.with_reject(0.3)]
    search = GridSearchCV(BayesDecision(GaussianNB()), {"loss": losses}, scoring=realised_loss_scorer(losses[1]), cv=3)
    assert search.fit(X, y).best_params_["loss"] in losses


def test_scorers_work_for_plain_classifiers(table):
    X, y = table
    fitted = GaussianNB().fit(X, y)
    expected = fitted.expected_loss(X, loss=MISS)
    assert expected_loss_scorer(MISS)(fitted, X, y) == pytest.approx(-expected.mean(), rel=1e-12)
    plain = np.where(fitted.predict(X) == y, 0, np.where(y == "yes", 5, 1))
    assert realised_loss_scorer(MISS)(fitted, X, y) == -plain.mean()
    scores = cross_val_score(GaussianNB(), X, y, scoring=expected_loss_scorer(MISS), cv=3)
    assert (scores < 0).all()


def test_costs_in_a_column_follow_the_rows_through_predict_and_score(table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(amount=np.linspace(0, 20, len(X)))
    loss = Loss.from_costs({("no", "yes"): "amount", ("yes", "no"): 1})
    model = BayesDecision(GaussianNB(), loss=loss).fit(frame, y)
    yes = model.predict_proba(frame)[:, 1]
    assert_array_equal(model.predict(frame) == "yes", yes * frame["amount"] > 1 - yes)
    cost = np.where(model.predict(frame) == y, 0, np.where(y == "yes", frame["amount"], 1))
    assert model.score(frame, y) == -cost.mean()


def test_weights_are_routed_to_those_who_ask_for_them(table):
    X, y = table
    weight = np.where(y == "yes", 4.0, 1.0)
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = BayesDecision(inner).set_fit_request(sample_weight=True).fit(X, y, sample_weight=weight)
        deaf = BayesDecision(LogisticRegression().set_fit_request(sample_weight=False))
        deaf.set_fit_request(sample_weight=True).fit(X, y, sample_weight=weight)
        search = GridSearchCV(
            BayesDecision(inner).set_fit_request(sample_weight=True),
            {"estimator__C": [1.0]},
            cv=2,
            scoring=realised_loss_scorer([[0, 1], [1, 0]]).set_score_request(sample_weight=False),
        ).fit(X, y, sample_weight=weight)
    weighted = LogisticRegression().fit(X, y, sample_weight=weight)
    assert_array_equal(model.predict_proba(X), weighted.predict_proba(X))
    assert_array_equal(search.predict_proba(X), weighted.predict_proba(X))
    assert_array_equal(deaf.predict_proba(X), LogisticRegression().fit(X, y).predict_proba(X))
    assert_allclose(deaf.class_prior_, model.class_prior_, rtol=1e-15)


@pytest.mark.parametrize("make", [expected_loss_scorer, realised_loss_scorer])
def test_scorers_get_the_weights_that_they_ask_for(table, make):
    X, y = table
    weight = np.where(y == "yes", 4.0, 1.0)
    learn, test = np.arange(0, 600, 2), np.arange(1, 600, 2)

    def score(request, name="sample_weight"):
        scorer = make(MISS) if request is None else make(MISS).set_score_request(sample_weight=request)
        model, params = GaussianNB().set_fit_request(sample_weight="for_fit"), {name: weight, "for_fit": weight}
        return cross_validate(model, X, y, cv=[(learn, test)], scoring=scorer, params=params)["test_score"][0]

    with config_context(enable_metadata_routing=True):
        asked, renamed, deaf = score(True), score("importance", "importance"), score(False, "for_fit")
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            score(None)
        with pytest.raises(ValueError, match="sample_weight"):
            make(MISS).set_score_request(sample_weight=3)
    model = GaussianNB().fit(X[learn], y[learn], weight[learn])
    assert asked == renamed == make(MISS)(model, X[test], y[test], sample_weight=weight[test])
    assert deaf == make(MISS)(model, X[test], y[test]) != asked


def test_calibration_comes_before_the_decision(table):
    X, y = table
    model = BayesDecision(GaussianNB(), loss=MISS, calibrate=True).fit(X, y)
    assert type(model.estimator_).__name__ == "Calibrated"
    proba = model.estimator_.predict_proba(X)
    assert_array_equal(model.predict(X), MISS.for_classes(["no", "yes"]).best_action(proba))


def test_what_cannot_be_fitted_or_decided_is_refused(table):
    X, y = table
    with pytest.raises(SchemaError, match=r"no costs are stated for \['no', 'yes'\]"):
        BayesDecision(GaussianNB(), loss=Loss.zero_one(["ham", "spam"])).fit(X, y)
    without = BayesDecision(RidgeClassifier()).fit(X, y)
    assert not hasattr(without, "predict_proba")
    with pytest.raises(ParameterError, match="RidgeClassifier has no predict_proba; set calibrate=True"):
        without.predict(X)
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        BayesDecision(make_pipeline(GaussianNB())).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(DataError, match="requires y"):
        BayesDecision(GaussianNB()).fit(X, None)


def test_a_reader_of_batches_is_decided_as_its_table():
    rng = np.random.default_rng(0)
    rows, y = pa.table({"a": rng.normal(size=40), "b": rng.normal(size=40)}), np.arange(40) % 2
    model = BayesDecision(GaussianNB()).fit(rows, y)
    assert_array_equal(model.predict(rows.to_reader(max_chunksize=7)), model.predict(rows))
