"""Count of every pair of states of every pair of columns within every class, in one flat table.

Column j has T_j = S_j + 1 slots, the last for missing cells. Pair (i, j) with j < i owns T_i T_j consecutive rows of
the table, from ``pair_start[i, j]`` on: slot a of column i and slot b of column j meet in the row
``pair_start[i, j] + a T_j + b``. The pairs of column i stand one after the other, so that

    pair_start[i, j] = base_i + T_i offset_j,    base_i = sum of T_h offset_h over h < i,

where offset_j is the first row of column j in the table of single columns (`kernels.category_counts`).
"""

import numpy as np

from bayeswater.kernels.category_counts import offsets
from bayeswater.kernels.compiling import compiled
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
