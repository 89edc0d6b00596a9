"""Columns side by side in memory are one array, without a copy; all others are not."""

import gc

import numpy as np
import pandas as pd
import pyarrow as pa

from bayeswater.data.columns_in_memory import one_array
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix
from bayeswater.data.matrix_reading import read_matrix


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
