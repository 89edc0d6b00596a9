"""Columns of categories: their log-likelihoods, term by term, and with each row taken out of the counts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.estimate.categories import category_log_likelihood
from bayeswater.inference.categories import CategoryJoint, with_unseen
from bayeswater.inference.leave_one_out import leave_out_own_class, states_own_without
from bayeswater.kernels.category_joint import sum_of_own_states
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.typing import Array


@dataclass(frozen=True)
class CategoryColumns:
    """Counts of categories and the pseudo-counts (n_table_rows, 1) they are smoothed with."""

    counts: CategoryCounts
    concentration: Array
    missing_is_state: bool | Array = False  # of all columns, or of each (n_columns,)

    @cached_property
    def empty_is_state(self) -> Array:
        """Which columns have missing as a state: (n_columns,)."""
        return np.broadcast_to(self.missing_is_state, len(self.counts.schema))

    def log_probability(self, removed: float = 0.0) -> Array:
        """Logarithm of P(state | class), laid out like the counts."""
        return category_log_likelihood(
            self.counts.table,
            self.counts.start,
            self.concentration,
            missing_is_state=self.missing_is_state,
            removed=removed,
        )

    @cached_property
    def joint(self) -> CategoryJoint:
        """The tables, laid out for scoring, with a class prior of one."""
        none = np.zeros(self.counts.n_classes)
        return CategoryJoint.from_tables(none, self.log_probability(), self.counts.n_states, self.counts.start)

    def likelihood(self, block: Array, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        return self.joint.likelihood(block, use_loop)

    def terms(self, block: Array) -> Array:
        """Log-likelihood of each cell: (n_rows, n_columns, n_classes)."""
        joint = self.joint
        return joint.log_likelihood[joint.start[:-1] + np.minimum(block, joint.n_states)]

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the counts."""
        one_weight = (removed == removed[0]).all()  # rows of one weight share their table
        shared = with_unseen(self.log_probability(float(removed[0])), self.counts.start) if one_weight else None

        def likelihood(rows: slice, use_loop: bool) -> Array:
            block, y = table.block(rows), labels.codes[rows]
            if shared is not None:
                own = sum_of_own_states(block, self.joint.n_states, self.joint.start, y, shared, use_loop=use_loop)
            else:
                own = states_own_without(
                    block, y, removed[rows], self.counts, self.concentration, missing_is_state=self.missing_is_state
                )
            return leave_out_own_class(self.likelihood(block, use_loop), own, y)

        return likelihood
