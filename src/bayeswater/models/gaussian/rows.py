"""Rows of numbers as `GaussianClassifier` reads them: named columns are found by their name, cells may be missing."""

from typing import Any

import numpy as np

from bayeswater.data.frames import frame_names, is_frame, require_known_columns, take_columns
from bayeswater.data.matrix import DenseTable
from bayeswater.data.matrix_checks import first_cell, require_values, with_known_columns
from bayeswater.data.matrix_reading import names_of, read_dense
from bayeswater.errors import DataError
from bayeswater.statistics.scatter import Scatter


def read_rows(X: Any, model: str, missing: str, known: Scatter | None) -> DenseTable:
    """Read a table of numbers, its columns in the order of the sums that are known; refuse cells that are none."""
    matrix = read_dense(X if known is None else _known_columns(X, known.names, model), model)
    if known is not None:
        matrix = with_known_columns(matrix, known.names, known.n_columns, model)
    require_values(matrix, model, missing="error" if missing == "error" else "ignore", allow_negative=True)
    return matrix


def _known_columns(X: Any, names: tuple[str, ...] | None, model: str) -> Any:
    """Take the columns of a frame that the model knows, in its order; others are left out unread."""
    if names is None or not is_frame(X):
        return X
    there = names_of(X, tuple(frame_names(X)))
    if there is None or there == names:
        return X
    require_known_columns(there, names, model)
    return take_columns(X, names)


def require_whole_rows(matrix: DenseTable) -> None:
    """Refuse missing cells among rows to learn from: fourth moments are kept of whole rows alone."""
    cell = first_cell(matrix, np.isnan)
    if cell is not None:
        raise DataError(
            f"Input X contains NaN: {cell.where}; shrinkage='ledoit_wolf' reads fourth moments, which are summed over "
            "whole rows. Fill the cell, leave the row out, or take shrinkage='oas' or a number (rows to predict may "
            "lack cells)"
        )
