"""What users call a table of numbers, read as a `Matrix`.

Arrays, CSR matrices and frames of native numbers are taken as they are; other formats are converted once. Missing cells
become NaN, and what is no number is refused with its place.
"""

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from bayeswater.data.cells import is_missing
from bayeswater.data.columns_in_memory import one_array
from bayeswater.data.frames import (
    OF_OTHER_KINDS,
    is_frame,
    is_sparse_frame,
    library_of,
    numeric_column,
    read_frame,
    require_own_names,
)
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix, DenseTable, Matrix, SparseMatrix, column_name
from bayeswater.data.matrix_checks import require_cells
from bayeswater.data.plain_arrays import unmasked
from bayeswater.errors import DataError
from bayeswater.typing import Array

NATIVE = "biuf"
"""Kinds of numbers that are read as they are."""


def read_dense(X: Any, model: str) -> DenseTable:
    """Read a table of numbers that may not be sparse."""
    matrix = read_matrix(X, model)
    if isinstance(matrix, SparseMatrix):
        raise TypeError(
            f"Sparse data was passed for X, but dense data is required: {model} does not take sparse input; "
            f"use '{'.sparse.to_dense()' if is_frame(X) else '.toarray()'}' to convert to dense."
        )
    return matrix


def read_matrix(X: Any, model: str) -> Matrix:
    """Read a table of numbers; missing cells become NaN, everything that is no number is refused."""
    X = unmasked(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in NATIVE and not isinstance(X, np.matrix):
        require_cells(X.shape, model)
        return DenseMatrix(_native(X))
    if is_frame(X):
        return _from_frame(X, model)
    from scipy import sparse

    if sparse.issparse(X) and X.format == "csr" and X.ndim == 2 and X.dtype.kind in NATIVE:
        require_cells(X.shape, model)
        return _from_sparse(X)
    from sklearn.utils import check_array

    given = X
    try:
        X = check_array(
            _filled(X),
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=False,
            estimator=model,
            accept_large_sparse=True,
        )
        if X.dtype.kind == "O":  # lists with None
            X = _filled(X).astype(np.float64)
    except (ValueError, TypeError) as error:
        raise _unreadable(given, error) from None
    if X.dtype.kind not in NATIVE:
        raise DataError(f"X holds {X.dtype}, not numbers; {OF_OTHER_KINDS}")
    return _from_sparse(X) if sparse.issparse(X) else DenseMatrix(_native(X))


def _from_sparse(X: Any, names: tuple[str, ...] | None = None) -> SparseMatrix:
    if not X.has_canonical_format:  # a cell stored in two parts is one cell
        X = X.copy()
        X.sum_duplicates()
    return SparseMatrix(X.indptr, X.indices, _native(X.data), X.shape[1], names)


def _from_frame(X: Any, model: str) -> Matrix:
    if is_plain_frame(X):
        require_cells(X.shape, model)
        require_own_names(X.columns)
        return DenseMatrix(_native(X.to_numpy()), names_of(X, tuple(X.columns)))  # one block of memory: no copy
    if is_sparse_frame(X):
        require_cells(X.shape, model)
        require_own_names(X.columns)
        return _from_sparse(X.sparse.to_coo().tocsr(), names_of(X, tuple(X.columns)))
    frame = read_frame(X)
    require_cells(frame.table.shape, model)
    columns = tuple(_native(numeric_column(frame, name)) for name in frame.names)
    values, names = one_array(columns), names_of(X, frame.names)
    return ColumnMatrix(columns, names) if values is None else DenseMatrix(values, names)


def is_plain_frame(X: Any) -> bool:
    """Whether a table is a frame of pandas with numbers of one plain kind, which is as good as an array."""
    kinds = set(X.dtypes.array) if library_of(X) == "pandas" else set()
    return len(kinds) == 1 and all(isinstance(kind, np.dtype) and kind.kind in NATIVE for kind in kinds)


def names_of(X: Any, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Names of a frame's columns; as in scikit-learn, there are none where pandas counts them or gives them tuples."""
    if library_of(X) == "pandas" and not all(isinstance(name, str) for name in X.columns):
        return None
    return names


def _native(values: Array) -> Array:
    """Bring half precision, long double and foreign byte orders to a kind the loops know; leave the rest as it is."""
    kind = values.dtype.kind
    if kind == "b":
        return values.view(np.uint8)
    if kind == "f" and values.dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if values.dtype.itemsize == 2 else np.float64)
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _filled(X: Any) -> Any:
    """Put NaN for the objects of an array that are missing; leave anything else as it is."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "O":
        return X
    return np.where(np.frompyfunc(is_missing, 1, 1)(X).astype(bool), np.nan, X)


class NoNumber(DataError, TypeError):
    """A cell that is no number, nor a text that could be one: scikit-learn's checks ask for a TypeError."""


def _unreadable(X: Any, error: ValueError | TypeError) -> Exception:
    """Say why lists or an array hold no table of numbers: rows of different length, text, or other things."""
    if isinstance(X, np.matrix):
        return error
    if isinstance(X, list | tuple) and all(isinstance(row, list | tuple | np.ndarray) for row in X):
        uneven = ragged(X)
        if uneven is not None:
            return uneven
    cells = np.array(X, dtype=object)
    if cells.ndim == 2:
        for row, column in np.ndindex(cells.shape):
            cell: Any = cells[row, column]
            where = f"column {column_name(None, column)!r} holds"
            if isinstance(cell, str | bytes) and not _is_number_text(cell):
                return DataError(
                    f"could not convert string to float: {where} {cell!r} in row {row}, not a number; {OF_OTHER_KINDS}"
                )
            is_other = isinstance(error, TypeError) or isinstance(cell, list)
            if is_other and not isinstance(cell, str | bytes) and not hasattr(cell, "__float__"):
                return NoNumber(
                    f"an argument must be a string or a real number: {where} a {type(cell).__name__} in row {row}; "
                    f"{OF_OTHER_KINDS}"
                )
    return DataError(str(error))


def ragged(rows: Sequence[Any]) -> DataError | None:
    """Say which of some rows in lists has another length than the first, if one has."""
    widths = [len(row) for row in rows]
    odd = next((row for row, width in enumerate(widths) if width != widths[0]), None)
    if odd is None:
        return None
    return DataError(
        f"X is ragged: row {odd} has {widths[odd]} cell(s), and row 0 has {widths[0]}; give every row one cell for "
        "each column"
    )


def rows_of_objects(X: Sequence[Any]) -> Array | None:
    """Give rows in lists as an array of objects, if one of their cells is a text or a date; None for numbers.

    >>> rows_of_objects([[1, "a"], [None, "b"]]).shape, rows_of_objects([[1, None], [2.5, True]]) is None
    ((2, 2), True)
    """
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in X]
    if not all(isinstance(row, list | tuple) for row in rows):
        return None  # one column, or no table
    kinds = {type(cell) for row in rows for cell in row}
    others = {kind for kind in kinds if not issubclass(kind, Number | np.bool_)}
    if any(issubclass(kind, list | tuple | np.ndarray) for kind in others):
        return None  # of more than two dimensions
    if not any(type(cell) in others and not is_missing(cell) for row in rows for cell in row):
        return None
    uneven = ragged(rows)
    if uneven is not None:
        raise uneven
    cells = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        cells[i] = row
    return cells


def _is_number_text(cell: str | bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
