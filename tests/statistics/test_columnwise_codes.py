"""Codes column by column: the same from every storage, in the narrowest kind, and never beyond the domain."""

import numpy as np
import pytest

from bayeswater.data.coded_table import CodedTable
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix
from bayeswater.data.schema import Schema
from bayeswater.data.variable import Variable
from bayeswater.statistics.columnwise_codes import TURNED_ROWS, columnwise_codes

N_STATES = [3, 7, 1]
CODES = np.random.default_rng(0).integers(0, 10, size=(2 * TURNED_ROWS + 5, 3))


def coded(matrix, n_states=N_STATES):
    return CodedTable(Schema(tuple(Variable.of_codes(f"x{j}", n) for j, n in enumerate(n_states))), matrix)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32, np.int64])
@pytest.mark.parametrize(
    "stored",
    [DenseMatrix, lambda X: DenseMatrix(np.asfortranarray(X)), lambda X: ColumnMatrix(tuple(X.T.copy()))],
    ids=["rows", "columns of an array", "columns"],
)
def test_codes_of_every_storage_are_the_same_and_stay_in_the_domain(stored, kind):
    rows = slice(3, len(CODES) - 1)
    codes = columnwise_codes(coded(stored(CODES.astype(kind))), rows)
    np.testing.assert_array_equal(codes, np.minimum(CODES[rows], N_STATES).T)
    assert codes.dtype == np.uint8
    assert codes.flags.c_contiguous


@pytest.mark.parametrize(("n_states", "kind"), [(255, np.uint8), (256, np.uint16), (70_000, np.int32)])
def test_the_slot_of_missing_cells_fits_the_kind(n_states, kind):
    codes = columnwise_codes(coded(DenseMatrix(np.array([[n_states]])), [n_states]), slice(0, 1))
    assert codes.tolist() == [[n_states]]
    assert codes.dtype == kind


def test_a_domain_larger_than_the_kind_of_the_codes_cuts_nothing():
    codes = columnwise_codes(coded(DenseMatrix(np.array([[255]], dtype=np.uint8)), [1000]), slice(0, 1))
    assert codes.tolist() == [[255]]
