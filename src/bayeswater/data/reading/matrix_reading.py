"""What users call a table of numbers, read as a `Matrix`, checked, and without a copy where that can be.

Arrays, CSR matrices and frames of native numbers are taken as they are; other formats are converted once. Missing cells
become NaN, and what is no number is refused with its place.

Columns that lie side by side in memory, as those of a frame of pandas do, are one array already. There must be no gap
between them. At equal distances lie any two columns, and what lies between may be anybody's: an array that claims it
overlaps with whatever NumPy allocates there, also to copy it to, and copying then never ends.

A model may refuse a table for its shape, and for cells that are missing, infinite or negative. A finite sum, or the
largest pattern of bits, shows that there are no such cells; only where it does not are they searched for, to name the
first.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from numbers import Number
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bayeswater.data.cells import is_missing
from bayeswater.data.frames import (
    OF_OTHER_KINDS,
    given_names,
    is_frame,
    is_sparse_frame,
    library_of,
    numeric_column,
    read_frame,
    require_no_nul,
    require_own_names,
    unmasked,
)
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix, DenseTable, Matrix, SparseMatrix, column_name
from bayeswater.errors import DataError, SchemaError
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.typing import Array


def one_array(columns: Sequence[Array]) -> Array | None:
    """Give columns as one array (n_rows, n_columns) without copying a cell; None where they do not lie so.

    >>> together = np.arange(6.0).reshape(2, 3)
    >>> one_array(tuple(together))
    array([[0., 3.],
           [1., 4.],
           [2., 5.]])
    >>> one_array((together[0], together[1].copy(), together[1])) is None
    True
    """
    first, places = columns[0], [column.__array_interface__["data"][0] for column in columns]
    distances = {b - a for a, b in pairwise(places)}
    alike = {(column.dtype, column.shape, column.strides) for column in columns}
    if len(distances) != 1 or len(alike) != 1 or first.ndim != 1:
        return None
    (distance,), (stride,) = distances, first.strides
    end_to_end = stride == first.itemsize and distance == first.nbytes
    row_by_row = distance > 0 and (len(columns) - 1) * distance + first.itemsize <= stride
    return np.asarray(_Columns(columns, distance)) if end_to_end or row_by_row else None


class _Columns:
    """Memory of columns, which stays as long as an array of it is used."""

    def __init__(self, columns: Sequence[Array], distance: int) -> None:
        self._columns = columns
        first = columns[0]
        self.__array_interface__: dict[str, Any] = {
            **first.__array_interface__,
            "data": (first.__array_interface__["data"][0], True),  # a column may be read-only, or stand in it twice
            "shape": (len(first), len(columns)),
            "strides": (*first.strides, distance),
        }


AnyTable = TypeVar("AnyTable", DenseTable, Matrix)

SEARCH_ROWS = 4096
LOOK_CELLS = 2**17
"""Cells that one of our threads looks at in one go."""

SHARED_FROM_CELLS = 2**22
"""Cells from which on our threads share that work: it is done in less time than they need to begin."""


def require_cells(shape: tuple[int, ...], model: str) -> None:
    """Refuse a table without rows or without columns."""
    for what, n in zip(("feature", "sample"), reversed(shape), strict=True):
        if n == 0:
            raise DataError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required by {model}."
            )


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
    if _is_plainly_good(matrix, allow_negative=allow_negative):
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


class FoundCell(NamedTuple):
    """The value of a cell, and where it stands, for a message."""

    value: float
    where: str


def first_cell(matrix: Matrix, is_bad: Callable[[Array], Array]) -> FoundCell | None:
    """Find the first row's first cell that is bad."""
    for start in range(0, matrix.shape[0], SEARCH_ROWS):
        block = matrix.block(slice(start, min(start + SEARCH_ROWS, matrix.shape[0])))
        cells = block.cells if isinstance(block, SparseMatrix) else block
        bad = is_bad(cells)
        if bad.any():
            row, column, value = _cell_of(block, cells, bad)
            return FoundCell(value, f"{value} in row {start + row}, column {column_name(matrix.names, column)!r}")
    return None


def _cell_of(block: "Array | SparseMatrix", cells: Array, bad: Array) -> tuple[int, int, float]:
    """Row, column and value of the first bad cell of a block."""
    if isinstance(block, SparseMatrix):
        cell = int(bad.argmax())
        row = int(np.searchsorted(block.indptr - block.indptr[0], cell, side="right")) - 1
        return row, int(block.indices[block.indptr[0] + cell]), float(cells[cell])
    row, column = (int(index) for index in np.argwhere(bad)[0])
    return row, column, float(cells[row, column])


def _is_plainly_good(matrix: Matrix, *, allow_negative: bool) -> bool:
    """Whether one look shows that all cells are finite and, unless they may be, none is negative."""
    look = partial(looks_good, allow_negative=allow_negative)
    if matrix.n_cells < SHARED_FROM_CELLS:
        return all(map(look, matrix.pieces))
    parts = [
        piece[rows]
        for piece in matrix.pieces
        for rows in row_blocks(len(piece), max(1, LOOK_CELLS * len(piece) // piece.size))
    ]
    return all(ordered_map(look, parts))


INFINITY: dict[int, np.unsignedinteger[Any]] = {4: np.uint32(0x7F80_0000), 8: np.uint64(0x7FF0_0000_0000_0000)}
"""Bits of the infinite float of so many bytes."""


def looks_good(cells: Array, *, allow_negative: bool) -> bool:
    """Whether one look shows that cells are finite and, unless they may be, none is negative."""
    kind = cells.dtype.kind
    if kind != "f":
        return kind == "u" or allow_negative or bool(cells.min(initial=0) >= 0)
    if allow_negative:
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(cells.sum()))
    # The bits of a float, read as a whole number, are below those of infinity where it is finite and has no sign.
    infinity = INFINITY[cells.itemsize]
    return bool(cells.view(infinity.dtype).max(initial=0) < infinity)


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
    plain = plain_matrix(X, model)
    if plain is not None:
        return plain
    if is_sparse_frame(X):
        require_cells(X.shape, model)
        require_own_names(X.columns)
        return _from_sparse(X.sparse.to_coo().tocsr(), names_of(X, tuple(X.columns)))
    frame = read_frame(X)
    require_cells(frame.table.shape, model)
    columns = tuple(_native(numeric_column(frame, name)) for name in frame.names)
    values, names = one_array(columns), names_of(X, frame.names)
    return ColumnMatrix(columns, names) if values is None else DenseMatrix(values, names)


COPIED_CELLS = 2**21
"""Cells up to which the columns of a frame are copied into one array: it takes less time than to go by column."""


def plain_matrix(X: Any, model: str) -> DenseMatrix | None:
    """Read a frame with numbers of one plain kind as one array: of pandas no cell is copied, of polars only a few."""
    library = library_of(X)
    if library == "polars":
        return _plain_polars(X, model)
    kinds = set(X.dtypes.to_numpy() if library == "pandas" else ())
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if not isinstance(kind, np.dtype) or kind.kind not in NATIVE:
        return None
    require_cells(X.shape, model)
    names = given_names(X)
    require_own_names(names)
    are_texts = all(isinstance(name, str) for name in names)
    return DenseMatrix(_native(X.to_numpy()), tuple(names) if are_texts else None)


def _plain_polars(X: Any, model: str) -> DenseMatrix | None:
    """Read a small frame of polars, whose names are texts, each of one column, as it sees to itself."""
    kinds, (n_rows, n_columns) = X.dtypes, X.shape
    if not kinds or kinds.count(kinds[0]) < n_columns or not (kinds[0].is_float() or kinds[0].is_integer()):
        return None
    if n_rows * n_columns > COPIED_CELLS:
        return None
    names = X.columns
    require_no_nul(names)
    require_cells(X.shape, model)
    # One by one: columns that polars puts together itself wait for its threads to wake up.
    values = np.concatenate([column.to_numpy() for column in X.get_columns()]).reshape(n_columns, n_rows).T
    if values.dtype.kind not in NATIVE or (values.dtype.kind == "f") != kinds[0].is_float():  # a null makes it NaN
        return None
    return DenseMatrix(_native(values), tuple(names))


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
