"""Posteriors as softmax(W x + b): equal to those of the model, and handed over to scikit-learn."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from bayeswater import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    DataError,
    GaussianClassifier,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NormalInverseWishart,
    ParameterError,
)

RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 5, (120, 6))
Y = RNG.integers(0, 3, 120)
NUMBERS = RNG.standard_normal((120, 3)) @ RNG.standard_normal((3, 3)) + Y[:, None]
MIXED = pa.table(
    {
        "colour": RNG.choice(["red", "green"], 120).tolist(),
        "calls": RNG.poisson(3, 120),
        "note": [" ".join(RNG.choice(list("abcdefgh"), 8)) for _ in range(120)],
        "sweet": (RNG.random(120) < 0.4).tolist(),
        "size": RNG.standard_normal(120),
    }
)
PLAN = {"calls": "poisson", "note": "text", "size": "binned"}

LINEAR = [
    (GaussianClassifier(covariance="shared"), NUMBERS),
    (GaussianClassifier(covariance="shared", estimate="unbiased", class_prior=[0.2, 0.3, 0.5]), NUMBERS),
    (GaussianClassifier(covariance="shared", shrinkage=0.3), NUMBERS),
    (GaussianClassifier(covariance="shared_diagonal"), NUMBERS),
    (MultinomialNB(), COUNTS),
    (MultinomialNB(), sparse.csr_matrix(COUNTS)),
    (ComplementNB(), COUNTS),
    (ComplementNB(norm=True), COUNTS),
    (BernoulliNB(), COUNTS),
    (BernoulliNB(binarize=2.0), COUNTS),
    (BernoulliNB(), sparse.csr_matrix(COUNTS)),
    (CategoricalNB(), COUNTS),
    (CategoricalNB(missing="state"), np.where(COUNTS == 4, np.nan, COUNTS)),
    (CategoricalNB(missing="ignore"), np.where(COUNTS == 4, np.nan, COUNTS)),
    (NaiveBayes(columns=PLAN), MIXED),
]


@pytest.mark.parametrize(("model", "X"), LINEAR, ids=lambda value: type(value).__name__)
def test_softmax_of_the_line_is_the_posterior_and_so_is_the_logistic_regression(model, X):
    model.fit(X, Y)
    form = model.to_linear()
    np.testing.assert_allclose(form.predict_log_proba(X), model.predict_log_proba(X), rtol=0, atol=1e-10)
    assert (form.predict(X) == model.predict(X)).all()
    assert form.weights.shape == (3, len(form.features))
    regression = model.to_logistic_regression()
    assert isinstance(regression, LogisticRegression)
    np.testing.assert_allclose(regression.predict_proba(form.design(X)), form.predict_proba(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("model", [GaussianClassifier(covariance="shared"), MultinomialNB()])
def test_two_classes_have_one_line_between_them(model):
    X = COUNTS if isinstance(model, MultinomialNB) else NUMBERS
    model.fit(X, Y > 0)
    regression = model.to_logistic_regression()
    assert regression.coef_.shape == (1, X.shape[1])
    np.testing.assert_allclose(regression.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-10)


def test_with_data_the_regression_is_refined_from_there():
    model = GaussianClassifier(covariance="shared").fit(NUMBERS, Y)
    refined = model.to_logistic_regression(NUMBERS, Y, C=1e6)
    given = model.to_logistic_regression()

    def log_loss(regression):
        return -regression.predict_log_proba(NUMBERS)[np.arange(len(Y)), Y].mean()

    assert log_loss(refined) < log_loss(given)
    anew = LogisticRegression(C=1e6, tol=1e-8, max_iter=1000).fit(NUMBERS, Y)
    # Where the loss is flat, scikit-learn's default tolerance leaves weights some hundredths apart.
    np.testing.assert_allclose(refined.coef_, anew.coef_, atol=0.05)
    with pytest.raises(ParameterError, match="y is None"):
        model.to_logistic_regression(NUMBERS)


def test_a_regression_is_refined_on_rows_of_all_classes_of_the_model_and_no_others():
    model = GaussianClassifier(covariance="shared").fit(NUMBERS, Y)
    with pytest.raises(DataError, match=r"y has no row of class 0.*\[0, 1, 2\]"):
        model.to_logistic_regression(NUMBERS[Y > 0], Y[Y > 0])
    strange = np.where(np.arange(120) == 7, 9, Y)
    with pytest.raises(DataError, match=r"row 7 of y has the label 9.*\[0, 1, 2\]"):
        model.to_logistic_regression(NUMBERS, strange)
    named = GaussianClassifier(covariance="shared").fit(NUMBERS, np.array(["a", "b", "c"])[Y])
    refined = named.to_logistic_regression(NUMBERS, pd.Series(np.array(["a", "b", "c"])[Y]))
    assert refined.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("form", ["full", "shared", "diagonal", "shared_diagonal", "spherical"])
def test_every_normal_form_is_a_square_in_x(form):
    model = GaussianClassifier(covariance=form).fit(NUMBERS, Y)
    square = model.to_quadratic()
    np.testing.assert_allclose(square.scores(NUMBERS), model.predict_joint_log_proba(NUMBERS), rtol=0, atol=1e-10)
    np.testing.assert_allclose(square.predict_log_proba(NUMBERS), model.predict_log_proba(NUMBERS), atol=1e-10)
    np.testing.assert_allclose(square.predict_proba(NUMBERS), model.predict_proba(NUMBERS), rtol=0, atol=1e-10)
    assert (square.predict(NUMBERS) == model.predict(NUMBERS)).all()


def test_a_square_takes_named_columns_in_any_order_as_the_model_does():
    frame = pd.DataFrame(NUMBERS, columns=["a", "b", "c"])
    square = GaussianClassifier().fit(frame, Y).to_quadratic()
    np.testing.assert_array_equal(square.scores(frame[["c", "a", "b"]]), square.scores(frame))


def test_what_is_no_line_says_so_and_where_to_go():
    with pytest.raises(ParameterError, match=r"use to_quadratic\(\)"):
        GaussianClassifier().fit(NUMBERS, Y).to_linear()
    with pytest.raises(ParameterError, match="Student-t"):
        GaussianClassifier(covariance="shared", prior=NormalInverseWishart()).fit(NUMBERS, Y).to_linear()
    with pytest.raises(ParameterError, match="Student-t"):
        GaussianClassifier(prior=NormalInverseWishart()).fit(NUMBERS, Y).to_quadratic()
    with pytest.raises(ParameterError, match="calibrated"):
        GaussianClassifier(calibrate=True).fit(NUMBERS, Y).to_quadratic()
    with pytest.raises(ParameterError, match="calibrated, and a line has neither lapses"):
        NaiveBayes(columns=PLAN, calibrate=True).fit(MIXED, Y).to_linear()
    with pytest.raises(ParameterError, match="shared_diagonal"):
        GaussianNB().fit(NUMBERS, Y).to_linear()
    with pytest.raises(ParameterError, match="column 'size' is gaussian"):
        NaiveBayes(columns={**PLAN, "size": "gaussian"}).fit(MIXED, Y).to_linear()
    impossible = np.where(Y[:, None] == 0, 0, COUNTS)
    impossible[:, 5] += 1
    with pytest.raises(ParameterError, match="'x0' is impossible in class 0"):
        MultinomialNB(alpha=0.0).fit(impossible, Y).to_linear()


def test_missing_cells_have_no_place_on_a_line_or_in_a_square():
    X = NUMBERS.copy()
    X[7, 1] = np.nan
    with pytest.raises(DataError, match="row 7 has a missing cell in column 'x1'"):
        GaussianClassifier(covariance="shared").fit(NUMBERS, Y).to_linear().scores(X)
    with pytest.raises(DataError, match="row 7 has a missing cell in column 'x1'"):
        GaussianClassifier().fit(NUMBERS, Y).to_quadratic().scores(X)


def test_classes_of_probability_zero_and_single_classes_are_no_regression():
    model = GaussianClassifier(covariance="shared", class_prior=[0.0, 0.5, 0.5]).fit(NUMBERS, Y)
    assert (model.to_linear().predict_proba(NUMBERS)[:, 0] == 0).all()
    with pytest.raises(ParameterError, match="class 0 has prior probability 0"):
        model.to_logistic_regression()
    with pytest.raises(ParameterError, match="knows one class"):
        GaussianClassifier(covariance="shared").fit(NUMBERS, np.zeros(120)).to_logistic_regression()
