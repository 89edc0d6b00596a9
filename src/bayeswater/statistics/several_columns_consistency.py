"""Counts of several columns that came from elsewhere, against those of fewer: whatever meets a state adds up to it.

Pairs add up to the counts of single columns, triples to those of pairs. Families are in order, each cell once; a column
is a member of its own family and of those of its children, and has the same counts in all of them.
"""

from itertools import combinations

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.kernels.category_counts import offsets
from bayeswater.kernels.configurations import number_configurations
from bayeswater.kernels.pair_counts import n_pair_cells, rows_of_column
from bayeswater.kernels.triple_counts import n_triple_cells
from bayeswater.statistics.family import Family
from bayeswater.statistics.family_counts import FamilyCounts, checked_parents
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.triple_counts import TripleCounts
from bayeswater.typing import Array


def require_pairs(counts: PairCounts, slack: float) -> None:
    """Refuse counts of pairs that no rows can have; those of the single columns are sound."""
    shape = n_pair_cells(counts.n_states), counts.n_classes
    if counts.pairs.shape != shape or counts.pairs.dtype != counts.table.dtype:
        raise StatisticsError(
            f"pairs has shape {counts.pairs.shape} of {counts.pairs.dtype}, and not {shape} of {counts.table.dtype}"
        )
    for i in range(1, len(counts.schema)):
        cells = counts.pairs[rows_of_column(i, counts.n_states)]  # (S_i + 1, slots of the columns before, n_classes)
        own, before = counts.table[counts.start[i] : counts.start[i + 1]], counts.table[: counts.start[i]]
        met = np.add.reduceat(cells, counts.start[:i], axis=1)  # (S_i + 1, n_before, n_classes)
        if (np.abs(met - own[:, None]) > slack).any() or (np.abs(cells.sum(axis=0) - before) > slack).any():
            raise StatisticsError(
                f"the pairs of column {counts.schema[i].name!r} with those before it do not add up to the counts of "
                "the columns"
            )


def require_triples(counts: TripleCounts, slack: float) -> None:
    """Refuse counts of triples that no rows can have; those of the pairs are sound."""
    shape = n_triple_cells(counts.n_states), counts.n_classes
    if counts.triples.shape != shape or counts.triples.dtype != counts.pairs.dtype:
        raise StatisticsError(
            f"triples has shape {counts.triples.shape} of {counts.triples.dtype}, and not {shape} of "
            f"{counts.pairs.dtype}"
        )
    for columns in combinations(range(len(counts.schema)), 3):
        cells = counts.of_triple(*columns)
        for place in range(3):
            pair = [column for column in columns if column != columns[place]]
            if (np.abs(cells.sum(axis=place) - counts.of_pair(*pair)) > slack).any():
                names = [counts.schema[column].name for column in columns]
                raise StatisticsError(f"the triples of columns {names} do not add up to the counts of their pairs")


def require_families(counts: FamilyCounts, class_count: Array, slack: float) -> None:
    """Refuse counts that no rows can have."""
    checked_parents(counts.parents, counts.schema)
    _require_layout(counts, class_count, slack)
    for x in range(len(counts.schema)):
        _require_in_order(counts.family(x), counts.schema[x].name)
    singles = counts.singles
    start = offsets(counts.n_states)
    for x, parents in enumerate(counts.parents):
        family, name = counts.family(x), counts.schema[x].name
        if (np.abs(family.count.sum(axis=0) - class_count) > slack).any():
            raise StatisticsError(f"the counts of column {name!r} do not add up to those of the classes")
        for level, parent in enumerate(parents):
            table = np.zeros((start[parent + 1] - start[parent], counts.n_classes), dtype=counts.count.dtype)
            np.add.at(table, family.cell[:, level], family.count)
            if (np.abs(table - singles.table[start[parent] : start[parent + 1]]) > slack).any():
                raise StatisticsError(
                    f"column {name!r} does not meet its parent {counts.schema[parent].name!r} as often as that is "
                    "counted"
                )


def _require_layout(counts: FamilyCounts, class_count: Array, slack: float) -> None:
    start, cell, count = counts.start, counts.cell, counts.count
    is_start = start.dtype == np.int64 and start.shape == (len(counts.schema) + 1,) and start[0] == 0
    if not (is_start and (np.diff(start) > 0).all() and start[-1] == len(count)):
        raise StatisticsError(f"start does not cut {len(count)} cells into those of {len(counts.schema)} columns")
    width = 1 + max(len(parents) for parents in counts.parents)
    if cell.shape != (len(count), width) or cell.dtype.kind not in "iu":
        raise StatisticsError(f"cell has shape {cell.shape} of {cell.dtype}, and not {(len(count), width)} of integers")
    if count.shape != (len(count), len(class_count)) or count.dtype != class_count.dtype:
        raise StatisticsError(f"count has shape {count.shape} of {count.dtype} for {len(class_count)} classes")
    if counts.squared.shape != class_count.shape or counts.squared.dtype != class_count.dtype:
        raise StatisticsError(
            f"squared has shape {counts.squared.shape} of {counts.squared.dtype} for {len(class_count)} classes"
        )
    if (counts.squared > class_count + slack).any():
        raise StatisticsError("squared is larger than class_count, but no row counts for more than its weight there")


def _require_in_order(family: Family, name: str) -> None:
    if (family.cell < 0).any() or (family.cell >= family.n_slots).any():
        raise StatisticsError(f"a cell of column {name!r} has a state beyond its domain")
    number, _ = number_configurations(family.cell.T, family.n_slots)
    if (number != np.arange(len(number))).any():
        raise StatisticsError(f"the cells of column {name!r} are not in the order of their states, each once")
    if not family.count.any(axis=1).all():
        raise StatisticsError(f"a cell of column {name!r} is kept without a row")
