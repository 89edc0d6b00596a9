"""Classifiers read as networks: the same joint, to the last digits."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayeswater import (
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesianNetwork,
    CategoricalNB,
    GaussianNB,
    NaiveBayes,
    ParameterError,
)

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "colour": RNG.choice(["red", "green", "blue"], 60),
        "big": RNG.random(60) < 0.4,
        "weight": RNG.normal(size=60).round(2),
    }
)
Y = np.where(RNG.random(60) < 0.3 + 0.4 * X["big"], "apple", "pear")


def joint_of(network: BayesianNetwork, rows: pd.DataFrame, name: str = "class") -> np.ndarray:
    """log P(class, row) for every class, by the probability of complete rows."""
    return np.stack([network.log_probability(rows.assign(**{name: c})) for c in network.states(name)], axis=1)


def test_categorical_nb_is_a_network_of_the_same_joint():
    rows = X[["colour"]].assign(code=RNG.integers(0, 4, 60))
    model = CategoricalNB(alpha=0.5).fit(rows, Y)
    network = BayesianNetwork.from_classifier(model)
    assert network.edges == (("class", "colour"), ("class", "code"))
    assert network.states("code") == (0, 1, 2, 3)
    assert network.n_parameters == model.n_parameters
    # Probabilities go through exp and back through log.
    assert joint_of(network, rows) == pytest.approx(model.predict_joint_log_proba(rows), abs=1e-13)


def test_naive_bayes_of_categories_flags_and_bins_is_a_network():
    model = NaiveBayes(columns={"weight": "binned"}).fit(X, Y)
    network = BayesianNetwork.from_classifier(model)
    assert network.names == ("class", "colour", "big", "weight")
    assert network.states("big") == (False, True)
    labels = network.states("weight")
    cuts = [float(label.split()[1]) for label in labels[:1]] + [float(label.split()[2]) for label in labels[1:-1]]
    binned = X.assign(weight=[labels[k] for k in np.searchsorted(cuts, X["weight"], side="right")])
    assert joint_of(network, binned) == pytest.approx(model.predict_joint_log_proba(X), abs=1e-13)


def test_a_column_called_class_keeps_its_name():
    rows = X[["colour"]].rename(columns={"colour": "class"})
    assert BayesianNetwork.from_classifier(NaiveBayes().fit(rows, Y)).names == ("(class)", "class")
    named = BayesianNetwork.from_classifier(NaiveBayes().fit(rows, Y), class_name="fruit")
    assert named.names == ("fruit", "class")


def test_a_column_of_numbers_is_refused_with_the_way_out():
    model = NaiveBayes(columns={"weight": "gaussian"}).fit(X, Y)
    with pytest.raises(ParameterError, match=r"column 'weight' is gaussian, .* columns=\{'weight': 'binned'\}"):
        BayesianNetwork.from_classifier(model)


def test_missing_as_a_state_is_refused():
    model = NaiveBayes(missing="state").fit(X[["colour"]], Y)
    with pytest.raises(ParameterError, match="fit with missing='ignore'"):
        BayesianNetwork.from_classifier(model)


@pytest.mark.parametrize("kind", [NaiveBayes, CategoricalNB, TAN])
def test_tables_of_a_model_for_which_missing_is_a_state_have_it_as_their_last(kind):
    rows = X[["colour"]].where(RNG.random((60, 1)) < 0.8, None)
    found = kind(missing="state").fit(rows, Y).network_tables()
    assert list(found.states[1]) == ["blue", "green", "red", None]
    assert found.tables[1].shape == (2, 4)
    assert found.tables[1].sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-15)


def test_what_is_no_network_is_refused():
    model = GaussianNB().fit(X[["weight"]], Y)
    with pytest.raises(ParameterError, match="a GaussianNB is no network of variables with states"):
        BayesianNetwork.from_classifier(model)


DISCRETE = pd.DataFrame(
    {
        "colour": RNG.choice(["red", "green", "blue"], 300),
        "big": RNG.random(300) < 0.4,
        "size": RNG.choice(["s", "m", "l", "xl"], 300),
        "taste": RNG.choice(["sweet", "sour"], 300),
    }
)
KIND = np.where(RNG.random(300) < 0.3 + 0.4 * (DISCRETE["big"] == (DISCRETE["taste"] == "sour")), "apple", "pear")
KIND[RNG.random(300) < 0.2] = "quince"
MODELS = {
    "TAN": TAN(),
    "TAN, a forest": TAN(penalty="bic"),
    "SPODE": SPODE(),
    "SPODE, smoothed otherwise": SPODE("size", smoothing="laplace", alpha=0.5),
    "KDB": KDB(k=2),
    "KDB without back-off": KDB(k=3, smoothing="m-estimate"),
    "SKDB": SKDB(),
    "NaiveBayes": NaiveBayes(),
    "CategoricalNB": CategoricalNB(missing="ignore"),
    "a given prior": TAN(class_prior=[0.2, 0.3, 0.5]),
}
EXACT = 1e-12
"""The same sums of products, in another order and through logarithms."""


def with_gaps(rows: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """Rows of which a share of the cells is missing."""
    return rows.astype(object).mask(np.random.default_rng(seed).random(rows.shape) < share, None)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seen_gaps", [0.0, 0.15])
def test_posteriors_of_the_network_are_the_probabilities_of_the_model(name, seen_gaps):
    model = clone(MODELS[name]).fit(with_gaps(DISCRETE, seen_gaps, 1) if seen_gaps else DISCRETE, KIND)
    network = model.to_network()
    assert network.states("class") == tuple(model.classes_)
    for share in (0.0, 0.3, 0.8):
        rows = with_gaps(DISCRETE, share, 2)
        found = network.posteriors(rows[[c for c in network.names if c in rows]], "class")["class"]
        np.testing.assert_allclose(found, model.predict_proba(rows), rtol=0, atol=EXACT)


@pytest.mark.parametrize("name", MODELS)
def test_the_joint_of_the_network_is_that_of_the_model(name):
    model = clone(MODELS[name]).fit(DISCRETE, KIND)
    network = model.to_network(class_name="fruit")
    assert network.n_parameters == model.n_parameters
    rows = DISCRETE[[c for c in network.names if c in DISCRETE]]
    found = joint_of(network, rows, "fruit")
    np.testing.assert_allclose(found, model.predict_joint_log_proba(DISCRETE), rtol=0, atol=EXACT)


def test_a_tree_keeps_its_edges_and_its_parents_stand_in_their_order():
    model = TAN(parents={"big": "taste", "size": "taste"}).fit(DISCRETE, KIND)
    network = model.to_network()
    assert network.parents("big") == ("class", "taste")
    assert network.parents("taste") == network.parents("colour") == ("class",)
    frame = model.tables()["big"]
    cell = frame.loc[(frame["taste"] == "sour") & frame["big"], "P(big | apple, taste)"].item()
    given = network.cpt("big").given({"class": "apple", "taste": "sour"})
    assert given[True] == pytest.approx(cell, rel=EXACT)


def test_numbers_in_bins_are_variables_of_their_bins():
    X = DISCRETE.assign(weight=np.where(KIND == "apple", 1.0, 3.0) + np.random.default_rng(3).random(300))
    model = TAN().fit(X, KIND)
    network = model.to_network()
    labels = network.states("weight")
    assert len(labels) > 1
    cuts = [float(label.split()[-1]) for label in labels[:-1]]
    binned = X.assign(weight=[labels[k] for k in np.searchsorted(cuts, X["weight"], side="right")])
    found = network.posteriors(binned, "class")["class"]
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=EXACT)


@pytest.mark.filterwarnings("ignore:column 'empty' is left out")
def test_a_column_without_a_value_tells_nothing():
    X = DISCRETE.assign(empty=pd.Series([None] * 300, dtype=object))
    for model in (TAN(), KDB(), NaiveBayes(), CategoricalNB(missing="ignore")):
        network = model.fit(X, KIND).to_network()
        assert "empty" not in network.names
        found = network.posteriors(DISCRETE, "class")["class"]
        np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=EXACT)


def test_a_column_that_is_kept_without_a_value_is_refused_with_the_way_out():
    X = DISCRETE.assign(empty=pd.Series([None] * 300, dtype=object))
    model = TAN(columns={"empty": "categorical"}).fit(X, KIND)
    with pytest.raises(ParameterError, match=r"column 'empty' has no value in any row, .* 'ignored'"):
        model.to_network()


def test_a_class_name_that_a_column_has_is_refused():
    with pytest.raises(ParameterError, match="class_name is 'size', which is the name of a column"):
        TAN().fit(DISCRETE, KIND).to_network(class_name="size")


def test_an_average_of_networks_is_no_network():
    with pytest.raises(ParameterError, match="a AODE is no network of variables with states; give a NaiveBayes"):
        BayesianNetwork.from_classifier(AODE().fit(DISCRETE, KIND))
