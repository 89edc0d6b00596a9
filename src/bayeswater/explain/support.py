"""How many rows a prediction rests on: the rows of the predicted class that have the rarest cell of the row.

Of a category or a bin these are the rows of the class with that state, of a number the rows that have a value, of a
text the rows that have its rarest word. Cells that are missing or were never seen are left out, as they are in the
prediction.
"""

from collections.abc import Mapping

import numpy as np

from bayeswater.data.mixed_table import MixedTable
from bayeswater.data.text import TextTable
from bayeswater.explain.word_draws import words_of
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.inference.mixed import MixedJoint
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.statistic import ColumnStatistic, Statistic
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array


def support(
    joint: MixedJoint, table: MixedTable, sums: Mapping[str, Statistic], class_count: Array, chosen: Array
) -> Array:
    """Rows of the class `chosen` for each row (n_rows,) that have its rarest cell; all of the class if it has none."""
    least = class_count[chosen]
    for key, block in table.block(slice(0, table.n_rows)).items():
        statistic = sums[key]
        if isinstance(statistic, CategoryCounts):
            terms = joint.groups[key]
            assert isinstance(terms, CategoryColumns)
            found = _of_states(statistic, block, chosen, terms.empty_is_state)
        elif isinstance(statistic, TextSums):
            found = _of_words(statistic, block, chosen)
        else:
            assert isinstance(statistic, ColumnStatistic)
            found = _of_numbers(statistic, block, chosen)
        least = np.minimum(least, np.minimum(found, class_count[chosen]))
    return least.astype(class_count.dtype)


def _of_states(counts: CategoryCounts, codes: Array, chosen: Array, empty_is_state: Array) -> Array:
    left_out = codes >= counts.n_states + empty_is_state
    cell = counts.start[:-1] + np.where(left_out, 0, codes)
    found = np.where(left_out, np.inf, counts.table[cell, chosen[:, None]])
    return found.min(axis=1, initial=np.inf)


def _of_numbers(sums: ColumnStatistic, numbers: Array, chosen: Array) -> Array:
    assert sums.cells is not None
    cells = np.broadcast_to(sums.cells, (sums.n_classes, numbers.shape[1]))[chosen]
    return np.where(np.isnan(numbers), np.inf, cells).min(axis=1, initial=np.inf)


def _of_words(sums: TextSums, block: TextTable, chosen: Array) -> Array:
    found = np.full(len(chosen), np.inf)
    for i in np.flatnonzero(~block.missing).tolist():
        codes, _ = words_of(block.counts, i)
        found[i] = sums.present[chosen[i], codes].min(initial=sums.observed[chosen[i]])
    return found
