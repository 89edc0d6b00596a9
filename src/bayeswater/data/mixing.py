"""Mixing of bits: one function that makes of any 64 bits another 64, in which every bit has a say in every other.

It is the finaliser of the generator SplitMix64 (Steele, Lea and Flood 2014): a one-to-one map of the 64-bit words, so
different words stay different. Rows are hashed with it, column by column, wherever a choice among rows must depend on
what is in them and neither on their order nor on their repetition.
"""

import numpy as np

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
