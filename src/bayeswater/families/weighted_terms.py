"""A table whose terms have weights: scores of rows, and terms of columns one by one, each row left out of its sums.

A block adds the log-likelihoods of its columns up. Where every column counts by a weight of its own
(`decision.term_weights`) they are taken apart again: `WeightedJoint` scores rows, and `OneColumn` is a column as a
block of its own, whose likelihood with a row left out is the term of that column.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.reading.column_plan import ColumnPlan
from bayeswater.data.reading.number_table import NumberTable
from bayeswater.data.reading.text import TextTable
from bayeswater.data.variable import Schema
from bayeswater.decision.term_weights import TermWeights
from bayeswater.families.family import Block, MixedJoint, Settings
from bayeswater.families.registry import families_of
from bayeswater.kernels.threads import row_blocks
from bayeswater.records import record
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.typing import Array

BLOCK_TERMS = 2**20
"""Terms that are held at a time, about: cells times classes."""

LeftOut = Callable[[slice], Array]
"""Terms (n_rows, n_terms, n_classes) of some rows, each taken out of the sums."""


class OneColumn(NamedTuple):
    """A column as a block of its own, and where it stands: its group, and its place in that."""

    key: str
    j: int
    block: Block

    def cells(self, groups: Mapping[str, Any]) -> Any:
        """Take the cells of the column out of those of some rows, by group."""
        cells = groups[self.key]
        return cells if isinstance(cells, TextTable) else cells[:, self.j : self.j + 1]


def columns_alone(sums: ColumnGroups, settings: Settings, *, without_choice: bool) -> list[OneColumn]:
    """Read every column of a table as a block of its own, in the order of the plan.

    With `without_choice` automatic smoothing is chosen again without each row that is left out.
    """
    found: dict[str, OneColumn] = {}
    for key, family in families_of(sums.plan).items():
        group: Any = sums.groups[key]
        for j, column in enumerate(family.columns):
            own = type(family)((column,))
            block = own.read(group if len(family.columns) == 1 else group.take([j]), settings)
            found[column.name] = OneColumn(key, j, own.without_choice(block, settings) if without_choice else block)
    return [found[column.name] for column in sums.plan.used]


def places_of(plan: ColumnPlan) -> dict[str, list[int]]:
    """Say of every group where its columns stand in the order of the plan."""
    place = {column.name: i for i, column in enumerate(plan.used)}
    return {key: [place[name] for name in family.names] for key, family in families_of(plan).items()}


def terms_without(columns: Sequence[OneColumn], tables: Mapping[str, Any], labels: Labels, removed: Array) -> LeftOut:
    """Give a function of some rows: the terms of all columns, each row taken out of the sums."""
    functions = [own.block.without(_column_of(tables[own.key], own.j), labels, removed) for own in columns]

    def terms(rows: slice) -> Array:
        return np.stack([function(rows, False) for function in functions], axis=1)

    return terms


def _column_of(table: Any, j: int) -> Any:
    """Take one column out of a table that is read in blocks."""
    if isinstance(table, CodedTable):
        return CodedTable(Schema((table.schema[j],)), ColumnMatrix((table.codes.column(j),)))
    if isinstance(table, NumberTable):
        return NumberTable((table.columns[j],), None, table.is_log[j : j + 1])
    return table if isinstance(table, TextTable) else ColumnMatrix((table.column(j),))


def known_terms(groups: Mapping[str, Block], cells: Mapping[str, Any]) -> Array:
    """Count the columns that some rows have a cell of, a text as one: (n_rows,)."""
    found = np.stack([block.is_known(cells[key]).sum(axis=1) for key, block in groups.items()])
    known: Array = found.sum(axis=0)
    return known


def rows_by_known(known: Array) -> Iterator[tuple[int, Any]]:
    """Give every number of known cells (n_rows,) that rows have, and mark these rows."""
    different = np.unique(known).tolist()
    for m in different:
        yield m, (slice(None) if len(different) == 1 else known == m)


@record
class WeightedJoint:
    """Log-scores of a table whose terms count by their weights; `places` says which weights are those of a group."""

    plain: MixedJoint
    weights: TermWeights
    places: Mapping[str, Sequence[int]]

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.plain.log_prior

    def of(self, cells: Any, use_loop: bool) -> Array:
        """Log-scores of some rows: (n_rows, n_classes)."""
        if not isinstance(cells, Mapping):  # a table of one law gives its cells alone
            cells = dict.fromkeys(self.places, cells)
        known = known_terms(self.plain.groups, cells)
        total = self.weights.shifts(known) + self.log_prior
        for key, block in self.plain.groups.items():
            size = max(1, BLOCK_TERMS // (len(self.places[key]) * total.shape[1]))
            for rows in row_blocks(len(total), size):
                terms = block.terms(_some(cells[key], rows))
                for m, some in rows_by_known(known[rows]):
                    total[rows][some] += self.weights.weighted(terms[some], m, self.places[key]).sum(axis=1)
        return total

    def scores(self, terms: Array, known: Array, log_prior: Array) -> Array:
        """Log-scores of rows by their terms (n_rows, n_terms, n_classes) and a class prior: (n_rows, n_classes)."""
        found: Array = self.weights.shifts(known) + log_prior
        for m, some in rows_by_known(known):
            found[some] += self.weights.weighted(terms[some], m).sum(axis=1)
        return found


def _some(cells: Any, rows: slice) -> Any:
    return cells.block(rows) if isinstance(cells, TextTable) else cells[rows]
