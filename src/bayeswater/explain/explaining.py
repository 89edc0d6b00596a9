"""Reasons of classifiers: of one block of columns that are independent, and of a model asked with cells taken away."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayeswater.data.cells import python_value
from bayeswater.data.reading.coded_table import MixedTable
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.decision.term_weights import TermWeights
from bayeswater.explain.explanations import Explanations, Terms, views_of
from bayeswater.explain.feature_view import FeatureTerms, FeatureView
from bayeswater.explain.gaussian_view import SharedTerms
from bayeswater.explain.pooled_explanations import Orders, PooledExplanations, RowCells
from bayeswater.explain.turning import ExplainedRows
from bayeswater.families.family import Block, MixedJoint
from bayeswater.families.view import LastBlock
from bayeswater.kernels.threads import row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.statistics.sums import SeenRanges
from bayeswater.typing import Array

KNOWN_CELLS = 2**22
"""Cells of rows, with some known and others missing, that are scored at a time."""


def explained_block(
    block: Block,
    family: str,
    log_prior: Array,
    table: Any,
    names: Sequence[str],
    raw: RawTable,
    about: ExplainedRows,
    weights: TermWeights | None = None,
) -> Explanations:
    """Say what each column adds to the log-odds, where all columns follow one law."""
    sources = names if set(names) == set(raw.names) else raw.names
    columns = tuple(Column(name, source, family) for name, source in zip(names, sources, strict=True))
    rows = MixedTable(ColumnPlan(columns), {family: table}, table.shape[0])
    terms = Terms(MixedJoint(log_prior, {family: block}), rows, {family: columns}, weights=weights)
    return Explanations.of(terms, views_of(terms, raw, SeenRanges()), *about)


def explained_features(
    features: FeatureTerms, log_prior: Array, table: Any, names: Sequence[str], about: ExplainedRows
) -> Explanations:
    """Say what each feature adds to the log-odds, where scores are linear in them."""
    columns = tuple(Column(name, name, "feature") for name in names)
    joint: Any = MixedJoint(log_prior, {})
    rows: Any = _Rows(table)
    terms = SharedTerms(joint, rows, {"": columns}, features.terms)
    nothing: Any = None
    last = LastBlock()
    views = tuple(FeatureView(c, features, table, j, nothing, SeenRanges(), last) for j, c in enumerate(columns))
    return Explanations.of(terms, views, *about)


class _Rows:
    """A table of features as terms ask for it."""

    def __init__(self, table: Any) -> None:
        self.block, self.n_rows = table.block, table.shape[0]


def explained_by_known_cells(
    log_posterior: Callable[[Array, Array], Array],
    names: Sequence[str],
    n_rows: int,
    cells: RowCells,
    about: ExplainedRows,
    corrected: Callable[[Array, Array], Array] | None = None,
) -> PooledExplanations:
    """Say what each cell is worth to a model that is no sum over columns, by taking cells away.

    Parameters
    ----------
    log_posterior : of rows (n,), numbered, of which only some cells are known (n, n_columns): (n, n_classes)
    names : of the columns
    cells : what stands in them
    corrected : log-probabilities of rows with so many known cells (n,), calibrated, where they are
    """
    orders = Orders.of(len(names))
    known, n_classes = orders.known, len(about.classes)
    require_table_bytes(
        8 * len(known) * n_rows * n_classes, f"the reasons of {n_rows} rows", "explain fewer rows at a time"
    )
    found = np.empty((len(known), n_rows, n_classes))
    for block in row_blocks(n_rows, max(1, KNOWN_CELLS // known.size)):
        rows = np.arange(block.start, block.stop)
        shown = np.repeat(known, len(rows), axis=0)  # (n_sets * n_rows, n_columns)
        found[:, block] = log_posterior(np.tile(rows, len(known)), shown).reshape(len(known), len(rows), n_classes)
    without = found[1 : len(names) + 1]
    if corrected is not None:
        known_cells = ~(cells.is_missing | cells.is_unseen)
        n_known = known_cells.sum(axis=1) - known_cells.T  # (n_columns, n_rows)
        without = np.stack([corrected(one, n) for one, n in zip(without, n_known, strict=True)])
    return PooledExplanations.of_known_cells(tuple(names), orders, found, cells, about, without.argmax(axis=2).T)


def cells_as_given(
    raw: RawTable, plan: ColumnPlan, columns: Sequence[Column], not_read: Array, is_number: Array | bool = False
) -> RowCells:
    """Tell what stands in the cells of some columns (n_rows, n_columns); a date as it came, and not its days.

    Of those that were `not_read`, what is null or a number is missing, and all else was never seen.
    """
    dated = raw.with_dates(plan)
    cells = [(raw if column.part == "days" else dated).cells(column.name) for column in columns]
    is_null = np.array([own.is_null(nan_is_null=True).to_numpy(zero_copy_only=False) for own in cells]).T

    def value(i: int, j: int) -> Any:
        return None if is_null[i, j] else python_value(cells[j][i])

    can_miss = is_null | is_number
    return RowCells(value, not_read & can_miss, not_read & ~can_miss)
