"""Hashes of rows by their cells, of which no order, repetition or division into pieces shows.

A choice among rows must not depend on the order or repetition of rows, on the order of columns, or on how a table is
cut into pieces. So it is made by a hash of 64 bits: the sum over columns of one of the name and the cell. Cells become
words by their value or label, and not by their code, which depends on the other cells of a column.

Bits are mixed by the finaliser of the generator SplitMix64 (Steele, Lea and Flood 2014), in which every bit of a word
changes every other. It is a one-to-one map of the 64-bit words, so different words stay different.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np

from bayeswater.data.frames import as_numpy
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.data.reading.text import TextTable
from bayeswater.data.variable import Variable
from bayeswater.typing import Array


def hashed(bits: Array) -> Array:
    """Spread every bit of unsigned 64-bit words over all others, in the shape they came.

    >>> hashed(np.array([0, 1], dtype=np.uint64)).tolist()
    [16294208416658607535, 10451216379200822465]
    """
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def hash_word(number: int) -> Array:
    """Give an integer as one unsigned 64-bit word, to be mixed: (1,).

    >>> hash_word(-1).tolist()
    [18446744073709551615]
    """
    return np.array([number % 2**64], dtype=np.uint64)


def row_words(columns: Iterable[Array], n_rows: int) -> Array:
    """Hash rows by the words of their cells, given column by column: (n_rows,)."""
    found = np.zeros(n_rows, dtype=np.uint64)
    for words in columns:
        found = hashed(found + hashed(words))
    return found


def number_words(numbers: Array) -> Array:
    """Give numbers as 64-bit words: equal numbers have equal ones, and so have all that are missing (NaN).

    >>> number_words(np.array([0.0, -0.0, 1.0])).tolist()
    [0, 0, 4607182418800017408]
    """
    values = numbers.astype(np.float64) + 0.0  # -0.0 is 0.0
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)  # there are many NaN, too


def state_words(variable: Variable) -> Array:
    """Words by code, the last one for what is missing; equal labels have the same, whichever code they have."""
    if variable.is_coded:
        of_states = np.arange(variable.n_states, dtype=np.uint64)
    else:
        digests = [blake2b(repr(state).encode(), digest_size=8).digest() for state in variable.states]
        of_states = np.frombuffer(b"".join(digests), dtype=np.uint64)
    return np.append(of_states, np.uint64(2**64 - 1))


HASH_BASE = np.uint64(0x9E3779B97F4A7C15)
"""Base of the polynomial that many words are hashed by: any large odd number."""


def vocabulary_words(variable: Variable) -> Array:
    """Hash the words of a vocabulary, which may be very many, by their bytes: (n_states,).

    >>> vocabulary_words(Variable("text", ("be", "to")))[0] == vocabulary_words(Variable("text", ("be",)))[0]
    np.True_
    """
    if variable.is_coded or not variable.n_states:
        return state_words(variable)[:-1]
    import pyarrow as pa

    words = pa.array(variable.states, pa.large_string())
    start = np.frombuffer(words.buffers()[1], dtype=np.int64)[: len(words) + 1]
    text = np.frombuffer(words.buffers()[2] or b"", dtype=np.uint8)[: start[-1]]
    place = np.arange(start[-1]) - np.repeat(start[:-1], np.diff(start))
    power = np.cumprod(np.full(int(np.diff(start).max()) + 1, HASH_BASE), dtype=np.uint64)
    total = np.concatenate([[np.uint64(0)], np.cumsum(power[place] * (text + np.uint64(1)), dtype=np.uint64)])
    return total[start[1:]] - total[start[:-1]]


MISSING = np.uint64(2**64 - 1)
"""Word of a missing cell, whatever the type of its column: a piece of a table without a value there has none."""


def row_hashes(raw: RawTable) -> Array:
    """Hash the cells of each row: (n_rows,)."""
    found = np.zeros(raw.n_rows, dtype=np.uint64)
    for name, column in raw.columns.items():
        under = np.frombuffer(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), dtype=np.uint64)
        found += hashed(under + hashed(_words(column)))
    return hashed(found)


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
    if pa.types.is_nested(kind):  # no column that is learned from, but rows of a table that has one are told apart, too
        column = pa.chunked_array([[None if cell is None else repr(cell) for cell in column.to_pylist()]], pa.string())
    if not pa.types.is_dictionary(column.type):
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
    words = hashed(seconds.view(np.uint64)) + beyond.view(np.uint64)
    return np.where(np.isnat(times), MISSING, words)


def text_words(table: TextTable) -> Array:
    """Hash the words of each text and how often it has them; equal texts have the same, whichever codes words have."""
    words = _sparse_words(table.counts, vocabulary_words(table.vocabulary))
    return np.where(table.missing, MISSING, words)


def _sparse_words(matrix: SparseMatrix, of_columns: Array | None = None) -> Array:
    """Hash the cells of each row that are not zero, by the places of their columns or by what these are called."""
    first, last = matrix.indptr[0], matrix.indptr[-1]
    cells, place = matrix.data[first:last], matrix.indices[first:last].astype(np.uint64)
    if of_columns is not None:
        place = of_columns[matrix.indices[first:last]]
    words = np.where(cells == 0, np.uint64(0), hashed(hashed(place) + number_words(cells)))
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(words, dtype=np.uint64)])
    return total[matrix.indptr[1:] - first] - total[matrix.indptr[:-1] - first]
