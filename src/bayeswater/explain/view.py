"""`ColumnView`: one column of a table as an explanation looks at it, row by row.

What a cell holds, what the model made of it, and which other cell in its place would turn the decision.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from bayeswater.data.cells import is_missing, python_value
from bayeswater.data.column_plan import Column
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.raw_table import RawTable
from bayeswater.inference.log_space import TIE, log_evidence, log_ratio
from bayeswater.typing import Array


class Cell(IntEnum):
    """What became of a cell: a factor of the posterior, or left out since it is missing or was never seen."""

    READ = 0
    MISSING = 1
    UNSEEN = 2


@dataclass(frozen=True)
class Rest:
    """All that a row says but for one column, and the two classes that are compared.

    `log_joint` (n_classes,) has the class prior in it. The decision turns where the log-odds fall below
    `turning_point`, which is 0 unless a calibration shifts it.
    """

    log_joint: Array
    chosen: int
    against: int
    turning_point: float

    def log_odds(self, terms: Array) -> Array:
        """Log-odds over the turning point, for terms (n, n_classes) of the column."""
        joint = self.log_joint + terms
        return log_ratio(joint[:, self.chosen], joint[:, self.against]) - self.turning_point

    @property
    def own_log_odds(self) -> float:
        """Log-odds over the turning point of the rest alone."""
        return float(self.log_odds(np.zeros((1, len(self.log_joint))))[0])

    def turns(self, terms: Array) -> Array:
        """Whether the other class wins with each of the terms: (n,)."""
        joint = self.log_joint + terms
        with np.errstate(invalid="ignore"):
            size = np.maximum(np.abs(joint[:, self.chosen]), 1.0)
        return self.log_odds(terms) < -TIE * np.where(np.isfinite(size), size, 1.0)

    def log_evidence(self, terms: Array) -> Array:
        """How plausible the row is with each of the terms: (n,)."""
        return log_evidence(self.log_joint + terms)


@dataclass(frozen=True)
class Change:
    """Another cell that turns the decision: in words, its value, and its terms (n_classes,).

    At the limit of an interval of numbers the two classes are equal; beyond it the other one wins.
    """

    words: str
    value: Any
    terms: Array
    is_free: bool = False  # what is taken away makes a row no less plausible


@dataclass(frozen=True)
class ColumnView(ABC):
    """A column, the terms of its group and the table they are of; `j` is its place there."""

    column: Column
    terms: Any
    table: Any
    j: int
    raw: RawTable

    @property
    def is_score(self) -> bool:
        """Whether contributions are differences of scores rather than of log-likelihoods."""
        return False

    def value(self, row: int) -> Any:
        """Give the cell as the user gave it, None where it is missing."""
        cells = self.raw.columns[self.column.source]
        if isinstance(cells, SparseMatrix):
            return cells.data[cells.indptr[row] : cells.indptr[row + 1]].sum().item()
        value = python_value(cells[row])
        return None if is_missing(value) else value

    def own_terms(self, row: int) -> Array:
        """Terms of the cell that is there: (n_classes,)."""
        return self.terms.terms(self._block(row))[0, self.j]

    def _block(self, row: int) -> Any:
        return self.table.block(slice(row, row + 1))

    @abstractmethod
    def cell(self, row: int) -> Cell:
        """Tell what became of a cell."""

    @abstractmethod
    def reading(self, row: int, chosen: int, against: int) -> str:
        """Say what the model made of the value, where that is not obvious."""

    @abstractmethod
    def change(self, row: int, rest: Rest) -> Change | None:
        """Find the nearest other cell that turns the decision; for cells without an order, the most plausible one."""
