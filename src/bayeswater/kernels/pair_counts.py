"""Counts of all pairs and of all triples of columns within each class, each in one flat table.

Column j has T_j = S_j + 1 slots, the last for missing cells. Pair (i, j) with j < i owns T_i T_j consecutive rows of
the table, from ``pair_start[i, j]`` on: slot a of column i and slot b of column j meet in the row
``pair_start[i, j] + a T_j + b``. The pairs of column i stand one after the other, so that

    pair_start[i, j] = base_i + T_i offset_j,    base_i = sum of T_h offset_h over h < i,

where offset_j is the first row of column j in the table of single columns (`kernels.category_tables`).

Pairs of columns with few states are counted by sets of rows as bits, with AND and population count; other pairs are
counted by scatter. The rows of a block are put in the order of their classes, each class beginning a new word of 64
bits; every slot of a column is then a row of bits. Sixty-four rows of a pair of slots are counted by one AND and one
population count, and what remains of a column's own counts belongs to its first slot:

    N(a, 0, y) = N(a, y) - sum over b >= 1 of N(a, b, y).

Threads share the pairs, not the rows: each cell of the table is written by one of them, and no copy of it is made.

Where columns are too many for the table, some of their pairs are counted, each table of two columns after the last.

The table of triples continues that of pairs by one column: triple (i, j, k) with k < j < i owns T_i T_j T_k consecutive
rows, from ``triple_start = base_i + T_i pair_start[j, k]`` on, where base_i sums T_h times the rows of the pairs before
column h over h < i. Slots a, b and c meet in the row ``triple_start + (a T_j + b) T_k + c``.
"""

from collections.abc import Sequence

import numpy as np

from bayeswater.kernels.category_tables import count_categories, offsets
from bayeswater.kernels.compiling import compiled, worth_compiling
from bayeswater.kernels.threads import ordered_map
from bayeswater.typing import Array


def pair_offsets(n_states: Array) -> Array:
    """Give the first row of each pair of columns (n_columns, n_columns); -1 where j is not below i.

    >>> pair_offsets(np.array([1, 2, 3]))
    array([[-1, -1, -1],
           [ 0, -1, -1],
           [ 6, 14, -1]])
    """
    n_slots, start = n_states + 1, offsets(n_states)[:-1]
    base = np.cumsum(n_slots * start) - n_slots * start
    whole = base[:, None] + n_slots[:, None] * start
    return np.where(np.tri(len(n_states), k=-1, dtype=bool), whole, -1)


def n_pair_cells(n_states: Array) -> int:
    """Rows of the table of pairs: as a Python integer, which cannot overflow.

    >>> n_pair_cells(np.array([1, 2, 3]))
    26
    """
    n_slots = [n + 1 for n in n_states.tolist()]
    return (sum(n_slots) ** 2 - sum(n**2 for n in n_slots)) // 2


def rows_of_column(i: int, n_states: Array) -> Array:
    """Give the rows (T_i, offset_i) in which the slots of column i meet every slot of every column before it.

    >>> rows_of_column(2, np.array([1, 0, 1]))
    array([[2, 3, 6],
           [4, 5, 7]])
    """
    n_slots, start = n_states + 1, offsets(n_states)
    before = np.repeat(np.arange(i), n_slots[:i])  # (offset_i,): the column of each row of the table of columns
    base = (n_slots[:i] * start[:i]).sum()
    first = base + n_slots[i] * start[before] + np.arange(start[i]) - start[before]
    return first + np.arange(n_slots[i])[:, None] * n_slots[before]


def count_pairs_by_reference(codes: Array, n_states: Array, y: Array, weight: Array | None, pairs: Array) -> None:
    """Add some rows, as codes (n_columns, n_rows), to the table (n_pair_cells, n_classes)."""
    n_slots, first = n_states + 1, pair_offsets(n_states)
    n_classes = pairs.shape[1]
    for i in range(1, len(n_states)):
        own = slice(first[i, 0], first[i, i - 1] + n_slots[i] * n_slots[i - 1])
        row = first[i, :i, None] - own.start + codes[i].astype(np.int64) * n_slots[:i, None] + codes[:i]
        cell = row * n_classes + y  # (i, n_rows)
        repeated = None if weight is None else np.tile(weight, i)
        flat = np.bincount(cell.ravel(), weights=repeated, minlength=(own.stop - own.start) * n_classes)
        pairs[own] += flat.astype(pairs.dtype).reshape(-1, n_classes)


@compiled
def count_pairs_by_scatter(codes, y, weight, n_states, pair_start, i, partners, pairs):  # type: ignore[no-untyped-def]
    """Add some rows to the pairs of column i with some columns before it.

    Pair by pair, so that the table of one stays in the cache. Indices are unsigned: they never count from the end.
    """
    n_classes = np.uint64(pairs.shape[1])
    cells = pairs.reshape(-1)
    mine = codes[i]
    for j in partners:
        theirs = codes[j]
        stride = np.uint64(n_states[j] + 1) * n_classes
        first = np.uint64(pair_start[i, j]) * n_classes
        for r in range(len(y)):
            cell = first + np.uint64(mine[r]) * stride + np.uint64(theirs[r]) * n_classes + np.uint64(y[r])
            if weight is None:
                cells[cell] += 1
            else:
                cells[cell] += weight[r]


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


def count_listed_pairs(
    codes: Array,
    n_states: Array,
    y: Array,
    weight: Array | None,
    partners: Sequence[Sequence[int]],
    base: Array,
    pairs: Array,
) -> None:
    """Count the pairs of every column with its partners, one after the other from row ``base[i]`` on.

    Parameters
    ----------
    codes, y, weight : rows, (n_columns, n_rows) and (n_rows,)
    partners : columns that each one meets
    base, pairs : (n_columns + 1,) and (n_pair_cells, n_classes)
    """
    n_slots, n_classes = n_states + 1, pairs.shape[1]
    use_loop = worth_compiling(codes.shape[1] * sum(map(len, partners)))

    def count(i: int) -> None:
        first = int(base[i])
        if use_loop and partners[i]:
            own = np.array(partners[i], dtype=np.int64)
            _count_listed(codes, y, weight, n_slots, i, own, n_classes, first * n_classes, pairs.reshape(-1))
            return
        for j in partners[i]:
            size = int(n_slots[i] * n_slots[j])
            cell = (codes[i].astype(np.int64) * n_slots[j] + codes[j]) * n_classes + y
            flat = np.bincount(cell, weight, minlength=size * n_classes)
            pairs[first : first + size] += flat.astype(pairs.dtype).reshape(size, n_classes)
            first += size

    for _ in ordered_map(count, range(len(n_slots))):
        pass


@compiled
def _count_listed(codes, y, weight, n_slots, i, partners, n_classes, first, cells):  # type: ignore[no-untyped-def]
    # Indices are unsigned: they never count from the end.
    mine, start, k = codes[i], np.uint64(first), np.uint64(n_classes)
    for j in partners:
        theirs, width = codes[j], np.uint64(n_slots[j])
        for r in range(len(y)):
            cell = start + (np.uint64(mine[r]) * width + np.uint64(theirs[r])) * k + np.uint64(y[r])
            if weight is None:
                cells[cell] += 1
            else:
                cells[cell] += weight[r]
        start += np.uint64(n_slots[i]) * width * k


def _bit_rows(n_states: Array, by_bits: Array) -> Array:
    """Rows of bits of each column (n_columns,): none, if it has no pair that is counted by bits."""
    return np.where((by_bits | by_bits.T).any(axis=0), n_states + 1, 0)


def pair_base(n_states: Array) -> Array:
    """Give the first row of each column's pairs with those before it, and last the number of rows.

    >>> pair_base(np.array([1, 2, 3]))
    array([ 0,  0,  6, 26])
    """
    n_slots = n_states + 1
    return np.concatenate([[0], np.cumsum(n_slots * offsets(n_states)[:-1])])


def triple_base(n_states: Array) -> Array:
    """Give the first row of each column's triples with those before it, and last the number of rows.

    >>> triple_base(np.array([1, 2, 3]))
    array([ 0,  0,  0, 24])
    """
    n_slots = n_states + 1
    return np.concatenate([[0], np.cumsum(n_slots * pair_base(n_states)[:-1])])


def n_triple_cells(n_states: Array) -> int:
    """Rows of the table of triples: as a Python integer, which cannot overflow.

    >>> n_triple_cells(np.array([1, 2, 3]))
    24
    """
    total, n_pairs, n_singles = 0, 0, 0
    for n_slots in (n + 1 for n in n_states.tolist()):
        total += n_slots * n_pairs
        n_pairs += n_slots * n_singles
        n_singles += n_slots
    return total


def triple_rows_of_column(i: int, n_states: Array) -> Array:
    """Give the rows (T_i, n_pair_cells before i) in which the slots of column i meet every row of earlier pairs.

    >>> triple_rows_of_column(2, np.array([1, 0, 1]))
    array([[0, 1],
           [2, 3]])
    """
    n_slots, first = n_states + 1, pair_offsets(n_states)[:i, :i]
    low, high = np.tril_indices(i, -1)
    size = n_slots[low] * n_slots[high]
    first, size = np.repeat(first[low, high], size), np.repeat(size, size)  # of the pair of each row
    row = triple_base(n_states)[i] + n_slots[i] * first + np.arange(len(first)) - first
    return row + np.arange(n_slots[i])[:, None] * size


def count_triples(
    codes: Array, n_states: Array, y: Array, weight: Array | None, triples: Array, *, use_loop: bool
) -> None:
    """Add some rows, as codes (n_columns, n_rows), to the table (n_triple_cells, n_classes).

    Threads share the pairs (j, k), not the rows: each cell of the table is written by one of them.
    """
    n_columns = len(n_states)
    n_slots, n_classes = n_states + 1, triples.shape[1]
    first, base = pair_offsets(n_states), triple_base(n_states)
    cells = triples.reshape(-1)

    def count(pair: tuple[int, int]) -> None:
        j, k = pair
        stride = int(n_slots[j] * n_slots[k]) * n_classes
        cell = (codes[j].astype(np.int64) * n_slots[k] + codes[k]) * n_classes + y
        for i in range(j + 1, n_columns):
            start = int(base[i] + n_slots[i] * first[j, k]) * n_classes
            if use_loop:
                _count_third_column(codes[i], cell, weight, stride, start, cells)
            else:
                # The table may have a thousand times as many cells as there are rows: only those of a row are touched.
                np.add.at(cells, start + codes[i].astype(np.int64) * stride + cell, 1 if weight is None else weight)

    for _ in ordered_map(count, [(j, k) for j in range(1, n_columns - 1) for k in range(j)]):
        pass


@compiled
def _count_third_column(codes, cell, weight, stride, start, cells):  # type: ignore[no-untyped-def]
    for r in range(len(codes)):
        place = np.uint64(start) + np.uint64(codes[r]) * np.uint64(stride) + np.uint64(cell[r])
        if weight is None:
            cells[place] += 1
        else:
            cells[place] += weight[r]
