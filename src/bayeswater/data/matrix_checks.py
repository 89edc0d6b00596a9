"""What a model refuses in a table of numbers: its shape, and cells that are missing, infinite or negative.

A finite sum, or one look at the smallest and the largest value, is enough for a table without such cells; only where it
is not are they searched for, to name the first.
"""

from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import NamedTuple, TypeVar

import numpy as np

from bayeswater.data.matrix import DenseMatrix, DenseTable, Matrix, SparseMatrix, column_name
from bayeswater.errors import DataError, SchemaError
from bayeswater.kernels.threads import block_map, row_blocks
from bayeswater.typing import Array

AnyTable = TypeVar("AnyTable", DenseTable, Matrix)

SEARCH_ROWS = 4096
RANGE_CELLS = 2**17
"""Cells whose smallest and largest value are taken together, while they are in cache."""

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
    if allow_negative and isinstance(matrix, DenseMatrix) and _has_finite_sum(matrix.values):
        return
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


def _cell_of(block: "Array | SparseMatrix", cells: Array, bad: Array) -> tuple[int, int, float]:
    """Row, column and value of the first bad cell of a block."""
    if isinstance(block, SparseMatrix):
        cell = int(bad.argmax())
        row = int(np.searchsorted(block.indptr - block.indptr[0], cell, side="right")) - 1
        return row, int(block.indices[block.indptr[0] + cell]), float(cells[cell])
    row, column = (int(index) for index in np.argwhere(bad)[0])
    return row, column, float(cells[row, column])


def _has_finite_sum(cells: Array) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(cells.sum()))


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
    ranges = np.array(list(block_map(_range, pieces, together=matrix.n_cells >= SHARED_FROM_CELLS)) or [(0.0, 0.0)])
    return float(ranges[:, 0].min()), float(ranges[:, 1].max())


def _range(cells: Array) -> tuple[float, float]:
    return (float(cells.min()), float(cells.max())) if cells.size else (0.0, 0.0)


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
