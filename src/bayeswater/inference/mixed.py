"""Log-joint of a mixed table: the class prior and the log-likelihoods of all groups of columns, added up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.mixed_table import MixedTable
from bayeswater.inference.word_columns import WordColumns
from bayeswater.typing import Array


class ColumnTerms(Protocol):
    """What a group of columns says about the class of a row."""

    def likelihood(self, block: Any, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        ...

    def terms(self, block: Any) -> Array:
        """Log-likelihood of each cell, which add up to those of the rows: (n_rows, n_columns, n_classes)."""
        ...

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the sums."""
        ...


@dataclass(frozen=True)
class MixedJoint:
    """Log class prior and the groups of columns."""

    log_prior: Array
    groups: Mapping[str, ColumnTerms]

    def of(self, block: Mapping[str, Any], use_loop: bool) -> Array:
        """Log-joints of a block of rows."""
        joint: Array | None = None
        for key, group in self.groups.items():
            likelihood = group.likelihood(block[key], use_loop)
            joint = likelihood if joint is None else np.add(joint, likelihood, out=joint)
        assert joint is not None  # a model has a column
        joint += self.log_prior
        return joint

    def generative(self) -> "MixedJoint":
        """Read the same sums as a distribution of rows: complement counts, which score but describe none, as counts."""
        groups = {
            key: part.generative() if isinstance(part, WordColumns) else part for key, part in self.groups.items()
        }
        return MixedJoint(self.log_prior, groups)

    def without(self, table: MixedTable, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the sums."""
        functions = [group.without(table.groups[key], labels, removed) for key, group in self.groups.items()]

        def likelihood(rows: slice, use_loop: bool) -> Array:
            total = functions[0](rows, use_loop)
            for function in functions[1:]:
                total += function(rows, use_loop)
            return total

        return likelihood
