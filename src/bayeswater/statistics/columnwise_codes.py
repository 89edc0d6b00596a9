"""The codes of a table column by column, as kernels read them that look at several columns of a row at once."""

from typing import Any

import numpy as np

from bayeswater.data.coded_table import CodedTable
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.typing import Array

TURNED_ROWS = 2**12
"""Rows stored one after the other are turned into columns in pieces that stay in the cache."""


def code_kind(n_states: Array) -> np.dtype[Any]:
    """Give the narrowest kind of number for the codes of all columns, missing included.

    >>> code_kind(np.array([2, 255])), code_kind(np.array([256]))
    (dtype('uint8'), dtype('uint16'))
    """
    highest = int(n_states.max(initial=0))
    return np.dtype(np.uint8 if highest < 2**8 else np.uint16 if highest < 2**16 else np.int32)


def columnwise_codes(coded: CodedTable, rows: slice) -> Array:
    """Give the codes (n_columns, n_rows) of some rows; a code beyond the domain falls into the slot of missing."""
    n_states = coded.schema.n_states
    codes = np.empty((len(n_states), rows.stop - rows.start), dtype=code_kind(n_states))
    matrix = coded.codes
    if isinstance(matrix, ColumnMatrix):
        columns = matrix.columns

        def narrow(j: int) -> None:
            np.minimum(columns[j][rows], _limit(n_states[j], columns[j].dtype), out=codes[j], casting="unsafe")

        for _ in ordered_map(narrow, range(len(n_states))):
            pass
        return codes
    values = matrix.values[rows]
    highest = _limit(n_states[:, None], values.dtype)

    def turn(part: slice) -> None:
        np.minimum(values[part].T, highest, out=codes[:, part], casting="unsafe")

    for _ in ordered_map(turn, row_blocks(len(values), TURNED_ROWS)):
        pass
    return codes


def _limit(n_states: Array, kind: np.dtype[Any]) -> Array:
    """Highest codes in the kind of number that the codes have: in a wider one the comparison would be slow."""
    return np.minimum(n_states, np.iinfo(kind).max).astype(kind)
