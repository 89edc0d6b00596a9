"""Weight of every distinct cell among millions, where a cell is any whole number from 0 on.

The loop looks the cells up in a table by hash: slots are tried one after the other from where a multiplicative hash
points, and no more than half of them are ever taken. Cells come block by block, and the table grows between blocks;
its old cells are then added to the new one like any others.
"""

from collections.abc import Iterable

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

NO_CELL = -1
"""What stands for a cell that is missing, and in a slot that no cell has taken."""


def count_cells(blocks: Iterable[tuple[Array, Array | None]], kind: type, *, use_loop: bool) -> tuple[Array, Array]:
    """Sum the weights (or the number) of equal cells over blocks of (cells, weights); missing cells are left out.

    Returns the distinct cells in rising order (int64), and the sum of each in dtype `kind`.

    >>> count_cells([(np.array([7, 2]), None), (np.array([7, -1]), None)], np.int64, use_loop=False)
    (array([2, 7]), array([1, 2]))
    """
    if not use_loop:
        parts = [_sums_of_equal(cells, weight, kind) for cells, weight in blocks]
        cells, sums = (np.concatenate(part) for part in zip(*parts, strict=True))
        return _sums_of_equal(cells, sums, kind)
    slot_cell: Array = np.zeros(0, dtype=np.int64)
    slot_sum: Array = np.zeros(0, dtype=kind)
    taken = 0
    for cells, weight in blocks:
        if 2 * (taken + len(cells)) > len(slot_cell):
            held = slot_cell != NO_CELL
            old_cell, old_sum = slot_cell[held], slot_sum[held]
            n_slots = 1 << (2 * (taken + len(cells)) - 1).bit_length()
            slot_cell, slot_sum = np.full(n_slots, NO_CELL), np.zeros(n_slots, dtype=kind)
            _count_cells_loop(old_cell, old_sum, slot_cell, slot_sum)
        taken += _count_cells_loop(cells, weight, slot_cell, slot_sum)
    found = np.flatnonzero(slot_cell != NO_CELL)
    found = found[np.argsort(slot_cell[found])]
    return slot_cell[found], slot_sum[found]


def _sums_of_equal(cells: Array, weight: Array | None, kind: type) -> tuple[Array, Array]:
    there = cells != NO_CELL
    distinct, place = np.unique(cells[there], return_inverse=True)
    sums = np.bincount(place, weights=None if weight is None else weight[there], minlength=len(distinct))
    return distinct, sums.astype(kind)


@compiled
def _count_cells_loop(cells, weight, slot_cell, slot_sum):  # type: ignore[no-untyped-def]
    # The hash is 31 bits of the cell times 2**32 / golden ratio, modulo 2**32: its top bits differ for neighbours, and
    # no product overflows. Fewer slots than 2**32 are ever needed: there would have to be 2**31 distinct cells.
    last = slot_cell.shape[0] - 1
    shift = 32
    while last >> (32 - shift):
        shift -= 1
    n_new = 0
    for i in range(cells.shape[0]):
        cell = cells[i]
        if cell >= 0:
            hashed = ((cell ^ (cell >> 31)) & 0x7FFFFFFF) * 2654435769
            slot = (hashed & 0xFFFFFFFF) >> shift
            while slot_cell[slot] != cell:
                if slot_cell[slot] == -1:
                    slot_cell[slot] = cell
                    n_new += 1
                else:
                    slot = (slot + 1) & last
            slot_sum[slot] += 1 if weight is None else weight[i]
    return n_new
