"""Empty cells as a state of variables: in a network a cell that is None is not observed, so the state has a name.

Of a column of one value and holes the hole is what tells (`estimate.empty_cells`). The code of a missing cell is one
past the last state, so rows need not be coded anew where the last state becomes that of empty cells.
"""

from dataclasses import replace

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.coded_table import DiscreteTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.estimate.empty_cells import columns_of_one_value
from bayeswater.families.planning import warn_of_empty_states
from bayeswater.statistics.category_counts import CategoryCounts

EMPTY = "(empty)"
"""Name of the state of empty cells."""


def with_empty_states(table: DiscreteTable, labels: Labels) -> DiscreteTable:
    """Give columns of one value and holes a state for empty cells, with a warning; not those of bins."""
    counts = CategoryCounts.of(table.coded, labels, None)
    is_one = columns_of_one_value(counts) & ~np.array([variable.is_coded for variable in counts.schema])
    warn_of_empty_states([variable.name for variable, one in zip(counts.schema, is_one, strict=True) if one])
    schema = Schema(
        tuple(_with_empty(variable) if one else variable for variable, one in zip(counts.schema, is_one, strict=True))
    )
    return replace(table, coded=replace(table.coded, schema=schema))


def read_as_empty(table: DiscreteTable) -> DiscreteTable:
    """Give missing cells the code of the state of empty cells, in the columns that have one."""
    columns = []
    for variable, codes in zip(table.coded.schema, table.columns, strict=True):
        has_state = not variable.is_coded and variable.n_states > 0 and variable.states[-1] == EMPTY
        columns.append(np.where(codes == variable.n_states, codes - 1, codes) if has_state else codes)
    return replace(table, coded=replace(table.coded, codes=ColumnMatrix(tuple(columns))))


def _with_empty(variable: Variable) -> Variable:
    return Variable(variable.name, (*variable.states, EMPTY), variable.declared | {EMPTY})
