"""Count of every triple of states of every three columns within every class, in one flat table.

The table continues that of pairs (`kernels.pair_counts`) by one column: triple (i, j, k) with k < j < i owns
T_i T_j T_k consecutive rows, from ``triple_start = base_i + T_i pair_start[j, k]`` on, where base_i sums T_h times the
rows of the pairs before column h over h < i. Slots a, b and c meet in the row ``triple_start + (a T_j + b) T_k + c``.
"""

import numpy as np

from bayeswater.kernels.category_counts import offsets
from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.pair_counts import pair_offsets
from bayeswater.kernels.threads import ordered_map
from bayeswater.typing import Array


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
                own = slice(start, start + int(n_slots[i]) * stride)
                flat = np.bincount(
                    codes[i].astype(np.int64) * stride + cell, weights=weight, minlength=own.stop - own.start
                )
                cells[own] += flat.astype(cells.dtype)

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
