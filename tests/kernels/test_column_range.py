"""The range of every column of integers: the loop equals the NumPy reference."""

import numpy as np
import pytest
from tests.kernels.tables import laid_out

from bayeswater.kernels.column_range import LANES, column_range

KINDS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), [*[(kind, "C") for kind in KINDS], ("uint8", "F"), ("uint8", "strided")])
def test_the_extremes_of_the_kind_are_found(kind, layout, use_loop):
    limits = np.iinfo(kind)
    X = laid_out(np.array([[3, limits.min, 5], [4, 1, 5], [limits.max, 2, 5]], dtype=kind), layout)
    low, high = column_range(X, use_loop=use_loop)
    assert low.tolist() == [3, limits.min, 5]
    assert high.tolist() == [limits.max, 2, 5]
    assert low.dtype == high.dtype == np.dtype(kind)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_the_table_is_left_as_it_was(use_loop):
    X = np.array([[2, 7], [1, 9]], dtype=np.uint8)
    column_range(X, use_loop=use_loop)
    assert X.tolist() == [[2, 7], [1, 9]]


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("n_rows", [1, 2 * LANES - 1, 2 * LANES, 5 * LANES + 3])
def test_the_range_of_many_rows_is_that_of_each_column(n_rows, layout, use_loop):
    X = laid_out(np.random.default_rng(0).integers(-1000, 1000, size=(n_rows, 3)), layout)
    low, high = column_range(X, use_loop=use_loop)
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
