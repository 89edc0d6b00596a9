"""Leave-one-out of Gaussian classes equals n refits."""

import numpy as np
import pytest

from bayeswater import Friedman, GaussianClassifier, NormalInverseWishart, PrecisionWarning
from bayeswater.estimate.densities import read_densities
from bayeswater.inference.gaussian_form import joint_of
from bayeswater.inference.leave_one_out import log_prior_without
from bayeswater.inference.log_space import log_posterior

FORMS = ("full", "shared", "diagonal", "shared_diagonal", "spherical")
ESTIMATES = {
    "ml": {},
    "unbiased": {"estimate": "unbiased"},
    "fixed": {"shrinkage": 0.3},
    "friedman": {"shrinkage": Friedman(0.4, 0.1)},
    "oas": {"shrinkage": "oas"},
    "ledoit_wolf": {"shrinkage": "ledoit_wolf"},
    "wishart": {"prior": NormalInverseWishart(strength=0.5)},
}
DEFINED = [
    (form, name)
    for form in FORMS
    for name in ESTIMATES
    if not (form == "spherical" and name in ("fixed", "friedman", "oas", "ledoit_wolf"))
    and not (form in ("diagonal", "shared_diagonal") and name in ("oas", "ledoit_wolf"))
]
pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")


def rows(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) * (1 + y[:, None]) + y[:, None] + 20
    return X, y


def refits(model, X, y, weight=None, *, held=True):
    """Log posteriors of every row by a fit without it; of a row of weight w > 1, with weight w - 1."""
    w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    read, floor = model._densities, model.variance_floor
    reading = read.blend.reading
    classes = model.classes_
    result = []
    for i in range(len(X)):
        left = w.copy()
        left[i] -= min(1.0, w[i])
        again = GaussianClassifier(**model.get_params()).fit(X, y, left).statistics_
        sums = type(again)(
            again.class_count.onto(model.statistics_.classes), again.columns.onto(model.statistics_.classes)
        )
        intensity = read.blend.spherical if held and reading.prior is None else None
        measure = read.blend.yardstick if held else None
        densities = read_densities(sums.columns, sums.class_count.count, reading, floor, measure, intensity)
        count = np.array([left[y == k].sum() for k in classes])
        with np.errstate(divide="ignore"):
            joint = joint_of(np.log(count / count.sum()), densities).of(X[i : i + 1], False)
        result.append(log_posterior(joint)[0])
    return np.array(result)


def require_close(found, expected, share=1e-10):
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    finite = np.isfinite(expected)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=share, atol=share)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["ml", "unbiased"])
def test_it_equals_plain_refits_where_nothing_is_scaled(form, name):
    X, y = rows()
    model = GaussianClassifier(covariance=form, **ESTIMATES[name]).fit(X, y)
    require_close(model.loo_predict_log_proba(X, y), refits(model, X, y, held=False))


@pytest.mark.parametrize(("form", "name"), DEFINED)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_equals_refits_with_scales_and_intensities_held(form, name, weighted):
    X, y = rows()
    w = np.random.default_rng(1).choice([0.25, 0.5, 1.0, 2.5, 3.0], len(X)) if weighted else None
    model = GaussianClassifier(covariance=form, **ESTIMATES[name]).fit(X, y, w)
    require_close(model.loo_predict_log_proba(X, y, w), refits(model, X, y, w))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["ml", "wishart"])
def test_it_equals_refits_where_classes_are_tiny_and_columns_bound(form, name):
    # Class 0 has one row, class 1 three rows of four columns, and the last column is the sum of two others.
    X, y = rows(30, 3, seed=4)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    y = np.array([0] + [1] * 3 + [2] * 26)
    model = GaussianClassifier(covariance=form, **ESTIMATES[name]).fit(X, y)
    # Variances lifted from zero to 1e-9 have half of the digits: their log-densities too.
    require_close(model.loo_predict_log_proba(X, y), refits(model, X, y), share=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["ml", "fixed", "wishart"])
def test_it_equals_refits_where_cells_are_missing(form, name):
    if (form, name) not in DEFINED:
        return
    X, y = rows(25)
    X[np.random.default_rng(2).random(X.shape) < 0.15] = np.nan
    model = GaussianClassifier(covariance=form, **ESTIMATES[name]).fit(X, y)
    require_close(model.loo_predict_log_proba(X, y), refits(model, X, y))


def test_a_row_whose_scatter_is_all_there_is_is_told():
    X, y = rows(60)
    X[0] += 1e6
    model = GaussianClassifier().fit(X, y)
    with pytest.warns(PrecisionWarning, match="row 0 makes up nearly all"):
        model.loo_predict_log_proba(X, y)


def test_a_given_class_prior_stays_as_it_is():
    X, y = rows()
    model = GaussianClassifier(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    counted = GaussianClassifier().fit(X, y)
    prior = log_prior_without(counted.statistics_.class_count.count, 0.0, y, np.ones(len(y)))
    expected = log_posterior(counted.loo_predict_log_proba(X, y) - prior + np.log([0.2, 0.3, 0.5]))
    require_close(model.loo_predict_log_proba(X, y), expected)
