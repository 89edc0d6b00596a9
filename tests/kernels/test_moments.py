"""Moments of classes: both loops equal the NumPy reference and exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from tests.kernels.tables import NUMBER_CASES, labels, numbers, weights

from bayeswater.kernels import moments
from bayeswater.kernels.moments import class_moments

N_CLASSES = 4
# A mean is rounded once in each of a few additions, a scatter once in each of its terms, all of one sign.
CLOSE = {"rtol": 1e-14, "atol": 1e-13}


def moments_by_hand(X, y, weight):
    """Weight, mean and scatter of the cells that are there, in fractions."""
    shape = (N_CLASSES, X.shape[1])
    count, mean, scatter = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for k in range(N_CLASSES):
        for j in range(X.shape[1]):
            cells = [
                (Fraction(float(X[i, j])), Fraction(1 if weight is None else float(weight[i])))
                for i in range(len(X))
                if y[i] == k and X[i, j] == X[i, j]
            ]
            total = sum(w for _, w in cells)
            if total:
                center = sum(w * x for x, w in cells) / total
                count[k, j], mean[k, j] = total, center
                scatter[k, j] = sum(w * (x - center) ** 2 for x, w in cells)
    return count, mean, scatter


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("skip_missing", [False, True], ids=["complete", "available"])
@pytest.mark.parametrize(("kind", "layout", "weighted"), NUMBER_CASES)
def test_moments_are_those_of_exact_arithmetic(kind, layout, weighted, skip_missing, use_loop, monkeypatch):
    monkeypatch.setattr(moments, "CACHE_CELLS", 3 * 130)  # 300 rows of three columns make three stretches
    rng = np.random.default_rng(0)
    X, y, weight = numbers(rng, 300, 3, kind, layout), labels(rng, 300, N_CLASSES), weights(rng, 300, weighted)
    y[:200] %= 2  # one class is not in every stretch
    count, mean, scatter = class_moments(X, y, weight, N_CLASSES, skip_missing=skip_missing, use_loop=use_loop)
    expected = moments_by_hand(X, y, weight)
    assert count.shape == ((N_CLASSES, 3) if skip_missing else (N_CLASSES, 1))
    np.testing.assert_array_equal(np.broadcast_to(count, expected[0].shape), expected[0])
    np.testing.assert_allclose(mean, expected[1], **CLOSE)
    np.testing.assert_allclose(scatter, expected[2], **CLOSE)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("weighted", [None, "float"])
def test_missing_cells_are_left_out_cell_by_cell(kind, weighted, use_loop):
    rng = np.random.default_rng(0)
    X, y, weight = numbers(rng, 60, 3, kind), labels(rng, 60, N_CLASSES), weights(rng, 60, weighted)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[y == 1, 2] = np.nan  # a class without a single value in a column
    count, mean, scatter = class_moments(X, y, weight, N_CLASSES, skip_missing=True, use_loop=use_loop)
    expected = moments_by_hand(X, y, weight)
    np.testing.assert_array_equal(count, expected[0])
    np.testing.assert_allclose(mean, expected[1], **CLOSE)
    np.testing.assert_allclose(scatter, expected[2], **CLOSE)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("skip_missing", [False, True], ids=["complete", "available"])
@pytest.mark.parametrize("value", [0.1, 1e15 + 0.3, -7e-300])
def test_a_constant_column_has_scatter_exactly_zero(value, skip_missing, use_loop, monkeypatch):
    monkeypatch.setattr(moments, "CACHE_CELLS", 64)
    X, y = np.full((500, 1), value), np.zeros(500, dtype=np.uint8)
    weight = np.random.default_rng(0).random(500)
    _, mean, scatter = class_moments(X, y, weight, 1, skip_missing=skip_missing, use_loop=use_loop)
    assert (mean[0, 0], scatter[0, 0]) == (value, 0.0)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_cell_that_is_not_finite_shows_in_the_sums_of_its_column(bad, use_loop):
    X, y = np.array([[1.0, 2.0], [bad, 3.0], [4.0, 5.0]]), np.zeros(3, dtype=np.uint8)
    with np.errstate(invalid="ignore"):  # a loop run as plain Python warns, which compiled code does not
        _, mean, scatter = class_moments(X, y, None, 1, skip_missing=False, use_loop=use_loop)
    assert not np.isfinite(mean[0, 0] + scatter[0, 0])
    assert np.isfinite(mean[0, 1] + scatter[0, 1])


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_large_mean_costs_no_digits_of_the_scatter(use_loop):
    X = np.array([[1e9 + 1], [1e9 + 2], [1e9 + 3]])
    _, mean, scatter = class_moments(X, np.zeros(3, dtype=np.uint8), None, 1, skip_missing=False, use_loop=use_loop)
    assert (mean[0, 0], scatter[0, 0]) == (1e9 + 2, 2.0)


@pytest.mark.parametrize("apart", [1.0, 1e3, 1e7])
@pytest.mark.parametrize("ordered", [False, True], ids=["mixed", "sorted"])
def test_a_class_that_moves_from_stretch_to_stretch_loses_no_digits(apart, ordered, monkeypatch):
    monkeypatch.setattr(moments, "CACHE_CELLS", 3 * 130)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)), labels(rng, 600, N_CLASSES)
    X[300:] += apart
    X = np.sort(X, axis=0) if ordered else X
    count, mean, scatter = class_moments(X, y, None, N_CLASSES, skip_missing=False, use_loop=True)
    expected = moments_by_hand(X, y, None)
    np.testing.assert_array_equal(np.broadcast_to(count, expected[0].shape), expected[0])
    np.testing.assert_allclose(mean, expected[1], rtol=1e-14, atol=1e-15 * apart)
    np.testing.assert_allclose(scatter, expected[2], rtol=1e-14)
