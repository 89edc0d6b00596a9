"""A table as one line of cells, and the steps between rows and columns."""

import numpy as np
import pytest

from bayeswater.kernels.layouts import in_one_line

TABLE = np.arange(24.0).reshape(4, 6)
LAYOUTS = {
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


@pytest.mark.parametrize("name", LAYOUTS)
def test_cells_are_found_by_their_steps_however_a_table_lies(name):
    X = LAYOUTS[name]
    cells, row_step, column_step = in_one_line(X)
    assert cells.ndim == 1
    assert cells.flags.c_contiguous
    n_rows, n_columns = X.shape
    found = [[cells[i * row_step + j * column_step] for j in range(n_columns)] for i in range(n_rows)]
    np.testing.assert_array_equal(found, X)


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name not in ("backwards", "a field of records")])
def test_no_cell_is_copied(name):
    assert np.shares_memory(in_one_line(LAYOUTS[name])[0], LAYOUTS[name])
