"""Posteriors of classes that share a covariance, by one product: equal to those of the densities."""

import numpy as np
import pytest

from bayeswater import GaussianClassifier, NormalInverseWishart
from bayeswater.inference.gaussian_line import LineJoint
from bayeswater.inference.log_space import log_posterior

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 200)
X = RNG.standard_normal((200, 4)) @ RNG.standard_normal((4, 4)) + RNG.standard_normal((3, 4))[Y]
SHARED = [
    {"covariance": "shared"},
    {"covariance": "shared", "shrinkage": 0.2},
    {"covariance": "shared", "class_prior": [0.0, 0.4, 0.6]},
    {"covariance": "shared_diagonal"},
]


@pytest.mark.parametrize("parameters", SHARED, ids=str)
def test_lines_give_the_posterior_of_the_densities(parameters):
    model = GaussianClassifier(**parameters).fit(X, Y)
    assert isinstance(model._deciding_joint(), LineJoint)
    holes = X.copy()
    holes[::7, 1] = np.nan
    for rows in (X, holes, X.astype(np.float32)):
        expected = log_posterior(model.predict_joint_log_proba(rows))
        np.testing.assert_allclose(model.predict_log_proba(rows), expected, rtol=1e-10, atol=1e-10)
        assert (model.predict(rows) == model.classes_[expected.argmax(axis=1)]).all()
        assert (model.decide(rows) == model.predict(rows)).all()


def test_a_column_without_a_factor_may_be_missing():
    table = np.column_stack([X, np.ones(200)])
    model = GaussianClassifier(covariance="shared").fit(table, Y)
    table[:, 4] = np.nan
    np.testing.assert_allclose(
        model.predict_proba(table), GaussianClassifier(covariance="shared").fit(X, Y).predict_proba(X)
    )


def test_a_declared_class_without_rows_has_probability_zero():
    model = GaussianClassifier(covariance="shared").partial_fit(X, Y, classes=[0, 1, 2, 3])
    assert (model.predict_proba(X)[:, 3] == 0).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("parameters", [{}, {"covariance": "shared", "prior": NormalInverseWishart()}], ids=str)
def test_what_is_no_line_is_not_taken_for_one(parameters):
    model = GaussianClassifier(**parameters).fit(X, Y)
    assert model._deciding_joint() is model._joint()


def test_rows_too_far_away_for_squares_have_a_posterior_where_classes_share_a_covariance():
    model = GaussianClassifier(covariance="shared").fit(X, Y)
    far = np.array([[1e200, 0.0, 0.0, 0.0]])
    weights = model.to_linear().weights[:, 0]
    assert model.predict(far) == [weights.argmax()]
    assert model.predict_proba(far).max() == 1


@pytest.mark.parametrize("form", ["shared", "shared_diagonal"])
def test_a_line_keeps_its_digits_far_from_zero(form):
    """Columns shifted by 1e6 standard deviations: W x + b written out has but ten digits, taken from the center all."""
    shift = 1e6 * X.std(axis=0)
    model = GaussianClassifier(covariance=form).fit(X + shift, Y)
    line = model.to_linear()
    found = line.predict_log_proba(X + shift)
    np.testing.assert_allclose(found, model.predict_log_proba(X + shift), rtol=0, atol=1e-12)
    np.testing.assert_allclose(line.weights @ line.center + line.intercepts, line.at_center, rtol=0, atol=1e-8)
    # Those of the rows as they came: the shift itself rounds them by 1e-10 of a standard deviation.
    unshifted = GaussianClassifier(covariance=form).fit(X, Y).predict_log_proba(X)
    np.testing.assert_allclose(found, unshifted, rtol=0, atol=1e-8)
