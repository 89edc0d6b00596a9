"""Histograms of floats: how often every class has the numbers of every bucket of a column.

The bits of a float, read as sign and magnitude of a whole number (its key), have the order of the floats; both zeros
have key 0. A bucket holds the keys that are equal but for their last `shift` bits: with shift 0 a single number.

A histogram has the smallest shift with which no more buckets than `most` are occupied. Numbers that share a bucket
share one of every larger shift too, so this is a property of the set of numbers: whatever their order, and in whatever
parts they were counted. Any part of them gives a shift from which the search may begin.

A cell is a bucket and a class. It keeps the least and the largest key in it, which say its bucket, too. The loop looks
cells up in a table by hash: slots are tried one after the other from where a multiplicative hash points, and no more
than half of them are ever taken; before that, the cells are put aside and the table begins anew.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

MAGNITUDE = 2**63 - 1
"""Bits of a float but for its sign."""

INFINITE = 0x7FF << 52
"""Magnitude of infinity; that of NaN is larger."""

CODE, LOW, HIGH, SUM = range(4)
"""What a slot holds, in one line of the cache; no class is -1, which marks a free one."""

ROWS_AT_ONCE = 32_768
"""Rows between two looks at the table: a few, since there must be room for as many cells."""


class Cells(NamedTuple):
    """Cells in rising order of bucket and class: arrays (n_cells,), and the shift that tells the buckets."""

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
    bits = x.view(np.int64)
    return np.where(bits < 0, -(bits & MAGNITUDE), bits)


def numbers_of(key: Array) -> Array:
    """Number of each key.

    >>> numbers_of(keys_of(np.array([-3.0, 0.0, 7.0])))
    array([-3.,  0.,  7.])
    """
    magnitude = np.abs(key).view(np.float64)
    return np.where(key < 0, -magnitude, magnitude)


def least_shift(key: Array, most: int) -> int:
    """Find the smallest shift that leaves at most `most` (2 or more) different buckets of some keys in rising order.

    >>> least_shift(np.array([0, 1, 2, 3, 8]), 3)
    1
    """

    def is_enough(shift: int) -> bool:
        bucket = key >> shift
        return int(np.count_nonzero(bucket[1:] != bucket[:-1])) < most

    return bisect_left(range(63), True, key=is_enough)


def joined(parts: Iterable[Cells], n_classes: int, most: int) -> Cells:
    """Put histograms together, with the smallest shift that all of their numbers need."""
    parts = list(parts)
    shift = max(part.shift for part in parts)
    low, high, code, count = (np.concatenate(arrays) for arrays in zip(*(part[1:] for part in parts), strict=True))
    bucket = low >> shift
    distinct, place = np.unique(bucket, return_inverse=True)
    if len(distinct) > most:
        further = least_shift(distinct, most)
        shift += further
        distinct >>= further
        place = np.cumsum(np.diff(distinct, prepend=distinct[0]) > 0)[place]
    cell = place * n_classes + code
    order = np.argsort(cell, kind="stable")
    cell = cell[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    if len(first) == len(cell):
        return Cells(shift, low[order], high[order], code[order], count[order])
    return Cells(
        shift,
        np.minimum.reduceat(low[order], first),
        np.maximum.reduceat(high[order], first),
        code[order][first],
        np.add.reduceat(count[order], first),
    )


def no_cells(kind: type, shift: int = 0) -> Cells:
    """A histogram of nothing."""
    none = np.zeros(0, dtype=np.int64)
    return Cells(shift, none, none, none, np.zeros(0, dtype=kind))


def count_keys(
    blocks: Iterable[tuple[Array, Array, Array | None]],
    kind: type,
    n_classes: int,
    *,
    most: int,
    shift: int = 0,
    use_loop: bool,
) -> Cells:
    """Count blocks of (numbers, classes, weights or None), in dtype `kind`; NaN is in no cell.

    `shift` may be any that no histogram of these numbers would be below.
    """
    if not use_loop:
        parts = (_block_cells(*block, kind, shift) for block in blocks)
        return joined([no_cells(kind, shift), *parts], n_classes, most)
    done = no_cells(kind, shift)
    slots, taken = np.zeros((0, 4), dtype=np.int64), 0
    for x, y, weight in _small(blocks):
        if 2 * (taken + len(x)) > len(slots):
            done = joined([done, _held(slots, kind, done.shift)], n_classes, most)
            slots, taken = np.full((1 << (4 * (len(done.low) + len(x)) - 1).bit_length(), 4), -1), 0
            slots[:, SUM] = 0  # the bits of a zero of either kind
        sums: Array = slots.view(kind)[:, SUM]
        taken += _count_keys_loop(x.view(np.int64), y, weight, done.shift, n_classes, slots, sums)
    return joined([done, _held(slots, kind, done.shift)], n_classes, most)


def _small(blocks: Iterable[tuple[Array, Array, Array | None]]) -> Iterator[tuple[Array, Array, Array | None]]:
    for x, y, weight in blocks:
        for start in range(0, len(x), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            yield x[rows], y[rows], None if weight is None else weight[rows]


def _block_cells(x: Array, y: Array, weight: Array | None, kind: type, shift: int) -> Cells:
    there = ~np.isnan(x)
    key = keys_of(x)[there]
    count: Array = np.ones(len(key), dtype=kind) if weight is None else weight[there].astype(kind)
    return Cells(shift, key, key, y[there].astype(np.int64), count)


def _held(slots: Array, kind: type, shift: int) -> Cells:
    held = slots[slots[:, CODE] >= 0]
    return Cells(shift, held[:, LOW], held[:, HIGH], held[:, CODE], held.view(kind)[:, SUM])


@compiled
def _count_keys_loop(bits, y, weight, shift, n_classes, slots, sums):  # type: ignore[no-untyped-def]
    # The hash is 31 bits of bucket and class times 2**32 / golden ratio, modulo 2**32: its top bits differ for
    # neighbours, and no product overflows. Fewer slots than 2**32 are ever needed: half of them would be in use.
    last = slots.shape[0] - 1
    down = 32
    while last >> (32 - down):
        down -= 1
    n_new = 0
    for i in range(bits.shape[0]):
        magnitude = bits[i] & MAGNITUDE
        if magnitude <= INFINITE:
            sign = bits[i] >> 63  # 0 or -1: no branch, which numbers of either sign would mislead
            key = (magnitude ^ sign) - sign
            bucket = key >> shift
            code = np.int64(y[i])
            cell = ((bucket ^ (bucket >> 31)) & 0x7FFFFFFF) * n_classes + code
            hashed = ((cell ^ (cell >> 31)) & 0x7FFFFFFF) * 2654435769
            slot = (hashed & 0xFFFFFFFF) >> down
            while slots[slot, CODE] != code or slots[slot, LOW] >> shift != bucket:
                if slots[slot, CODE] == -1:
                    slots[slot, CODE] = code
                    slots[slot, LOW] = key
                    slots[slot, HIGH] = key
                    n_new += 1
                else:
                    slot = (slot + 1) & last
            if key < slots[slot, LOW]:
                slots[slot, LOW] = key
            elif key > slots[slot, HIGH]:
                slots[slot, HIGH] = key
            sums[slot] += 1 if weight is None else weight[i]
    return n_new
