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
from typing import Any, NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

LARGEST = 2**63 - 1
"""All bits of a float but its sign."""


MANY = 2**14
"""Cells of two histograms from which on they are put together by a loop."""


SIDE_BY_SIDE = 16
"""Classes of which the cells are walked through side by side, at most; those of more are sorted."""


class KeyCells(NamedTuple):
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
    if np.count_nonzero(differing) < most:
        return 0
    return bisect_left(range(64), True, key=lambda shift: bool(np.count_nonzero(differing >= 1 << shift) < most))


def joined(parts: Sequence[KeyCells], most: int) -> KeyCells:
    """Put histograms together, with the smallest shift that all of their numbers need."""
    low, high, code, weight = (np.concatenate(arrays) for arrays in zip(*(part[1:] for part in parts), strict=True))
    shift = max(part.shift for part in parts)
    if len(parts) == 2 and len(low) >= MANY:
        arrays = low, high, code, weight
        merged = tuple(np.empty_like(array) for array in arrays)
        n = _merge(*arrays, len(parts[0].low), shift, *merged)
        return coarsened(KeyCells(shift, *(array[:n] for array in merged)), most)
    bucket = low >> shift
    order = _order(bucket, code, shift)
    first = cell_starts(bucket[order], code[order])
    if not len(first):
        return KeyCells(shift, low, high, code, weight)
    joins = (low, np.minimum), (high, np.maximum), (weight, np.add)
    cells = [join.reduceat(array[order], first) for array, join in joins]
    return coarsened(KeyCells(shift, cells[0], cells[1], code[order[first]], cells[2]), most)


def coarsened(cells: KeyCells, most: int) -> KeyCells:
    """Join neighbours until there are at most `most` buckets."""
    if len(cells.low) <= most:
        return cells
    if len(cells.low) >= MANY and cells.code[-1] < SIDE_BY_SIDE:
        walk = _walk_of(cells)
        if _n_buckets.serves(len(cells.low), *walk, use_loop=True) and _n_buckets(*walk)[0] <= most:
            return cells
    bucket = np.sort(cells.low >> cells.shift, kind="stable")  # this sort merges what is in order: the classes
    further = least_shift(bucket, most)
    return _joined_neighbours(cells, cells.shift + further) if further else cells


def _joined_neighbours(cells: KeyCells, shift: int) -> KeyCells:
    """Join neighbours that share a bucket of a larger shift."""
    _, low, high, code, weight = cells
    first = cell_starts(low >> shift, code)
    return KeyCells(shift, low[first], high[last_of(first, len(high))], code[first], np.add.reduceat(weight, first))


def n_buckets(cells: KeyCells) -> tuple[int, int]:
    """Count the buckets of cells, and those that they would be with a shift of one less.

    >>> n_buckets(KeyCells(2, np.array([0, 5, 1]), np.array([3, 5, 1]), np.array([0, 0, 1]), np.ones(3)))
    (2, 3)
    """
    return _n_buckets(*_walk_of(cells))


def _walk_of(cells: KeyCells) -> tuple[Any, ...]:
    """Give what `_n_buckets` walks through: keys, where those of each class begin and end, and the shift."""
    n_classes = int(cells.code[-1]) + 1 if len(cells.code) else 0
    limits = np.searchsorted(cells.code, np.arange(n_classes + 1))
    return cells.low, cells.high, limits[:-1].copy(), limits[1:], cells.shift


@compiled
def _n_buckets(low, high, here, until, shift):  # type: ignore[no-untyped-def]
    """Walk through the classes side by side, from the places `here` on, bucket by bucket."""
    n = n_halves = 0
    while True:
        bucket = LARGEST
        for k in range(len(here)):
            if here[k] < until[k]:
                bucket = min(bucket, low[here[k]] >> shift)
        if bucket == LARGEST:
            return n, n_halves
        least, largest = LARGEST, -LARGEST
        for k in range(len(here)):
            if here[k] < until[k] and low[here[k]] >> shift == bucket:
                least, largest = min(least, low[here[k]]), max(largest, high[here[k]])
                here[k] += 1
        n += 1
        n_halves += 1 if shift == 0 or least >> (shift - 1) == largest >> (shift - 1) else 2


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


def last_of(first: Array, n: int) -> Array:
    """Where stretches end that begin at some places, the last of them with the last of n."""
    return np.append(first[1:], n)[: len(first)] - 1
