"""Moments: merged and taken apart by the formulas of Chan, Golub and LeVeque; refused where digits would be lost."""

import numpy as np
import pytest

from bayeswater import DataError, GaussianNB, StatisticsError
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.statistics.moments import LostDigits, Moments, take_out
from bayeswater.statistics.scatter import Scatter

# The merge of two moments rounds a handful of times.
CLOSE = {"rtol": 1e-13, "atol": 1e-13}


def moments_of(X, y, weight=None, **parameters):
    return GaussianNB(**parameters).fit(X, y, weight).statistics_.columns


def assert_close(a, b):
    assert a.domain == b.domain
    np.testing.assert_array_equal(*np.broadcast_arrays(a.weight, b.weight))
    np.testing.assert_allclose(a.mean, b.mean, **CLOSE)
    np.testing.assert_allclose(a.scatter, b.scatter, **CLOSE)


def table(seed=0, n_rows=30):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 2)), np.tile([0, 0, 1], n_rows // 3)


def test_two_parts_merge_into_the_whole_and_come_apart_again():
    X, y = table()
    whole, a, b = moments_of(X, y), moments_of(X[:18], y[:18]), moments_of(X[18:], y[18:])
    assert_close(a + b, whole)
    assert_close(whole - b, a)


def test_the_moments_of_a_merge_with_a_class_on_one_side_are_that_sides():
    a, b = moments_of([[1.0], [3.0]], [0, 0]), moments_of([[5.0], [9.0]], [1, 1])
    total = a + b
    assert total.mean.tolist() == [[2.0], [7.0]]
    assert total.scatter.tolist() == [[2.0], [8.0]]
    assert total.weight.tolist() == [[2], [2]]


def test_weights_are_one_column_until_a_cell_is_missing():
    X, y = table()
    assert moments_of(X, y, missing="ignore").weight.shape == (2, 1)
    X[4, 1] = np.nan
    assert moments_of(X, y, missing="ignore").weight.tolist() == [[20, 19], [10, 10]]


def test_moments_with_and_without_missing_cells_merge():
    X, y = table()
    X[2, 0] = X[7, 1] = np.nan
    whole = moments_of(X, y, missing="ignore")
    a, b = (moments_of(X[rows], y[rows], missing="ignore") for rows in (slice(0, 9), slice(9, 30)))
    assert a.weight.shape == (2, 2)
    assert b.weight.shape == (2, 1)
    assert_close(a + b, whole)
    assert_close(b + a, whole)
    assert_close(whole - b, a)


@pytest.mark.parametrize("use_loop", [False, True])
def test_many_blocks_merge_into_the_moments_of_one(use_loop, monkeypatch):
    from bayeswater.kernels import compiling, threads

    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 0 if use_loop else 10**9)
    X, y = table(n_rows=300)
    one_block = moments_of(X, y)
    monkeypatch.setattr(threads.row_blocks, "__defaults__", (7,))
    assert_close(moments_of(X, y), one_block)


def test_the_moments_of_all_classes_together_are_those_of_the_column():
    X, y = table()
    weight, mean, scatter = moments_of(X, y).pooled()
    assert weight.tolist() == [30, 30]
    np.testing.assert_allclose(mean, X.mean(axis=0), **CLOSE)
    np.testing.assert_allclose(scatter, ((X - X.mean(axis=0)) ** 2).sum(axis=0), **CLOSE)


def test_a_constant_column_is_constant_over_all_classes_together():
    X = np.full((30, 1), 0.1)
    _, mean, scatter = moments_of(X, np.arange(30) % 7, np.linspace(0.1, 1, 30)).pooled()
    assert (mean[0], scatter[0]) == (0.1, 0.0)


def test_the_moments_of_a_single_class_are_those_of_all():
    moments = moments_of([[1.0], [4.0]], [0, 0])
    weight, mean, scatter = moments.pooled()
    assert (weight[0], mean[0], scatter[0]) == (2, 2.5, 4.5)


# ---------------------------------------------------------------------- lost digits


def outlier():
    """One row makes up all but 1e-10 of the scatter of its class."""
    X = np.array([[0.0], [1.0], [2.0], [1e6], [5.0], [6.0]])
    return X, np.array([0, 0, 0, 0, 1, 1])


def test_taking_away_nearly_all_of_a_scatter_is_refused_with_class_column_and_way_out():
    X, y = outlier()
    message = r"column 'x0' of class 0 with a scatter of .* fewer than 8 digits .*remaining=\(X_rest, y_rest\)\)"
    with pytest.raises(LostDigits, match=message):
        moments_of(X, y) - moments_of(X[3:4], y[3:4])


def test_the_rows_that_remain_recount_the_class():
    X, y = outlier()
    rest = np.arange(6) != 3
    model = GaussianNB().fit(X, y)
    model.forget(X[3:4], y[3:4], remaining=(X[rest], y[rest]))
    assert_close(model.statistics_.columns, moments_of(X[rest], y[rest]))


def test_rows_that_remain_are_only_looked_at_where_digits_are_lost():
    X, y = table()
    model = GaussianNB().fit(X, y).forget(X[:2], y[:2], remaining=(np.zeros((1, 2)), [0]))
    assert_close(model.statistics_.columns, moments_of(X[2:], y[2:]))


def test_rows_that_cannot_be_all_that_remain_are_refused():
    X, y = outlier()
    model = GaussianNB().fit(X, y)
    with pytest.raises(StatisticsError, match="`remaining` holds weight 1 of class 0, but 3 remains; give all rows"):
        model.forget(X[3:4], y[3:4], remaining=(X[:1], y[:1]))
    assert model.statistics_ == GaussianNB().fit(X, y).statistics_


def test_a_class_of_which_one_row_remains_has_no_scatter():
    moments = moments_of([[1.0], [1e6], [3.0]], [0, 0, 1]) - moments_of([[1e6]], [0])
    assert moments.scatter.tolist() == [[0.0], [0.0]]
    np.testing.assert_allclose(moments.mean[0], 1.0, rtol=1e-9)  # 1e6 has taken six of sixteen digits, and is gone


def test_a_class_of_which_no_row_remains_is_gone():
    sums = GaussianNB().fit([[1.0], [2.0], [9.0]], [0, 0, 1]).statistics_
    rest = sums - GaussianNB().fit([[9.0]], [1]).statistics_
    assert rest == GaussianNB().fit([[1.0], [2.0]], [0, 0]).statistics_


# ---------------------------------------------------------------------- overflow


@pytest.mark.parametrize("y", [[0, 0], [0, 1]], ids=["within a class", "across classes"])
def test_values_too_far_apart_are_refused_however_they_arrive(y):
    X = np.array([[1.0, 1e200], [2.0, -1e200]])
    message = "the squares of column 'x1' overflow: its values are too far apart for float64; divide"
    with pytest.raises(DataError, match=message):
        GaussianNB().fit(X, y)
    model = GaussianNB().partial_fit(X[:1], y[:1], classes=[0, 1])
    before = model.statistics_
    with pytest.raises(DataError, match=message):
        model.partial_fit(X[1:], y[1:])
    assert model.statistics_ is before
    with pytest.raises(DataError, match=message):
        model + GaussianNB().partial_fit(X[1:], y[1:], classes=[0, 1])


def test_large_values_that_are_near_each_other_are_fine():
    model = GaussianNB().fit([[1e200], [1e200], [1e200]], [0, 0, 1])
    assert model.theta_.tolist() == [[1e200], [1e200]]
    assert np.isfinite(model.predict_log_proba([[1e200]])).all()


@pytest.mark.parametrize("kind", [Moments, Scatter])
def test_values_whose_squares_are_gone_still_differ_in_the_classes_that_have_some(kind):
    cells = np.array([[1e-200, 1.0], [2e-200, 2.0], [np.nan, 3.0], [np.nan, 4.0]])
    found = kind.of(DenseMatrix(cells), encode_labels(["a", "a", "b", "b"]), None, skip_missing=True)
    scatter = found.scatter if kind is Moments else found.squares
    assert scatter[0, 0] > 0 and scatter[1, 0] == 0
    assert scatter[:, 1].tolist() == [0.5, 0.5]


def test_moments_of_nothing_but_missing_cells_have_no_weight():
    moments = moments_of([[np.nan, 1.0], [np.nan, 2.0]], [0, 1], missing="ignore")
    assert isinstance(moments, Moments)
    assert moments.weight.tolist() == [[0, 1], [0, 1]]


def test_a_row_is_taken_out_of_sums_of_fractions():
    x, weight = np.array([0.5, 2.0, 7.0]), np.array([0.25, 0.125, 0.5])
    n, mean = weight.sum(), weight @ x / weight.sum()
    sums = np.full((3, 1), n), np.full((3, 1), mean), np.full((3, 1), weight @ (x - mean) ** 2)
    for i, (left, own_mean, scatter) in enumerate(zip(*take_out(*sums, x[:, None], weight[:, None]), strict=True)):
        rest = np.arange(3) != i
        expected = np.average(x[rest], weights=weight[rest])
        assert left[0] == weight[rest].sum()
        assert own_mean[0] == pytest.approx(expected, rel=1e-14)
        assert scatter[0] == pytest.approx(weight[rest] @ (x[rest] - expected) ** 2, rel=1e-13)
