"""Rows of a table as words of 64 bits, by what is in their cells under which name, and nothing else.

A choice among rows must not depend on the order of rows or columns, nor on how a table is cut into pieces. So it is
made by such a hash: the sum over columns of one of the name and the cell (`data.mixing`).
"""

from hashlib import blake2b
from typing import Any

import numpy as np

from bayeswater.data.frames import as_numpy
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.mixing import mixed, number_words, state_words
from bayeswater.data.raw_table import RawTable
from bayeswater.data.variable import Variable
from bayeswater.typing import Array

MISSING = np.uint64(2**64 - 1)
"""Word of a missing cell, whatever the type of its column: a piece of a table without a value there has none."""


def row_hashes(raw: RawTable) -> Array:
    """Hash the cells of each row: (n_rows,)."""
    found = np.zeros(raw.n_rows, dtype=np.uint64)
    for name, column in raw.columns.items():
        under = np.frombuffer(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), dtype=np.uint64)
        found += mixed(under + mixed(_words(column)))
    return mixed(found)


def _words(column: Any) -> Array:
    import pyarrow as pa

    if isinstance(column, SparseMatrix):
        return _sparse_words(column)
    if isinstance(column, np.ndarray):
        return _known_numbers(column)
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _known_numbers(as_numpy(column))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _time_words(column.to_numpy())
    if pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    if pa.types.is_null(kind):
        return np.full(len(column), MISSING)
    if not pa.types.is_dictionary(kind):
        column = column.dictionary_encode()
    found = [np.zeros(0, dtype=np.uint64)]
    for chunk in column.chunks:
        labels = chunk.dictionary.to_pylist()
        words = np.append(state_words(Variable("", tuple(labels)))[:-1], MISSING)
        index = chunk.indices.cast(pa.int64()).fill_null(len(labels)).to_numpy()
        found.append(words[index])
    return np.concatenate(found)


def _known_numbers(numbers: Array) -> Array:
    words = number_words(numbers)
    return np.where(np.isnan(numbers), MISSING, words) if numbers.dtype.kind == "f" else words


def _time_words(times: Array) -> Array:
    """Hash times by seconds and what is beyond them: a day is its midnight, whichever unit a file tells it in."""
    seconds = times.astype("datetime64[s]")
    beyond = (times - seconds).astype("timedelta64[ns]")
    words = mixed(seconds.view(np.uint64)) + beyond.view(np.uint64)
    return np.where(np.isnat(times), MISSING, words)


def _sparse_words(matrix: SparseMatrix) -> Array:
    """Hash the cells of each row that are not zero."""
    first, last = matrix.indptr[0], matrix.indptr[-1]
    cells, place = matrix.data[first:last], matrix.indices[first:last].astype(np.uint64)
    words = np.where(cells == 0, np.uint64(0), mixed(mixed(place) + number_words(cells)))
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(words, dtype=np.uint64)])
    return total[matrix.indptr[1:] - first] - total[matrix.indptr[:-1] - first]
