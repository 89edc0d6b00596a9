"""Histograms of floats: how often every class has the numbers of every bucket of a column.

The bits of a float, read as sign and magnitude of a whole number (its key), have the order of the floats; both zeros
have key 0. A bucket holds the keys that are equal but for their last `shift` bits: with shift 0 a single number.

A histogram has the smallest shift with which no more buckets than `most` are occupied. Numbers that share a bucket
share one of every larger shift too, so this is a property of the set of numbers: whatever their order, and in whatever
parts they were counted. Any part of them gives a shift from which the search may begin.

A cell is a bucket and a class. It keeps the least and the largest key in it, which say its bucket, too. Cells stand in
the order of class and key, which is the same for every shift: a coarser histogram joins neighbours.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

LARGEST = 2**63 - 1
"""All bits of a float but its sign."""


MANY = 2**15
"""Cells of two histograms from which on they are put together by a loop."""


class Cells(NamedTuple):
    """Cells in rising order of class and key: arrays (n_cells,), and the shift that tells the buckets."""

    shift: int
    low: Array  # keys
    high: Array
    code: Array
    weight: Array  # of their rows


def keys_of(x: Array) -> Array:
    """Key of each number of a float64 array.

    >>> keys_of(np.array([-0.0, 0.0, 5e-324, -5e-324])).tolist()
    [0, 0, 1, -1]
    """
    bits = np.ascontiguousarray(x).view(np.int64)
    if bits.min(initial=0) >= 0:
        return bits
    sign = bits >> 63  # -1 below 0: then -magnitude is the complement of the magnitude, plus 1
    return (bits ^ (sign & LARGEST)) - sign


def numbers_of(key: Array) -> Array:
    """Number of each key.

    >>> numbers_of(keys_of(np.array([-3.0, 0.0, 7.0])))
    array([-3.,  0.,  7.])
    """
    magnitude = np.abs(key).view(np.float64)
    return np.where(key < 0, -magnitude, magnitude)


def least_shift(key: Array, most: int) -> int:
    """Find the smallest shift that leaves at most `most` (2 or more) different buckets of some keys in rising order.

    Two neighbours are parted by every shift below the number of bits up to the first in which they differ.

    >>> least_shift(np.array([0, 1, 2, 3, 8]), 3)
    1
    """
    if len(key) <= most:
        return 0
    differing = (key[1:] ^ key[:-1]).view(np.uint64)  # of different signs: in the first bit of all
    return bisect_left(range(64), True, key=lambda shift: bool(np.count_nonzero(differing >= 1 << shift) < most))


def joined(parts: Sequence[Cells], most: int) -> Cells:
    """Put histograms together, with the smallest shift that all of their numbers need."""
    low, high, code, weight = (np.concatenate(arrays) for arrays in zip(*(part[1:] for part in parts), strict=True))
    shift = max(part.shift for part in parts)
    bucket = low >> shift
    further = least_shift(np.sort(bucket, kind="stable"), most)
    if len(parts) == 2 and len(low) >= MANY:
        arrays = low, high, code, weight
        merged = tuple(np.empty_like(array) for array in arrays)
        n = _merge(*arrays, len(parts[0].low), shift + further, *merged)
        return Cells(shift + further, *(array[:n].copy() for array in merged))
    order = _order(bucket, code, shift)
    first = cell_starts((bucket >> further)[order], code[order])
    if not len(first):
        return Cells(shift, low, high, code, weight)
    joins = (low, np.minimum), (high, np.maximum), (weight, np.add)
    cells = [join.reduceat(array[order], first) for array, join in joins]
    return Cells(shift + further, cells[0], cells[1], code[order[first]], cells[2])


@compiled
def _merge(low, high, code, weight, n_first, shift, of_low, of_high, of_code, of_weight):  # type: ignore[no-untyped-def]
    """Merge the first cells and the others, both in the order of class and key, into those of buckets of a shift."""
    i, j, n = 0, n_first, 0
    while i < n_first or j < len(low):
        if j == len(low):
            is_first = True
        elif i == n_first:
            is_first = False
        else:
            is_first = code[i] < code[j] or (code[i] == code[j] and low[i] >> shift <= low[j] >> shift)
        here = i if is_first else j
        if is_first:
            i += 1
        else:
            j += 1
        if n and of_code[n - 1] == code[here] and of_low[n - 1] >> shift == low[here] >> shift:
            of_low[n - 1] = min(of_low[n - 1], low[here])
            of_high[n - 1] = max(of_high[n - 1], high[here])
            of_weight[n - 1] += weight[here]
        else:
            of_low[n], of_high[n], of_code[n], of_weight[n] = low[here], high[here], code[here], weight[here]
            n += 1
    return n


def _order(bucket: Array, code: Array, shift: int) -> Array:
    """Order cells by class and bucket; both in one number, where a class has room in the bits that were dropped.

    The sort finds the stretches that are in order, those of each part, and merges them.
    """
    if shift and code.max(initial=0) >> (shift - 1) == 0:
        return np.argsort((code.astype(np.int64) << (64 - shift)) + bucket, kind="stable")
    return np.lexsort((bucket, code))


def cell_starts(bucket: Array, code: Array) -> Array:
    """Where another cell begins, in the order of class and key."""
    is_first = np.ones(len(bucket), dtype=bool)
    is_first[1:] = (bucket[1:] != bucket[:-1]) | (code[1:] != code[:-1])
    return np.flatnonzero(is_first)
