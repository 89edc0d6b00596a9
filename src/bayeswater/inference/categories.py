"""Log-joint of categories: log P(class) + sum of log P(state | class), looked up in one flat table."""

from dataclasses import dataclass

from bayeswater.kernels.category_joint import sum_of_states
from bayeswater.typing import Array


@dataclass(frozen=True)
class CategoryJoint:
    """Log-probabilities of all states, (n_table_rows, n_classes), and the class prior."""

    log_prior: Array
    log_likelihood: Array
    n_states: Array
    start: Array

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of codes."""
        joint = self.likelihood(block, use_loop)
        joint += self.log_prior
        return joint

    def likelihood(self, block: Array, use_loop: bool) -> Array:
        """Log-likelihoods, without the prior."""
        return sum_of_states(block, self.n_states, self.start, self.log_likelihood, use_loop=use_loop)
