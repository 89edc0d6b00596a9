"""`class_weight`: the class prior is weighed when it is read; the sums and P(row | class) stay as rows say."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

import bayeswater as bw

GIVEN = {"rare": 5.0, "common": 0.5}
RNG = np.random.default_rng(0)
Y = np.repeat(["common", "middling", "rare"], [60, 30, 12])
K = np.repeat([0, 1, 2], [60, 30, 12])
NUMBERS = pd.DataFrame(RNG.normal(size=(len(Y), 2)) + K[:, None] * 0.5, columns=["a", "b"])
STATES = pd.DataFrame({name: np.array(list("uvwx"))[RNG.integers(0, 3, len(Y)) + (K > 1)] for name in "cde"})
COUNTS = RNG.poisson(1 + K[:, None], size=(len(Y), 3)).astype(float)

MODELS: dict[str, tuple[Any, Any]] = {
    "GaussianNB": (bw.GaussianNB, NUMBERS),
    "MultinomialNB": (bw.MultinomialNB, COUNTS),
    "BernoulliNB": (bw.BernoulliNB, COUNTS),
    "CategoricalNB": (bw.CategoricalNB, STATES),
    "NaiveBayes": (bw.NaiveBayes, pd.concat([NUMBERS, STATES], axis=1)),
    "GaussianClassifier": (bw.GaussianClassifier, NUMBERS),
    "GaussianClassifier, auto": (lambda **more: bw.GaussianClassifier(shrinkage="auto", **more), NUMBERS),
    "SPODE": (bw.SPODE, STATES),
    "TAN": (bw.TAN, STATES),
    "AODE": (bw.AODE, STATES),
    "AODE, selected": (lambda **more: bw.AODE(select=True, **more), STATES),
    "A2DE": (bw.A2DE, STATES),
    "KDB": (bw.KDB, STATES),
    "SKDB": (bw.SKDB, STATES),
    "NetworkClassifier": (bw.NetworkClassifier, STATES),
    "BayesEnsemble": (
        lambda **more: bw.BayesEnsemble("generative", members={"aode": 2}, random_state=0, **more),
        STATES,
    ),
}
every_classifier = pytest.mark.parametrize("name", MODELS)


@every_classifier
@pytest.mark.parametrize("class_weight", ["balanced", GIVEN], ids=["balanced", "given"])
def test_classes_count_by_the_weights_of_scikit_learn_in_a_fit_and_after_it(name: str, class_weight: Any) -> None:
    make, X = MODELS[name]
    plain, model = make().fit(X, Y), make(class_weight=class_weight).fit(X, Y)
    by = compute_class_weight(class_weight, classes=model.classes_, y=Y)
    if hasattr(model, "class_log_prior_"):  # which is that of rows which count as so many, smoothing and all
        rows_weighed = make().fit(X, Y, sample_weight=by[K])
        np.testing.assert_allclose(model.class_log_prior_, rows_weighed.class_log_prior_, rtol=1e-12)
        by = np.exp(model.class_log_prior_ - plain.class_log_prior_)
    want = plain.predict_proba(X) * by
    want /= want.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), want, rtol=1e-12, atol=1e-15)
    later = plain.set_params(class_weight=class_weight)
    np.testing.assert_array_equal(later.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("class_weight", ["balanced", GIVEN], ids=["balanced", "given"])
@pytest.mark.parametrize(
    ("make", "X"),
    [
        (lambda **more: bw.GaussianNB(var_smoothing=0, **more), NUMBERS),
        (lambda **more: bw.MultinomialNB(alpha=0, **more), COUNTS),
        (lambda **more: bw.BernoulliNB(alpha=0, **more), COUNTS),
        (lambda **more: bw.CategoricalNB(alpha=0, **more), STATES),
        (lambda **more: bw.GaussianClassifier(**more), NUMBERS),
        (lambda **more: bw.ComplementNB(**more), COUNTS),  # whose complements are made of weighted rows
        (lambda **more: bw.ComplementNB(norm=True, **more), COUNTS),
    ],
)
def test_without_smoothing_weighing_classes_is_weighing_their_rows(make: Any, X: Any, class_weight: Any) -> None:
    weight = compute_sample_weight(class_weight if class_weight == "balanced" else {**GIVEN, "middling": 1.0}, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = make().fit(X, Y, sample_weight=weight).predict_log_proba(X)
        got = make(class_weight=class_weight).fit(X, Y).predict_log_proba(X)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["GaussianNB", "CategoricalNB", "NaiveBayes", "TAN", "AODE"])
def test_balanced_weights_follow_the_sums_and_leaving_out_equals_forgetting(name: str) -> None:
    make, X = MODELS[name]
    order = RNG.permutation(len(Y))
    X, y = X.iloc[order], Y[order]
    model = make(class_weight="balanced")
    model = model.fit(X[:90], y[:90])
    if name not in ("TAN", "AODE"):  # whose bins and trees further rows would be read by
        grown = make(class_weight="balanced").fit(X[:90], y[:90]).partial_fit(X[90:], y[90:])
        want = make(class_weight="balanced").fit(X, y)
        np.testing.assert_allclose(grown.class_log_prior_, want.class_log_prior_, rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), 1 / 3, rtol=1e-12)
    assert model.class_count_.sum() == 90  # counts stay whole
    left_out = model.loo_predict_log_proba(X[:3], y[:3])
    forgetting = make(class_weight="balanced", **({} if name != "NaiveBayes" else {"alpha": 1.0})).fit(X[:90], y[:90])
    if name == "NaiveBayes":
        left_out = forgetting.loo_predict_log_proba(X[:3], y[:3])
    for i in range(3):
        forgetting.forget(X[i : i + 1], y[i : i + 1])
        found = forgetting.predict_log_proba(X[i : i + 1])[0]
        np.testing.assert_allclose(left_out[i], found, rtol=1e-9, atol=1e-9)
        forgetting.partial_fit(X[i : i + 1], y[i : i + 1])


@pytest.mark.parametrize("name", ["NaiveBayes", "AODE", "NetworkClassifier"])
def test_a_calibrated_posterior_is_weighed_once_it_is_calibrated(name: str) -> None:
    make, X = MODELS[name]
    plain, model = make(calibrate=True).fit(X, Y), make(calibrate=True, class_weight=GIVEN).fit(X, Y)
    want = plain.predict_proba(X) * [GIVEN.get(label, 1.0) for label in model.classes_]
    want /= want.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), want, atol=0.05)  # pseudo-counts of the prior differ
    assert np.abs(model.predict_proba(X) - plain.predict_proba(X)).max() > 0.2


@every_classifier
def test_saved_and_loaded_and_explained_and_exported_it_says_the_same(name: str, tmp_path: Any) -> None:
    make, X = MODELS[name]
    model = make(class_weight=GIVEN).fit(X, Y)
    bw.save(model, tmp_path / "m.bayes")
    again = bw.load(tmp_path / "m.bayes")
    assert again.class_weight == GIVEN
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    rows = X[:2]
    told = model.explain(rows, against="middling")
    proba = model.predict_log_proba(rows)
    chosen, against = [list(model.classes_).index(x) for x in (model.predict(rows)[0], "middling")]
    if chosen != against:
        assert told.log_odds[0] == pytest.approx(proba[0, chosen] - proba[0, against], abs=1e-9)
    if name not in ("A2DE", "NetworkClassifier", "BayesEnsemble"):
        scope: dict[str, Any] = {"__name__": "exported"}
        exec(bw.export(model, "python"), scope)
        names = X.columns if hasattr(X, "columns") else [f"x{j}" for j in range(X.shape[1])]
        row = dict(zip(names, np.asarray(X)[0].tolist(), strict=True))
        np.testing.assert_allclose(scope["MODEL"].predict_proba(row), model.predict_proba(X)[0], rtol=1e-12, atol=1e-14)


def test_an_interval_lies_about_the_weighed_posterior() -> None:
    make, X = MODELS["NaiveBayes"]
    model = make(class_weight="balanced").fit(X, Y)
    found = model.credible_interval(X[:20])
    assert (found.low <= found.probability + 0.02).all() and (found.high >= found.probability - 0.02).all()


def test_a_network_says_the_weighed_prior_where_a_table_can() -> None:
    model = bw.NetworkClassifier("naive", class_weight="balanced").fit(STATES, Y)
    np.testing.assert_allclose(model.to_network().query("class").probabilities, model.predict_proba({})[0], rtol=1e-12)
    with pytest.raises(bw.ParameterError, match="classes that have parents"):
        parity = (STATES["c"] == "u") == (STATES["d"] == "u")
        bw.NetworkClassifier(class_weight="balanced").fit(STATES, parity).set_params().to_network()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("even", "'balanced' or a dict"),
        ({"rare": -1}, "class_weight of 'rare' is -1"),
        ({"rear": 2.0}, "'rear', which is no class"),
        (dict.fromkeys(("common", "middling", "rare"), 0), "no class counts"),
    ],
)
def test_what_is_no_weight_is_refused_in_words(given: Any, said: str) -> None:
    for name in ("GaussianNB", "AODE", "NetworkClassifier", "BayesEnsemble"):
        make, X = MODELS[name]
        with pytest.raises(bw.ParameterError, match=said):
            make(class_weight=given).fit(X, Y)


def test_weights_beside_a_prior_that_is_given_are_refused() -> None:
    with pytest.raises(bw.ParameterError, match="priors says what it is"):
        bw.GaussianNB(priors=[0.2, 0.3, 0.5], class_weight="balanced").fit(NUMBERS, Y)
    with pytest.raises(bw.ParameterError, match="fit_prior=False says"):
        bw.MultinomialNB(fit_prior=False, class_weight="balanced").fit(COUNTS, Y)


def test_a_class_of_weight_nothing_is_impossible_and_a_dict_may_name_more_classes() -> None:
    every = {"common": 0.0, "middling": 1.0, "rare": 1.0, "never": 3.0}
    proba = bw.GaussianNB(class_weight=every).fit(NUMBERS, Y).predict_proba(NUMBERS)
    assert (proba[:, 0] == 0).all() and np.isfinite(proba).all()


@pytest.mark.parametrize("name", ["GaussianNB", "CategoricalNB", "NaiveBayes", "GaussianClassifier", "TAN", "AODE"])
def test_weights_of_one_change_nothing_of_a_calibrated_model(name):
    kind, X = MODELS[name]
    model = kind(calibrate=True).fit(X, Y)
    expected = model.predict_proba(X)
    ones = dict.fromkeys(np.unique(Y), 1.0)
    np.testing.assert_allclose(kind(calibrate=True, class_weight=ones).fit(X, Y).predict_proba(X), expected, atol=1e-14)
    np.testing.assert_allclose(model.set_params(class_weight=ones).predict_proba(X), expected, atol=1e-14)
