"""Row weights: whole ones as integers, bad ones refused with their row, rows of weight zero taken out."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from bayeswater import CategoricalNB, DataError, GaussianNB
from bayeswater.data.weights import checked_weight, without_zero_rows


@pytest.mark.parametrize(
    "weight",
    [
        [1, 2, 3],
        [1.0, 2.0, 3.0],
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1, 2, 3], dtype=np.uint64),
        np.array([1, 2, 3], dtype=np.float16),
        np.array([1, 2, 3], dtype=object),
        ["1", "2", "3"],
        pd.Series([1, 2, 3], index=[5, 6, 7]),
        pl.Series([1, 2, 3]),
        pa.array([1, 2, 3]),
    ],
    ids=["ints", "floats", "uint8", "uint64", "half", "objects", "numerals", "pandas", "polars", "pyarrow"],
)
def test_whole_weights_of_any_kind_are_integers(weight):
    checked = checked_weight(weight, 3)
    assert checked.tolist() == [1, 2, 3]
    assert checked.dtype == np.int64


@pytest.mark.parametrize("weight", [[0.5, 1, 2], np.array([0.5, 1, 2], dtype=np.float32)])
def test_fractional_weights_are_double_precision(weight):
    checked = checked_weight(weight, 3)
    assert checked.tolist() == [0.5, 1.0, 2.0]
    assert checked.dtype == np.float64


@pytest.mark.parametrize("weight", [None, 1, [1, 1, 1], np.ones(3), np.array([True, True, True])])
def test_rows_that_all_count_once_have_no_weights(weight):
    assert checked_weight(weight, 3) is None


def test_one_number_is_the_weight_of_every_row():
    assert checked_weight(2, 3).tolist() == [2, 2, 2]
    assert checked_weight(0.5, 3).tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    "weight",
    [
        [2**53, 1, 1],
        np.array([2**63 + 2**20, 1, 1], dtype=np.uint64),
        np.array([2**62, 2**62, 2**62]),
        [1e300, 1.0, 1.0],
    ],
)
def test_whole_weights_too_large_to_be_counted_exactly_become_floats(weight):
    checked = checked_weight(weight, 3)
    assert checked.dtype == np.float64
    assert checked.tolist() == [float(w) for w in weight]
    model = CategoricalNB().fit([[0], [1], [1]], [0, 0, 1], weight)
    assert model.class_count_.tolist() == [checked[0] + checked[1], checked[2]]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1, 1], r"sample_weight is -1 in row 1; weights must be finite and not negative"),
        ([1, 1, np.nan], r"sample_weight is nan in row 2"),
        ([np.inf, 1, 1], r"sample_weight is inf in row 0"),
        ([1, None, 1], r"sample_weight is nan in row 1"),
        (np.ma.masked_array([1, 1, 1], [0, 1, 0]), r"sample_weight is nan in row 1"),
        ([0, 0, 0], "sample_weight is zero for every row; at least one"),
        (0, "sample_weight is zero for every row"),
        ([1, 2], r"sample_weight.shape == \(2,\), expected \(3,\): give one weight for each row"),
        ([[1], [2], [3]], "Sample weights must be 1D array or scalar, got an array of 2 dimensions"),
        (["a", "b", "c"], "sample_weight must hold numbers, not <U1"),
        ([{}, 1, 1], "sample_weight must hold numbers, not object"),
        ([1j, 1, 1], "sample_weight must hold real numbers"),
        ([1.0, 1e-310, 0.0], r"sample_weight is 1e-310 in row 1; below 1e-300 few digits of sums are right: multiply"),
        ([1e308, 1e308, 1e308], "the sum of sample_weight overflows; divide"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(DataError, match=message):
        checked_weight(weight, 3)


# ---------------------------------------------------------------------- rows of weight zero


def test_without_a_zero_nothing_is_copied():
    X, y, weight = np.ones((2, 1)), np.zeros(2), np.array([1, 2])
    assert without_zero_rows(X, y, None) == (X, y, None)
    assert all(a is b for a, b in zip(without_zero_rows(X, y, weight), (X, y, weight), strict=True))


def test_the_remaining_rows_of_weight_one_have_no_weights():
    X, y, weight = without_zero_rows(np.arange(3)[:, None], np.arange(3), np.array([1, 0, 1]))
    assert X.tolist() == [[0], [2]]
    assert y.tolist() == [0, 2]
    assert weight is None


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((2, 1)),
        [[0], [0]],
        sparse.coo_array(np.zeros((2, 1))),
        pd.DataFrame({"a": [0, 0]}),
        pl.DataFrame({"a": [0, 0]}),
        pa.table({"a": [0, 0]}),
    ],
    ids=["numpy", "lists", "sparse", "pandas", "polars", "pyarrow"],
)
def test_a_table_of_another_length_than_y_is_refused_before_rows_are_taken(X):
    with pytest.raises(DataError, match="X has 2 rows, y has 3; give one label for each row"):
        without_zero_rows(X, np.arange(3), np.array([1, 0, 2]))


class OnlyAnArray:
    """A table that can do no more than become an array."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(3.0)[:, None]


def test_rows_are_taken_of_whatever_becomes_an_array():
    X, y, _ = without_zero_rows(OnlyAnArray(), np.arange(3), np.array([1, 0, 2]))
    assert (X.tolist(), y.tolist()) == ([[0.0], [2.0]], [0, 2])


def test_a_row_of_weight_zero_may_hold_anything():
    X = np.array([[1.0], [np.nan], [2.0], [np.inf], [-1.0]])
    model = GaussianNB().fit(X, [0, 1, 0, 1, 1], [1, 0, 1, 0, 1])
    assert model.statistics_ == GaussianNB().fit(X[[0, 2, 4]], [0, 0, 1]).statistics_


def test_a_class_with_nothing_but_zero_weights_was_never_there():
    model = GaussianNB().fit([[1.0], [2.0], [3.0]], ["a", "b", "c"], [1, 0, 1])
    assert model.classes_.tolist() == ["a", "c"]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.dictionary(pa.int8(), pa.string_view())], ids=str)
def test_rows_of_weight_zero_are_taken_out_of_views_of_strings(kind):
    values = pa.array(["a", "b", "c"], pa.string_view())
    codes = pa.array([0, 1, 2], pa.int8())
    column = values if kind == pa.string_view() else pa.DictionaryArray.from_arrays(codes, values)
    X, *_ = without_zero_rows(pa.table({"v": column}), np.arange(3), np.array([1, 0, 2]))
    assert X["v"].to_pylist() == ["a", "c"]
