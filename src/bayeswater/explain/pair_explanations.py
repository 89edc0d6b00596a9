"""Reasons of models in which columns depend on one another: what each cell says, given the cell it depends on.

As with naive Bayes the log-odds are a sum, of one term for every pair of a parent and a column. What a column adds is
the sum of its terms under all its parents. `StateLandscape` is a row of such states: what would become of its log-joint
if some cells were others.
"""

from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from bayeswater.data.frames import Alongside
from bayeswater.data.reading.coded_table import DiscreteTable
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.turning import Landscape, RowDecisions, Verdicts
from bayeswater.families.states import StateView
from bayeswater.families.view import LastBlock
from bayeswater.inference.log_space import log_ratio
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.sums import SeenRanges
from bayeswater.typing import Array


@record
class StateLandscape(Landscape):
    """One row of codes (1, n_columns), and the model that scores rows."""

    views: tuple[StateView, ...]
    codes: Array
    joint: Any

    @cached_property
    def log_joint(self) -> Array:
        """Log-joints of the row as it is: (n_classes,)."""
        return self.joint.of(self.codes, False)[0]

    def is_known(self, j: int) -> bool:
        """Whether the cell in column j is known."""
        return bool(self.codes[0, j] < len(self.views[j].labels))

    def with_cells(self, j: int, cells: Array) -> Array:
        """Log-joints with each of some states in column j."""
        return self._with({j: cells})

    def with_pairs(self, i: int, cells: Array, j: int, others: Array) -> Array:
        """Log-joints with pairs of states in columns i and j."""
        return self._with({i: cells, j: others})

    def _with(self, cells: dict[int, Array]) -> Array:
        n = len(next(iter(cells.values())))
        if not n:
            return np.empty((0, len(self.log_joint)))
        rows = np.repeat(self.codes.astype(np.int64), n, axis=0)
        for j, own in cells.items():
            rows[:, j] = own
        return self.joint.of(rows, False)


BLOCK_TERMS = 2**22
"""Terms that are held at a time, about: rows times pairs of columns."""


class PairContribution(NamedTuple):
    """What a column adds to the log-odds, given the parent it depends on; None where that is the class alone."""

    parent: str | None
    column: str
    contribution: float


class PairJoint(Protocol):
    """A model whose log-odds are a sum over pairs of columns."""

    @property
    def estimate(self) -> PairEstimate:
        """Probabilities of pairs."""
        ...

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        ...

    def of(self, block: Any, use_loop: bool) -> Array:
        """Log-joints (n_rows, n_classes) of a block of rows."""
        ...

    def pair_terms(self, block: Array, chosen: Array, against: Array) -> tuple[Array, Array]:
        """Intercept (n_rows,), and what pairs (n_rows, parent, column) add to the log-odds of two classes."""
        ...


class DependentView(StateView):
    """A column of states whose contributions depend on those of others."""

    @property
    def is_score(self) -> bool:
        """Whether contributions are more than one ratio of likelihoods."""
        return True

    @property
    def counts(self) -> CategoryCounts:
        """What was counted of single columns."""
        estimate: Any = self.block
        singles: CategoryCounts = estimate.counts.singles
        return singles


@record(repr=False, eq=False)
class PairExplanations(Explanations):
    """An `Explanation` for each row, of columns that depend on one another; `pairs` gives the terms one by one."""

    _joint: Any = None
    _table: Any = None

    @classmethod
    def of_pairs(
        cls,
        joint: PairJoint,
        table: DiscreteTable,
        raw: RawTable,
        verdicts: Verdicts,
        decisions: RowDecisions,
        classes: Array,
        library: str | Alongside | None,
    ) -> "PairExplanations":
        """Explain all rows of a table."""
        columns = table.plan.used
        n_rows, n_columns = table.shape
        contributions, intercept = np.empty((n_rows, n_columns)), np.empty(n_rows)
        log_odds, impossible = np.empty(n_rows), np.empty(n_rows, dtype=bool)
        size = max(1, BLOCK_TERMS // n_columns**2)
        for first in range(0, n_rows, size):
            rows = slice(first, min(first + size, n_rows))
            block, a, b = table.block(rows), verdicts.chosen[rows], verdicts.against[rows]
            at, log_joint = np.arange(len(block)), joint.of(block, False)
            intercept[rows], pairs = joint.pair_terms(block, a, b)
            contributions[rows] = pairs.sum(axis=1)
            log_odds[rows] = log_ratio(log_joint[at, a], log_joint[at, b])
            impossible[rows] = np.isneginf(log_joint[at, a]) & np.isneginf(log_joint[at, b])
        log_odds = np.where(impossible, intercept, log_odds)
        shared = (raw, SeenRanges(), LastBlock())
        views = tuple(DependentView(column, joint.estimate, table, j, *shared) for j, column in enumerate(columns))
        names = tuple(column.name for column in columns)
        none: Any = None
        return cls(
            names,
            contributions,
            intercept,
            log_odds,
            classes,
            verdicts,
            impossible,
            none,
            views,
            decisions,
            library,
            joint,
            table,
        )

    def pairs(self, row: int) -> list[PairContribution]:
        """What each column adds to the log-odds of one row under each of its parents, the largest first."""
        block = self._table.block(slice(row, row + 1))
        _, pairs = self._joint.pair_terms(block, self._verdicts.chosen[row : row + 1], self._against_of(row))
        found = [
            PairContribution(None if i == j else self.columns[i], self.columns[j], float(pairs[0, i, j]))
            for i, j in np.argwhere(pairs[0] != 0).tolist()
        ]
        return sorted(found, key=lambda one: -abs(one.contribution))

    def _against_of(self, row: int) -> Array:
        return self._verdicts.against[row : row + 1]

    @property
    def _sums(self) -> Any:
        return self._joint

    def _landscape(self, i: int, chosen: int) -> Landscape:
        block = self._table.block(slice(i, i + 1))
        return StateLandscape(i, chosen, self._views, block, self._joint)  # type: ignore[arg-type]
