"""Counts of pairs against the counts of the single columns: whatever meets a state adds up to its count."""

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.kernels.pair_counts import n_pair_cells, rows_of_column
from bayeswater.statistics.pair_counts import PairCounts


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
