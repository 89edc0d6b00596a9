"""Cells that a column has never had: a category that was never counted, and a number beyond all bins.

A prediction leaves them out, since they do not tell the classes apart. For novelty they are the very thing to see: such
a cell is a new state, of the probability that the Dirichlet posterior gives to one more state without a count,

    P(new | k) = alpha / (N_k + (S + 1) alpha),

which is less than that of any of the S states there are. Rows drawn from the model have no such cell.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bayeswater.data.coded_table import CodedTable
from bayeswater.data.column_plan import Column
from bayeswater.data.labels import narrow_codes
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.mixed_table import MixedTable
from bayeswater.data.raw_table import RawTable
from bayeswater.estimate.categories import column_totals
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.typing import Array


def log_new_state(columns: CategoryColumns) -> Array:
    """Logarithm of P(new state | class): (n_columns, n_classes), -inf without smoothing.

    Where a prior gives the states pseudo-counts of their own, the new one has their mean.
    """
    counts = columns.counts
    n_states, pseudo_count, count = column_totals(
        counts.table, counts.start, columns.concentration, missing_is_state=columns.missing_is_state
    )
    alpha = pseudo_count / np.maximum(n_states, 1)
    total = count + pseudo_count + alpha
    with np.errstate(divide="ignore"):
        return np.log(alpha / np.where(total > 0, total, 1.0))


def is_new(columns: CategoryColumns, codes: Array) -> Array:
    """Mark the cells of some rows of codes (n_rows, n_columns) that no row had; of an empty column there are none."""
    return (codes > columns.counts.n_states) & (columns.counts.n_states > 0)


def with_new_bins(table: MixedTable, raw: RawTable, groups: Mapping[str, tuple[Column, ...]]) -> MixedTable:
    """Give numbers that are beyond the outer bins of their column the code of what was never seen."""
    found = dict(table.groups)
    for key, columns in groups.items():
        if all(column.family == "binned" for column in columns):
            found[key] = _with_new_bins(table.groups[key], raw, columns)
    return replace(table, groups=found)


def _with_new_bins(table: CodedTable, raw: RawTable, columns: tuple[Column, ...]) -> CodedTable:
    codes = table.block(slice(0, table.shape[0]))
    marked = []
    for j, column in enumerate(columns):
        numbers, n_bins = raw.numbers(column.name), len(column.cuts or ()) + 1
        low, high = reach(column)
        beyond = (numbers < low) | (numbers > high)
        marked.append(narrow_codes(np.where(beyond, n_bins + 1, codes[:, j]), n_bins + 1))
    return replace(table, codes=ColumnMatrix(tuple(marked)))


def reach(column: Column) -> tuple[float, float]:
    """Least and largest number a binned column can be taken to have had: an outer bin is as wide as all inner ones.

    The outer bins have no limit, and with as many rows in each bin they are wider than those beside them.

    >>> reach(Column("x", "x", "binned", cuts=(1.0, 2.0, 4.0)))
    (-2.0, 7.0)
    """
    cuts = column.cuts or ()
    if not cuts:
        return -np.inf, np.inf
    width = cuts[-1] - cuts[0] if len(cuts) > 1 else max(abs(cuts[0]), 1.0)
    return cuts[0] - width, cuts[-1] + width
