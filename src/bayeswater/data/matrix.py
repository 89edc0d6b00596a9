"""A table of numbers, dense, sparse or column by column, that is read block by block.

Arrays and CSR matrices of native numbers are read where they are: a dense block is a view, and the columns of a frame
are put side by side for one block at a time. Other formats are converted once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bayeswater.data.frames import is_frame, is_sparse_frame, library_of, numeric_column, read_frame, require_own_names
from bayeswater.data.labels import is_missing
from bayeswater.errors import DataError, SchemaError
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.typing import Array


@dataclass(frozen=True)
class DenseMatrix:
    """Rows of an array (n_rows, n_columns)."""

    values: Array
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        return self.values.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Kind of the numbers."""
        return self.values.dtype

    @property
    def pieces(self) -> tuple[Array, ...]:
        """The arrays that hold the numbers."""
        return (self.values,)

    def block(self, rows: slice) -> Array:
        """View of some rows."""
        return self.values[rows]

    def column(self, j: int) -> Array:
        """View of one column."""
        return self.values[:, j]


STRIP_ROWS = 1024
"""Rows of columns that are put side by side at once: what is written stays in the cache until its lines are full."""


@dataclass(frozen=True)
class ColumnMatrix:
    """Columns of a frame, each an array of its own."""

    columns: tuple[Array, ...]
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.columns[0]), len(self.columns)

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        return len(self.columns[0]) * len(self.columns)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The kind that holds the numbers of all columns."""
        return np.result_type(*self.columns)

    @property
    def pieces(self) -> tuple[Array, ...]:
        """The arrays that hold the numbers."""
        return self.columns

    def block(self, rows: slice) -> Array:
        """Put some rows of all columns side by side."""
        cut = [column[rows] for column in self.columns]
        values = np.empty((len(cut[0]), len(cut)), dtype=self.dtype)
        for strip in (slice(start, start + STRIP_ROWS) for start in range(0, len(values), STRIP_ROWS)):
            for j, column in enumerate(cut):
                values[strip, j] = column[strip]
        return values

    def column(self, j: int) -> Array:
        """One of the columns."""
        return self.columns[j]


@dataclass(frozen=True)
class SparseMatrix:
    """The non-zero cells of each row (CSR)."""

    indptr: Array
    indices: Array
    data: Array
    n_columns: int
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.indptr) - 1, self.n_columns

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        return int(self.indptr[-1] - self.indptr[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Kind of the numbers."""
        return self.data.dtype

    @property
    def pieces(self) -> tuple[Array, ...]:
        """The arrays that hold the numbers."""
        return (self.cells,)

    def block(self, rows: slice) -> "SparseMatrix":
        """Some rows; the cells are shared."""
        return SparseMatrix(self.indptr[rows.start : rows.stop + 1], self.indices, self.data, self.n_columns)

    def to_dense(self) -> Array:
        """All cells of the rows, the zeros too: (n_rows, n_columns)."""
        dense = np.zeros(self.shape, dtype=self.dtype)
        row = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        dense[row, self.indices[self.indptr[0] : self.indptr[-1]]] = self.cells
        return dense

    @property
    def cells(self) -> Array:
        """Stored values of the rows in this block."""
        return self.data[self.indptr[0] : self.indptr[-1]]


DenseTable = DenseMatrix | ColumnMatrix
Matrix = DenseTable | SparseMatrix
AnyTable = TypeVar("AnyTable", DenseTable, Matrix)

SEARCH_ROWS = 4096
RANGE_CELLS = 2**17
"""Cells whose smallest and largest value are taken together, while they are in cache."""

NATIVE = "biuf"
"""Kinds of numbers that are read as they are."""


def read_dense(X: Any, model: str) -> DenseTable:
    """Read a table of numbers that may not be sparse."""
    if not isinstance(X, np.ndarray):
        from scipy.sparse import issparse

        if issparse(X) or is_sparse_frame(X):
            raise TypeError(
                f"Sparse data was passed for X, but dense data is required: {model} does not take sparse input; "
                f"use '{'.sparse.to_dense()' if is_frame(X) else '.toarray()'}' to convert to dense."
            )
    matrix = read_matrix(X, model)
    assert not isinstance(matrix, SparseMatrix)
    return matrix


def read_matrix(X: Any, model: str) -> Matrix:
    """Read a table of numbers; missing cells become NaN, everything that is no number is refused."""
    if isinstance(X, np.ma.MaskedArray):
        X = np.where(np.ma.getmaskarray(X), np.nan, X.data)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in NATIVE and not isinstance(X, np.matrix):
        require_cells(X.shape, model)
        return DenseMatrix(_native(X))
    if is_frame(X):
        return _from_frame(X, model)
    from scipy import sparse
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
    except ValueError as error:
        raise _unreadable(given, error) from None
    if X.dtype.kind not in NATIVE:
        raise DataError(f"X holds {X.dtype}, not numbers; convert it, or use CategoricalNB for categories")
    return _from_sparse(X) if sparse.issparse(X) else DenseMatrix(_native(X))


def _from_sparse(X: Any, names: tuple[str, ...] | None = None) -> SparseMatrix:
    if not X.has_canonical_format:  # a cell stored in two parts is one cell
        X = X.copy()
        X.sum_duplicates()
    return SparseMatrix(X.indptr, X.indices, _native(X.data), X.shape[1], names)


def _unreadable(X: Any, error: ValueError) -> DataError:
    """Say why lists or an array hold no table of numbers: rows of different length, or text."""
    if isinstance(X, list | tuple) and all(isinstance(row, list | tuple | np.ndarray) for row in X):
        widths = [len(row) for row in X]
        odd = next((row for row, width in enumerate(widths) if width != widths[0]), None)
        if odd is not None:
            return DataError(
                f"X is ragged: row {odd} has {widths[odd]} cell(s), and row 0 has {widths[0]}; give every row one cell "
                "for each column"
            )
    cells = np.array(X, dtype=object)
    if cells.ndim == 2:
        for row, column in np.ndindex(cells.shape):
            cell: Any = cells[row, column]
            if isinstance(cell, str | bytes) and not _is_number_text(cell):
                return DataError(
                    f"could not convert string to float: column {column_name(None, column)!r} holds {cell!r} in row "
                    f"{row}, not a number; encode it, or use CategoricalNB for categories"
                )
    return DataError(str(error))


def _is_number_text(cell: str | bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _filled(X: Any) -> Any:
    """Put NaN for the objects of an array that are missing; leave anything else as it is."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "O":
        return X
    return np.where(np.frompyfunc(is_missing, 1, 1)(X).astype(bool), np.nan, X)


def names_of(X: Any, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Names of a frame's columns; as in scikit-learn, there are none where pandas counts them or gives them tuples."""
    if library_of(X) == "pandas" and not all(isinstance(name, str) for name in X.columns):
        return None
    return names


def column_name(names: Sequence[str] | None, j: int) -> str:
    """Name of a column; x0, x1, ... where it has none."""
    return f"x{j}" if names is None else names[j]


def require_width(n_columns: int, known: int | None, model: str) -> None:
    """Refuse a table that has more or fewer columns than the model knows."""
    if known is not None and n_columns != known:
        raise SchemaError(f"X has {n_columns} features, but {model} is expecting {known} features as input.")


def with_known_columns(table: AnyTable, names: tuple[str, ...] | None, n_columns: int, model: str) -> AnyTable:
    """Refuse another width than the model knows, and call the columns as it does, however the table calls them."""
    require_width(table.shape[1], n_columns, model)
    return table if table.names == names else replace(table, names=names)


def require_values(matrix: Matrix, model: str, *, missing: str | None, allow_negative: bool) -> None:
    """Refuse infinite cells, missing ones and negative ones unless they are allowed; the message names the first.

    `missing` is the model's rule, "error" or "ignore", or None if it has none. In a sparse matrix no cell can be
    ignored: what is not stored is zero.
    """
    allow_missing = missing == "ignore" and not isinstance(matrix, SparseMatrix)
    low, high = _value_range(matrix)
    if (allow_negative or not low < 0) and isfinite(low) and isfinite(high):
        return

    def is_bad(cells: Array) -> Array:
        bad = np.isinf(cells)
        if not allow_missing:
            bad |= np.isnan(cells)
        if not allow_negative:
            bad |= cells < 0
        return bad

    cell = first_cell(matrix, is_bad)
    if cell is None:
        return
    if cell.value < 0 and np.isfinite(cell.value):
        raise DataError(f"Negative values in data passed to {model} (input X): {cell.where}; counts start at 0")
    what = "NaN" if np.isnan(cell.value) else "infinity"
    raise DataError(f"Input X contains {what}: {cell.where}; {_way_out(cell.value, matrix, missing)}")


class Cell(NamedTuple):
    """The value of a cell, and where it stands, for a message."""

    value: float
    where: str


def first_cell(matrix: Matrix, is_bad: Callable[[Array], Array]) -> Cell | None:
    """Find the first row's first cell that is bad."""
    for start in range(0, matrix.shape[0], SEARCH_ROWS):
        block = matrix.block(slice(start, min(start + SEARCH_ROWS, matrix.shape[0])))
        cells = block.cells if isinstance(block, SparseMatrix) else block
        bad = is_bad(cells)
        if bad.any():
            row, column, value = _cell_of(block, cells, bad)
            return Cell(value, f"{value} in row {start + row}, column {column_name(matrix.names, column)!r}")
    return None


def _value_range(matrix: Matrix) -> tuple[float, float]:
    """Smallest and largest cell, NaN where one is missing."""
    if matrix.dtype.kind == "u":
        return 0.0, 0.0
    if isinstance(matrix, DenseMatrix) and matrix.values.size <= RANGE_CELLS:
        return _range(matrix.values)
    pieces = [
        piece[rows]
        for piece in matrix.pieces
        for rows in row_blocks(len(piece), max(1, RANGE_CELLS * len(piece) // max(piece.size, 1)))
    ]
    ranges = np.array(list(ordered_map(_range, pieces)) or [(0.0, 0.0)])
    return float(ranges[:, 0].min()), float(ranges[:, 1].max())


def _range(cells: Array) -> tuple[float, float]:
    return (float(cells.min()), float(cells.max())) if cells.size else (0.0, 0.0)


def _cell_of(block: "Array | SparseMatrix", cells: Array, bad: Array) -> tuple[int, int, float]:
    """Row, column and value of the first bad cell of a block."""
    if isinstance(block, SparseMatrix):
        cell = int(bad.argmax())
        row = int(np.searchsorted(block.indptr - block.indptr[0], cell, side="right")) - 1
        return row, int(block.indices[block.indptr[0] + cell]), float(cells[cell])
    row, column = (int(index) for index in np.argwhere(bad)[0])
    return row, column, float(cells[row, column])


def _way_out(value: float, matrix: Matrix, missing: str | None) -> str:
    is_sparse = isinstance(matrix, SparseMatrix)
    if not np.isnan(value):
        can_be_missing = missing == "ignore" and not is_sparse
        return "replace it by a finite number" + (", or by NaN if it is missing" if can_be_missing else "")
    if missing is None:
        return "fill it, or leave the row out"
    if is_sparse:
        return "fill it, leave the row out, or use .toarray(): only a dense X can have missing='ignore'"
    return "fill it, leave the row out, or take missing='ignore'"


def _native(values: Array) -> Array:
    """Bring half precision, long double and foreign byte orders to a kind the loops know; leave the rest as it is."""
    kind = values.dtype.kind
    if kind == "b":
        return values.view(np.uint8)
    if kind == "f" and values.dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if values.dtype.itemsize == 2 else np.float64)
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def require_cells(shape: tuple[int, ...], model: str) -> None:
    """Refuse a table without rows or without columns."""
    for what, n in zip(("feature", "sample"), reversed(shape), strict=True):
        if n == 0:
            raise DataError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required by {model}."
            )


def _from_frame(X: Any, model: str) -> Matrix:
    if is_sparse_frame(X):
        require_cells(X.shape, model)
        require_own_names(X.columns)
        return _from_sparse(X.sparse.to_coo().tocsr(), names_of(X, tuple(X.columns)))
    kinds = set(X.dtypes) if library_of(X) == "pandas" else set()
    if len(kinds) == 1 and all(isinstance(kind, np.dtype) and kind.kind in NATIVE for kind in kinds):
        require_cells(X.shape, model)
        require_own_names(X.columns)
        return DenseMatrix(_native(X.to_numpy()), names_of(X, tuple(X.columns)))  # one block of memory: no copy
    frame = read_frame(X)
    require_cells(frame.table.shape, model)
    return ColumnMatrix(tuple(_native(numeric_column(frame, name)) for name in frame.names), names_of(X, frame.names))
