"""From the columns of a table to codes side by side: categories and bins in the order of the plan."""

from typing import Any

import numpy as np

from bayeswater.data.coded_table import CodedTable
from bayeswater.data.column_plan import ColumnPlan
from bayeswater.data.discrete_table import DiscreteTable
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.raw_table import RawTable, read_raw
from bayeswater.data.schema import Schema
from bayeswater.data.weights import inconsistent_lengths
from bayeswater.families.family import Settings
from bayeswater.families.registry import families_of
from bayeswater.models.semi_naive.discrete_planning import plan_discrete, warn_of_names_of_rows
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.typing import Array

NARROW = 2
"""Bytes of an integer up to which a copy of a table costs less than reading its columns far apart."""


def read_columns(X: Any, model: str) -> RawTable:
    """Read the columns of a table; narrow integers side by side are put one below the other, to be read in a run."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iub" and X.dtype.itemsize <= NARROW:
        X = np.asfortranarray(X)
    return read_raw(X, model)


def code_columns(
    raw: RawTable, plan: ColumnPlan, known: CategoryCounts | None, settings: Settings, *, learning: bool
) -> DiscreteTable:
    """Code the columns of a plan, in the domains of the counts that are `known`."""
    raw = raw.with_dates(plan)
    place = {column.name: j for j, column in enumerate(plan.used)}
    coded: dict[str, tuple[CodedTable, int]] = {}
    for part in families_of(plan).values():
        own = None if known is None else known.take([place[name] for name in part.names])
        table = part.encode(raw, own, settings, learning=learning)
        coded |= {name: (table, j) for j, name in enumerate(part.names)}
    in_order = [coded[name] for name in place]
    codes = ColumnMatrix(tuple(table.codes.columns[j] for table, j in in_order))  # type: ignore[union-attr]
    unseen = tuple(seen for table in {id(table): table for table, _ in in_order}.values() for seen in table.unseen)
    return DiscreteTable(plan, CodedTable(Schema(tuple(table.schema[j] for table, j in in_order)), codes, unseen))


def planned_table(X: Any, labels: Labels, weight: Array | None, settings: Settings, discretize: str) -> DiscreteTable:
    """Plan the columns of a first table by its rows, their labels and weights, and code them."""
    raw = read_columns(X, settings.model)
    if raw.n_rows != len(labels.codes):
        raise inconsistent_lengths(raw.n_rows, len(labels.codes))
    plan = plan_discrete(raw, labels, weight, settings, discretize)
    table = code_columns(raw, plan, None, settings, learning=True)
    warn_of_names_of_rows(table.coded.schema, plan, raw.n_rows)
    return table
