"""Normal columns with a floor: terms that add up to the scores, and rows taken out one by one."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.number_table import NumberTable
from bayeswater.errors import PrecisionWarning, StatisticsError
from bayeswater.estimate.normal_parameters import NormalInverseGamma
from bayeswater.families.gaussian import Normal, NormalBlock
from bayeswater.statistics.moments import Moments

FLOOR = 1e-3
PRIORS = {2: NormalInverseGamma(0.0, 1.0, 2.0, 3.0)}


def table_of(X: Any, is_log: Any = None) -> NumberTable:
    X = np.asarray(X, dtype=float)
    names = tuple(f"c{j}" for j in range(X.shape[1]))
    return NumberTable(tuple(X.T), names, tuple(is_log or [False] * X.shape[1]))


def columns_of(X: Any, y: Any, weight: Any = None, is_log: Any = None, priors: Any = None) -> NormalBlock:
    table = table_of(X, is_log)
    moments = Moments.of(table, encode_labels(y), weight, skip_missing=True)
    return NormalBlock(moments, FLOOR, priors or {}, np.array(table.is_log))


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    """Columns clear of the floor, at the floor, with a prior, of logarithms, with holes."""
    rng = np.random.default_rng(0)
    y = rng.choice(list("abc"), 50)
    X = rng.normal(size=(50, 5)) + np.searchsorted(list("abc"), y)[:, None]
    X[y == "a", 1] = 4.0
    X[:, 3] = np.exp(X[:, 3])
    X[rng.random(50) < 0.3, 4] = np.nan
    return X, y


IS_LOG = [False, False, False, True, False]


def test_terms_add_up_to_the_likelihood(rows: Any) -> None:
    X, y = rows
    columns = columns_of(X, y, is_log=IS_LOG, priors=PRIORS)
    block = table_of(X, IS_LOG).block(slice(0, 50))
    terms = columns.terms(block)
    assert terms.shape == (50, 5, 3)
    for use_loop in (False, True):
        assert_allclose(terms.sum(axis=1), columns.likelihood(block, use_loop), rtol=1e-13)
    assert (terms[np.isnan(X[:, 4]), 4] == 0).all()


def test_a_row_taken_out_leaves_the_likelihood_of_the_others(rows: Any) -> None:
    X, y = rows
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.5], 50)
    for w in (None, weight):
        columns = columns_of(X, y, w, IS_LOG, PRIORS)
        table, labels = table_of(X, IS_LOG), encode_labels(y)
        removed = np.ones(50) if w is None else np.minimum(w, 1.0)
        found = columns.without(table, labels, removed)(slice(0, 50), False)
        for i in (0, 7, 23, 49):
            left = np.ones(50) if w is None else w.copy()
            left[i] -= removed[i]
            keep = left > 0
            rest = columns_of(X[keep], y[keep], left[keep], IS_LOG, PRIORS)
            expected = rest.likelihood(table.block(slice(i, i + 1)), False)[0]
            assert_allclose(found[i], expected, rtol=1e-10)


def test_rows_are_taken_out_block_by_block_alike(rows: Any) -> None:
    X, y = rows
    columns = columns_of(X, y, is_log=IS_LOG, priors=PRIORS)
    without = columns.without(table_of(X, IS_LOG), encode_labels(y), np.ones(50))
    whole = without(slice(0, 50), False)
    assert_array_equal(np.concatenate([without(slice(0, 20), False), without(slice(20, 50), False)]), whole)


def test_columns_are_regular_where_a_row_moves_its_own_class_alone() -> None:
    y = ["a"] * 6 + ["b"] * 6
    spread = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    X = np.array(
        [
            spread + spread,  # clear of the floor in both classes
            [1.0] * 6 + spread,  # at the floor in one
            [np.nan] * 3 + spread[:3] + spread,  # too few values in one
            spread + [np.nan] * 6,  # none in one
            [1e8, *spread[1:], *spread],  # one row is nearly all of the scatter
            [7.0] * 12,
        ]
    ).T
    regular = columns_of(X, y).floor_without.is_regular
    assert regular.tolist() == [True, False, False, False, False, False]
    assert columns_of(X[:, :1], y, priors={0: NormalInverseGamma()}).floor_without.is_regular.tolist() == [False]
    of_one_class = columns_of(X[:6, :1], y[:6]).floor_without
    assert of_one_class.is_regular.tolist() == [False]  # nothing else keeps the floor


@pytest.mark.parametrize("cells", [[1e9, 1, 2, 3, 4, 5, 6, 7], [1e5, 1, 2, 3, 10, 20, 30, 40]], ids=["floor", "class"])
def test_lost_digits_are_told_once(cells: Any) -> None:
    X, y = np.array(cells, dtype=float)[:, None], encode_labels(["a"] * 4 + ["b"] * 4)
    columns = columns_of(X, ["a"] * 4 + ["b"] * 4)
    without = columns.without(table_of(X), y, np.ones(8))
    with pytest.warns(PrecisionWarning, match="row 0 makes up nearly all of the scatter") as warned:
        scores = np.concatenate([without(slice(0, 4), False), without(slice(4, 8), False), without(slice(0, 4), False)])
    assert len(warned) == 1
    assert not np.isnan(scores).any()


@pytest.mark.filterwarnings("error::bayeswater.errors.PrecisionWarning")
def test_a_class_that_has_no_scatter_without_a_row_has_the_floor_and_no_warning() -> None:
    X, y = np.array([1, 1, 1, 1, 9, 2, 3, 4, 5, 6], dtype=float)[:, None], ["a"] * 5 + ["b"] * 5
    found = columns_of(X, y).without(table_of(X), encode_labels(y), np.ones(10))(slice(0, 10), False)
    keep = np.arange(10) != 4
    expected = columns_of(X[keep], np.array(y)[keep]).likelihood(X[4:5], False)[0]
    assert_allclose(found[4], expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::bayeswater.errors.PrecisionWarning")  # without row 1 the column is constant
def test_a_row_so_far_from_another_class_that_its_square_is_no_number_leaves_that_class_alone() -> None:
    X, y = np.array([[0.0], [1.35e154], [0.0]]), ["a", "b", "a"]
    found = columns_of(X, y).without(table_of(X), encode_labels(y), np.ones(3))(slice(0, 3), False)
    assert_array_equal(found[1], [0, 0])
    for i in (0, 2):
        keep = np.arange(3) != i
        expected = columns_of(X[keep], np.array(y)[keep]).likelihood(X[i : i + 1], False)[0]
        assert_allclose(found[i], expected, rtol=1e-12)


def logarithms(mean: Any, scatter: Any) -> Moments:
    """Moments of four rows of two classes."""
    classes = encode_labels(["a", "b"]).variable
    return Moments(classes, ("x",), np.array([[2], [2]]), np.array(mean)[:, None], np.array(scatter)[:, None])


LEAST, MOST = np.log(5e-324), np.log(1.7976931348623157e308)
SPREAD = 2 * ((MOST - LEAST) / 2) ** 2  # of two rows, one at each end


@pytest.mark.parametrize(
    ("mean", "scatter"),
    [((LEAST, MOST), (0.0, 0.0)), (((LEAST + MOST) / 2, 0.0), (SPREAD, 1.0)), ((0.0, 0.0), (0.0, 0.0))],
)
def test_moments_that_logarithms_can_have_are_believed(mean: Any, scatter: Any) -> None:
    Normal.require_column(Column("x", "x", "lognormal"), logarithms(mean, scatter), 0, 0.0)


@pytest.mark.parametrize(
    ("mean", "scatter"),
    [
        ((0.0, -745.5), (0.0, 0.0)),
        ((710.5, 0.0), (0.0, 0.0)),
        ((0.0, 0.0), (2 * 728.0**2, 0.0)),
        ((1e300, 0.0), (1.0, 1.0)),
    ],
)
def test_moments_that_no_logarithms_have_are_refused(mean: Any, scatter: Any) -> None:
    Normal.require_column(Column("x", "x", "gaussian"), logarithms(mean, scatter), 0, 0.0)
    with pytest.raises(StatisticsError, match="'x' are not those of logarithms"):
        Normal.require_column(Column("x", "x", "lognormal"), logarithms(mean, scatter), 0, 0.0)


def test_the_weight_of_each_column_bounds_its_own_scatter() -> None:
    classes = encode_labels(["a"]).variable
    pair = Moments(classes, ("x", "z"), np.array([[1, 9]]), np.zeros((1, 2)), np.array([[0.0, 9 * 700.0**2]]))
    Normal.require_column(Column("z", "z", "lognormal"), pair, 1, 0.0)
    turned = pair.take([1, 0])
    swapped = Moments(classes, ("x", "z"), np.array([[1, 9]]), np.zeros((1, 2)), turned.scatter)
    with pytest.raises(StatisticsError, match="not those of logarithms"):
        Normal.require_column(Column("x", "x", "lognormal"), swapped, 0, 0.0)
