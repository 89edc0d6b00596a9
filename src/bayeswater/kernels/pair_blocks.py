"""All pairs of columns of a block of rows, on our threads: by bits where domains are small, and by scatter elsewhere.

Threads share the pairs, not the rows: each cell of the table is written by one of them, and no copy of it is made.
"""

import numpy as np

from bayeswater.kernels.category_counts import count_categories, offsets
from bayeswater.kernels.pair_bits import (
    SEGMENT_WORDS,
    class_segments,
    count_pairs_by_bits,
    place_rows,
    set_bits,
)
from bayeswater.kernels.pair_counts import count_pairs_by_scatter, pair_offsets
from bayeswater.kernels.threads import ordered_map
from bayeswater.typing import Array

ROW_COST = 6
"""What it takes to scatter a row, measured by what it takes to count a word of bits."""

SEGMENT_COST = 25
"""What a segment of bits takes beside its words."""

WORKING_BYTES = 2**24
"""Codes and bits of a block: they stay within the caches that threads share."""

MOST_ROWS = 2**18
"""Rows of a block: threads are started anew for each."""

TILE = 8
"""Columns whose pairs are counted in one task: bits that are in the cache are met by all of them."""


def choose_bits(n_states: Array, class_rows: Array, n_rows: int) -> Array:
    """Say which pairs (i, j) with j < i are faster counted by bits: (n_columns, n_columns)."""
    n_words = -(-class_rows // 64)
    n_segments = -(-n_words // SEGMENT_WORDS)
    cost = int((n_words + SEGMENT_COST * n_segments).sum())
    return np.tri(len(n_states), k=-1, dtype=bool) & (np.outer(n_states, n_states) * cost < ROW_COST * n_rows)


def rows_at_once(n_states: Array, by_bits: Array, itemsize: int) -> int:
    """Rows of a block, so that its codes and bits take no more than `WORKING_BYTES`."""
    bits_of_row = 8 * itemsize * len(n_states) + int(_bit_rows(n_states, by_bits).sum())
    return max(64, min(MOST_ROWS, 8 * WORKING_BYTES // bits_of_row))


def add_pairs(
    codes: Array, y: Array, weight: Array | None, n_states: Array, by_bits: Array, table: Array, pairs: Array
) -> None:
    """Add a block of rows, as codes (n_columns, n_rows), to the tables of columns and of pairs.

    In pairs counted by bits the first slots stay open, until `complete_pairs` fills them.
    """
    n_columns, n_rows = codes.shape
    n_classes = table.shape[1]
    start, pair_start = offsets(n_states), pair_offsets(n_states)
    first_bits = np.concatenate([[0], np.cumsum(_bit_rows(n_states, by_bits))])
    class_rows = np.bincount(y, minlength=n_classes)
    filled = np.flatnonzero(class_rows)
    first_place, segments = class_segments(class_rows)
    bits = np.zeros((first_bits[-1], segments[:, 2].max(initial=0)), dtype=np.uint64)
    used = np.zeros(first_bits[-1], dtype=np.bool_)
    place = np.empty(n_rows, dtype=np.uint32)
    if len(bits):
        place_rows(y, first_place.copy(), place)

    def count_column(j: int) -> None:
        own, of_bits = table[start[j] : start[j + 1]], slice(first_bits[j], first_bits[j + 1])
        if of_bits.start == of_bits.stop:
            own += count_categories(codes[j][:, None], n_states[j : j + 1], y, weight, n_classes, use_loop=True)
            return
        set_bits(codes[j], place, bits[of_bits])
        rows_of_words = np.bitwise_count(bits[of_bits])
        counted = np.add.reduceat(rows_of_words, first_place[filled] // 64, axis=1, dtype=np.int64)
        own[:, filled] += counted
        used[of_bits] = counted.any(axis=1)

    def count_tile(low: int) -> None:
        high = min(low + TILE, n_columns)
        for i in range(low, high):
            partners = np.flatnonzero(~by_bits[i, :i])
            if len(partners):
                count_pairs_by_scatter(codes, y, weight, n_states, pair_start, i, partners, pairs)
        if by_bits[low:high].any():
            with np.errstate(over="ignore"):  # the last step of a population count, where it is not compiled
                count_pairs_by_bits(bits, used, first_bits, segments, by_bits, n_states, pair_start, low, high, pairs)

    for _ in ordered_map(count_column, range(n_columns)):
        pass
    for _ in ordered_map(count_tile, range(0, n_columns, TILE)[::-1]):  # the last columns have the most pairs
        pass


def _bit_rows(n_states: Array, by_bits: Array) -> Array:
    """Rows of bits of each column (n_columns,): none, if it has no pair that is counted by bits."""
    return np.where((by_bits | by_bits.T).any(axis=0), n_states + 1, 0)
