"""The statistics of several columns at once, made from rows of labels and read back as labels."""

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.coded_table import Rules, encode_categories
from bayeswater.statistics.pair_counts import PairCounts, TripleCounts
from bayeswater.statistics.parent_counts import ParentCounts


def chain(n_columns):
    """Give every column the two before it as parents, the nearest first."""
    return [tuple(range(x - 1, max(-1, x - 3), -1)) for x in range(n_columns)]


@dataclass(frozen=True)
class Kind:
    """A statistic of several columns."""

    name: str

    def of(self, X: Any, y: Any, weight: Any = None) -> Any:
        """Count rows of labels."""
        coded = encode_categories(np.asarray(X, dtype=object), Rules("the test", refuse_missing=False))
        labels = encode_labels(np.asarray(y))
        if self.name == "families":
            return ParentCounts.of(coded, labels, weight, chain(coded.shape[1]))
        return (PairCounts if self.name == "pairs" else TripleCounts).of(coded, labels, weight)


def by_label(counts: Any) -> dict[tuple[int, ...], dict[tuple[Any, ...], Any]]:
    """Read all counts: {columns: {(label of each, class): count}}, those over zero."""
    n_columns = len(counts.schema)
    tables = {
        (j,): counts.singles.table[counts.singles.start[j] : counts.singles.start[j + 1]] for j in range(n_columns)
    }
    if isinstance(counts, ParentCounts):
        for x, parents in enumerate(counts.parents):
            tables |= {
                (*parents[:n], x): counts.cells_of(x).with_parents(n).dense() for n in range(1, len(parents) + 1)
            }
    else:
        tables |= {(i, j): counts.of_pair(i, j) for i, j in product(range(n_columns), repeat=2) if i != j}
    if isinstance(counts, TripleCounts):
        tables |= {columns: counts.of_triple(*columns) for columns in combinations(range(n_columns), 3)}
        tables |= {columns[::-1]: counts.of_triple(*columns[::-1]) for columns in combinations(range(n_columns), 3)}
    return {columns: _labelled(table, counts, columns) for columns, table in tables.items()}


def _labelled(table: Any, counts: Any, columns: tuple[int, ...]) -> dict[tuple[Any, ...], Any]:
    labels = [[*counts.schema[j].states, None] for j in columns] + [list(counts.classes.states)]
    assert table.shape == tuple(map(len, labels))
    return {
        tuple(own[place] for own, place in zip(labels, cell, strict=True)): table[tuple(cell)]
        for cell in np.argwhere(table).tolist()
    }


KINDS = [Kind(name) for name in ("pairs", "triples", "families")]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
