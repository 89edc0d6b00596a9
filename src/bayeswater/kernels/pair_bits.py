"""Pair counts of columns with few states: sets of rows as bits, AND and population count.

The rows of a block are put in the order of their classes, each class beginning a new word of 64 bits; every slot of a
column is then a row of bits. Sixty-four rows of a pair of slots are counted by one AND and one population
count, and what remains of a column's own counts belongs to its first slot:

    N(a, 0, y) = N(a, y) - sum over b >= 1 of N(a, b, y).
"""

import numpy as np

from bayeswater.kernels.category_counts import offsets
from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.pair_counts import pair_offsets
from bayeswater.typing import Array

SEGMENT_WORDS = 256
"""Words of a class counted at once: two kilobytes for each slot, so that those of many columns stay in the cache."""


def class_segments(class_rows: Array) -> tuple[Array, Array]:
    """Cut the words of a block with so many rows of each class: first bit of each class, and the segments.

    A segment is class, first word and end.

    >>> first, segments = class_segments(np.array([65, 0, 64]))
    >>> first, segments.tolist()
    (array([  0, 128, 128]), [[0, 0, 2], [2, 2, 3]])
    """
    n_words = -(-class_rows // 64)
    end = np.cumsum(n_words)
    segments = [
        (k, low, min(low + SEGMENT_WORDS, stop))
        for k, (start, stop) in enumerate(zip((end - n_words).tolist(), end.tolist(), strict=True))
        for low in range(start, stop, SEGMENT_WORDS)
    ]
    return 64 * (end - n_words), np.array(segments, dtype=np.int64).reshape(-1, 3)


@compiled
def place_rows(y, next_place, place):  # type: ignore[no-untyped-def]
    """Give every row its bit among those of its class; `next_place` (n_classes,) is used up."""
    for r in range(len(y)):
        k = y[r]
        place[r] = next_place[k]
        next_place[k] += 1


@compiled
def set_bits(codes, place, bits):  # type: ignore[no-untyped-def]
    """Set the bits (T_j, n_words) of one column."""
    for r in range(len(codes)):
        p = np.uint64(place[r])
        bits[np.uint64(codes[r]), p >> np.uint64(6)] |= np.uint64(1) << (p & np.uint64(63))


@compiled
def count_pairs_by_bits(bits, used, first_bits, segments, by_bits, n_states, pair_start, low, high, pairs):  # type: ignore[no-untyped-def]
    """Add one block to the pairs of the columns from `low` up to `high`, but for the first slot of either column.

    Row ``first_bits[j] + b`` of `bits` has slot b of column j; `used` says whether any row has it.
    """
    for s in range(len(segments)):
        k, start, end = segments[s]
        for i in range(low, high):
            for j in range(i):
                if not by_bits[i, j]:
                    continue
                n_slots = n_states[j] + 1
                for a in range(1, n_states[i] + 1):
                    if not used[first_bits[i] + a]:
                        continue
                    mine = bits[first_bits[i] + a, start:end]
                    row = pair_start[i, j] + a * n_slots
                    for b in range(1, n_slots):
                        if not used[first_bits[j] + b]:
                            continue
                        theirs = bits[first_bits[j] + b, start:end]
                        count = np.uint64(0)
                        for w in range(len(mine)):
                            # The population count, as compilers know it: it becomes one instruction.
                            x = mine[w] & theirs[w]
                            x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
                            x = (x & np.uint64(0x3333333333333333)) + (
                                (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
                            )
                            x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                            count += (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
                        pairs[row + b, k] += np.int64(count)


def complete_pairs(table: Array, n_states: Array, by_bits: Array, pairs: Array) -> None:
    """Fill in the first slots of all pairs that were counted by bits, from the counts of the columns."""
    if by_bits.any():
        _complete_pairs(table, offsets(n_states), by_bits, n_states, pair_offsets(n_states), pairs)


@compiled
def _complete_pairs(table, start, by_bits, n_states, pair_start, pairs):  # type: ignore[no-untyped-def]
    n_classes = table.shape[1]
    for i in range(len(n_states)):
        for j in range(i):
            if not by_bits[i, j]:
                continue
            n_slots, first = n_states[j] + 1, pair_start[i, j]
            for k in range(n_classes):
                rest = table[start[i], k]  # of the first slot of both
                for b in range(1, n_slots):
                    left = table[start[j] + b, k]
                    for a in range(1, n_states[i] + 1):
                        left -= pairs[first + a * n_slots + b, k]
                    pairs[first + b, k] = left
                    rest -= left
                pairs[first, k] = rest
                for a in range(1, n_states[i] + 1):
                    left = table[start[i] + a, k]
                    for b in range(1, n_slots):
                        left -= pairs[first + a * n_slots + b, k]
                    pairs[first + a * n_slots, k] = left
