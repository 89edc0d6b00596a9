"""Scores of normal columns: the loop equals the NumPy reference, missing cells add nothing.

Normal columns without the row itself: the loops equal the moments of the other rows.

A table is read as one line of cells, by the steps between rows and columns, however it lies in memory.

The loop over rows taken out of their moments agrees with the NumPy rule, and leaves to it what is near a floor.
"""

import numpy as np
import pytest
from tests.kernels.tables import NUMBER_KINDS, laid_out, numbers

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.number_table import NumberTable
from bayeswater.families.gaussian import NormalBlock
from bayeswater.kernels import independent_normals
from bayeswater.kernels.independent_normals import (
    STRETCH_ROWS,
    gaussian_scores,
    in_one_line,
    largest_variance_without,
    own_scores_without,
    scores_at,
)
from bayeswater.statistics.moments import Moments

CASES = [*[(kind, "C") for kind in NUMBER_KINDS], ("float64", "F"), ("float64", "strided")]
# Halves and quarters: every distance, square and sum is exact. An inverse scale of 0 says that there is no density.
MEAN = np.array([[0.5, 2.0, 4.0], [1.5, 8.0, 3.0]])
INVERSE_SCALE = np.array([[0.5, 1.0, 0.0], [2.0, 0.25, 1.0]])
INTERCEPT = np.array([-3.0, 7.25])


BY_COLUMN = np.ascontiguousarray(MEAN.T), np.ascontiguousarray(INVERSE_SCALE.T)  # another layout is a compile more


@pytest.fixture(autouse=True)
def several_stretches(monkeypatch):
    monkeypatch.setattr(independent_normals, "STRETCH_CELLS", 600)


def by_hand(X):
    z = (X.astype(float)[:, None, :] - MEAN) * INVERSE_SCALE  # (n_rows, n_classes, n_columns)
    return INTERCEPT - 0.5 * np.where(np.isnan(z), 0.0, z**2).sum(axis=2)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), CASES)
def test_every_class_loses_half_the_squared_distances(kind, layout, use_loop):
    X = numbers(np.random.default_rng(0), 2 * STRETCH_ROWS + 7, 3, kind, layout)
    scores, any_missing = gaussian_scores(X, *BY_COLUMN, INTERCEPT, use_loop=use_loop)
    np.testing.assert_array_equal(scores, by_hand(X))
    assert not any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), [("float32", "C"), ("float64", "C"), ("float64", "F")])
def test_a_missing_cell_adds_nothing_and_is_reported(kind, layout, use_loop):
    rng = np.random.default_rng(0)
    X = numbers(rng, STRETCH_ROWS + 20, 3, kind)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[3] = np.nan
    scores, any_missing = gaussian_scores(laid_out(X, layout), *BY_COLUMN, INTERCEPT, use_loop=use_loop)
    np.testing.assert_array_equal(scores, by_hand(X))
    assert scores[3].tolist() == INTERCEPT.tolist()
    assert any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_distance_beyond_all_numbers_is_minus_infinity_and_no_missing_cell(use_loop):
    X = np.array([[1e300, 0.0], [0.0, 2.0]])
    with np.errstate(over="ignore"):  # a loop run as plain Python warns, which compiled code does not
        scores, any_missing = gaussian_scores(X, np.zeros((2, 1)), np.ones((2, 1)), np.zeros(1), use_loop=use_loop)
    assert scores.tolist() == [[-np.inf], [-2.0]]
    assert not any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_distance_that_overflows_where_there_is_no_density_does_not_count(use_loop):
    X = np.array([[1.7e308, 1.0]])
    mean, inverse_scale = np.array([[-1.7e308], [0.0]]), np.array([[0.0], [2.0]])
    with np.errstate(over="ignore", invalid="ignore"):  # of the loop as plain Python
        scores, any_missing = gaussian_scores(X, mean, inverse_scale, np.zeros(1), use_loop=use_loop)
    assert scores.tolist() == [[-2.0]]
    assert not any_missing


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_class_without_a_density_stays_impossible(use_loop):
    nothing = np.zeros((1, 1))
    scores, _ = gaussian_scores(np.ones((1, 1)), nothing, nothing, np.array([-np.inf]), use_loop=use_loop)
    assert scores.tolist() == [[-np.inf]]


DIGITS_KEPT = 1e-8


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
        digits_kept=DIGITS_KEPT,
    )


@pytest.mark.parametrize(("kind", "layout"), [("float64", "C"), ("float64", "F"), ("float32", "C"), ("uint8", "C")])
def test_the_largest_variance_is_that_of_the_other_rows(kind, layout):
    X, _, removed = table(STRETCH_ROWS + 9, layout, kind)
    n, mean, scatter = moments(X.astype(float), np.ones(len(X)))
    found = largest_variance_without(X, removed, n, mean, scatter)
    for i in range(0, len(X), 7):
        weight = np.ones(len(X))
        weight[i] -= removed[i]
        n_left, _, left = moments(X.astype(float), weight)
        assert found[i] == pytest.approx((left / n_left).max(), rel=1e-13)  # a few roundings


def test_a_row_with_a_missing_or_infinite_cell_has_no_largest_variance():
    X, _, removed = table()
    n, mean, scatter = moments(X, np.ones(len(X)))
    X[3, 1], X[5, 2] = np.nan, np.inf
    found = largest_variance_without(X, removed, n, mean, scatter)
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


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
@pytest.mark.parametrize("floor", [1e-9, 0.2, 0.9])  # 0.9 is over the variance of most classes
def test_the_loop_gives_the_densities_of_the_numpy_rule(holes, weights, floor):
    rng = np.random.default_rng(5)
    y = encode_labels(rng.integers(0, 3, 200))
    X = rng.normal(size=(200, 4)) * [1, 10, 1e-3, 1] + y.codes[:, None] * [0.5, 20.0, 0.0, 3.0]
    if holes:
        X[rng.random(X.shape) < 0.1] = np.nan
    weight = {None: None, "whole": rng.integers(1, 4, 200), "fractions": rng.random(200) + 0.5}[weights]
    table = NumberTable(tuple(X.T), ("a", "b", "c", "d"), (False,) * 4)
    columns = NormalBlock(Moments.of(table, y, weight, skip_missing=True), floor, {}, np.zeros(4, dtype=bool))
    removed = np.ones(200) if weight is None else np.minimum(weight, 1.0)
    every = np.ones(4, dtype=bool)
    loop, lost_in_loop = columns.floor_without.own_class(X, y.codes, removed, every, use_loop=True)
    rule, lost = columns.floor_without.own_class(X, y.codes, removed, every, use_loop=False)
    np.testing.assert_allclose(loop, rule, rtol=1e-13, atol=1e-12)  # the same operations, summed in another order
    np.testing.assert_array_equal(lost_in_loop, lost)


TABLE = np.arange(24.0).reshape(4, 6)
TABLES = {
    "by row": TABLE,
    "by column": np.asfortranarray(TABLE),
    "some rows by column": np.asfortranarray(TABLE)[1:3],
    "every other row": TABLE[::2],
    "every other column": TABLE[:, ::2],
    "one row": TABLE[2:3],
    "backwards": TABLE[::-1],
    "a row again and again": np.broadcast_to(TABLE[0], (3, 6)),
    "a field of records": np.zeros((3, 2), dtype=[("a", "i4"), ("b", "f8")])["b"],
}


@pytest.mark.parametrize("name", TABLES)
def test_cells_are_found_by_their_steps_however_a_table_lies(name):
    X = TABLES[name]
    cells, row_step, column_step = in_one_line(X)
    assert cells.ndim == 1
    assert cells.flags.c_contiguous
    n_rows, n_columns = X.shape
    found = [[cells[i * row_step + j * column_step] for j in range(n_columns)] for i in range(n_rows)]
    np.testing.assert_array_equal(found, X)


@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("backwards", "a field of records")])
def test_no_cell_is_copied(name):
    assert np.shares_memory(in_one_line(TABLES[name])[0], TABLES[name])
