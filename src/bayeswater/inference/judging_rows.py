"""Rows by which a structure is chosen: every kind of row once, and of too many kinds some that their cells decide.

Equal rows say the same, so one judges with the weight of all. Kinds stand in the order of a hash of their cells: the
first of them are a fair sample, which neither the order of the rows nor their repetition changes. So a row of weight 2
chooses what two equal rows do. Rows of equal hash are taken for equal; among a million rows, two that are not meet once
in thirty million tables.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.data.reading.coded_table import DiscreteTable
from bayeswater.data.reading.row_hashes import mixed
from bayeswater.inference.scoring import SCORING_ROWS
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.typing import Array


class Judges(NamedTuple):
    """One row of each kind, by its place, and the weight of the kind: both (n_kinds,)."""

    rows: Array
    weight: Array


def judging_rows(table: DiscreteTable, codes: Array, removed: Array, weight: Array, most: int) -> Judges:
    """Give up to `most` kinds of rows: of equal cells, class and removed weight. Rows of weight 0 do not judge."""
    can = np.flatnonzero(weight > 0)

    def hashes(rows: slice) -> Array:
        return row_hash(table.block(rows), codes[rows], removed[rows])

    found = np.concatenate(list(ordered_map(hashes, row_blocks(len(codes), SCORING_ROWS))))
    _, first, kind = np.unique(found[can], return_index=True, return_inverse=True)
    return Judges(can[first[:most]], np.bincount(kind, weights=weight[can])[:most])


def row_hash(block: Array, codes: Array, removed: Array) -> Array:
    """Hash the cells, the class and the removed weight of each row: (n_rows,)."""
    found = mixed(np.asarray(removed, dtype=np.float64).view(np.uint64))
    for column in (codes, *block.T):
        found = mixed(found ^ column.astype(np.uint64))
    return found
