"""What users call a table of numbers: read without a copy where that can be, and refused where it is none."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from bayeswater import DataError, SchemaError
from bayeswater.data.matrix import DenseMatrix, SparseMatrix
from bayeswater.data.matrix_reading import read_dense, read_matrix

# ---------------------------------------------------------------------- reading


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "f4", "f8"])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_an_array_of_numbers_is_not_copied(kind, layout):
    X = np.ones((3, 2), dtype=kind, order=layout)
    assert np.shares_memory(read_matrix(X, "Model").values, X)


def test_truth_values_are_read_in_place_as_zero_and_one():
    X = np.array([[True, False]])
    matrix = read_matrix(X, "Model")
    assert matrix.values.tolist() == [[1, 0]]
    assert np.shares_memory(matrix.values, X)


@pytest.mark.parametrize(("kind", "read"), [("f2", "f4"), ("g", "f8"), (">f8", "f8"), (">i4", "i4"), (">u2", "u2")])
def test_kinds_that_no_loop_knows_become_the_nearest_one(kind, read):
    matrix = read_matrix(np.array([[1, 2]]).astype(kind), "Model")
    assert matrix.dtype == np.dtype(read)
    assert matrix.dtype.isnative
    assert matrix.values.tolist() == [[1, 2]]


def test_a_pandas_frame_of_one_kind_is_not_copied():
    X = pd.DataFrame(np.ones((3, 2)), columns=["a", "b"])
    matrix = read_matrix(X, "Model")
    assert isinstance(matrix, DenseMatrix)
    assert matrix.names == ("a", "b")
    assert np.shares_memory(matrix.values, X.to_numpy())


def test_a_column_of_nulls_alone_is_missing_throughout():
    matrix = read_matrix(pa.table({"a": pa.nulls(2), "b": [1, 2]}), "Model")
    np.testing.assert_array_equal(matrix.block(slice(0, 2)), [[np.nan, 1], [np.nan, 2]])


def test_a_frame_of_sparse_columns_is_read_as_a_sparse_matrix():
    cells = sparse.csr_array([[0, 2, 0], [1, 0, 3]])
    frame = pd.DataFrame.sparse.from_spmatrix(cells, columns=["a", "b", "c"])
    matrix = read_matrix(frame, "Model")
    assert isinstance(matrix, SparseMatrix)
    assert matrix.names == ("a", "b", "c")
    assert matrix.to_dense().tolist() == cells.toarray().tolist()


# ---------------------------------------------------------------------- refused

NO_NUMBERS = {
    "strings": np.array([["a", "b"]]),
    "numerals": np.array([["1", "2"]]),
    "objects": np.array([["a", 1]], dtype=object),
    "times": np.array([["2020-01-01"]], dtype="M8[D]"),
    "spans": np.ones((1, 1), dtype="m8[s]"),
    "complex": np.array([[1j]]),
    "ragged": [[1, 2], [3]],
}


@pytest.mark.parametrize("form", NO_NUMBERS)
def test_what_is_no_number_is_refused(form):
    with pytest.raises(DataError, match=r"not numbers|not compatible|could not convert|Complex|ragged"):
        read_matrix(NO_NUMBERS[form], "Model")


@pytest.mark.parametrize("X", [np.matrix([[1.0]]), [[{}]]], ids=["np.matrix", "dicts"])
def test_what_scikit_learn_refuses_as_the_wrong_type_stays_a_type_error(X):
    with pytest.raises(TypeError, match=r"np.matrix is not supported|argument must be a string or a real number"):
        read_matrix(X, "Model")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.Series(["a", "b"]), r"could not convert string to float: column 'v' holds .*string.*use NaiveBayes"),
        (pd.Series(["a", "b"], dtype="category"), r"column 'v' holds dictionary<.*>, not numbers; convert it"),
        (pd.Series(pd.to_datetime(["2020", "2021"])), r"column 'v' holds timestamp.*, not numbers"),
        (pd.Series([[1], [2]]), r"column 'v' holds list<.*>, not numbers"),
        (pd.Series([1, "a"]), r"column 'v' mixes values of types \['int', 'str'\]; give it one type"),
        (pd.Series([1, "a", pd.NA]), r"column 'v' mixes values of types \['int', 'str'\]"),
        (pd.Series([0.0, 1.0], dtype=pd.SparseDtype("float")), r"column 'v' is sparse"),
    ],
)
def test_a_column_of_a_frame_that_is_no_number_is_named(column, message):
    with pytest.raises(DataError, match=message):
        read_matrix(pd.DataFrame({"u": range(len(column)), "v": column}), "Model")


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((0, 2)),
        pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0)}),
        pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0, dtype=int)}),
        pl.DataFrame({"a": [], "b": []}),
        pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())}),
    ],
    ids=["numpy", "pandas", "pandas, two kinds", "polars", "pyarrow"],
)
def test_a_table_without_rows_is_refused(X):
    with pytest.raises(DataError, match=r"0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1 is required by Model"):
        read_matrix(X, "Model")


@pytest.mark.parametrize("X", [np.zeros((3, 0)), pd.DataFrame(index=range(3)), pl.DataFrame(), pa.table({})])
def test_a_table_without_columns_is_refused(X):
    with pytest.raises(DataError, match=r"0 feature\(s\)"):
        read_matrix(X, "Model")


@pytest.mark.parametrize("X", [np.zeros(3), np.zeros((1, 1, 1)), 3, None, "text"])
def test_what_is_no_table_is_refused(X):
    with pytest.raises(DataError, match=r"Expected 2D array|dim 3"):
        read_matrix(X, "Model")


@pytest.mark.parametrize("read", [read_dense, read_matrix])
@pytest.mark.parametrize("kinds", [{"a": float, "b": float}, {"a": float, "b": int}], ids=["one kind", "two kinds"])
def test_two_columns_of_one_name_are_refused(read, kinds):
    X = pd.DataFrame({"a": [1, 2], "b": [3, 4]}).astype(kinds)
    X.columns = ["a", "a"]
    with pytest.raises(SchemaError, match="column name 'a' stands more than once"):
        read(X, "Model")


def test_sparse_rows_are_refused_where_they_must_be_dense():
    with pytest.raises(TypeError, match=r"Sparse data was passed for X.*Model does not take sparse input; use"):
        read_dense(sparse.csr_array([[1.0]]), "Model")


@pytest.mark.parametrize("cell", [{"a": 1}, datetime.date(2020, 1, 1), 1j, [1]], ids=str)
def test_a_cell_that_is_neither_number_nor_text_is_refused_by_row_and_column(cell):
    cells = np.array([[0, 1], [2, 3]], dtype=object)
    cells[1, 0] = cell
    with pytest.raises(DataError, match=rf"column 'x0' holds a {type(cell).__name__} in row 1; convert it") as refused:
        read_matrix(cells, "GaussianNB")
    assert isinstance(refused.value, TypeError)  # as scikit-learn's checks have it
