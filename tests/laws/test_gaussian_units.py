"""A change of units changes no posterior, in fit, partial_fit and merge; spherical covariances alone depend on it."""

import numpy as np
import pytest

from bayeswater import Friedman, GaussianClassifier, NormalInverseWishart

FREE = ("full", "shared", "diagonal", "shared_diagonal")
ESTIMATES = [
    {},
    {"estimate": "unbiased"},
    {"shrinkage": 0.2},
    {"shrinkage": Friedman(0.3, 0.1)},
    {"prior": NormalInverseWishart()},
]


def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    return rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4)) + y[:, None], y


def learned(how: str, model: GaussianClassifier, X, y) -> GaussianClassifier:
    if how == "fit":
        return model.fit(X, y)
    if how == "partial_fit":
        return model.partial_fit(X[:80], y[:80]).partial_fit(X[80:], y[80:])
    halves = [GaussianClassifier(**model.get_params()).fit(X[part], y[part]) for part in (slice(0, 90), slice(90, 200))]
    return halves[0] + halves[1]


@pytest.mark.parametrize("how", ["fit", "partial_fit", "merge"])
@pytest.mark.parametrize("form", FREE)
@pytest.mark.parametrize("estimate", ESTIMATES, ids=lambda e: next(iter(e), "ml"))
def test_scales_and_shifts_of_columns_change_no_posterior(how, form, estimate):
    X, y = rows()
    expected = learned(how, GaussianClassifier(covariance=form, **estimate), X, y).predict_proba(X)
    scale, shift = np.array([1e-6, 1e6, 3e-3, 1e4]), X.std(axis=0) * [1e6, -1e6, 1e3, 0.0]
    moved = (X + shift) * scale
    model = learned(how, GaussianClassifier(covariance=form, **estimate), moved, y)
    # The shift itself rounds cells to 1e-10 standard deviations.
    np.testing.assert_allclose(model.predict_proba(moved), expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        np.exp(model.loo_predict_log_proba(moved, y)),
        np.exp(learned(how, GaussianClassifier(covariance=form, **estimate), X, y).loo_predict_log_proba(X, y)),
        rtol=0,
        atol=1e-8,
    )


def test_a_chosen_shrinkage_does_not_depend_on_units():
    X, y = rows()
    a = GaussianClassifier(shrinkage="auto").fit(X[:40], y[:40])
    b = GaussianClassifier(shrinkage="auto").fit(X[:40] * [1e-6, 1e6, 1.0, 10.0], y[:40])
    assert a.shrinkage_ == b.shrinkage_


def test_tiny_and_flat_classes_are_told_apart_in_any_units():
    X, y = rows()
    y = np.where(np.arange(200) < 3, 3, y)  # three rows of four columns
    with pytest.warns(UserWarning, match="class 3 has no extent in 2 of 4 directions"):
        expected = GaussianClassifier().fit(X, y).predict_proba(X)
    scale = np.array([1e-6, 1e6, 3e-3, 1e4])
    with pytest.warns(UserWarning, match="class 3 has no extent in 2 of 4 directions"):
        found = GaussianClassifier().fit(X * scale, y).predict_proba(X * scale)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


def test_a_spherical_covariance_depends_on_units_as_it_says():
    X, y = rows()
    scale = [1.0, 1e3, 1.0, 1.0]
    a, b = (GaussianClassifier(covariance="spherical").fit(x, y).predict_proba(x) for x in (X, X * scale))
    assert np.abs(a - b).max() > 0.01
    assert 'All but "spherical" are indifferent to the units' in GaussianClassifier.__doc__
