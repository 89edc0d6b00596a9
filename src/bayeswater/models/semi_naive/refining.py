"""Cuts of numbers that a histogram cannot tell apart, refined by a second look at the values near them.

Of a column of many different numbers a histogram keeps buckets. Where a cut came to lie between two of them, the best
one may be inside of either: their values are counted again by themselves, as fine as a histogram of their own keeps
them apart, and take the place of the two buckets. Then the column is cut anew.

Where the values near cuts are no more than a histogram keeps apart, bins of equal frequency are then those of the
sorted rows: every quantile lies in one of the two buckets beside it. Cuts that tell the classes apart are chosen one
after the other among the places that are left; they tell the classes apart as well, and need not be the same. All of
them are the same for any pieces.
"""

from collections.abc import Mapping

import numpy as np

from bayeswater.data.column_plan import ColumnPlan
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.statistics.key_counts import ColumnHistogram, KeyCounts
from bayeswater.typing import Array

MOST_CUTS = 1000
"""Cuts up to which a column is refined: of more, the buckets between them are fine enough."""

Near = Mapping[str, Array]
"""Intervals (n_intervals, 2) of the values near the cuts of columns, both ends in them, in rising order."""


def values_near_cuts(plan: ColumnPlan, keys: KeyCounts) -> Near:
    """Find the buckets beside every cut, in columns whose numbers share buckets."""
    near = {}
    for j, name in enumerate(keys.names or ()):
        cuts = next((column.cuts for column in plan if column.name == name), None)
        if not keys.shift[j] or not cuts or len(cuts) > MOST_CUTS:
            continue
        histogram = keys.of_column(j)
        above = np.searchsorted(histogram.first, cuts)
        beside = np.unique(np.concatenate([above - 1, above]))
        beside = beside[(beside >= 0) & (beside < len(histogram.first))]
        near[name] = np.stack([histogram.first[beside], histogram.last[beside]], axis=1)
    return near


def only_near(matrix: ColumnMatrix, near: Near) -> ColumnMatrix:
    """Leave out all values that are not near a cut."""
    assert matrix.names is not None
    columns = []
    for name, values in zip(matrix.names, matrix.columns, strict=True):
        first, last = near[name].T
        numbers = values.astype(np.float64)
        place = np.searchsorted(first, numbers, side="right") - 1
        is_near = (place >= 0) & (numbers <= last[place])
        columns.append(np.where(is_near, numbers, np.nan))
    return ColumnMatrix(tuple(columns), matrix.names)


def with_fine_buckets(coarse: ColumnHistogram, fine: ColumnHistogram, near: Array) -> ColumnHistogram:
    """Put the values near cuts, counted by themselves, in the place of the buckets that they were in."""
    is_kept = ~np.isin(coarse.first, near[:, 0])
    new_place = np.cumsum(is_kept) - 1
    cells = is_kept[coarse.place]
    first = np.concatenate([coarse.first[is_kept], fine.first])
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    place = np.concatenate([new_place[coarse.place[cells]], int(is_kept.sum()) + fine.place])
    return ColumnHistogram(
        first[order],
        np.concatenate([coarse.last[is_kept], fine.last])[order],
        rank[place],
        np.concatenate([coarse.code[cells], fine.code]),
        np.concatenate([coarse.count[cells], fine.count]),
        coarse.n_classes,
    )
