"""The sums of a table of states in a model file: its plan, the states of all its columns, and arrays for each group.

Every group of sums is over the same columns, in the order of the plan; which groups there are depends on the model.
Where columns are counted with their parents, the document says which these are.
"""

from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import IGNORED
from bayeswater.data.variable import Schema, Variable
from bayeswater.files.model_file import Document, require
from bayeswater.models.semi_naive.discrete_planning import OF_STATES
from bayeswater.models.semi_naive.learning import PAIRS
from bayeswater.models.stored.domains import read_states, require_arrays, written_states
from bayeswater.models.stored.groups import read_plan
from bayeswater.models.stored.values import CODEC
from bayeswater.statistics.category_counts import code_kind
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import ParentCounts
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array

MAY_BE_EMPTY = ("pairs", "triples")
"""Arrays that have no cells where there are too few columns: they are not written."""


def described_discrete(columns: ColumnGroups) -> tuple[Document, dict[str, Array]]:
    """Give what a document says of the columns, and the sums of all groups as arrays; one column has no pairs."""
    pairs = columns.groups[PAIRS]
    assert isinstance(pairs, PairCounts)
    document = {
        "columns": [CODEC.encode(column, f"the reading of column {column.name!r}") for column in columns.plan],
        "states": written_states(pairs.schema),
    }
    arrays = {name: array for name, array in columns.to_arrays().items() if array.size}
    for key, group in columns.groups.items():
        if isinstance(group, ParentCounts):
            document["parents"] = [list(own) for own in group.parents]
            wide = group.cell.dtype != np.uint8  # of integers a file holds the widest, and bytes
            arrays[f"{key}.cell"] = group.cell.astype(np.int64) if wide else group.cell
    return document, arrays


def restored_discrete(
    document: Document, arrays: dict[str, Array], classes: Variable, kinds: Mapping[str, type[Statistic]]
) -> ColumnGroups:
    """Make the sums of all groups, whose kinds the model says."""
    plan = read_plan(document["columns"])
    wrong = [column.name for column in plan if column.family not in (*OF_STATES, IGNORED)]
    require(not wrong, f"its columns {shortened(wrong)} have no states")
    schema = read_states(document["states"])
    names = [column.name for column in plan.used]
    require(list(schema.names) == names, f"it has states of {shortened(schema.names)}, and not of {shortened(names)}")
    own: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        group, _, rest = name.partition(".")
        own.setdefault(group, {})[rest] = array
    require(own.keys() == kinds.keys(), f"it has sums of {sorted(own)}, and not of {sorted(kinds)}")
    groups = {}
    for group, found in own.items():
        needed = kinds[group].array_names(found)
        domain: dict[str, Any] = {"classes": classes, "schema": schema}
        if kinds[group] is ParentCounts:
            domain["parents"] = _read_parents(document["parents"], len(schema))
            found = {name: _narrow(array, schema) if name == "cell" else array for name, array in found.items()}
        for name in needed.intersection(MAY_BE_EMPTY):
            table = found.get("table", np.zeros((0, 0), dtype=np.int64))
            found.setdefault(name, np.zeros((0, classes.n_states), dtype=table.dtype))
        require_arrays(found, needed)
        groups[group] = kinds[group].from_arrays(found, **domain)
    return ColumnGroups(classes, plan, groups)


def _read_parents(written: Any, n_columns: int) -> tuple[tuple[int, ...], ...]:
    are_lists = isinstance(written, list) and len(written) == n_columns and all(type(own) is list for own in written)
    require(
        are_lists and all(type(p) is int and 0 <= p < n_columns for own in written for p in own),
        f"its parents {shortened(written)} are not those of {n_columns} columns",
    )
    return tuple(tuple(own) for own in written)


def _narrow(cell: Array, schema: Schema) -> Array:
    """Bring the slots of cells back to the kind that counting gives them."""
    highest = int(schema.n_states.max(initial=0))
    within = cell.dtype.kind in "iu" and cell.size > 0 and cell.min() >= 0 and cell.max() <= highest
    require(bool(within), "a cell of its families has a state beyond its domain")
    return cell.astype(code_kind(schema.n_states))
