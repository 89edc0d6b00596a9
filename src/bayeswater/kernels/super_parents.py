"""Joints of AODE and A2DE in log space: every column, and every pair of columns, as the parent of all others.

With one parent, the joint of a row under each of its columns is

    spodes[i, r, k] = root[slot_ri, k] + sum over j of table[slot_ri, slot_rj, k]

Where few columns are parents, their slots alone are the rows of `root` and `table`.

All rows go past one parent after the other, so that its part of the table stays in cache, and four classes at a time
are summed in registers. The reference is the same sum by NumPy.

With two parents, joints are added up over pairs. Of a pair the probabilities of all other columns are laid out as one
table (states of the pair, slots, classes), which stays in cache while all rows go past it:

    joint[r, k] = root[pair_r, k] + sum over the slots of the row of table[pair_r, slot, k]

Sums over pairs are kept as the largest logarithm so far and the sum of what is in proportion to it. The references are
the same by NumPy.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.remainders import ROUNDING, remainder
from bayeswater.typing import Array

STRETCH_TERMS = 2**16
"""Terms that the reference fetches at a time: they stay in the second-level cache."""


def sum_under_parents(slots: Array, parents: Array, root: Array, table: Array, *, use_loop: bool) -> Array:
    """Sum some rows: (n_parents, n_rows, n_classes).

    Parameters
    ----------
    slots : (n_rows, n_columns), places of children in the table
    parents : (n_rows, n_parents), places of parents in the table, and in the root
    root : (n_parent_slots, n_classes)
    table : (n_parent_slots, n_slots, n_classes), of a parent and a child
    """
    n_rows, n_columns = slots.shape
    if use_loop:
        n_slots, n_classes = table.shape[1:]
        spodes = np.empty((parents.shape[1], n_rows, n_classes))
        child = (slots * np.int64(n_classes)).astype(np.int32 if n_slots * n_classes < 2**31 else np.int64)
        parent = np.ascontiguousarray(parents.T, dtype=np.int64)
        _sum_loop(child, parent, root, table.reshape(-1), n_slots * n_classes, spodes)
        return spodes
    spodes = root[parents.T]
    stretch = max(1, STRETCH_TERMS // (n_columns * root.shape[1]))
    for first in range(0, n_rows, stretch):
        rows = slice(first, first + stretch)
        for i in range(len(spodes)):
            spodes[i, rows] += table[parents[rows, i, None], slots[rows]].sum(axis=1)
    return spodes


def sum_under_own_class(slots: Array, parents: Array, codes: Array, table: Array, *, use_loop: bool) -> Array:
    """Sum, for each row, only the terms of its own class, without the root: (n_parents, n_rows).

    `table` is (n_classes, n_parent_slots, n_slots).
    """
    n_rows, n_parents = parents.shape
    if use_loop:
        total = np.empty((n_parents, n_rows))
        own = parents.astype(np.int64)
        _own_loop(slots.astype(np.int64), own, codes.astype(np.int64), table.reshape(-1), *table.shape[1:], total)
        return total
    return np.stack([table[codes[:, None], own[:, None], slots].sum(axis=1) for own in parents.T])


@compiled
def _sum_loop(child, parent, root, table, stride, spodes):  # type: ignore[no-untyped-def]
    # `child` is where the classes of a child begin in the part of the table of a parent, which is `stride` long.
    # Indices are unsigned: they never count from the end, and the compiled loop need not ask.
    n_rows, n_columns = child.shape
    n_classes = root.shape[1]
    in_fours, columns_in_fours = n_classes - n_classes % 4, n_columns - n_columns % 4
    for i in range(len(parent)):
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
def _own_loop(slots, parents, codes, table, n_parent_slots, n_slots, total):  # type: ignore[no-untyped-def]
    n_rows, n_columns = slots.shape
    height, width, in_fours = np.uint64(n_parent_slots), np.uint64(n_slots), n_columns - n_columns % 4
    for i in range(parents.shape[1]):
        for r in range(n_rows):
            base = (np.uint64(codes[r]) * height + np.uint64(parents[r, i])) * width
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for j in range(0, in_fours, 4):
                a += table[base + np.uint64(slots[r, j])]
                b += table[base + np.uint64(slots[r, j + 1])]
                c += table[base + np.uint64(slots[r, j + 2])]
                d += table[base + np.uint64(slots[r, j + 3])]
            for j in range(in_fours, n_columns):
                a += table[base + np.uint64(slots[r, j])]
            total[i, r] = (a + b) + (c + d)


class TriplePlaces(NamedTuple):
    """Where the triples of two columns with each third one stand: row = first + a step_a + b step_b + c step_c.

    All are (n_columns,), of the third column.
    """

    first: Array
    step_a: Array
    step_b: Array
    step_c: Array
    is_other: Array  # False for the two columns themselves


class Slots(NamedTuple):
    """Slots of all columns: those of column c are ``start[c]`` to ``start[c + 1] - 1``, the last for what is not there.

    `missing` (n_columns,) is the place of missing cells in the triples where they are no state, else -1.
    """

    start: Array
    missing: Array
    cell: Array  # pseudo-count of a state of each column


def pair_table(
    triples: Array, together: Array, places: TriplePlaces, slots: Slots, removed: float, *, use_loop: bool
) -> Array:
    """Logarithm of P(x_c | y, a, b): (n_a * n_b, n_slots, n_classes), 0 where a column is not there.

    `together` (n_a, n_b, n_classes) counts the pair. With `removed`, each entry is that of a row which has itself been
    taken out with this weight.
    """
    n_a, n_b, n_classes = together.shape
    table = np.zeros((n_a * n_b, int(slots.start[-1]), n_classes))
    build = _table_loop if use_loop else _table_by_reference
    with np.errstate(divide="ignore", invalid="ignore"):  # where the loop runs as plain Python
        build(triples, together.astype(np.float64), *places, *slots, float(removed), table)
    return table


def add_joints(
    pair: Array,
    slots: Array,
    root: Array,
    table: Array,
    own: tuple[Array, Array, Array] | None,
    top: Array,
    total: Array,
    *,
    use_loop: bool,
) -> None:
    """Add the joints of one pair of parents to the sums over pairs.

    Parameters
    ----------
    pair : (n_rows,), number of the states of the pair, or -1 where it is no parent
    slots : (n_rows, n_columns), place of each cell in the table
    root, table : (n_states, n_classes) and (n_states, n_slots, n_classes)
    own : classes (n_rows,), and root and table for the class of a row itself; None where no row is taken out
    top, total : (n_rows, n_classes): the sum is exp(top) * total
    """
    codes, own_root, own_table = (np.full(len(pair), -1), root, table) if own is None else own
    if use_loop:
        codes = codes.astype(np.int64, copy=False)
        _add_loop(pair, slots.astype(np.int64, copy=False), root, table, codes, own_root, own_table, top, total)
        return
    rows = np.flatnonzero(pair >= 0)
    p = pair[rows]
    joint = root[p] + table[p[:, None], slots[rows]].sum(axis=1)
    if own is not None:
        y = codes[rows]
        joint[np.arange(len(rows)), y] = own_root[p, y] + own_table[p[:, None], slots[rows], y[:, None]].sum(axis=1)
    add_in_log_space(joint, rows, top, total)


def add_in_log_space(joint: Array, rows: Array, top: Array, total: Array) -> None:
    """Add joints (n, n_classes) of some rows to sums that are exp(top) * total."""
    highest = np.maximum(top[rows], joint)
    level = np.where(np.isneginf(highest), 0.0, highest)
    total[rows] = total[rows] * np.exp(top[rows] - level) + np.exp(joint - level)
    top[rows] = highest


def _table_by_reference(  # type: ignore[no-untyped-def]
    triples, together, first, step_a, step_b, step_c, is_other, start, missing, cell, removed, table
) -> None:
    n_a, n_b, n_classes = together.shape
    for c in np.flatnonzero(is_other).tolist():
        n_states = int(start[c + 1] - start[c]) - 1
        row = first[c] + np.add.outer(np.arange(n_a) * step_a[c], np.arange(n_b) * step_b[c])
        whole = together if missing[c] < 0 else together - triples[row + missing[c] * step_c[c]]
        whole = remainder(whole, removed)[:, :, None] + n_states * cell[c]
        count = remainder(triples[row[:, :, None] + np.arange(n_states) * step_c[c]], removed) + cell[c]
        known = whole > 0
        with np.errstate(divide="ignore"):
            log_share = np.log(np.where(known, count, 1.0)) - np.log(np.where(known, whole, max(n_states, 1)))
        table[:, start[c] : start[c + 1] - 1] = log_share.reshape(n_a * n_b, n_states, n_classes)


@compiled
def _table_loop(  # type: ignore[no-untyped-def]
    triples, together, first, step_a, step_b, step_c, is_other, start, missing, cell, removed, table
):
    n_a, n_b, n_classes = together.shape
    for c in range(len(first)):
        if not is_other[c]:
            continue
        n_states = start[c + 1] - start[c] - 1
        for a in range(n_a):
            for b in range(n_b):
                row = first[c] + a * step_a[c] + b * step_b[c]
                pair = a * n_b + b
                for k in range(n_classes):
                    whole = together[a, b, k]
                    if missing[c] >= 0:
                        whole -= triples[row + missing[c] * step_c[c], k]
                    rest = whole - removed
                    whole = (rest if rest > ROUNDING * whole else 0.0) + n_states * cell[c]
                    if whole > 0:
                        log_whole = np.log(whole)
                        for s in range(n_states):
                            count = float(triples[row + s * step_c[c], k])
                            rest = count - removed
                            count = (rest if rest > ROUNDING * count else 0.0) + cell[c]
                            table[pair, start[c] + s, k] = np.log(count) - log_whole
                    else:
                        for s in range(n_states):
                            table[pair, start[c] + s, k] = -np.log(float(n_states))


@compiled
def _add_loop(pair, slots, root, table, codes, own_root, own_table, top, total):  # type: ignore[no-untyped-def]
    n_rows, n_columns = slots.shape
    n_classes = root.shape[1]
    # Four classes at a time are summed in registers. Indices are unsigned: they never count from the end.
    flat, width = table.reshape(-1), np.uint64(n_classes)
    stride, in_fours = np.uint64(table.shape[1] * n_classes), n_classes - n_classes % 4
    joint = np.empty(n_classes)
    for r in range(n_rows):
        p = pair[r]
        if p < 0:
            continue
        base = np.uint64(p) * stride
        for k in range(0, in_fours, 4):
            one, two, three, four = root[p, k], root[p, k + 1], root[p, k + 2], root[p, k + 3]
            for c in range(n_columns):
                at = base + np.uint64(slots[r, c]) * width
                one += flat[at]
                two += flat[at + np.uint64(1)]
                three += flat[at + np.uint64(2)]
                four += flat[at + np.uint64(3)]
            joint[k], joint[k + 1], joint[k + 2], joint[k + 3] = one, two, three, four
            base += np.uint64(4)
        for k in range(in_fours, n_classes):
            one, two = root[p, k], 0.0  # two at a time: an addition need not wait for the last one
            for c in range(0, n_columns - 1, 2):
                one += flat[base + np.uint64(slots[r, c]) * width]
                two += flat[base + np.uint64(slots[r, c + 1]) * width]
            if n_columns % 2:
                one += flat[base + np.uint64(slots[r, n_columns - 1]) * width]
            joint[k] = one + two
            base += np.uint64(1)
        y = codes[r]
        if y >= 0:
            found = own_root[p, y]
            for c in range(n_columns):
                found += own_table[p, slots[r, c], y]
            joint[y] = found
        for k in range(n_classes):
            one = joint[k]
            if one == -np.inf:
                continue
            if one <= top[r, k]:
                total[r, k] += np.exp(one - top[r, k])
            else:
                total[r, k] = total[r, k] * np.exp(top[r, k] - one) + 1.0
                top[r, k] = one
