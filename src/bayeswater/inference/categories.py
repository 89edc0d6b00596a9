"""Log-joint of categories: log P(class) + sum of log P(state | class), looked up in one flat table.

Behind the missing slot of each column the table for scoring has one more row, of zeros: the factor of a category that
was never counted is 1, also where missing is a state.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayeswater.kernels.category_tables import sum_of_states
from bayeswater.typing import Array


@dataclass(frozen=True)
class CategoryJoint:
    """Log-probabilities of all states, (n_table_rows, n_classes), and the class prior."""

    log_prior: Array
    log_likelihood: Array
    n_states: Array
    start: Array

    @classmethod
    def from_tables(cls, log_prior: Array, log_likelihood: Array, n_states: Array, start: Array) -> Self:
        """Prepare a table that is laid out like the counts."""
        return cls(log_prior, with_unseen(log_likelihood, start), n_states + 1, start + np.arange(len(start)))

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of codes."""
        joint = self.likelihood(block, use_loop)
        joint += self.log_prior
        return joint

    def likelihood(self, block: Array, use_loop: bool) -> Array:
        """Log-likelihoods, without the prior."""
        return sum_of_states(block, self.n_states, self.start, self.log_likelihood, use_loop=use_loop)


def with_unseen(log_likelihood: Array, start: Array) -> Array:
    """Put a row of zeros, for what is unseen, behind the missing slot of each column."""
    return np.insert(log_likelihood, start[1:], 0.0, axis=0)
