"""`RowKinds`: rows that judge a structure, or a calibration, gathered from pieces.

As in `inference.judging_rows`, equal rows are one kind with the weight of all, and of too many kinds those are kept
whose hash is least. A kind that is among the least of all rows is among the least of every piece, so no piece drops it:
the kinds and their weights are the same however the rows are cut into pieces.
"""

from dataclasses import dataclass

import numpy as np

from bayeswater.data.coded_table import CodedTable
from bayeswater.data.column_plan import ColumnPlan
from bayeswater.data.discrete_table import DiscreteTable
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.schema import Schema
from bayeswater.data.variable import Variable
from bayeswater.inference.judging_rows import row_hash
from bayeswater.models.semi_naive.state_rows import StateRows
from bayeswater.typing import Array


@dataclass(frozen=True)
class RowKinds:
    """Kinds of rows in the order of their hash, no more than `most`: (n_kinds,) each, `block` (n_kinds, n_columns).

    `removed` is what leaving one row of a kind out takes away, `weight` that of all its rows.
    """

    hash: Array
    block: Array
    codes: Array
    removed: Array
    weight: Array
    most: int

    @classmethod
    def of(cls, rows: StateRows, most: int) -> "RowKinds":
        """Gather the kinds of some rows, whose codes are those of domains that hold for all."""
        block, codes = rows.table.block(slice(0, len(rows))), rows.labels.codes
        removed, weight = rows.removed.astype(np.float64), rows.times.astype(np.float64)
        return cls(row_hash(block, codes, removed), block, codes, removed, weight, most)._kinds()

    def __add__(self, other: "RowKinds") -> "RowKinds":
        names = ("hash", "block", "codes", "removed", "weight")
        hash, block, codes, removed, weight = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in names
        )
        return RowKinds(hash, block, codes, removed, weight, self.most)._kinds()

    def _kinds(self) -> "RowKinds":
        hash, first, kind = np.unique(self.hash, return_index=True, return_inverse=True)
        weight, first = np.bincount(kind, weights=self.weight)[: self.most], first[: self.most]
        return RowKinds(hash[: self.most], self.block[first], self.codes[first], self.removed[first], weight, self.most)

    def rows(self, plan: ColumnPlan, schema: Schema, classes: Variable) -> StateRows:
        """Give one row of each kind with the weight of all, in the domains it was coded in."""
        table = DiscreteTable(plan, CodedTable(schema, DenseMatrix(np.ascontiguousarray(self.block))))
        labels = Labels(classes, self.codes, np.bincount(self.codes, minlength=classes.n_states))
        return StateRows(table, labels, self.weight, self.removed)
