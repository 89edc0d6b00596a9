"""Mixing of bits: one function that makes of any 64 bits another 64, in which every bit has a say in every other.

It is the finaliser of the generator SplitMix64 (Steele, Lea and Flood 2014): a one-to-one map of the 64-bit words, so
different words stay different. Rows are hashed with it, column by column, wherever a choice among rows must depend on
what is in them and neither on their order nor on their repetition. Cells become words by their value or label, and not
by their code, which depends on the other cells of a column.
"""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.typing import Array


def mixed(bits: Array) -> Array:
    """Spread every bit of unsigned 64-bit words over all others, in the shape they came.

    >>> mixed(np.array([0, 1], dtype=np.uint64)).tolist()
    [16294208416658607535, 10451216379200822465]
    """
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def word(number: int) -> Array:
    """Give an integer as one unsigned 64-bit word, to be mixed: (1,).

    >>> word(-1).tolist()
    [18446744073709551615]
    """
    return np.array([number % 2**64], dtype=np.uint64)


def row_words(columns: Iterable[Array], n_rows: int) -> Array:
    """Hash rows by the words of their cells, given column by column: (n_rows,)."""
    found = np.zeros(n_rows, dtype=np.uint64)
    for words in columns:
        found = mixed(found + mixed(words))
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
