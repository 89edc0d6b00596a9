"""Rows of numbers as `GaussianClassifier` reads them: named columns are found by their name, cells may be missing."""

from typing import Any

import numpy as np

from bayeswater.data.matrix import ColumnMatrix, DenseMatrix, DenseTable
from bayeswater.data.matrix_checks import first_cell, require_values, with_known_columns
from bayeswater.data.matrix_reading import read_dense
from bayeswater.errors import DataError, SchemaError
from bayeswater.statistics.scatter import Scatter


def read_rows(X: Any, model: str, missing: str, known: Scatter | None) -> DenseTable:
    """Read a table of numbers, its columns in the order of the sums that are known; refuse cells that are none."""
    matrix = read_dense(X, model)
    if known is not None:
        matrix = with_known_columns(_in_known_order(matrix, known.names), known.names, known.n_columns, model)
    require_values(matrix, model, missing="error" if missing == "error" else "ignore", allow_negative=True)
    return matrix


def _in_known_order(matrix: DenseTable, names: tuple[str, ...] | None) -> DenseTable:
    """Put named columns into the order the model knows; refuse a table that lacks one, or has another."""
    if matrix.names is None or names is None or matrix.names == names:
        return matrix
    unknown, lacking = sorted(set(matrix.names) - set(names)), sorted(set(names) - set(matrix.names))
    if unknown or lacking:
        raise SchemaError(
            "The feature names should match those that were passed during fit: "
            + "; ".join(f"{what} {found[:5]}" for what, found in (("X has", unknown), ("X lacks", lacking)) if found)
        )
    order = [matrix.names.index(name) for name in names]
    if isinstance(matrix, DenseMatrix):
        return DenseMatrix(matrix.values[:, order], names)
    return ColumnMatrix(tuple(matrix.columns[j] for j in order), names)


def require_whole_rows(matrix: DenseTable) -> None:
    """Refuse missing cells among rows to learn from: fourth moments are kept of whole rows alone."""
    cell = first_cell(matrix, np.isnan)
    if cell is not None:
        raise DataError(
            f"Input X contains NaN: {cell.where}; shrinkage='ledoit_wolf' reads fourth moments, which are summed over "
            "whole rows. Fill the cell, leave the row out, or take shrinkage='oas' or a number (rows to predict may "
            "lack cells)"
        )
