"""What every cell of a row is worth to an ensemble: its posterior, with some cells known and the others missing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.cells import python_value
from bayeswater.data.reading.column_plan import NUMBER
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.explain.pooled_explanations import Cells
from bayeswater.kernels.threads import row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.models.ensemble.labelled_table import EnsembleTable
from bayeswater.models.ensemble.reading import Reading
from bayeswater.typing import Array

KNOWN_CELLS = 2**22
"""Cells of rows, with some known and others missing, that are scored at a time."""


def posteriors_of_known_cells(score: Callable[[EnsembleTable], Array], table: EnsembleTable, known: Array) -> Array:
    """Score rows of which only some cells are known: (n_sets, n_rows, n_classes).

    Parameters
    ----------
    score : gives the log-posteriors of rows (n_rows, n_classes)
    table : rows
    known : sets of columns (n_sets, n_columns)
    """
    n_columns = table.n_columns
    require_table_bytes(
        8 * len(known) * len(table) * table.n_classes,
        f"the reasons of {len(table)} rows",
        "explain fewer rows at a time",
    )
    result = np.empty((len(known), len(table), table.n_classes))
    for rows in row_blocks(len(table), max(1, KNOWN_CELLS // (len(known) * n_columns))):
        part = table.take(rows)
        shown = np.repeat(known, len(part), axis=0)  # (n_known * n_rows, n_columns)
        repeated = part.take(np.tile(np.arange(len(part)), len(known)))
        n_numbers = part.numbers.shape[1]
        masked = replace(
            repeated,
            numbers=np.where(shown[:, :n_numbers], repeated.numbers, np.nan),
            states=np.where(shown[:, n_numbers:], repeated.states, np.int32(-1)),
        )
        result[:, rows] = score(masked).reshape(len(known), len(part), -1)
    return result


def cells_of(reading: Reading, raw: RawTable, table: EnsembleTable) -> Cells:
    """Tell what stands in the cells of a table, in the order of its columns; a date as it came, and not its days."""
    dated = raw.with_dates(reading.plan)
    columns = [(raw if column.part == "days" else dated).cells(column.name) for column in reading.columns]
    is_null = np.array([column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False) for column in columns]).T
    not_read = np.concatenate([np.isnan(table.numbers), table.states < 0], axis=1)

    def value(i: int, j: int) -> Any:
        return None if is_null[i, j] else python_value(columns[j][i])

    is_number = np.array([column.family == NUMBER for column in reading.columns])
    return Cells(value, is_null | (not_read & is_number), not_read & ~is_null & ~is_number)
