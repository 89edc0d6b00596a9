"""Equal to scikit-learn wherever it is right: random tables of many shapes, kinds and weights, by both kinds of kernel.

scikit-learn is given the float64 cast of float32 tables, since it sums them in float32; and GaussianNB is compared at
var_smoothing=0 where weights differ, since scikit-learn's epsilon_ does not look at them.
"""

import zlib
from itertools import product

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as peer
from scipy import sparse

import bayeswater as ours

RELATIVE = 1e-12
"""The promise: parameters within this share of themselves, log-joints within this share of their largest term."""

KINDS = ["float64", "float32", "int64", "int32", "uint8", "bool", "csr_matrix", "csr_array"]
SHAPES = [(1, 1, 1), (9, 1, 2), (40, 6, 3), (12, 50, 2), (300, 4, 7)]  # rows, columns, classes
WEIGHTS = ["none", "whole", "fractional"]
MODELS = ["GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"]
DENSE_ONLY = {"GaussianNB", "CategoricalNB"}


def random_table(rng, model, kind, n_rows, n_columns):
    """A table that the model is for: measurements, counts, marks or codes."""
    if kind == "bool":
        return rng.random((n_rows, n_columns)) < 0.4
    if model == "GaussianNB" and kind.startswith("float"):
        return (rng.normal(3.0, 2.0, (n_rows, n_columns)) * 10 ** rng.uniform(-3, 3, n_columns)).astype(kind)
    counts = rng.poisson(1.5, (n_rows, n_columns))
    if kind.startswith("csr"):
        tf_idf = counts * rng.uniform(0.1, 2.0, n_columns)
        return getattr(sparse, kind)(tf_idf)
    if kind.startswith("float") and model == "BernoulliNB":
        return rng.normal(size=(n_rows, n_columns)).astype(kind)
    if kind.startswith("float") and model != "CategoricalNB":
        return (counts * rng.uniform(0.1, 2.0, n_columns)).astype(kind)
    return counts.astype(kind)


def as_peer_reads_it_rightly(X):
    return X.astype(np.float64) if X.dtype == np.float32 else X


def random_labels(rng, n_rows, n_classes, names):
    codes = np.concatenate(
        [np.arange(min(n_classes, n_rows)), rng.integers(n_classes, size=max(n_rows - n_classes, 0))]
    )
    labels = np.array([f"class {k}" for k in range(n_classes)]) if names else np.arange(n_classes) * 3 - 4
    return labels[rng.permutation(codes)]


def random_weight(rng, weights, n_rows):
    if weights == "none":
        return None
    return rng.integers(1, 5, n_rows) if weights == "whole" else rng.uniform(0.1, 3.0, n_rows)


def cases(model, kind, weights):
    """Random data sets of all shapes, the same on every run."""
    rng = np.random.default_rng(zlib.crc32(f"{model} {kind} {weights}".encode()))
    for i, (n_rows, n_columns, n_classes) in enumerate(SHAPES):
        X = random_table(rng, model, kind, n_rows, n_columns)
        y = random_labels(rng, n_rows, n_classes, names=i % 2 == 1)
        yield X, y, random_weight(rng, weights, n_rows), recombined(rng, X)


def recombined(rng, X):
    """New rows whose every cell was seen in its column: scikit-learn has no answer to a category it never saw."""
    cells = X.toarray() if sparse.issparse(X) else X
    rows = cells[rng.integers(len(cells), size=(25, cells.shape[1])), np.arange(cells.shape[1])]
    return type(X)(rows) if sparse.issparse(X) else rows


def settings(model, weights, n_columns, n_classes):
    """Parameters to compare the models at."""
    given = np.linspace(1, 2, n_classes) / np.linspace(1, 2, n_classes).sum()
    if model == "GaussianNB":
        smoothed = [{}, {"var_smoothing": 0.1}] if weights == "none" else []
        return [*smoothed, {"var_smoothing": 0.0, "priors": given}]
    per_feature = np.linspace(0.2, 2.0, n_columns)
    return {
        "MultinomialNB": [{}, {"alpha": 0.1, "fit_prior": False}, {"alpha": per_feature, "class_prior": given}],
        # scikit-learn divides 0 by 0 where the weights of a single column are normalised.
        "ComplementNB": [{}, {"alpha": 0.1, "norm": n_columns > 1}, {"alpha": per_feature}],
        "BernoulliNB": [{}, {"alpha": 0.1, "binarize": 0.7}, {"fit_prior": False}, {"class_prior": given}],
        "CategoricalNB": [{}, {"alpha": 0.1, "min_categories": 12}, {"class_prior": given}],
    }[model]


def fitted_pairs(model, kind, weights):
    """Both models fitted to every data set, the settings taking turns, and rows to predict."""
    for i, (X, y, weight, X_new) in enumerate(cases(model, kind, weights)):
        if model == "GaussianNB" and len(y) == 1:
            continue  # one row has no variance: scikit-learn answers NaN
        in_turn = settings(model, weights, X.shape[1], len(np.unique(y)))
        setting = in_turn[i % len(in_turn)]
        mine = getattr(ours, model)(**setting).fit(X, y, sample_weight=weight)
        theirs = getattr(peer, model)(**setting).fit(as_peer_reads_it_rightly(X), y, sample_weight=weight)
        yield mine, theirs, X_new


def largest_term(theirs, X):
    """Largest absolute value among the terms that make up each log-joint: (n_rows, n_classes)."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    model = type(theirs).__name__
    if model == "CategoricalNB":
        terms = np.stack([np.abs(table[:, X[:, j].astype(int)].T) for j, table in enumerate(theirs.feature_log_prob_)])
        terms = terms.max(axis=0)
    elif model == "BernoulliNB":
        # An absent feature is first added and then, where it is present, taken away again.
        terms = np.maximum(-theirs.feature_log_prob_, -np.log1p(-np.exp(theirs.feature_log_prob_))).max(axis=1)
        terms = np.tile(terms, (len(X), 1))
    elif model == "GaussianNB":
        squares = (X[:, None] - theirs.theta_) ** 2 / (2 * theirs.var_)  # (n_rows, n_classes, n_columns)
        terms = np.maximum(squares, np.abs(np.log(2 * np.pi * theirs.var_))).max(axis=2)
    else:
        terms = (X[:, None] * np.abs(theirs.feature_log_prob_)).max(axis=2)
    with np.errstate(divide="ignore"):
        prior = np.log(theirs.class_prior_) if model == "GaussianNB" else theirs.class_log_prior_
    return np.maximum(terms, np.abs(prior))


def assert_same_joint(mine, theirs, X):
    expected = theirs.predict_joint_log_proba(as_peer_reads_it_rightly(X))
    found = mine.predict_joint_log_proba(X)
    possible = np.isfinite(expected)
    np.testing.assert_array_equal(found[~possible], expected[~possible])
    difference = np.abs(found[possible] - expected[possible])
    assert (difference <= RELATIVE * largest_term(theirs, X)[possible]).all()


def learned_attributes(theirs):
    """What scikit-learn's model has learned, by name: all of it, whatever its version calls so."""
    return {name: value for name, value in vars(theirs).items() if name.endswith("_") and not name.startswith("_")}


def combinations():
    """Model, kind, weights and road: every three of them but kind, weights and road, where the roads take turns."""
    for model, (k, kind), (w, weights) in product(MODELS, enumerate(KINDS), enumerate(WEIGHTS)):
        if not (kind.startswith("csr") and model in DENSE_ONLY):
            yield model, kind, weights, ["reference", "loops"][(k + w) % 2]


def assert_same_learned(mine, theirs):
    """Every attribute is there, of the same shape; what is whole is equal, the rest within the rounding of floats."""
    for name, expected in learned_attributes(theirs).items():
        found = getattr(mine, name)
        assert isinstance(found, list) == isinstance(expected, list), name
        for a, b in zip(*(value if isinstance(value, list) else [value] for value in (found, expected)), strict=True):
            assert np.shape(a) == np.shape(b), name
            if np.asarray(b).dtype.kind == "f" and not np.array_equal(b, np.round(b)):
                np.testing.assert_allclose(a, b, rtol=RELATIVE, atol=0, err_msg=name)
            else:
                np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.mark.parametrize("model, kind, weights, road", list(combinations()), indirect=["road"])
def test_what_is_learned_joint_probabilities_posteriors_and_predictions_are_equal(model, kind, weights, road):
    compared = 0
    for mine, theirs, X in fitted_pairs(model, kind, weights):
        assert_same_learned(mine, theirs)
        if model == "GaussianNB" and not (theirs.var_ > 0).all():
            continue  # a column that is constant within a class, unsmoothed: scikit-learn answers NaN
        assert_same_joint(mine, theirs, X)
        compared += 1
        joint = theirs.predict_joint_log_proba(as_peer_reads_it_rightly(X))
        expected = theirs.predict_log_proba(as_peer_reads_it_rightly(X))
        # A posterior is a difference of log-joints: it inherits the rounding of the largest term of any class.
        rounding = 4 * RELATIVE * largest_term(theirs, X).max(axis=1, keepdims=True)
        assert (np.abs(mine.predict_log_proba(X) - expected) <= rounding).all()
        assert (np.abs(mine.predict_proba(X) - np.exp(expected)) <= rounding).all()
        best = np.sort(joint, axis=1)[:, -2:]
        clear = (best[:, -1] - best[:, 0] > 2 * rounding[:, 0]) | (joint.shape[1] == 1)
        np.testing.assert_array_equal(mine.predict(X)[clear], theirs.predict(as_peer_reads_it_rightly(X))[clear])
    assert compared >= 2


@pytest.mark.parametrize("model, weights", list(product(MODELS, WEIGHTS)))
def test_partial_fit_is_equal_too_with_a_class_of_which_no_row_was_seen(model, weights, road):
    rng = np.random.default_rng(5)
    X = random_table(rng, model, "float64" if model == "GaussianNB" else "int64", 60, 4)
    y = random_labels(rng, 60, 3, names=True)
    weight = random_weight(rng, weights, 60)
    classes = ["class 0", "class 1", "class 2"] + ([] if model == "GaussianNB" else ["never"])
    setting = (
        {"var_smoothing": 0.0} if model == "GaussianNB" else {"min_categories": 12} if model == "CategoricalNB" else {}
    )
    mine, theirs = getattr(ours, model)(**setting), getattr(peer, model)(**setting)
    for rows in (slice(0, 25), slice(25, 26), slice(26, 60)):
        w = None if weight is None else weight[rows]
        mine.partial_fit(X[rows], y[rows], classes=classes, sample_weight=w)
        theirs.partial_fit(X[rows], y[rows], classes=classes, sample_weight=w)
    np.testing.assert_array_equal(mine.classes_, theirs.classes_)
    assert_same_learned(mine, theirs)
    assert_same_joint(mine, theirs, recombined(rng, X))


@pytest.mark.parametrize("model", MODELS)
def test_names_and_numbers_of_columns_are_kept(model):
    frame = pd.DataFrame({"length": [1, 2, 0, 4], "width": [0, 1, 1, 3]})
    mine = getattr(ours, model)().fit(frame, [0, 1, 0, 1])
    theirs = getattr(peer, model)().fit(frame, [0, 1, 0, 1])
    assert {"n_features_in_", "feature_names_in_", "classes_"} <= set(learned_attributes(theirs))
    assert_same_learned(mine, theirs)
    assert mine.feature_names_in_.dtype == theirs.feature_names_in_.dtype
    assert mine.classes_.dtype == theirs.classes_.dtype


@pytest.mark.parametrize("model", MODELS)
def test_parameters_of_scikit_learn_are_parameters_here_with_the_same_default(model):
    mine, theirs = getattr(ours, model)().get_params(), getattr(peer, model)().get_params()
    assert theirs == {name: mine[name] for name in theirs}
