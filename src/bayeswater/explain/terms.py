"""The terms of a table: what every cell says about every class, and what it says for one class against another.

A log-likelihood of -inf is legal: the cell is impossible in that class. Two classes in which it is impossible are not
told apart by it, so the difference of two such terms is 0, and NaN is never a result.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayeswater.data.reading.coded_table import MixedTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.families.family import MixedJoint
from bayeswater.inference.log_space import log_ratio
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

BLOCK_TERMS = 2**21
"""Terms that are held at a time, about: cells times classes."""


@dataclass(frozen=True)
class Terms:
    """Log-likelihoods of the cells of a table, worked out for the rows that are asked for.

    `groups` names the columns of each group; the terms are in the order of the plan, whatever the groups.
    """

    joint: MixedJoint
    table: MixedTable
    groups: Mapping[str, tuple[Column, ...]]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that have terms."""
        return self.table.plan.used

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.joint.log_prior)

    def of(self, rows: slice) -> Array:
        """Terms of some rows: (n_rows, n_columns, n_classes)."""
        place = {column.name: j for j, column in enumerate(self.columns)}
        terms = np.empty((rows.stop - rows.start, len(place), self.n_classes))
        for key, block in self.table.block(rows).items():
            terms[:, [place[column.name] for column in self.groups[key]]] = self.joint.groups[key].terms(block)
        return terms

    def contributions(self, chosen: Array, against: Array) -> tuple[Array, Array]:
        """What each cell adds to the log-odds of two classes in each row, by their codes (n_rows,).

        Gives the contributions (n_rows, n_columns), and the rows (n_rows,) that are impossible in both classes.
        """
        n_rows = self.table.n_rows
        result = np.empty((n_rows, len(self.columns)))
        impossible = np.empty(n_rows, dtype=bool)
        size = max(1, BLOCK_TERMS // (len(self.columns) * self.n_classes))
        for rows in row_blocks(n_rows, size):
            terms, row = self.of(rows), np.arange(rows.stop - rows.start)
            a, b = terms[row, :, chosen[rows]], terms[row, :, against[rows]]
            result[rows] = log_ratio(a, b)
            prior_a, prior_b = self.joint.log_prior[chosen[rows]], self.joint.log_prior[against[rows]]
            impossible[rows] = np.isneginf(a.sum(axis=1) + prior_a) & np.isneginf(b.sum(axis=1) + prior_b)
        return result, impossible
