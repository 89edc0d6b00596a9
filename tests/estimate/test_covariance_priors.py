"""What covariances are drawn to: intensities as scikit-learn has them, and what a prior of a covariance may say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import ledoit_wolf, oas

from bayeswater import Friedman, GaussianClassifier, NormalInverseGamma, NormalInverseWishart, ParameterError
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.estimate.covariance import CovarianceReading
from bayeswater.estimate.covariance_priors import ledoit_wolf_intensity, oas_intensity
from bayeswater.estimate.densities import read_densities
from bayeswater.estimate.dirichlet import PseudoCounts
from bayeswater.estimate.smoothing import best_alpha
from bayeswater.statistics.scatter import Scatter

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("n", "d"), [(3, 8), (30, 4), (400, 2)])
def test_intensities_are_those_of_scikit_learn(n, d):
    rows = RNG.normal(size=(n, d)) @ RNG.normal(size=(d, d))
    rows -= rows.mean(axis=0)
    covariance = rows.T @ rows / n
    assert oas_intensity(covariance, n) == pytest.approx(oas(rows, assume_centered=True)[1], rel=1e-10)
    fourth = float(((rows**2).sum(axis=1) ** 2).sum())
    expected = ledoit_wolf(rows, assume_centered=True)[1]
    assert ledoit_wolf_intensity(covariance, n, fourth) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_without_a_direction_there_is_nothing_to_draw_to():
    assert oas_intensity(np.zeros((0, 0)), 5.0) == 1.0
    assert ledoit_wolf_intensity(np.zeros((0, 0)), 5.0, 0.0) == 0.0


@pytest.mark.parametrize("shrinkage", ["oas", "ledoit_wolf"])
def test_a_class_without_rows_and_one_of_a_single_row_leave_the_others_as_they_are(shrinkage):
    X, y = RNG.normal(size=(12, 2)) + 5, np.array(["a", "b"] * 6)
    alone = GaussianClassifier(shrinkage=shrinkage).fit(X, y)
    more = GaussianClassifier(shrinkage=shrinkage).partial_fit(X, y, classes=["A", "a", "b"])
    assert_allclose(more.predict_proba(X)[:, 1:], alone.predict_proba(X), rtol=1e-9)
    assert not more.predict_proba(X)[:, 0].any()
    single = GaussianClassifier(shrinkage=shrinkage, covariance="shared").fit(np.vstack([X, [[50.0, 50.0]]]), [*y, "c"])
    assert single.predict([[50.0, 50.0]]) == ["c"]


def test_one_variance_of_a_class_that_does_not_vary_is_a_share_of_the_mean_one():
    X = np.array([[0.0, 0.0]] * 4 + [[1.0, 3.0], [-1.0, 3.0], [1.0, -3.0], [-1.0, -3.0]])
    sums = Scatter.of(DenseMatrix(X), encode_labels(np.repeat(["a", "b"], 4)), None, skip_missing=False)
    found = read_densities(sums, np.array([4, 4]), CovarianceReading("spherical"), 0.125)
    assert_allclose(found.variance, [[0.125 * 2.5] * 2, [5.0] * 2], rtol=1e-14)  # the columns have 1/2 and 9/2 over all
    assert found.n_lifted.tolist() == [2, 0]


def test_what_is_not_said_of_a_prior_has_the_values_that_are_told():
    assert NormalInverseGamma() == NormalInverseGamma(mean=0.0, strength=1.0, shape=1.0, scale=1.0)
    assert NormalInverseWishart() == NormalInverseWishart(mean=None, strength=1.0, covariance=None, degrees=None)
    assert Friedman() == Friedman(shared=0.0, spherical=0.0)
    assert PseudoCounts() == PseudoCounts("m-estimate", 1.0)
    assert best_alpha(np.array([[50, 50], [50, 50]])) == 1000.0
    assert best_alpha(np.array([[9, 0], [0, 9]])) == 0.001


@pytest.mark.parametrize("wrong", [-0.01, 1.01, np.nan, "half", None])
@pytest.mark.parametrize("name", ["shared", "spherical"])
def test_the_parameters_of_friedman_are_shares(name, wrong):
    for right in (0, 0.5, 1):
        assert getattr(Friedman(**{name: right}), name) == right
    with pytest.raises(ParameterError, match=f"Friedman: {name} is .*; give a number from 0 to 1"):
        Friedman(**{name: wrong})


def test_degrees_are_over_the_number_of_columns_and_one():
    assert NormalInverseWishart().degrees_for(3) == 5.0
    assert NormalInverseWishart(degrees=4.5).degrees_for(3) == 4.5
    with pytest.raises(ParameterError, match="degrees is 4; with 3 columns it must be over 4"):
        NormalInverseWishart(degrees=4).degrees_for(3)
    for wrong in (0, -1, np.inf, "many"):
        with pytest.raises(ParameterError, match="NormalInverseWishart: strength is"):
            NormalInverseWishart(strength=wrong)
    with pytest.raises(ParameterError, match="NormalInverseWishart: degrees is"):
        NormalInverseWishart(degrees=-1)


def test_a_prior_says_a_mean_and_variances_for_one_column_or_all():
    center, variance = np.array([1.0, 2.0]), np.array([4.0, 9.0])
    assert NormalInverseWishart().mean_for(center).tolist() == [1.0, 2.0]
    assert NormalInverseWishart(mean=7).mean_for(center).tolist() == [7.0, 7.0]
    assert NormalInverseWishart(mean=[3, 4]).mean_for(center).tolist() == [3.0, 4.0]
    for covariance, expected in [
        (None, np.diag(variance)),
        (0.5, np.diag([0.5, 0.5])),
        ([0.5, 2], np.diag([0.5, 2.0])),
        ([[2, 0.25], [0.25, 1]], np.array([[2.0, 0.25], [0.25, 1.0]])),
    ]:
        assert NormalInverseWishart(covariance=covariance).covariance_for(variance).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"mean": [1, 2, 3]}, r"mean has shape \(3,\); give finite numbers of shape \(2,\)"),
        ({"mean": [1, np.inf]}, "mean has shape .*finite numbers"),
        ({"mean": "high"}, "mean is 'high'; give numbers"),
        ({"mean": {}}, "mean is {}; give numbers"),
        ({"covariance": [1, 0]}, "variances must be over 0"),
        ({"covariance": [1, 2, 3]}, "covariance has shape"),
        ({"covariance": np.eye(3)}, r"covariance has shape \(3, 3\); give finite numbers of shape \(2, 2\)"),
        ({"covariance": [[1, 0.5], [0.4, 1]]}, "must be symmetric, with positive eigenvalues"),
        ({"covariance": [[1, 1], [1, 1]]}, "must be symmetric, with positive eigenvalues"),
        ({"covariance": [[1, 2], [2, 1]]}, "must be symmetric, with positive eigenvalues"),
    ],
)
def test_a_prior_that_no_columns_can_have_is_refused(prior, message):
    said = NormalInverseWishart(**prior)
    with pytest.raises(ParameterError, match=f"NormalInverseWishart: .*{message}"):
        said.mean_for(np.zeros(2)) if "mean" in prior else said.covariance_for(np.ones(2))
