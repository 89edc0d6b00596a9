"""Normal columns without the row itself: the loops equal the moments of the other rows."""

import numpy as np
import pytest
from tests.kernels.tables import laid_out

from bayeswater.kernels.gaussian_joint import STRETCH_ROWS
from bayeswater.kernels.gaussian_without import largest_variance_without, own_scores_without, scores_at

ROUNDING, DIGITS_KEPT = 1e-12, 1e-8


def table(n_rows=40, layout="C", kind="float64"):
    rng = np.random.default_rng(0)
    X = laid_out(rng.integers(0, 50, (n_rows, 3)).astype(kind), layout)
    return X, rng.integers(0, 2, n_rows).astype(np.uint8), rng.choice([1.0, 0.25], n_rows)


def moments(X, weight):
    """Weight, mean and scatter of weighted rows."""
    n = weight.sum()
    mean = weight @ X / n
    return n, mean, weight @ (X - mean) ** 2


def own_scores(X, y, removed, epsilon, whole=True):
    n = np.array([(y == k).sum() for k in range(2)], dtype=float)
    mean = np.array([X[y == k].mean(axis=0) for k in range(2)])
    scatter = np.array([((X[y == k] - mean[k]) ** 2).sum(axis=0) for k in range(2)])
    variance = scatter / n[:, None] + 0.5
    return own_scores_without(
        X,
        y,
        removed,
        epsilon,
        n,
        mean,
        scatter,
        np.log(variance).sum(axis=1),
        1.0 / variance,
        whole=whole,
        rounding=ROUNDING,
        digits_kept=DIGITS_KEPT,
    )


@pytest.mark.parametrize(("kind", "layout"), [("float64", "C"), ("float64", "F"), ("float32", "C"), ("uint8", "C")])
def test_the_largest_variance_is_that_of_the_other_rows(kind, layout):
    X, _, removed = table(STRETCH_ROWS + 9, layout, kind)
    n, mean, scatter = moments(X.astype(float), np.ones(len(X)))
    found = largest_variance_without(X, removed, n, mean, scatter, ROUNDING)
    for i in range(0, len(X), 7):
        weight = np.ones(len(X))
        weight[i] -= removed[i]
        n_left, _, left = moments(X.astype(float), weight)
        assert found[i] == pytest.approx((left / n_left).max(), rel=1e-13)  # a few roundings


def test_a_row_with_a_missing_or_infinite_cell_has_no_largest_variance():
    X, _, removed = table()
    n, mean, scatter = moments(X, np.ones(len(X)))
    X[3, 1], X[5, 2] = np.nan, np.inf
    found = largest_variance_without(X, removed, n, mean, scatter, ROUNDING)
    assert np.flatnonzero(np.isnan(found)).tolist() == [3, 5]


def test_scores_add_to_each_variance_what_the_row_adds():
    X, _, _ = table(STRETCH_ROWS + 9)
    rng = np.random.default_rng(1)
    mean, variance = rng.normal(size=(2, 3)), rng.uniform(1, 2, (2, 3))
    epsilon, shift = rng.uniform(0, 1, len(X)), rng.uniform(-1, 1, len(X))
    log_determinant, series = rng.normal(size=2), rng.normal(size=(3, 2))
    found = scores_at(X, mean, variance, epsilon, shift, log_determinant, series)
    distance = ((X[:, None] - mean) ** 2 / (variance + epsilon[:, None, None])).sum(axis=2)
    moved = sum(series[m] * shift[:, None] ** (m + 1) for m in range(3))
    np.testing.assert_allclose(found, -0.5 * (log_determinant + moved + distance), rtol=1e-13)


def test_the_own_class_is_that_of_its_other_rows():
    X, y, removed = table()
    epsilon = np.linspace(0.1, 1.0, len(X))
    found, lost = own_scores(X, y, removed, epsilon)
    for i in range(len(X)):
        weight = (y == y[i]).astype(float)
        weight[i] -= removed[i]
        n, mean, scatter = moments(X, weight)
        variance = scatter / n + epsilon[i]
        expected = -0.5 * (np.log(variance) + (X[i] - mean) ** 2 / variance).sum()
        assert found[i] == pytest.approx(expected, rel=1e-12)  # the scatter loses a digit or two
    assert not lost.any()


def test_many_columns_of_shrinking_variance_do_not_underflow():
    # Without its only odd row a class of four has no scatter: 400 ratios near 1e-6 multiply to far below 1e-308.
    X = np.zeros((8, 400))
    X[3] = 1000.0
    y = np.array([0] * 4 + [1] * 4, dtype=np.uint8)
    X[4:] = np.arange(4)[:, None]
    found, lost = own_scores(X, y, np.ones(8), np.full(8, 0.25))
    assert found[3] == pytest.approx(-0.5 * 400 * (np.log(0.25) + 1000.0**2 / 0.25), rel=1e-12)
    assert lost.tolist() == [False] * 3 + [True] + [False] * 4


def test_a_variance_that_becomes_zero_gives_no_score():
    X = np.array([[0.0], [0.0], [5.0], [1.0], [2.0]])
    y = np.array([0, 0, 0, 1, 1], dtype=np.uint8)
    found, _ = own_scores(X, y, np.ones(5), np.zeros(5))
    assert np.flatnonzero(np.isnan(found)).tolist() == [2, 3, 4]  # what is left of class 1 is a single row
