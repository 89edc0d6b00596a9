"""A table of numbers, dense, sparse or column by column, that is read block by block.

Arrays and CSR matrices of native numbers are read where they are: a dense block is a view, and the columns of a frame
are put side by side for one block at a time.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.records import record
from bayeswater.typing import Array


@record
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

    def column_pieces(self, j: int) -> tuple[Array, ...]:
        """The arrays that one column is made of."""
        return (self.column(j),)

    def known_cells(self) -> Array:
        """Count the cells of each row that are not missing: (n_rows,)."""
        return _known_cells(self)


STRIP_ROWS = 1024
"""Rows of columns that are put side by side at once: what is written stays in the cache until its lines are full."""


@record
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
        """Put some rows of all columns side by side: numbers by column, as they are; codes by row, to be looked up."""
        cut = [column[rows] for column in self.columns]
        if self.dtype.kind == "f":
            return np.stack(cut, dtype=self.dtype).T
        values = np.empty((len(cut[0]), len(cut)), dtype=self.dtype)
        for strip in (slice(start, start + STRIP_ROWS) for start in range(0, len(values), STRIP_ROWS)):
            for j, column in enumerate(cut):
                values[strip, j] = column[strip]
        return values

    def column(self, j: int) -> Array:
        """One of the columns."""
        return self.columns[j]

    def column_pieces(self, j: int) -> tuple[Array, ...]:
        """The arrays that one column is made of."""
        return (self.columns[j],)

    def known_cells(self) -> Array:
        """Count the cells of each row that are not missing: (n_rows,)."""
        return _known_cells(self)


@record
class ColumnPieces:
    """Columns of a frame, each in several arrays, one behind the other."""

    columns: tuple[tuple[Array, ...], ...]
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return sum(map(len, self.columns[0])), len(self.columns)

    @property
    def n_cells(self) -> int:
        """Cells that are stored."""
        return self.shape[0] * self.shape[1]

    def column_pieces(self, j: int) -> tuple[Array, ...]:
        """The arrays that one column is made of."""
        return self.columns[j]


@record
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

    def take(self, rows: Array) -> "SparseMatrix":
        """Some rows, numbered, and the cells that are theirs."""
        length = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(length)]).astype(self.indptr.dtype)
        place = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], length)
        return SparseMatrix(indptr, self.indices[place], self.data[place], self.n_columns, self.names)

    def to_dense(self, columns: Array | None = None) -> Array:
        """All cells of the rows, the zeros too, or those of some columns: (n_rows, n_columns)."""
        row = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        column, cells = self.indices[self.indptr[0] : self.indptr[-1]], self.cells
        if columns is not None:
            place = np.full(self.n_columns, -1)
            place[columns] = np.arange(len(columns))
            chosen = place[column] >= 0
            row, column, cells = row[chosen], place[column[chosen]], cells[chosen]
        dense = np.zeros((self.shape[0], self.n_columns if columns is None else len(columns)), dtype=self.dtype)
        dense[row, column] = cells
        return dense

    @property
    def cells(self) -> Array:
        """Stored values of the rows in this block."""
        return self.data[self.indptr[0] : self.indptr[-1]]


def _known_cells(matrix: DenseMatrix | ColumnMatrix) -> Array:
    n_rows, n_columns = matrix.shape
    known = np.zeros(n_rows, dtype=np.int64)
    for j in range(n_columns):
        column = matrix.column(j)
        known += ~np.isnan(column) if column.dtype.kind == "f" else 1
    return known


DenseTable = DenseMatrix | ColumnMatrix
Matrix = DenseTable | SparseMatrix


def column_name(names: Sequence[str] | None, j: int) -> str:
    """Name of a column; x0, x1, ... where it has none."""
    return f"x{j}" if names is None else names[j]
