"""Counts of families that came from elsewhere: in order, each cell once, and in agreement with each other.

A column is a member of its own family and of those of its children: in all of them it has the same counts.
"""

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.kernels.category_counts import offsets
from bayeswater.kernels.configurations import number_configurations
from bayeswater.statistics.family import Family
from bayeswater.statistics.family_counts import FamilyCounts, checked_parents
from bayeswater.typing import Array


def require_families(counts: FamilyCounts, class_count: Array, slack: float) -> None:
    """Refuse counts that no rows can have."""
    checked_parents(counts.parents, counts.schema)
    _require_layout(counts, class_count)
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


def _require_layout(counts: FamilyCounts, class_count: Array) -> None:
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


def _require_in_order(family: Family, name: str) -> None:
    if (family.cell < 0).any() or (family.cell >= family.n_slots).any():
        raise StatisticsError(f"a cell of column {name!r} has a state beyond its domain")
    number, _ = number_configurations(family.cell.T, family.n_slots)
    if (number != np.arange(len(number))).any():
        raise StatisticsError(f"the cells of column {name!r} are not in the order of their states, each once")
    if not family.count.any(axis=1).all():
        raise StatisticsError(f"a cell of column {name!r} is kept without a row")
