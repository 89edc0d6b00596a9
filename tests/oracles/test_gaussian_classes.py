"""`GaussianClassifier` against fifty digits."""

import mpmath
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_breast_cancer
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


# ---------------------------------------------------------------------- missing cells, by definition


def pairwise_sums(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of columns over the cells that are there, and covariances of pairs over the rows that have both."""
    d = X.shape[1]
    covariance = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            both = X[~np.isnan(X[:, [i, j]]).any(axis=1)][:, [i, j]]
            covariance[i, j] = (both - both.mean(axis=0)).prod(axis=1).mean()
    return np.nanmean(X, axis=0), covariance


def dense_log_posterior(X: np.ndarray, y: np.ndarray, queries: np.ndarray, form: str) -> np.ndarray:
    """log P(class | the cells that are there), from part of mean and covariance."""
    count = np.bincount(y)
    means, own = zip(*(pairwise_sums(X[y == k]) for k in range(len(count))), strict=True)
    shared = np.tensordot(count / count.sum(), own, 1)
    covariances = own if form in ("full", "diagonal", "spherical") else [shared] * len(count)
    if form in ("diagonal", "shared_diagonal"):
        covariances = [np.diag(np.diagonal(c)) for c in covariances]
    if form == "spherical":
        covariances = [np.eye(len(c)) * np.trace(c) / len(c) for c in covariances]
    joint = np.empty((len(queries), len(count)))
    for i, row in enumerate(queries):
        there = ~np.isnan(row)
        for k, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
            part = covariance[np.ix_(there, there)]
            joint[i, k] = np.log(count[k]) + multivariate_normal.logpdf(row[there], mean[there], part)
    return joint - logsumexp(joint, axis=1, keepdims=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("holes", ["nowhere", "in rows asked for", "in rows learned from", "everywhere"])
def test_posteriors_with_missing_cells_are_those_of_the_cells_that_are_there(form, holes):
    rng = np.random.default_rng(1)
    mixing, y = rng.normal(size=(5, 5)), rng.integers(0, 3, 400)
    X = (rng.normal(size=(400, 5)) + rng.normal(size=(3, 5))[y]) @ mixing * [1.0, 30.0, 0.1, 5.0, 1.0]
    learned, asked = X[:340].copy(), X[340:].copy()
    for part, places in ((learned, "learned everywhere"), (asked, "asked everywhere")):
        if any(word in places for word in holes.split()):
            part[rng.random(part.shape) < 0.1] = np.nan
    found = GaussianClassifier(covariance=form).fit(learned, y[:340]).predict_log_proba(asked)
    np.testing.assert_allclose(found, dense_log_posterior(learned, y[:340], asked, form), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", ["full", "shared"])
def test_pairs_of_columns_told_by_different_rows_make_no_class_flat(form):
    # Thirty columns from sixty rows, of which hardly any is complete: no rows have all these pairwise covariances.
    X, y = load_breast_cancer(return_X_y=True)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        learned, others = X[order[:60]], order[60:]
        learned[rng.random(learned.shape) < 0.05] = np.nan
        model = GaussianClassifier(covariance=form).fit(learned, y[order[:60]])
        assert model.score(X[others], y[others]) > 0.85
