"""Counts of triples against the counts of pairs: whatever meets a pair of states adds up to its count."""

from itertools import combinations

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.kernels.triple_counts import n_triple_cells
from bayeswater.statistics.triple_counts import TripleCounts


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
