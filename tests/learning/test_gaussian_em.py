"""EM finds the parameters of largest likelihood of rows with missing cells."""

from dataclasses import replace

import numpy as np
import pytest

from bayeswater import ConvergenceWarning, GaussianClassifier, StatisticsError
from bayeswater.learning import gaussian_em

FORMS = ("full", "shared", "diagonal", "shared_diagonal", "spherical")


def rows(seed=0, n=150, d=3, missing=0.2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 2 * y[:, None]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def test_where_one_column_lacks_cells_the_answer_is_the_factored_likelihood_of_anderson():
    # x0 is whole: its moments are those of all rows, and x1 is a regression on x0 over the rows that have both.
    rng = np.random.default_rng(0)
    a = rng.standard_normal(200)
    b = 0.7 * a + 0.5 * rng.standard_normal(200) + 3
    b[(rng.random(200) < 0.4) | (a > 1)] = np.nan  # missing also where x0 is large
    model = GaussianClassifier(missing="em").fit(np.c_[a, b], np.zeros(200, dtype=int))
    both = ~np.isnan(b)
    slope, intercept = np.polyfit(a[both], b[both], 1)
    rest = ((b - slope * a - intercept)[both] ** 2).mean()
    np.testing.assert_allclose(model.means_[0], [a.mean(), intercept + slope * a.mean()], rtol=0, atol=1e-9)
    expected = a.var() * np.array([[1, slope], [slope, slope**2]]) + [[0, 0], [0, rest]]
    np.testing.assert_allclose(model.covariances_[0], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_no_step_from_the_answer_is_more_likely(form):
    X, y = rows()
    model = GaussianClassifier(covariance=form, missing="em").fit(X, y)

    def log_likelihood(scatter):
        sums = type(model.statistics_)(model.statistics_.class_count, scatter)
        joint = model._read(sums).of(X, False)
        return joint[np.arange(len(y)), y].sum()

    found = model.statistics_.columns
    best = log_likelihood(found)
    rng = np.random.default_rng(1)
    for _ in range(10):
        moved = found.mean + 0.01 * rng.standard_normal(found.mean.shape)
        root = np.eye(3) + 0.01 * rng.standard_normal((3, 3))
        assert log_likelihood(replace(found, mean=moved)) < best
        assert log_likelihood(replace(found, scatter=root @ found.scatter @ root.T)) <= best + 1e-9 * abs(best)


def test_pairs_of_cells_are_less_likely_than_em():
    X, y = rows(missing=0.4)
    pairs = GaussianClassifier().fit(X, y).predict_joint_log_proba(X)[np.arange(len(y)), y].sum()
    best = GaussianClassifier(missing="em").fit(X, y).predict_joint_log_proba(X)[np.arange(len(y)), y].sum()
    assert best > pairs


def test_whole_rows_need_no_em_and_a_row_without_cells_says_nothing():
    X, y = rows(missing=0.0)
    expected = GaussianClassifier().fit(X, y)
    assert GaussianClassifier(missing="em").fit(X, y).statistics_ == expected.statistics_
    empty = np.r_[X, np.full((5, 3), np.nan)], np.r_[y, np.zeros(5, dtype=int)]
    model = GaussianClassifier(missing="em").fit(*empty)
    np.testing.assert_allclose(model.covariances_, expected.covariances_, rtol=1e-9)
    np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-9)


def test_weights_equal_repetition():
    X, y = rows()
    w = np.random.default_rng(5).integers(1, 3, len(X))
    a = GaussianClassifier(missing="em").fit(X, y, w)
    b = GaussianClassifier(missing="em").fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(a.covariances_, b.covariances_, rtol=1e-8, atol=1e-8)  # both within 1e-11 a step of rest


def test_steps_that_do_not_come_to_rest_are_told(monkeypatch):
    monkeypatch.setattr(gaussian_em, "STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="not come to rest in 2 steps"):
        GaussianClassifier(missing="em").fit(*rows())


def test_what_is_no_sum_over_rows_refuses_to_be_one():
    X, y = rows()
    model = GaussianClassifier(missing="em").fit(X, y)
    for call in (
        lambda: model.partial_fit(X, y),
        lambda: model.forget(X, y),
        lambda: model + model,
        lambda: model - model,
        lambda: model.loo_predict_log_proba(X, y),
        lambda: model.with_covariance("shared"),
        lambda: GaussianClassifier(missing="em").partial_fit(X, y),
    ):
        with pytest.raises(StatisticsError, match="estimated from all rows together"):
            call()
