"""`GaussianClassifier` against fifty digits."""

import mpmath
import numpy as np
import pytest
from tests.oracles.covariances import class_sums, covariances, log_joints, log_student

from bayeswater import GaussianClassifier, NormalInverseWishart

FORMS = ("full", "shared", "diagonal", "shared_diagonal", "spherical")


def correlated_rows(condition: float, seed: int = 0, n: int = 40, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes, of which the correlation matrix has about the given condition number."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    spread = np.geomspace(1.0, condition**-0.5, d)
    y = np.arange(n) % 2
    x = rng.standard_normal((n, d)) * spread * np.where(y, 1.5, 1.0)[:, None] @ turn + y[:, None] * spread @ turn
    return x * [1.0, 1e3, 1e-3, 50.0], y


def condition_number(X: np.ndarray, y: np.ndarray) -> float:
    """Largest condition number of the correlation matrix of a class."""
    return max(float(np.linalg.cond(np.corrcoef(X[y == k].T))) for k in np.unique(y))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("condition", [1e1, 1e4, 1e8])
def test_log_joints_have_as_many_digits_as_the_correlations_allow(form, condition):
    X, y = correlated_rows(condition)
    queries = X[:6] + 0.1 * X.std(axis=0)
    found = GaussianClassifier(covariance=form).fit(X, y).predict_joint_log_proba(queries)
    expected = log_joints(X, y, queries, form)
    bound = 1e-15 * condition_number(X, y) * X.shape[1]
    for row, exact in zip(found, expected, strict=True):
        for value, truth in zip(row, exact, strict=True):
            assert abs(value - truth) <= bound * max(1, abs(truth))


@pytest.mark.parametrize("form", FORMS)
def test_the_unbiased_divisors_are_those_of_the_definition(form):
    X, y = correlated_rows(10.0, seed=3)
    model = GaussianClassifier(covariance=form, estimate="unbiased").fit(X, y)
    expected = covariances(class_sums(X, y), form, unbiased=True)
    for found, exact in zip(model.covariances_, expected, strict=True):
        exact = np.array(exact.tolist(), dtype=float)
        size = np.sqrt(np.diagonal(exact))
        assert np.abs((found - exact) / size / size[:, None]).max() < 1e-14  # a few roundings of numbers of size one


@pytest.mark.parametrize("form", ["full", "shared"])
def test_a_wishart_prior_predicts_by_the_student_density_of_its_formula(form):
    X = np.random.default_rng(5).standard_normal((12, 3)) + np.array([0.0, 1.0, 0.5])
    y = np.arange(12) % 2
    prior = NormalInverseWishart(mean=[0.1, 0.2, 0.3], strength=2.0, covariance=np.diag([1.0, 2.0, 0.5]), degrees=7.0)
    query = X[0] + 0.3
    found = GaussianClassifier(covariance=form, prior=prior).fit(X, y).predict_joint_log_proba([query])[0]
    with mpmath.workdps(50):
        start = mpmath.matrix([[1, 0, 0], [0, 2, 0], [0, 0, mpmath.mpf(1) / 2]]) * (7 - 3 - 1)
        center = mpmath.matrix([mpmath.mpf(float(v)) for v in (0.1, 0.2, 0.3)])
        sums = class_sums(X, y)
        added = [s + (m - center) * (m - center).T * (2 * n / (2 + n)) for n, m, s in sums]
        rows = mpmath.fsum(n for n, _, _ in sums)
        for k, (n, m, _) in enumerate(sums):
            scale = start + (added[k] if form == "full" else added[0] + added[1])
            strength, degrees = 2 + n, 7 + (n if form == "full" else rows) - 3 + 1
            location = (center * 2 + m * n) / strength
            truth = mpmath.log(n / rows) + log_student(
                query, location, scale * (strength + 1) / (strength * degrees), degrees
            )
            assert abs(found[k] - truth) < 1e-12
