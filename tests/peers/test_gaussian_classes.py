"""`GaussianClassifier` where scikit-learn's discriminants and naive Bayes are defined: the same, within 1e-9."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf, oas
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from tests.peers.older import skipped_before

from bayeswater import GaussianClassifier

DATA = [load_iris(return_X_y=True), load_wine(return_X_y=True)]
PRIORS = [0.2, 0.3, 0.5]

since_maximum_likelihood = skipped_before("1.9", "covariances were not those of maximum likelihood")
on_both = pytest.mark.parametrize(("X", "y"), DATA, ids=["iris", "wine"])


@since_maximum_likelihood
@on_both
@pytest.mark.parametrize("class_prior", [None, PRIORS])
def test_a_full_covariance_is_quadratic_discriminant_analysis(X, y, class_prior):
    # scikit-learn refuses columns whose units are small; standard deviations of one are defined for both.
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    peer = QuadraticDiscriminantAnalysis(priors=class_prior).fit(X, y)
    model = GaussianClassifier(class_prior=class_prior).fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), peer.predict_log_proba(X), rtol=0, atol=1e-9)


@on_both
def test_a_shared_covariance_is_linear_discriminant_analysis(X, y):
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    model = GaussianClassifier(covariance="shared").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-9)


@since_maximum_likelihood
@on_both
def test_the_discriminant_axes_are_those_of_linear_discriminant_analysis(X, y):
    peer = LinearDiscriminantAnalysis(solver="svd").fit(X, y).transform(X)
    found = GaussianClassifier(covariance="shared").fit(X, y).transform(X)
    assert found.shape == (len(X), 2)
    signs = np.sign((found * peer).sum(axis=0))  # an axis may be turned around
    np.testing.assert_allclose(found * signs, peer, rtol=0, atol=1e-9 * np.abs(peer).max())


@on_both
def test_a_diagonal_covariance_is_naive_bayes_without_smoothing(X, y):
    peer = GaussianNB(var_smoothing=0).fit(X, y)
    model = GaussianClassifier(covariance="diagonal").fit(X, y)
    found, expected = model.predict_joint_log_proba(X), peer.predict_joint_log_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize(("name", "estimator"), [("oas", oas), ("ledoit_wolf", ledoit_wolf)])
def test_read_intensities_are_those_of_scikit_learn_on_columns_scaled_within_classes(name, estimator):
    X, y = DATA[1]
    model = GaussianClassifier(shrinkage=name).fit(X, y)
    within = sum(((X[y == k] - X[y == k].mean(axis=0)) ** 2).sum(axis=0) for k in range(3))
    scale = np.sqrt(within / len(X))
    for k in range(3):
        expected, _ = estimator(X[y == k] / scale)
        np.testing.assert_allclose(model.covariances_[k] / scale / scale[:, None], expected, rtol=0, atol=1e-12)


def test_a_fixed_shrinkage_is_that_of_linear_discriminant_analysis_for_a_single_scale():
    # scikit-learn scales the columns of each class by its own deviations; where all are one, both say the same.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 2
    for k in range(2):
        X[y == k] = (X[y == k] - X[y == k].mean(axis=0)) / X[y == k].std(axis=0) + k
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3).fit(X, y)
    model = GaussianClassifier(covariance="shared", shrinkage=0.3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-12)


@skipped_before("1.8", "small units were taken")
def test_small_units_do_not_matter_where_quadratic_discriminant_analysis_fails():
    X, y = DATA[0]
    with pytest.raises(np.linalg.LinAlgError):
        QuadraticDiscriminantAnalysis().fit(X * 1e-3, y)
    expected = GaussianClassifier().fit(X, y).predict_proba(X)
    found = GaussianClassifier().fit(X * 1e-3, y).predict_proba(X * 1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
