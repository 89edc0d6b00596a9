"""A row of a model whose log-joint is a sum over columns, and what would become of it if some cells were others."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.explain.terms import Terms
from bayeswater.families.view import ColumnView, NumberOptions, Options
from bayeswater.typing import Array


@dataclass(frozen=True)
class SumLandscape:
    """One row, its terms, and the views of its columns."""

    row: int
    terms: Terms
    views: tuple[ColumnView, ...]
    chosen: int

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [view.column.name for view in self.views]

    @cached_property
    def options(self) -> list[Options | NumberOptions | None]:
        """What could be in each column."""
        return [view.options(self.row, self.chosen) for view in self.views]

    @cached_property
    def _own(self) -> Array:
        return self.terms.of(slice(self.row, self.row + 1))[0]  # (n_columns, n_classes)

    @cached_property
    def log_joint(self) -> Array:
        """Log-joints of the row as it is: (n_classes,)."""
        return self.terms.joint.log_prior + self._own.sum(axis=0)

    @cached_property
    def _rest(self) -> Array:
        """Log-joints without each column (n_columns, n_classes): what is before it and what is behind it, added up."""
        none = np.zeros((1, self._own.shape[1]))
        before = np.concatenate([none, self._own[:-1]]).cumsum(axis=0)
        behind = np.concatenate([self._own[1:], none])[::-1].cumsum(axis=0)[::-1]
        return self.terms.joint.log_prior + before + behind

    def is_known(self, j: int) -> bool:
        """Whether the cell in column j is known."""
        return bool(self._own[j].any())

    def with_cells(self, j: int, cells: Array) -> Array:
        """Log-joints with each of some cells in column j."""
        return self._rest[j] + self.views[j].terms_at(self.row, cells)

    def with_pairs(self, i: int, cells: Array, j: int, others: Array) -> Array:
        """Log-joints with pairs of cells in columns i and j."""
        rest = self.terms.joint.log_prior + np.delete(self._own, [i, j], axis=0).sum(axis=0)
        return rest + self.views[i].terms_at(self.row, cells) + self.views[j].terms_at(self.row, others)
