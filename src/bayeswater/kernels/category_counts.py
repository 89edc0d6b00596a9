"""Count of every state of every column within every class, in one flat table.

Column j with S_j states owns S_j + 1 consecutive rows of the table, from ``offset[j]`` on; the last of them is
the slot of missing cells. A code beyond the domain falls into that slot too, so no code can reach the rows of
another column.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

LANES = 4
"""Tables that rows take in turns: to count a cell need not wait until the count of the row before is written."""

FEW_CELLS = 2**10
"""Cells of a column up to which there are several tables: of more, neighbours seldom have the same one."""


def offsets(n_states: Array) -> Array:
    """Give the first row of each column in the flat table, and last the table's length.

    >>> offsets(np.array([2, 3]))
    array([0, 3, 7])
    """
    return np.concatenate([[0], np.cumsum(n_states + 1)])


def count_categories(
    codes: Array, n_states: Array, y: Array, weight: Array | None, n_classes: int, *, use_loop: bool
) -> Array:
    """Count one block of rows into a table (n_table_rows, n_classes), int64 or, with fractional weights, float64."""
    start = offsets(n_states)
    kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64
    table = np.zeros((start[-1], n_classes), dtype=kind)
    arguments = codes, n_states.astype(np.uint64), start.astype(np.uint64), y, weight, table
    if _count_categories_loop.serves(codes.size, *arguments, use_loop=use_loop):
        _count_categories_loop(*arguments)
        return table
    cell = (start[:-1] + np.minimum(codes, n_states)) * n_classes + y[:, None]  # (n_rows, n_columns)
    repeated = None if weight is None else np.repeat(weight, codes.shape[1])
    flat = np.bincount(cell.ravel(), weights=repeated, minlength=table.size)
    return flat.astype(kind).reshape(table.shape)


def count_column(codes: Array, n_states: int, y: Array, n_classes: int) -> Array:
    """Count the rows of one column (n_rows,) into a table (n_states + 1, n_classes), as `count_categories` does.

    >>> count_column(np.array([0, 1, 9, 1], dtype=np.uint8), 2, np.array([0, 1, 1, 1], dtype=np.uint8), 2)
    array([[1, 0],
           [0, 2],
           [0, 1]])
    """
    n_cells = (n_states + 1) * n_classes
    lanes = np.zeros((LANES if n_cells <= FEW_CELLS else 1, n_cells), dtype=np.int64)
    _count_column_loop(codes, n_states, y, n_classes, lanes)
    return lanes.sum(axis=0).reshape(n_states + 1, n_classes)


@compiled
def _count_column_loop(codes, n_states, y, n_classes, lanes):  # type: ignore[no-untyped-def]
    last_lane = len(lanes) - 1  # a power of two, less one
    for i in range(len(codes)):
        cell = min(np.uint64(codes[i]), np.uint64(n_states)) * np.uint64(n_classes) + np.uint64(y[i])
        lanes[i & last_lane, cell] += 1


@compiled
def _count_categories_loop(codes, n_states, start, y, weight, table):  # type: ignore[no-untyped-def]
    # Columns go in groups whose cache lines all stay in the first-level cache when codes are stored by column.
    # Indices are unsigned: they never count from the end, and the compiled loop need not ask.
    n_rows, n_columns = codes.shape
    for first in range(0, n_columns, 256):
        group = range(np.uint64(first), np.uint64(min(first + 256, n_columns)))
        for i in range(n_rows):
            k = np.uint64(y[i])
            for j in group:
                row = start[j] + min(np.uint64(codes[i, j]), n_states[j])
                if weight is None:
                    table[row, k] += 1
                else:
                    table[row, k] += weight[i]
