"""Tables of numbers, block by block."""

import numpy as np
import polars as pl
from scipy import sparse

from bayeswater.data.matrix import ColumnMatrix, ColumnPieces, DenseMatrix, SparseMatrix, column_name
from bayeswater.data.reading.matrix_reading import read_matrix


def test_the_columns_of_a_frame_are_put_side_by_side_block_by_block():
    matrix = read_matrix(pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 1.5], "c": [True, False, True]}), "Model")
    assert isinstance(matrix, ColumnMatrix)
    assert matrix.names == ("a", "b", "c")
    assert matrix.shape == (3, 3)
    np.testing.assert_array_equal(matrix.block(slice(1, 3)), [[2, np.nan, 0], [3, 1.5, 1]])


def test_the_rows_of_a_sparse_matrix_are_read_as_they_are():
    X = sparse.csr_array(np.array([[0, 1.0], [2.0, 0], [0, 3.0]]))
    matrix = read_matrix(X, "Model")
    assert isinstance(matrix, SparseMatrix)
    assert matrix.shape == (3, 2)
    assert np.shares_memory(matrix.data, X.data)
    assert matrix.block(slice(1, 3)).cells.tolist() == [2.0, 3.0]


def test_columns_without_a_name_are_counted():
    assert column_name(None, 3) == "x3"
    assert column_name(("a", "b"), 1) == "b"


def test_what_is_hidden_in_masked_rows_of_a_list_is_missing():
    rows = [*np.ma.masked_array([[1, 2], [3, 4]], [[False, True], [False, False]])]
    np.testing.assert_array_equal(read_matrix(rows, "Model").values, [[1, np.nan], [3, 4]])


def test_columns_are_made_of_one_array_or_of_several():
    first, second = np.arange(3.0), np.arange(2.0)
    in_pieces = ColumnPieces(((first, second), (second, first)), ("a", "b"))
    assert in_pieces.shape == (5, 2)
    assert in_pieces.n_cells == 10
    assert in_pieces.column_pieces(1) == (second, first)
    assert ColumnMatrix((first,)).column_pieces(0) == (first,)
    (column,) = DenseMatrix(np.arange(6.0).reshape(3, 2)).column_pieces(1)
    assert column.tolist() == [1, 3, 5]
