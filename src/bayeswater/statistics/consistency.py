"""What the sums of any rows fulfil: sums that came from elsewhere are held against it.

Sums are finite and, but for means, not negative; no cell is counted more often than its class; the states of a column
and its missing cells add up to the class counts.
"""

from typing import Any

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

SLACK = 1e-6
"""Float sums, taken in another order, merged and subtracted, may differ by this share of the largest class."""

ROW_COUNTS = ("weight", "observed", "present")
"""Sums of columns that count rows, in the kind of number that counts the classes."""

MAY_AGREE = ("weight", "observed")
"""Sums that are one column wide where all columns agree."""


def require_consistent(sums: Sums[Any]) -> None:
    """Refuse sums that no rows can have."""
    count, columns = sums.class_count.count, sums.columns
    for name, array in {"class_count": count, **columns.to_arrays()}.items():
        _require(bool(np.isfinite(array).all()), f"{name} holds a number that is not finite")
        _require(name == "mean" or bool((array >= 0).all()), f"{name} holds {array.min()}, but is never negative")
    n_classes = sums.classes.n_states
    _require(count.shape == (n_classes,), f"class_count has shape {count.shape} for {n_classes} classes")
    _require(bool(count.any()), "class_count is zero for every class")
    if isinstance(columns, CategoryCounts):
        _require_table(columns, count)
    elif isinstance(columns, ColumnStatistic):
        _require_columns(columns, count)


def _require_columns(columns: ColumnStatistic, count: Array) -> None:
    arrays = columns.to_arrays()
    n_columns = max(array.shape[-1] for array in arrays.values())
    for name, array in arrays.items():
        shapes = [(len(count), n_columns), (len(count), 1 if name in MAY_AGREE else n_columns)]
        _require(array.shape in shapes, f"{name} has shape {array.shape}, and not {shapes[0]}")
        if name in ROW_COUNTS:
            _require_same_kind(name, array, count)
            _require_within(name, array, "class_count", count[:, None], count)
    if "present" in arrays:
        _require_within("present", arrays["present"], "observed", arrays["observed"], count)


def _require_table(columns: CategoryCounts, count: Array) -> None:
    shape = sum(variable.n_states + 1 for variable in columns.schema), len(count)
    _require(columns.table.shape == shape, f"table has shape {columns.table.shape}, and not {shape}")
    _require_same_kind("table", columns.table, count)
    total = np.add.reduceat(columns.table, columns.start[:-1])  # (n_columns, n_classes)
    wrong = (np.abs(total - count) > _slack(count)).any(axis=1)
    if wrong.any():
        name = columns.schema[int(wrong.argmax())].name
        raise StatisticsError(f"the counts of column {name!r} do not add up to those of the classes")


def _require_same_kind(name: str, array: Array, count: Array) -> None:
    _require(array.dtype == count.dtype, f"{name} is of {array.dtype} where class_count is of {count.dtype}")


def _require_within(name: str, array: Array, whole_name: str, whole: Array, count: Array) -> None:
    _require(bool((array <= whole + _slack(count)).all()), f"{name} counts more rows than {whole_name}")


def _slack(count: Array) -> float:
    return 0 if count.dtype.kind == "i" else SLACK * float(count.max())


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise StatisticsError(problem)
