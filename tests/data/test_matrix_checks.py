"""What a model refuses in a table of numbers is named by row and column, in whatever form the table is."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from bayeswater import DataError, SchemaError
from bayeswater.data import matrix_checks
from bayeswater.data.matrix_checks import first_cell, require_values, require_width
from bayeswater.data.matrix_reading import read_matrix

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
def test_the_first_bad_cell_is_named(form, bad, what, row, monkeypatch):
    monkeypatch.setattr(matrix_checks, "SEARCH_ROWS", 4)
    monkeypatch.setattr(matrix_checks, "RANGE_CELLS", 6)
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
