"""What the study notes say of Gaussian classes, row by row: S6, S7, ..."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from bayeswater import GaussianClassifier, GaussianNB

FLOWERS, SPECIES = load_iris(return_X_y=True)


def test_s6_a_class_is_a_gaussian_by_maximum_likelihood():
    model = GaussianClassifier(covariance="full").fit(FLOWERS, SPECIES)
    for k in range(3):
        rows = FLOWERS[k == SPECIES]
        assert_allclose(model.means_[k], rows.mean(axis=0), rtol=1e-13)
        assert_allclose(model.covariances_[k], np.cov(rows.T, bias=True), rtol=0, atol=1e-13)  # 1/m, not 1/(m - 1)


def test_s7_a_shared_covariance_is_the_weighted_average_and_has_fewer_parameters():
    full, shared = (
        GaussianClassifier(covariance=form).fit(FLOWERS[:130], SPECIES[:130]) for form in ("full", "shared")
    )
    average = np.average(full.covariances_, axis=0, weights=[50, 50, 30])
    assert_allclose(shared.covariances_[0], average, rtol=0, atol=1e-13)
    assert shared.n_parameters < full.n_parameters


def test_s8_independent_columns_are_naive_bayes():
    a = GaussianClassifier(covariance="diagonal").fit(FLOWERS, SPECIES).predict_log_proba(FLOWERS)
    b = GaussianNB(var_smoothing=0).fit(FLOWERS, SPECIES).predict_log_proba(FLOWERS)
    assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_s9_the_posterior_of_two_gaussians_that_share_a_covariance_is_a_sigmoid_of_a_line():
    rows, two = FLOWERS[50:], SPECIES[50:]
    model = GaussianClassifier(covariance="shared").fit(rows, two)
    inverse = np.linalg.inv(model.covariances_[0])
    m1, m2 = model.means_
    w = inverse @ (m1 - m2)
    b = -m1 @ inverse @ m1 / 2 + m2 @ inverse @ m2 / 2 + np.log(50 / 50)
    assert_allclose(model.predict_proba(rows)[:, 0], 1 / (1 + np.exp(-(rows @ w + b))), rtol=0, atol=1e-11)
    line = model.to_linear()
    assert_allclose(line.weights[0] - line.weights[1], w, rtol=1e-10)
    assert_allclose(line.intercepts[0] - line.intercepts[1], b, rtol=1e-10)


def test_s10_a_generative_model_creates_samples():
    drawn, labels = GaussianClassifier().fit(FLOWERS, SPECIES).sample(3000, random_state=0)
    again = GaussianClassifier().fit(drawn, labels)
    assert again.score(FLOWERS, SPECIES) > 0.95
