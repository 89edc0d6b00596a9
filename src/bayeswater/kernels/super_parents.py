"""Joints of a row with each of its columns as the parent of all the others, in log space.

    spodes[i, r, k] = root[slot_ri, k] + sum over j of table[slot_ri, slot_rj, k]

All rows go past one parent after the other, so that its part of the table stays in cache, and four classes at a time
are summed in registers. The reference is the same sum by NumPy.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

STRETCH_TERMS = 2**16
"""Terms that the reference fetches at a time: they stay in the second-level cache."""


def sum_under_parents(slots: Array, root: Array, table: Array, *, use_loop: bool) -> Array:
    """Sum some rows: (n_columns, n_rows, n_classes).

    Parameters
    ----------
    slots : (n_rows, n_columns), places in the tables
    root : (n_slots, n_classes)
    table : (n_slots, n_slots, n_classes), of a parent and a child
    """
    n_rows, n_columns = slots.shape
    if use_loop:
        n_slots, n_classes = root.shape
        spodes = np.empty((n_columns, n_rows, n_classes))
        child = (slots * np.int64(n_classes)).astype(np.int32 if n_slots * n_classes < 2**31 else np.int64)
        parent = np.ascontiguousarray(slots.T, dtype=np.int64)
        _sum_loop(child, parent, root, table.reshape(-1), n_slots * n_classes, spodes)
        return spodes
    spodes = root[slots.T]
    stretch = max(1, STRETCH_TERMS // (n_columns * root.shape[1]))
    for first in range(0, n_rows, stretch):
        rows = slice(first, first + stretch)
        for i in range(n_columns):
            spodes[i, rows] += table[slots[rows, i, None], slots[rows]].sum(axis=1)
    return spodes


def sum_under_own_class(slots: Array, codes: Array, table: Array, *, use_loop: bool) -> Array:
    """Sum, for each row, only the terms of its own class, without the root: (n_columns, n_rows).

    `table` is (n_classes, n_slots, n_slots).
    """
    n_rows, n_columns = slots.shape
    if use_loop:
        total = np.empty((n_columns, n_rows))
        _own_loop(slots.astype(np.int64), codes.astype(np.int64), table.reshape(-1), table.shape[1], total)
        return total
    return np.stack([table[codes[:, None], slots[:, i, None], slots].sum(axis=1) for i in range(n_columns)])


@compiled
def _sum_loop(child, parent, root, table, stride, spodes):  # type: ignore[no-untyped-def]
    # `child` is where the classes of a child begin in the part of the table of a parent, which is `stride` long.
    # Indices are unsigned: they never count from the end, and the compiled loop need not ask.
    n_rows, n_columns = child.shape
    n_classes = root.shape[1]
    in_fours, columns_in_fours = n_classes - n_classes % 4, n_columns - n_columns % 4
    for i in range(n_columns):
        for r in range(n_rows):
            own = np.uint64(parent[i, r])
            base = own * np.uint64(stride)
            for k in range(0, in_fours, 4):
                a, b, c, d = root[own, k], root[own, k + 1], root[own, k + 2], root[own, k + 3]
                for j in range(n_columns):
                    at = base + np.uint64(child[r, j])
                    a += table[at]
                    b += table[at + np.uint64(1)]
                    c += table[at + np.uint64(2)]
                    d += table[at + np.uint64(3)]
                spodes[i, r, k], spodes[i, r, k + 1], spodes[i, r, k + 2], spodes[i, r, k + 3] = a, b, c, d
                base += np.uint64(4)
            for k in range(in_fours, n_classes):  # four columns at a time: an addition need not wait for the last one
                a, b, c, d = root[own, k], 0.0, 0.0, 0.0
                for j in range(0, columns_in_fours, 4):
                    a += table[base + np.uint64(child[r, j])]
                    b += table[base + np.uint64(child[r, j + 1])]
                    c += table[base + np.uint64(child[r, j + 2])]
                    d += table[base + np.uint64(child[r, j + 3])]
                for j in range(columns_in_fours, n_columns):
                    a += table[base + np.uint64(child[r, j])]
                spodes[i, r, k] = (a + b) + (c + d)
                base += np.uint64(1)


@compiled
def _own_loop(slots, codes, table, n_slots, total):  # type: ignore[no-untyped-def]
    n_rows, n_columns = slots.shape
    width, in_fours = np.uint64(n_slots), n_columns - n_columns % 4
    for i in range(n_columns):
        for r in range(n_rows):
            base = (np.uint64(codes[r]) * width + np.uint64(slots[r, i])) * width
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for j in range(0, in_fours, 4):
                a += table[base + np.uint64(slots[r, j])]
                b += table[base + np.uint64(slots[r, j + 1])]
                c += table[base + np.uint64(slots[r, j + 2])]
                d += table[base + np.uint64(slots[r, j + 3])]
            for j in range(in_fours, n_columns):
                a += table[base + np.uint64(slots[r, j])]
            total[i, r] = (a + b) + (c + d)
