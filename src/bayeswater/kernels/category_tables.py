"""Tables of categories: cells counted into them, and rows scored by them.

Every state of every column is counted within every class, in one flat table. Column j with S_j states owns S_j + 1
consecutive rows of the table, from ``offset[j]`` on; the last of them is the slot of missing cells. A code beyond the
domain falls into that slot too, so no code can reach the rows of another column.

The score of a row is the sum of the log-likelihoods of its states, for every class, by look-up in such a table:
``joint[i, k] = sum_j log_likelihood[start_j + min(code_ij, n_states_j), k]``. A column has n_states_j + 1 rows in the
table; a code beyond them means the last. Four columns go together, (a + b) + (c + d), in the loops as in the reference:
they give the same bits. Where rows are many and states few, a + b and c + d are looked up in a table of their own.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from bayeswater.kernels.class_scores import ordered_sum
from bayeswater.kernels.compiling import Kernel, compiled
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

LANES = 4
"""Tables that rows take in turns: to count a cell need not wait until the count of the row before is written."""

FEW_CELLS = 2**10
"""Cells of a column up to which there are several tables: of more, neighbours seldom have the same one."""


def offsets(n_states: Array) -> Array:
    """Give the first row of each column in the flat table, and last the table's length.

    >>> offsets(np.array([2, 3]))
    array([0, 3, 7])
    """
    return np.concatenate([[0], np.cumsum(n_states + 1)])


def count_categories(
    codes: Array, n_states: Array, y: Array, weight: Array | None, n_classes: int, *, use_loop: bool
) -> Array:
    """Count one block of rows into a table (n_table_rows, n_classes), int64 or, with fractional weights, float64."""
    start = offsets(n_states)
    kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64
    table = np.zeros((start[-1], n_classes), dtype=kind)
    arguments = codes, n_states.astype(np.uint64), start.astype(np.uint64), y, weight, table
    if _count_categories_loop.serves(codes.size, *arguments, use_loop=use_loop):
        _count_categories_loop(*arguments)
        return table
    cell = (start[:-1] + np.minimum(codes, n_states)) * n_classes + y[:, None]  # (n_rows, n_columns)
    repeated = None if weight is None else np.repeat(weight, codes.shape[1])
    flat = np.bincount(cell.ravel(), weights=repeated, minlength=table.size)
    return flat.astype(kind).reshape(table.shape)


def count_column(codes: Array, n_states: int, y: Array, n_classes: int) -> Array:
    """Count the rows of one column (n_rows,) into a table (n_states + 1, n_classes), as `count_categories` does.

    >>> count_column(np.array([0, 1, 9, 1], dtype=np.uint8), 2, np.array([0, 1, 1, 1], dtype=np.uint8), 2)
    array([[1, 0],
           [0, 2],
           [0, 1]])
    """
    n_cells = (n_states + 1) * n_classes
    lanes = np.zeros((LANES if n_cells <= FEW_CELLS else 1, n_cells), dtype=np.int64)
    _count_column_loop(codes, n_states, y, n_classes, lanes)
    return lanes.sum(axis=0).reshape(n_states + 1, n_classes)


@compiled
def _count_column_loop(codes, n_states, y, n_classes, lanes):  # type: ignore[no-untyped-def]
    last_lane = len(lanes) - 1  # a power of two, less one
    for i in range(len(codes)):
        cell = min(np.uint64(codes[i]), np.uint64(n_states)) * np.uint64(n_classes) + np.uint64(y[i])
        lanes[i & last_lane, cell] += 1


@compiled
def _count_categories_loop(codes, n_states, start, y, weight, table):  # type: ignore[no-untyped-def]
    # Columns go in groups whose cache lines all stay in the first-level cache when codes are stored by column.
    # Indices are unsigned: they never count from the end, and the compiled loop need not ask.
    n_rows, n_columns = codes.shape
    for first in range(0, n_columns, 256):
        group = range(np.uint64(first), np.uint64(min(first + 256, n_columns)))
        for i in range(n_rows):
            k = np.uint64(y[i])
            for j in group:
                row = start[j] + min(np.uint64(codes[i, j]), n_states[j])
                if weight is None:
                    table[row, k] += 1
                else:
                    table[row, k] += weight[i]


STRETCH_CELLS = 131_072
"""Entries that the reference fetches at a time, of all classes and columns: about what a second-level cache holds."""

ROWS_OF_ENTRY = 4
"""Rows that there are for each entry of the sums of two columns, at least: making them is then the lesser work."""

ROWS_IN_PAIRS = 2048
"""Rows from which on it is less work than calling NumPy for each two columns."""

BYTES_OF_PAIRS = 2**19
"""Bytes of all such sums up to which a loop looks them up: they stay in the second-level cache."""

PLACED_ROWS = 256
"""Rows of which a loop finds the places of entries before it adds any: column by column, as codes may be stored."""


def sums_of_pairs(start: Array, log_likelihood: Array) -> Array:
    """Add up the entries of every two columns that go together: (n_entries, n_classes).

    >>> sums_of_pairs(np.array([0, 1, 3, 4, 5]), np.arange(5.0)[:, None])[:, 0]
    array([1., 2., 7.])
    """
    in_fours = (len(start) - 1) // 4 * 4
    tables = [log_likelihood[begin:end] for begin, end in pairwise(start[: in_fours + 1].tolist())]
    sums = [(a[:, None] + b).reshape(-1, a.shape[1]) for a, b in zip(tables[0::2], tables[1::2], strict=True)]
    return np.concatenate([log_likelihood[:0], *sums])


def sum_of_states(
    codes: Array,
    n_states: Array,
    start: Array,
    log_likelihood: Array,
    *,
    use_loop: bool,
    of_pairs: Callable[[], Array] | None = None,
) -> Array:
    """Sum one block of rows: (n_rows, n_classes). Who has many blocks remembers the sums `of_pairs`."""
    n_rows, n_columns = codes.shape
    joint = np.zeros((n_rows, log_likelihood.shape[1]))
    in_fours = n_columns - n_columns % 4
    width, first = n_states[:, None] + 1, start[:-1, None]
    size = (width[0:in_fours:2] * width[1:in_fours:2]).ravel()  # entries of each pair of columns
    in_pairs = max(ROWS_IN_PAIRS, ROWS_OF_ENTRY * size.max(initial=0)) <= n_rows
    arguments: tuple[Array, ...] = (codes, n_states.astype(np.uint64), start.astype(np.uint64), log_likelihood, joint)
    loop: Kernel = _sum_of_states_loop
    if in_pairs:
        sums = sums_of_pairs(start, log_likelihood) if of_pairs is None else of_pairs()
        first_of_pair = (np.cumsum(size) - size)[:, None]
        if sums.nbytes <= BYTES_OF_PAIRS:
            place = np.empty((PLACED_ROWS, len(size)), dtype=np.uint64)
            loop, arguments = _sum_of_pairs_loop, (*arguments, sums, first_of_pair.ravel().astype(np.uint64), place)
    if loop.serves(codes.size, *arguments, use_loop=use_loop):
        loop(*arguments)
        return joint
    for rows in row_blocks(n_rows, max(1, STRETCH_CELLS // (n_columns * joint.shape[1]))):
        code = np.minimum(codes[rows].T, width - 1)  # (n_columns, n_rows)
        if in_pairs:
            pair = code[0:in_fours:2] * width[1:in_fours:2]
            pair += code[1:in_fours:2]
            term = sums.take(pair + first_of_pair, axis=0)  # (n_pairs, n_rows, n_classes)
        else:
            term = log_likelihood.take(code[:in_fours] + first[:in_fours], axis=0)
            term = term[0::2] + term[1::2]
        joint[rows] = ordered_sum(term[0::2] + term[1::2])
        for j in range(in_fours, n_columns):
            joint[rows] += log_likelihood.take(code[j] + first[j], axis=0)
    return joint


def sum_of_own_states(
    codes: Array, n_states: Array, start: Array, y: Array, log_likelihood: Array, *, use_loop: bool
) -> Array:
    """Sum, for each row, only the entries of its own class: (n_rows,)."""
    if use_loop:
        joint = np.zeros(len(codes))
        _sum_of_own_states_loop(codes, n_states.astype(np.uint64), start.astype(np.uint64), y, log_likelihood, joint)
        return joint
    rows = start[:-1] + np.minimum(codes, n_states)
    return log_likelihood[rows, y[:, None]].sum(axis=1)


@compiled
def _sum_of_states_loop(codes, n_states, start, log_likelihood, joint):  # type: ignore[no-untyped-def]
    # Indices are unsigned: they never count from the end, and the compiled loop need not ask. Of four columns together
    # a sum is fetched and stored once.
    n_rows, n_columns = codes.shape
    n_classes = joint.shape[1]
    in_fours = n_columns - n_columns % 4
    for i in range(n_rows):
        for j in range(0, in_fours, 4):
            a = start[j] + min(np.uint64(codes[i, j]), n_states[j])
            b = start[j + 1] + min(np.uint64(codes[i, j + 1]), n_states[j + 1])
            c = start[j + 2] + min(np.uint64(codes[i, j + 2]), n_states[j + 2])
            d = start[j + 3] + min(np.uint64(codes[i, j + 3]), n_states[j + 3])
            for k in range(n_classes):
                joint[i, k] += (log_likelihood[a, k] + log_likelihood[b, k]) + (
                    log_likelihood[c, k] + log_likelihood[d, k]
                )
        for j in range(in_fours, n_columns):
            a = start[j] + min(np.uint64(codes[i, j]), n_states[j])
            for k in range(n_classes):
                joint[i, k] += log_likelihood[a, k]


@compiled
def _sum_of_pairs_loop(codes, n_states, start, log_likelihood, joint, of_pairs, first_of_pair, place):  # type: ignore[no-untyped-def]
    # The sums of four classes are kept at hand while the row is added up, and stored once.
    n_rows, n_columns = codes.shape
    n_classes = joint.shape[1]
    stretch, n_pairs = place.shape
    in_fours = n_classes - n_classes % 4
    for begin in range(0, n_rows, stretch):
        length = min(stretch, n_rows - begin)
        for pair in range(n_pairs):
            j = np.uint64(2 * pair)
            top, next_top, first = n_states[j], n_states[j + np.uint64(1)], first_of_pair[pair]
            for i in range(length):
                row = np.uint64(begin + i)
                code, next_code = np.uint64(codes[row, j]), np.uint64(codes[row, j + np.uint64(1)])
                place[i, pair] = first + min(code, top) * (next_top + np.uint64(1)) + min(next_code, next_top)
        for i in range(length):
            joint_of_row, place_of_row = joint[begin + i], place[i]
            for k in range(0, in_fours, 4):
                a = b = c = d = 0.0
                for pair in range(0, n_pairs, 2):
                    p, q = place_of_row[pair], place_of_row[pair + 1]
                    a += of_pairs[p, k] + of_pairs[q, k]
                    b += of_pairs[p, k + 1] + of_pairs[q, k + 1]
                    c += of_pairs[p, k + 2] + of_pairs[q, k + 2]
                    d += of_pairs[p, k + 3] + of_pairs[q, k + 3]
                joint_of_row[k], joint_of_row[k + 1], joint_of_row[k + 2], joint_of_row[k + 3] = a, b, c, d
            for k in range(in_fours, n_classes):
                a = 0.0
                for pair in range(0, n_pairs, 2):
                    a += of_pairs[place_of_row[pair], k] + of_pairs[place_of_row[pair + 1], k]
                joint_of_row[k] = a
        for column in range(2 * n_pairs, n_columns):
            for i in range(begin, begin + length):
                entry = start[column] + min(np.uint64(codes[i, column]), n_states[column])
                for k in range(n_classes):
                    joint[i, k] += log_likelihood[entry, k]


@compiled
def _sum_of_own_states_loop(codes, n_states, start, y, log_likelihood, joint):  # type: ignore[no-untyped-def]
    n_rows, n_columns = codes.shape
    for i in range(n_rows):
        k = np.uint64(y[i])
        for j in range(n_columns):
            joint[i] += log_likelihood[start[j] + min(np.uint64(codes[i, j]), n_states[j]), k]
