"""Costs that differ from row to row: the amount of a payment, the price of a test, read off the rows themselves."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.decision.cost_table import LARGEST_COST, CostTable, RowCost
from bayeswater.errors import DataError, ParameterError
from bayeswater.typing import Array


def for_rows(table: CostTable, X: Any, n_rows: int) -> CostTable:
    """Evaluate all costs that depend on the row, for the rows X."""
    if not table.by_row:
        return table
    return replace(
        table,
        by_row={
            (i, j): _costs(
                cost, X, n_rows, f"the cost of deciding {table.actions[i]!r} when {table.classes[j]!r} is true"
            )
            for (i, j), cost in table.by_row.items()
        },
    )


def _costs(cost: RowCost, X: Any, n_rows: int, what: str) -> Array:
    found: Any
    if isinstance(cost, np.ndarray):
        found = cost
    elif X is None:
        raise ParameterError(f"{what} depends on the row; give the rows, X=...")
    elif isinstance(cost, str):
        names = getattr(X, "column_names", getattr(X, "columns", ()))
        if cost not in names:
            raise DataError(f"{what} is column {cost!r} of X, and X has no column of that name")
        found = X[cost]
    else:
        found = cost(X)
    try:
        values = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} is not a number in every row") from None
    if values.shape != (n_rows,):
        raise DataError(f"{what} has shape {values.shape}; give one cost for each of the {n_rows} rows")
    wrong = ~(np.abs(values) <= LARGEST_COST)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"{what} is {values[row]} in row {row}; costs must be finite, no larger than {LARGEST_COST:g}")
    return values


def for_one_row(table: CostTable, X: Any) -> CostTable:
    """Put the costs of the one row X in the place of those that depend on the row."""
    found = for_rows(table, X, 1)
    cost = found.cost.copy()
    for place, by_row in found.by_row.items():
        cost[place] = by_row[0]  # type: ignore[index]
    return replace(found, cost=cost, by_row={})
