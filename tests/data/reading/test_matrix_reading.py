"""Columns side by side in memory are one array, without a copy; all others are not.

What a model refuses in a table of numbers is named by row and column, in whatever form the table is.

What users call a table of numbers: read without a copy where that can be, and refused where it is none.
"""

import datetime
import gc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from bayeswater import DataError, SchemaError
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix, SparseMatrix
from bayeswater.data.reading import matrix_reading
from bayeswater.data.reading.matrix_reading import (
    first_cell,
    one_array,
    plain_matrix,
    read_dense,
    read_matrix,
    require_values,
    require_width,
)


def test_columns_of_one_array_are_that_array():
    values = np.random.default_rng(0).normal(size=(7, 20))
    for columns in (values, values[2:5], values.T[3:15], values.T[3:15:2]):  # end to end, and row by row
        found = one_array(tuple(columns))
        assert found is not None
        assert np.array_equal(found, columns.T)
        assert np.shares_memory(found, values)


def test_columns_with_anything_between_them_are_no_array():
    """Where NumPy finds room for a copy between them, it would take the copy for a part of what is copied."""
    values = np.random.default_rng(0).normal(size=(3, 20))
    assert one_array(tuple(values[:, 3:15])) is None
    assert one_array(tuple(values[::-1])) is None
    far = np.full(1_000_000, 2.0)  # in a place of its own, beyond all small arrays
    for n_rows in (1, 5, 1000):
        for columns in ((np.full(n_rows, 1.0), far[:n_rows]), (far[:n_rows], np.full(n_rows, 1.0))):
            assert one_array(columns) is None
            values = read_matrix(pa.table({"a": columns[0], "b": columns[1]}), "a model").block(slice(0, n_rows))
            assert np.ascontiguousarray(values).tolist() == [[columns[0][0], columns[1][0]]] * n_rows


def test_the_memory_of_the_columns_stays_as_long_as_the_array():
    values = np.arange(2e6).reshape(20, -1)
    found, expected = one_array(tuple(values)), values.T.copy()
    del values
    gc.collect()
    assert np.array_equal(found, expected)


def test_columns_that_lie_otherwise_are_no_array():
    values = np.arange(12.0).reshape(4, 3)
    assert one_array((values[0], values[1], values[3])) is None
    assert one_array((values[0], values[1].astype(np.float32))) is None
    assert one_array((values[0], values[1][:2])) is None
    assert one_array((values[0],)) is None


def test_a_table_made_of_a_frame_is_read_without_a_copy_and_gives_the_same_cells():
    values = np.random.default_rng(1).normal(size=(4, 50))
    frame = pd.DataFrame(values.T, columns=list("abcd"))  # column by column, as pandas 3 lays out any array
    table = pa.table({name: cells.to_numpy() for name, cells in frame.items()})
    matrix = read_matrix(table, "a model")
    assert isinstance(matrix, DenseMatrix)
    assert np.array_equal(matrix.values, frame.to_numpy())
    copied = pa.table({name: cells.to_numpy().copy() for name, cells in reversed(list(frame.items()))})
    columns = read_matrix(pa.table({**{n: copied[n] for n in "ab"}, "n": list(range(50))}), "a model")
    assert isinstance(columns, ColumnMatrix)


def test_the_array_cannot_be_written_to():
    first, second = np.zeros((2, 5))
    second.flags.writeable = False
    for columns in ((first, second), (first, first)):
        found = one_array(columns)
        assert found is None or not found.flags.writeable


FORMS = {
    "numpy": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csr_array,
    "pandas": lambda X: pd.DataFrame(X, columns=["x0", "x1", "x2"]),
    "columns": lambda X: pl.DataFrame(X, schema=["x0", "x1", "x2"]),
}


def refuse_all_but_finite(X):
    require_values(read_matrix(X, "Model"), "Model", missing="error", allow_negative=True)


def test_another_width_than_known_is_refused():
    require_width(3, 3, "Model")
    require_width(3, None, "Model")
    with pytest.raises(SchemaError, match="X has 2 features, but Model is expecting 3 features as input"):
        require_width(2, 3, "Model")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("bad", "what"), [(np.nan, "NaN: nan"), (-np.inf, "infinity: -inf")])
@pytest.mark.parametrize("row", [0, 5, 11])
@pytest.mark.parametrize("shared_from", [0, 10**9], ids=["by threads", "at once"])
def test_the_first_bad_cell_is_named(form, bad, what, row, shared_from, monkeypatch):
    monkeypatch.setattr(matrix_reading, "SEARCH_ROWS", 4)
    monkeypatch.setattr(matrix_reading, "LOOK_CELLS", 6)
    monkeypatch.setattr(matrix_reading, "SHARED_FROM_CELLS", shared_from)
    X = np.ones((12, 3))
    X[1, 0] = 0.0  # a sparse matrix with gaps
    X[row, 2] = X[11, 2] = bad
    with pytest.raises(DataError, match=rf"Input X contains {what} in row {row}, column 'x2'; (fill|replace) it"):
        refuse_all_but_finite(FORMS[form](X))


@pytest.mark.parametrize("form", FORMS)
def test_a_negative_cell_is_named_where_counts_are_meant(form):
    X = np.array([[1.0, 2.0, 0.0], [0.0, -3.0, 1.0]])
    matrix = read_matrix(FORMS[form](X), "Model")
    require_values(matrix, "Model", missing="error", allow_negative=True)
    with pytest.raises(DataError, match=r"Negative values in data passed to Model .*-3.0 in row 1, column 'x1'"):
        require_values(matrix, "Model", missing="error", allow_negative=False)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_zero_with_a_sign_is_not_negative_and_the_smallest_number_below_is(kind):
    X = np.array([[1.0], [-0.0], [np.finfo(kind).max]], dtype=kind)
    require_values(read_matrix(X, "M"), "M", missing="error", allow_negative=False)
    X[2] = -np.finfo(kind).smallest_subnormal
    with pytest.raises(DataError, match=r"Negative values in data passed to M .* in row 2, column 'x0'"):
        require_values(read_matrix(X, "M"), "M", missing="error", allow_negative=False)


@pytest.mark.parametrize("kind", [np.int8, np.int64])
def test_a_negative_whole_number_is_found(kind):
    with pytest.raises(DataError, match=r"-1.0 in row 1, column 'x0'"):
        require_values(read_matrix(np.array([[1], [-1]], dtype=kind), "M"), "M", missing="error", allow_negative=False)


def test_missing_cells_pass_where_they_are_allowed_but_infinite_ones_do_not():
    X = np.array([[1.0, np.nan]])
    require_values(read_matrix(X, "Model"), "Model", missing="ignore", allow_negative=True)
    X[0, 0] = np.inf
    with pytest.raises(DataError, match=r"infinity: inf in row 0, column 'x0'; replace .* or by NaN if it is missing"):
        require_values(read_matrix(X, "Model"), "Model", missing="ignore", allow_negative=True)


@pytest.mark.parametrize("X", [np.zeros((3, 2), dtype=np.uint8), sparse.csr_array((3, 2)), np.zeros((3, 2))])
def test_a_table_without_a_bad_cell_passes(X):
    matrix = read_matrix(X, "Model")
    require_values(matrix, "Model", missing="error", allow_negative=False)
    assert first_cell(matrix, np.isnan) is None


def test_whole_numbers_that_no_float_holds_are_finite():
    refuse_all_but_finite(np.array([[2**63 - 1, -(2**63)]]))


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
    with pytest.raises(SchemaError, match="column name 'a' occurs more than once"):
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


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "uint8"])
def test_a_frame_of_polars_of_one_kind_is_one_array(kind):
    values = np.arange(6).reshape(3, 2).astype(kind)
    frame = pl.DataFrame(values, schema=["a", "b"])
    matrix = plain_matrix(frame, "GaussianNB")
    assert matrix.names == ("a", "b")
    assert matrix.values.dtype == kind
    np.testing.assert_array_equal(matrix.values, values)
    for other in (frame.with_columns(b=None), frame.cast(pl.String), frame.cast({"b": pl.Int8})):
        assert plain_matrix(other, "GaussianNB") is None
    with_null = frame.with_columns(b=pl.col("b").shift(1))
    holes = plain_matrix(with_null, "GaussianNB")  # of floats a null is NaN, of whole numbers it makes the column one
    assert (holes is None) == (values.dtype.kind != "f")
    found = read_matrix(with_null, "GaussianNB").block(slice(0, 3))
    np.testing.assert_array_equal(found, [[0, np.nan], [2, 1], [4, 3]])
