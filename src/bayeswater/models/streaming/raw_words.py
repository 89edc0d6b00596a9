"""Rows of a table as words of 64 bits, by what is in their cells and nothing else (`data.mixing`).

Where pieces of a table have no order, a choice among rows can only depend on the rows themselves.
"""

from typing import Any

import numpy as np

from bayeswater.data.frames import as_numpy
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.mixing import mixed, number_words, row_words, state_words
from bayeswater.data.raw_table import RawTable
from bayeswater.data.variable import Variable
from bayeswater.typing import Array


def raw_words(raw: RawTable) -> Array:
    """Hash the cells of each row; a block of sparse counts has no say: (n_rows,)."""
    cells = [column for column in raw.columns.values() if not isinstance(column, SparseMatrix)]
    return row_words(map(_words, cells), raw.n_rows)


def share_of(words: Array) -> Array:
    """Numbers from 0 up to 1, evenly spread, that words of rows become: (n_rows,).

    >>> bool((share_of(np.arange(1000, dtype=np.uint64)) < 0.5).sum() in range(450, 550))
    True
    """
    return mixed(words).astype(np.float64) / 2.0**64


def _words(column: Any) -> Array:
    import pyarrow as pa

    if isinstance(column, np.ndarray):
        return number_words(column)
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return number_words(as_numpy(column))
    if pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    if not pa.types.is_dictionary(kind) and not pa.types.is_null(kind):
        column = column.dictionary_encode()
    if pa.types.is_null(kind):
        return np.zeros(len(column), dtype=np.uint64)
    found = [np.zeros(0, dtype=np.uint64)]
    for chunk in column.chunks:
        labels = chunk.dictionary.to_pylist()
        words = state_words(Variable("", tuple(labels)))  # the last is for what is missing
        index = chunk.indices.cast(pa.int64()).fill_null(len(labels)).to_numpy()
        found.append(words[index])
    return np.concatenate(found)
