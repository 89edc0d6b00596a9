"""Rows drawn from a model: in the form that fit was given, and distributed as the model says."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from bayeswater import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    MultinomialNB,
    NormalInverseGamma,
    ParameterError,
)

N = 20_000
WIDE = 5  # standard errors; one draw in two million is further off, and the seed is fixed


def assert_share(hits, n, probability):
    """Compare a relative frequency with the probability it has."""
    assert abs(hits / n - probability) <= WIDE * np.sqrt(probability * (1 - probability) / n) + 1e-12


# ---------------------------------------------------------------------- form

COUNTS = np.array([[0, 1], [1, 2], [2, 0], [1, 1], [0, 2], [2, 2]])
Y = np.array(["n", "n", "n", "p", "p", "p"])
FORMS = {
    "numpy": (lambda: COUNTS, np.ndarray),
    "pandas": (lambda: pd.DataFrame(COUNTS, columns=["a", "b"]), pd.DataFrame),
    "polars": (lambda: pl.DataFrame(COUNTS, schema=["a", "b"]), pl.DataFrame),
    "pyarrow": (lambda: pa.table({"a": COUNTS[:, 0], "b": COUNTS[:, 1]}), pa.Table),
    "pyarrow reader": (lambda: pa.table({"a": COUNTS[:, 0], "b": COUNTS[:, 1]}).to_reader(), pa.Table),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [GaussianNB, MultinomialNB, BernoulliNB, CategoricalNB])
def test_rows_come_in_the_form_that_fit_was_given(kind, form):
    make, expected = FORMS[form]
    model = kind().fit(make(), Y)
    length = {"length": 4} if kind is MultinomialNB else {}
    X, y = model.sample(7, random_state=0, **length)
    assert isinstance(X, expected)
    assert X.shape == (7, 2)
    if form != "numpy":
        names = X.column_names if isinstance(X, pa.Table) else list(X.columns)
        assert names == ["a", "b"]
    assert y.shape == (7,)
    assert set(y) <= {"n", "p"}
    assert model.predict(X).shape == (7,)  # what it draws it can read


def test_categories_come_back_as_the_labels_they_were():
    X = pd.DataFrame({"colour": ["red", "blue", "red"], "size": [0, 2, 1], "new": [True, False, True]})
    model = CategoricalNB().fit(X, [0, 1, 1])
    drawn, _ = model.sample(50, random_state=0)
    assert set(drawn["colour"]) == {"red", "blue"}
    assert set(drawn["size"]) == {0, 1, 2}
    assert set(drawn["new"]) == {True, False}


def test_categories_of_several_types_in_an_array_keep_their_types():
    model = CategoricalNB().fit([["red", 1], ["blue", 0]], [0, 1])
    drawn, _ = model.sample(50, random_state=0)
    assert {type(cell) for cell in drawn[:, 0]} == {str}
    assert set(drawn[:, 1]) == {0, 1}
    assert model.predict(drawn).shape == (50,)


def test_codes_of_an_array_stay_integers():
    drawn, _ = CategoricalNB().fit(COUNTS, Y).sample(5, random_state=0)
    assert drawn.dtype.kind == "i"


def test_a_missing_cell_is_drawn_where_it_is_a_state():
    model = CategoricalNB(missing="state").fit([["a"], [None], [None]], [0, 0, 0])
    drawn, _ = model.sample(100, random_state=0)
    assert set(drawn[:, 0]) == {"a", None}


@pytest.mark.parametrize("kind", [GaussianNB, BernoulliNB, CategoricalNB])
def test_a_seed_draws_the_same_rows_again_and_another_draws_others(kind):
    model = kind().fit(COUNTS, Y)
    (a, y_a), (b, y_b), (c, _) = (model.sample(30, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(a, b)
    assert np.array_equal(y_a, y_b)
    assert not np.array_equal(a, c)
    assert np.array_equal(model.sample(30, random_state=np.random.default_rng(1))[0], a)


@pytest.mark.parametrize("kind", [GaussianNB, BernoulliNB, CategoricalNB])
def test_one_row_is_drawn_unless_more_are_asked_for(kind):
    X, y = kind().fit(COUNTS, Y).sample()
    assert (X.shape, y.shape) == ((1, 2), (1,))


# ---------------------------------------------------------------------- distribution


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(priors=[0.1, 0.9]),
        GaussianNB(class_alpha=3.0),
        BernoulliNB(class_prior=[0.7, 0.3]),
        CategoricalNB(fit_prior=False),
    ],
    ids=repr,
)
def test_classes_are_drawn_from_the_prior(model):
    model.fit(COUNTS[:4], Y[:4])
    _, y = model.sample(N, random_state=0)
    prior = np.exp(model._joint().log_prior)
    for k, label in enumerate(model.classes_):
        assert_share((y == label).sum(), N, prior[k])


def test_a_class_of_prior_zero_is_never_drawn():
    model = BernoulliNB().partial_fit(COUNTS, Y, classes=["n", "never", "p"])
    assert set(model.sample(1000, random_state=0)[1]) == {"n", "p"}


def test_normal_columns_have_the_moments_of_the_model():
    rng = np.random.default_rng(0)
    model = GaussianNB(var_smoothing=0).fit(rng.normal([0, 5], [1, 3], size=(40, 2)), np.arange(40) % 2)
    X, y = model.sample(N, random_state=1)
    for k in range(2):
        mine = X[y == k]
        error = np.sqrt(model.var_[k] / len(mine))
        assert (np.abs(mine.mean(axis=0) - model.theta_[k]) <= WIDE * error).all()
        # The variance of a normal sample has relative standard error sqrt(2 / n).
        assert (np.abs(mine.var(axis=0) / model.var_[k] - 1) <= WIDE * np.sqrt(2 / len(mine))).all()


def test_a_column_with_a_prior_is_drawn_from_students_t():
    model = GaussianNB(columns={0: {"prior": NormalInverseGamma(mean=2.0)}}).fit([[1.0, 0.0], [2.0, 1.0]], [0, 0])
    X, _ = model.sample(N, random_state=0)
    parameters = model._joint().parameters
    t = stats.t(parameters.degrees[0, 0], parameters.mean[0, 0], np.sqrt(parameters.variance[0, 0]))
    for level in (0.01, 0.25, 0.5, 0.75, 0.99):
        assert_share((X[:, 0] <= t.ppf(level)).sum(), N, level)


def test_a_column_that_never_varies_is_drawn_as_it_is():
    X, _ = GaussianNB(var_smoothing=0).fit([[7.0, 1.0], [7.0, 2.0]], [0, 0]).sample(10, random_state=0)
    assert X[:, 0].tolist() == [7.0] * 10


def test_a_class_of_which_no_row_was_counted_cannot_be_drawn():
    model = GaussianNB(priors=[0.5, 0.5]).partial_fit([[1.0], [2.0]], [0, 0], classes=[0, 1])
    with pytest.raises(ParameterError, match=r"class .*1.* has a prior but no row of it was counted"):
        model.sample(100, random_state=0)


def test_marks_have_the_frequencies_of_the_model():
    model = BernoulliNB().fit(COUNTS > 1, Y)
    X, y = model.sample(N, random_state=0)
    for k, label in enumerate(model.classes_):
        mine = X[y == label]
        for j in range(2):
            assert_share(mine[:, j].sum(), len(mine), np.exp(model.feature_log_prob_[k, j]))


def test_categories_have_the_frequencies_of_the_model():
    model = CategoricalNB().fit(COUNTS, Y)
    X, y = model.sample(N, random_state=0)
    for k, label in enumerate(model.classes_):
        mine = X[y == label]
        for j in range(2):
            for state in range(3):
                assert_share((mine[:, j] == state).sum(), len(mine), np.exp(model.feature_log_prob_[j][k, state]))


def test_an_impossible_category_is_never_drawn():
    model = CategoricalNB(alpha=0).fit([[0], [1], [1]], [0, 1, 1])
    X, y = model.sample(1000, random_state=0)
    assert (X[:, 0] == y).all()


def test_words_share_the_length_of_a_row_as_the_model_says():
    model = MultinomialNB().fit(COUNTS, Y)
    X, y = model.sample(2_000, length=10, random_state=0)
    assert (X.sum(axis=1) == 10).all()
    for k, label in enumerate(model.classes_):
        mine = X[y == label]
        for j in range(2):
            assert_share(mine[:, j].sum(), mine.sum(), np.exp(model.feature_log_prob_[k, j]))


def test_every_row_may_have_a_length_of_its_own():
    X, _ = MultinomialNB().fit(COUNTS, Y).sample(3, length=[0, 5, 2], random_state=0)
    assert X.sum(axis=1).tolist() == [0, 5, 2]


@pytest.mark.parametrize("kind", [GaussianNB, BernoulliNB, CategoricalNB])
def test_a_model_of_drawn_rows_is_like_the_model_that_drew_them(kind):
    model = kind().fit(COUNTS, Y)
    again = kind().fit(*model.sample(N, random_state=0))
    # Twenty thousand rows estimate a probability to about a hundredth.
    np.testing.assert_allclose(again.predict_proba(COUNTS), model.predict_proba(COUNTS), atol=0.05)
